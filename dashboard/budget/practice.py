"""Reset of a practice budget, another size for it, and the undo of both."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import tracker
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger import Budget, Ledger

_NOTE = "practice"
SIZES = (1.0, 3.0, 10.0)


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
    st.caption(
        "A reset gives back what practice has spent. With real data nothing comes back: what an answer has told cannot "
        "be taken back."
    )
    st.caption("Practice with a budget of another size:")
    with st.container(horizontal=True, vertical_alignment="center"):
        for size in SIZES:
            st.button(
                f"ε = {words.amount(size)}",
                key=f"budget-size-{size:g}",
                type="tertiary",
                disabled=budget.cap.epsilon == size,
                on_click=_resize,
                args=(budget.lineage, budget.generation, size, budget.cap.delta),
            )
    said = session.note(_NOTE)
    if said:
        st.caption(said)


def _reset(lineage: str, generation: int) -> None:
    """Callback. A second click of the same button, or in another window, finds a newer generation and does nothing."""
    done = "The practice budget is whole again. Its earlier receipts are kept."
    _change(lineage, generation, done, lambda ledger: ledger.reset_practice(lineage))


def _undo(lineage: str, generation: int) -> None:
    done = "The practice budget is as it was before the reset."
    _change(lineage, generation, done, lambda ledger: ledger.undo_reset(lineage))


def _resize(lineage: str, generation: int, epsilon: float, delta: float) -> None:
    """Callback. The budget starts again with another size."""
    done = f"The practice budget is ε = {words.amount(epsilon)} now, and whole. Its earlier receipts are kept."
    _change(lineage, generation, done, lambda ledger: ledger.resize_practice(lineage, epsilon=epsilon, delta=delta))


def _change(lineage: str, generation: int, done: str, act: Callable[[Ledger], Budget]) -> None:
    try:
        ledger = compute.ledger()
        if ledger.budget(lineage).generation != generation:
            return
        act(ledger)
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        session.say(_NOTE, words.reason(error))
        return
    session.say(_NOTE, done)
