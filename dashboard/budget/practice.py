"""Reset of a practice budget, and its undo."""

from __future__ import annotations

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import tracker
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger import Budget

_NOTE = "practice"


def buttons(budget: Budget) -> None:
    """Reset where something is spent; undo where there was a reset."""
    spent = budget.share_spent > 0.0
    with st.container(horizontal=True):
        st.button(
            "Reset practice",
            icon=":material/restart_alt:",
            key="budget-reset",
            disabled=not spent,
            on_click=_reset,
            args=(budget.lineage, budget.generation),
            help="Gives the whole practice budget back. Receipts stay, and it can be undone. Real budgets cannot.",
        )
        if budget.generation > 1:
            st.button(
                "Undo the reset",
                icon=":material/undo:",
                key="budget-undo",
                on_click=_undo,
                args=(budget.lineage, budget.generation),
            )
    said = session.note(_NOTE)
    if said:
        st.caption(said)


def _reset(lineage: str, generation: int) -> None:
    """Callback. A second click of the same button, or in another window, finds a newer generation and does nothing."""
    _change(lineage, generation, "The practice budget is whole again. Its earlier receipts are kept.", reset=True)


def _undo(lineage: str, generation: int) -> None:
    _change(lineage, generation, "The practice budget is as it was before the reset.", reset=False)


def _change(lineage: str, generation: int, done: str, *, reset: bool) -> None:
    try:
        ledger = compute.ledger()
        if ledger.budget(lineage).generation != generation:
            return
        if reset:
            ledger.reset_practice(lineage)
        else:
            ledger.undo_reset(lineage)
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        session.say(_NOTE, words.sentence(error))
        return
    session.say(_NOTE, done)
