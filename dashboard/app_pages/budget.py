"""Budget: what is spent and left, every charge with its receipt, a planner, and what the guarantee means."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import session
from dashboard.budget import charges, meaning, planner, receipts, screen, together
from dashboard.budget.opening import open_budget
from dashboard.budget.spending import one_more
from dashboard.budget.state import everyone, look
from dashboard.controls import Choice
from dashboard.data import source
from dashboard.report.panel import report_button
from dashboard.widgets import controls, onward, tabs

IN_VIEW, ALL = "the people in view", "everyone in this ledger"

current = source.current()
state = look(current)
WHOSE = Choice(
    key="whose",
    label="Whose budget",
    options=("view", "all"),
    names={"view": IN_VIEW, "all": ALL},
    default="view",
    hide_label=True,
    width=250,
)
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    st.title("What is spent about", anchor=False, width="content")
    controls.draw(WHOSE)
    st.header("and what is left?", anchor=False, width="content")
    of_all = session.ask(WHOSE) == "all"
    budget = None if of_all or state.problem is not None else state.budget
    report_button(None if budget is None else partial(screen.on_paper, state, budget), key="budget")
problem, rows, names = state.problem, state.receipts, None
if of_all:
    budgets, rows, problem = everyone()
    names = {budget.lineage: budget.name for budget in budgets}
    if problem is None:
        screen.everyone(budgets, rows)
elif problem is None and current is None:
    onward.say(source.undecided())
elif problem is None and state.budget is None and current is not None:
    open_budget(current)
elif problem is None and state.budget is not None:
    screen.show_budget(state, state.budget)

session.next_cost(*one_more(state))
bodies = {
    "Charges": lambda: charges.show_charges(rows, names=names, before=() if of_all else state.before),
    "Plan answers": lambda: planner.show_planner(current, state.budget),
    "What does the guarantee mean?": lambda: meaning.show_meaning(state),
    "Check a receipt": receipts.bring,
}
bodies |= together.bodies()
if problem is not None:
    screen.closed(problem)
    bodies = {name: bodies[name] for name in ("Plan answers", "What does the guarantee mean?")}
tabs.tabs("budget", bodies)
