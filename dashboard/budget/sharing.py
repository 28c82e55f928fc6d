"""An owner's budgets: with whom each is shared, what one person may take alone, and its end."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget.opening import DELTAS, HIDDEN, KINDS, SUM
from dashboard.data import remembered
from dashboard.people import login
from dashboard.widgets.apart import apart
from dashboard.widgets.inputs import primary, text_box
from dashboard.words import data as data_said
from dashboard.words import login as said
from dpcore.datasets.text import safe_cells
from dpcore.errors import DpcoreError, LedgerError
from dpcore.ledger import Budget, Ledger
from dpcore.ledger.roles import EVERYONE, LEVELS, LONGEST
from dpcore.ledger.terms import Terms
from dpcore.ledger.words import PERSON

_NOTE, _BUDGET = "sharing", "sharing-budget"


def show_sharing() -> None:
    """One budget at a time."""
    person = login.person()
    if person is None:
        return
    try:
        ledger = compute.ledger()
        owned = {
            budget.lineage: (budget, terms)
            for budget in ledger.chargeable()
            if (terms := ledger.terms(budget.lineage)).at_least(person.subject, "own")
        }
        people = sorted({*ledger.roles(), *(one for _, terms in owned.values() for one in terms.shares)} - {EVERYONE})
    except DpcoreError as error:
        st.error(words.reason(error), icon=":material/lock:")
        return
    with st.container():  # there with and without a note, so that what stands below keeps its place, and stays open
        problem = session.note(_NOTE)
        if problem:
            st.info(problem)
    if owned:
        if session.entered(_BUDGET, None) not in owned:
            session.leave(_BUDGET)
        chosen = st.selectbox(
            "Budget",
            list(owned),
            key=_BUDGET,
            format_func=apart(owned, lambda lineage: words.visible(owned[lineage][0].name, 60), key=str),
        )
        _one(*owned[chosen], people)
    else:
        st.info(said.OWN_NONE)
    with st.expander(said.OPEN_FOR, icon=":material/add:", key="open-for"):
        _opening()


def _one(budget: Budget, terms: Terms, people: list[str]) -> None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        rows = [
            {"Who": said.EVERYONE if subject == EVERYONE else said.who_is(subject, 160), "May": said.LEVELS[level]}
            for subject, level in terms.shares.items()
        ]
        st.dataframe(safe_cells(pd.DataFrame(rows)), hide_index=True, alt="With whom this budget is shared")
        if terms.ended:
            st.caption(f"Closed for good on {terms.ended[:10]}. {said.FOR_GOOD}")
            return
        _share(budget, people)
    with right:
        _limit(budget, terms)
        _end(budget)


def _share(budget: Budget, people: list[str]) -> None:
    who, level = f"sharing-who-{budget.lineage}", f"sharing-level-{budget.lineage}"  # nothing of another budget
    with st.form(f"sharing-form-{budget.lineage}", border=True):
        st.selectbox(
            "Share it with",
            [EVERYONE, *people],
            index=None,
            key=who,
            format_func=apart(
                [EVERYONE, *people], lambda one: said.EVERYONE if one == EVERYONE else words.visible(one, LONGEST)
            ),
            accept_new_options=True,
            placeholder="Choose, or type the name that their sidebar shows",
        )
        st.radio(
            "They may",
            list(LEVELS),
            index=1,
            key=level,
            format_func=lambda level: LEVELS[level].capitalize(),
            help="Asking takes the role of an analyst as well, and owning that of an owner.",
        )
        met = frozenset(people)
        st.form_submit_button(
            "Share it", key=f"sharing-go-{budget.lineage}", on_click=_shared, args=(budget.lineage, who, level, met)
        )


def _limit(budget: Budget, terms: Terms) -> None:
    key = f"sharing-limit-{budget.lineage}-{terms.limit}"  # begins with what is in force, whatever was typed before
    with st.form(f"limit-form-{budget.lineage}", border=True):
        st.markdown(_limits(terms))
        st.number_input(
            "What one person may take alone (ε)",
            min_value=0.0,
            max_value=100.0,
            value=terms.limit,
            step=0.1,
            format="%g",
            key=key,
            placeholder="no limit",
            help="Over all their answers that nobody approved. If you raise it, that counts for everyone but you.",
        )
        st.form_submit_button(
            "Set this limit",
            key=f"limit-go-{budget.lineage}",
            on_click=_limited,
            args=(budget.lineage, terms.limit, key),
        )


def _limits(terms: Terms) -> str:
    """What may be taken alone, by whoever."""
    person = login.person()
    return said.limit_words(terms.limit, terms.lower, "" if person is None else person.subject)


def _end(budget: Budget) -> None:
    key = f"sharing-end-{budget.lineage}"  # a click on one, and what was opened to make it, is of no other budget
    with st.popover("Close this budget", icon=":material/lock:", key=f"{key}-open"):
        st.markdown(said.FOR_GOOD)
        st.button(primary("Close it for good"), key=key, type="primary", on_click=_ended, args=(budget.lineage,))


def _shared(lineage: str, who_key: str, level_key: str, met: Collection[str] = ()) -> None:
    """Callback; the ledger asks once more whose the budget is. ``met`` are those whom the ledger knows by name."""
    who, level = str(session.entered(who_key, "") or ""), session.entered(level_key, "see")
    if not who.strip():
        session.say(_NOTE, "Say with whom: choose somebody, or type the name that their sidebar shows.")
        return
    known = who == EVERYONE or who in met
    if not known and not login.could_be(who):
        session.say(_NOTE, said.NOBODY_S)
        return
    name = said.EVERYONE if who == EVERYONE else said.shown(who)
    try:
        before = compute.ledger().terms(lineage).shares.get(who, "none")
    except DpcoreError:
        before = None  # the change itself says why
    _change(
        lambda ledger: ledger.share(lineage, who, level), said.now_may(name, level, same=before == level, met=known)
    )


def _limited(lineage: str, shown: float | None, key: str) -> None:
    """Callback. ``shown`` is the limit that the page named: one that somebody else set meanwhile stays."""
    limit: float | None = session.entered(key, shown)
    found = list[Terms]()
    _change(lambda ledger: found.append(ledger.set_limit(lineage, limit, seen=shown)), lambda: _limits(*found))


def _ended(lineage: str) -> None:
    """Callback."""
    if _change(lambda ledger: ledger.end_budget(lineage), "This budget is closed for good, on record."):
        try:
            remembered.forget_people(lineage)
        except (LedgerError, OSError):
            session.say(_NOTE, data_said.NOT_FORGOTTEN)


def _change(act: Callable[[Ledger], object], done: str | Callable[[], str]) -> bool:
    """Whether it was done; either way a sentence says what became of it."""
    try:
        act(compute.ledger())
    except DpcoreError as error:
        session.say(_NOTE, words.reason(error))
        return False
    session.say(_NOTE, done if isinstance(done, str) else done())
    return True


# -- a budget without a file -------------------------------------------------------------------------------------------


def _opening() -> None:
    st.caption(said.OPEN_FOR_HELP)
    with st.form("open-for-form", border=False):
        text_box("Whose data are these? A name you will recognise later", key="open-for-name", most=80)
        st.radio("How to count", list(KINDS), key="open-for-kind", format_func=KINDS.__getitem__)
        st.radio(
            "Who is hidden",
            list(HIDDEN),
            index=1,
            key="open-for-hidden",
            format_func=said.HIDES.__getitem__,
            captions=list(HIDDEN.values()),
        )
        text_box(said.OPEN_FOR_UNIT, value=PERSON, most=30, key="open-for-unit", width=300)
        with st.container(horizontal=True):
            st.number_input(
                "Total ε", min_value=0.01, max_value=20.0, value=1.0, format="%g", key="open-for-epsilon", width=160
            )
            st.selectbox("δ", (0.0, *DELTAS), index=2, key="open-for-delta", format_func=words.tiny, width=160)
        st.checkbox("It can never be raised, refilled or deleted: I have read it once more", key="open-for-sure")
        st.form_submit_button("Open it for good", key="open-for-go", on_click=_open, args=(Ledger.new_lineage(),))


def _open(lineage: str) -> None:
    """Callback. A second click finds the form without a name again, and opens nothing."""
    name = str(session.entered("open-for-name", "") or "").strip()
    epsilon: float | None = session.entered("open-for-epsilon", 1.0)
    if not name or epsilon is None or not session.entered("open-for-sure", False):
        session.say(_NOTE, "Nothing was opened: give a name and a total ε, and say that you have read it once more.")
        return
    wanted: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": session.entered("open-for-delta", 0.0),
        "counting": session.entered("open-for-kind", SUM),
        "neighbours": session.entered("open-for-hidden", "replace_one"),
        "unit": str(session.entered("open-for-unit", PERSON) or "").strip() or PERSON,
        "name": name,
    }
    if _change(lambda ledger: ledger.open_budget(lineage, **wanted), f"The budget of “{words.safe(name)}” is open."):
        session.leave("open-for-name")
        session.leave("open-for-sure")
