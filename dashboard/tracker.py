"""The sidebar's budget tracker: what is spent, what is left, and how many more answers like this one."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import compute, words
from dashboard.source import Source
from dpcore.accounting import Cost
from dpcore.datasets import sample
from dpcore.errors import InvalidCost, LedgerError, UnknownLineage
from dpcore.ledger import Budget

PRACTICE_EPSILON, PRACTICE_DELTA = 3.0, 1e-5
_BUDGET_PAGE = Path(__file__).parent / "app_pages" / "budget.py"


def sidebar(source: Source | None, next_cost: Cost | None) -> None:
    """Draw the tracker; ``next_cost`` is what one more answer of the page in view would cost."""
    with st.container(border=True):
        if source is None:
            st.markdown("**Budget**")
            st.caption("Your file has no budget yet. Decide on the Data page how it may be used.")
            return
        st.markdown(f"**Budget** · {'practice' if source.practice else 'real'}")
        try:
            found = budget(source)
        except LedgerError as error:
            st.error(str(error))
            return
        if found is None:
            st.caption("Nothing is spent: no release has been made from these data.")
            return
        st.progress(found.share_spent, text=spent_words(found))
        if next_cost is not None:
            st.caption(answers_words(found, next_cost))
        if _BUDGET_PAGE.exists():
            st.page_link("app_pages/budget.py", label="All charges", icon=":material/arrow_forward:")


def budget(source: Source) -> Budget | None:
    """The budget of these people; a sample's practice budget is opened on first sight. None for people without one."""
    if source.lineage is None or source.simulated:
        return None
    ledger = compute.ledger()
    try:
        return ledger.budget(source.lineage)
    except UnknownLineage:
        if not source.practice:
            return None
    known = sample(source.key)
    both = {"experts", "training"} & set(known.suits)
    return ledger.open_budget(
        source.lineage,
        epsilon=PRACTICE_EPSILON,
        delta=PRACTICE_DELTA if both else 0.0,
        practice=True,
        name=known.title,
    )


def spent_words(found: Budget) -> str:
    """What is spent, in the unit of the cap."""
    cap = found.cap
    if found.kind == "pure":
        return f"{words.number(cap.epsilon - found.remaining.epsilon)} of ε = {words.number(cap.epsilon)} spent"
    return f"{found.share_spent:.0%} of ε = {words.number(found.caps.cap_epsilon / 1e9)}, δ = {cap.delta:g} spent"


def answers_words(found: Budget, cost: Cost) -> str:
    try:
        more = found.answers_left(cost)
    except InvalidCost:
        return "This page's answers cannot be charged to this budget."
    if more == 0:
        return "Not enough is left for one more answer like this one."
    return f"About **{more:,}** more {'answer' if more == 1 else 'answers'} like this one."
