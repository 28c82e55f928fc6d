"""Charges for the question in view without an answer: told where the question is asked, drawn where they may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import words
from dashboard.background import compute
from dashboard.widgets.answer import cost_words, when
from dpcore.errors import DpcoreError, UnknownLineage
from dpcore.ledger import Receipt


def show_unanswered(
    lineage: str, question: Sequence[str], draw: Callable[[str], None], *, drawn: Callable[[Receipt], None], key: str
) -> None:
    """One line for each such charge; ``draw`` is a callback that releases the same request under its request id, and
    ``drawn`` says how that is drawn, where the page does not.

    ``question`` are the digests of the request. Raises LedgerError.
    """
    try:
        found = _unanswered(lineage, question)
    except UnknownLineage:
        return
    for receipt in found:
        _one(receipt, draw, drawn, key)


def _unanswered(lineage: str, question: Sequence[str]) -> list[Receipt]:
    return [receipt for digest in question for receipt in compute.ledger().unanswered(lineage, digest)]


def charged(lineage: str, question: Sequence[str]) -> list[str]:
    """The words of the charges that an answer may be drawn for now. Raises LedgerError."""
    try:
        found = _unanswered(lineage, question)
    except UnknownLineage:
        return []
    return [receipt.what for receipt in found if receipt.state in ("charged", "failed")]


def paid(lineage: str, question: Sequence[str]) -> str:
    """The request of such a charge whose draw failed, which pays for the next one; empty where there is none or the
    ledger does not say."""
    try:
        found = _unanswered(lineage, question)
    except DpcoreError:  # whoever charges is told
        return ""
    return next((receipt.request_id for receipt in found if receipt.state == "failed"), "")


def _one(receipt: Receipt, draw: Callable[[str], None], drawn: Callable[[Receipt], None], key: str) -> None:
    cost = f"{cost_words(receipt.cost)} was charged for this question on {when(receipt)}"
    if receipt.state in ("charged", "failed"):
        st.warning(
            f"An answer was not drawn, since a crash or what it was asked of took it: {cost}. The charge stands, and "
            "pays for an answer that is drawn now, from the table that is here now.",
            icon=":material/replay:",
        )
        drawn(receipt)
        st.button(
            "Draw it now, free of charge",
            key=f"{key}-draw-{receipt.request_id[:8]}",
            icon=":material/lock_open:",
            on_click=draw,
            args=(receipt.request_id,),
        )
    else:
        st.caption(
            words.sentence(
                f"{cost}, its draw began, and no answer is stored: it is being drawn or waits to be stored, or a crash "
                "took it"
            )
        )
