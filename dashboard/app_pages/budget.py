"""Budget: what is spent and left, every charge with its receipt, a planner, and what the guarantee means."""

from __future__ import annotations

import streamlit as st

from dashboard import session
from dashboard.budget import charges, meaning, planner, receipts, screen
from dashboard.budget.opening import open_budget
from dashboard.budget.spending import one_more
from dashboard.budget.state import everyone, look
from dashboard.data import source
from dashboard.widgets import shape

IN_VIEW, ALL = "the people in view", "everyone in this ledger"

current = source.current()
state = look(current)
picked: list[str] = []
shape.sentence(
    "What is spent about",
    lambda: picked.append(
        st.selectbox(
            "Whose budget",
            [IN_VIEW, ALL],
            key="whose",
            bind="query-params",
            label_visibility="collapsed",
            width=250,
        )
    ),
    "and what is left?",
)
problem, rows, names = state.problem, state.receipts, None
if picked[0] == ALL:
    budgets, rows, problem = everyone()
    names = {budget.lineage: budget.name for budget in budgets}
    if problem is None:
        screen.everyone(budgets, rows)
elif problem is None and current is None:
    st.info("Decide on the Data page how your file may be used; then its people can have a budget.")
elif problem is None and state.budget is None and current is not None:
    open_budget(current)
elif problem is None and state.budget is not None:
    screen.show(state, state.budget)

session.next_cost(one_more(state))
tabs = {
    "Charges": lambda: charges.show(rows, names=names, before=() if picked[0] == ALL else state.before),
    "Plan answers": lambda: planner.show(current, state.budget),
    "What does the guarantee mean?": meaning.show,
    "Check a receipt": receipts.bring,
}
if problem is not None:
    screen.closed(problem)
    del tabs["Charges"], tabs["Check a receipt"]
shape.tabs("budget", tabs)
