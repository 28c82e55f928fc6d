"""A private answer and its receipt, in words."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import streamlit as st

from dashboard import words
from dashboard.question import Offer
from dashboard.report.text import line
from dashboard.report.value import plain
from dashboard.widgets.receipt_file import receipt_file
from dashboard.words import release as said
from dpcore.costs import Cost
from dpcore.ledger import Receipt
from dpcore.ledger.words import LONGEST_QUESTION, PERSON
from dpcore.release import question
from dpcore.releases.steps_chosen import UNCOVERED

Describe = Callable[[Any], str]


def answer(
    receipt: Receipt,
    describe: Describe,
    extra: Callable[[Receipt], None] | None = None,
    *,
    key: str,
    conclude: str = "",
    copy: tuple[str, str] | None = None,
) -> None:
    """A private answer and its receipt; ``copy`` is what may be printed elsewhere, short and whole."""
    with st.container(border=True, key=key):
        st.markdown(f"**{said.ANSWER}**")
        st.markdown(f"### {describe(receipt.answer)}")
        st.caption(
            f"{asked(receipt.what)} It cost {cost_words(receipt.cost)}. Drawn {when(receipt)}. "
            f"Receipt {receipt.journal_hash[:12]}, kept on the Budget page."
        )
        st.markdown(conclude or said.conclude(receipt.unit or PERSON))
        if extra is not None:
            extra(receipt)
        for title, text in zip((said.COPY, said.COPY_ALL), copy or (), strict=False):
            st.caption(title)
            st.code(text, language=None, wrap_lines=True)
        receipt_file("Receipt (JSON)", receipt, key=key)


def to_copy(receipt: Receipt, offer: Offer) -> tuple[str, str]:
    """An answer as it may be printed elsewhere, in one sentence and with all that goes with it: plain text of its
    receipt, its question and what is proved."""
    request, unit = offer.request, receipt.unit or PERSON
    epsilon = receipt.epsilon if isfinite(receipt.epsilon) else receipt.asked_cost.epsilon
    claim = _plain(offer.claim)
    proved = f"{claim[:1].upper()}{claim[1:]}." if claim else said.ANOTHER_DRAW
    asked_for = words.visible(words.sentence(question(request)), LONGEST_QUESTION)
    told, cost = _plain(offer.describe(receipt.answer)).rstrip("."), cost_words(receipt.cost)
    whole = said.to_copy(
        question=asked_for,
        answer=told,
        cost=cost,
        hides=_plain(words.one_of(receipt.neighbours, unit)),
        odds=_plain(words.odds_sentence(epsilon, receipt.delta, receipt.neighbours, unit)),
        said=(proved, *(words.visible(note, LONGEST_QUESTION) for note in getattr(request, "own_notes", ()))),
        outside=UNCOVERED in receipt.what,
        receipt=receipt.journal_hash[:12],
    )
    return said.in_short(question=asked_for, answer=told, cost=cost), whole


def _plain(markdown: str) -> str:
    return plain(line(markdown))


def asked(what: str) -> str:
    """A question as it is shown."""
    return words.sentence(words.safe(what, LONGEST_QUESTION))


def when(receipt: Receipt) -> str:
    """The time of a receipt to the second."""
    return when_utc(receipt.time)


def when_utc(time: str) -> str:
    """The time of a record to the second."""
    return f"{time[:19].replace('T', ' ')} UTC"


def cost_words(cost: Cost) -> str:
    """A charge as the accounts take it."""
    if cost.epsilon == float("inf"):
        return f"ρ = {words.amount(cost.zcdp)}"
    if cost.delta > 0.0:
        return f"ε = {words.amount(cost.epsilon)} with δ = {words.failing(cost.delta)}"
    return f"ε = {words.amount(cost.epsilon)}"
