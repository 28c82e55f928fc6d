"""Requests for answers that somebody may not take alone: those to decide about, and what became of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.people import login
from dashboard.widgets import approval
from dashboard.widgets.answer import asked, when_utc
from dashboard.widgets.inputs import text_box
from dashboard.words import login as said
from dpcore.datasets.text import safe_cells
from dpcore.errors import DpcoreError
from dpcore.ledger import Budget, Petition
from dpcore.ledger.words import hides

_NOTE = "deciding"
SHOWN = 200


def show_requests() -> None:
    """One box for each that waits for who is logged in or that they made, and a table of the rest, newest first."""
    person = login.person()
    if person is None:
        return
    try:
        ledger = compute.ledger()
        found, budgets = ledger.petitions(), {budget.lineage: budget for budget in ledger.budgets()}
        waiting = {one.request_id for one in ledger.to_decide()}
        open_ = [one for one in found if one.state in ("waiting", "granted") and not one.charged]
        # of a budget that was shared between the two looks nothing is told before the next time
        hindered = {
            one.request_id: approval.hindered(ledger, one, budgets[one.lineage])
            for one in open_
            if one.lineage in budgets
        }
    except DpcoreError as error:
        st.error(words.reason(error), icon=":material/lock:")
        return
    with st.container():  # there with and without a note, so that what stands below keeps its place
        problem = session.note(_NOTE)
        if problem:
            st.info(problem)
    if not found:
        st.info(said.NO_REQUESTS)
        return
    mine = [one for one in found if one.request_id in waiting & hindered.keys()]
    shown = _ends(found, hindered)
    # of what is not shared with who asked any more they see no budget
    shown |= {
        one.request_id: said.NOTHING_TO_DRAW
        for one in open_
        if one.subject == person.subject and one.lineage not in budgets
    }
    st.markdown(f"**{said.waiting(len(mine))}**")
    for petition in mine:
        _box(petition, budgets[petition.lineage], hindered[petition.request_id])
    own = [one for one in found if one.state == "waiting" and one.subject == person.subject]
    if own:
        st.markdown(f"**{said.YOURS}**")
        for petition in own:
            _own(petition, budgets.get(petition.lineage), shown.get(petition.request_id, ""))
    rest = [one for one in reversed(found) if one not in mine and one not in own]
    if rest:
        _table(rest[:SHOWN], budgets, shown)
        if any(one in open_ and one.subject == person.subject and one.request_id not in shown for one in rest):
            st.caption(
                "To draw an answer that was granted, ask the same question with the same choices again: its release "
                "tab has it."
            )


def _ends(found: Sequence[Petition], hindered: Mapping[str, str]) -> dict[str, str]:
    """What stands behind the state of requests that lead to nothing, by id: nothing can be drawn for them, whoever
    grants them, or they were granted in other words than their question had when it was asked for anew."""
    ends, later = {}, set()
    for one in reversed(found):
        question = (one.subject, one.lineage, one.question)
        if hindered.get(one.request_id):
            ends[one.request_id] = said.NOTHING_TO_DRAW
        elif one.state == "granted" and not one.charged and one.question and question in later:
            ends[one.request_id] = said.ASKED_ANEW
        later.add(question)
    return ends


def has_own() -> bool:
    """Whether who is logged in has made requests: theirs to see and to withdraw, whatever their roles are by now."""
    person = login.person()
    try:
        return person is not None and any(one.subject == person.subject for one in compute.ledger().petitions())
    except DpcoreError:
        return False  # the page says that the ledger is closed


def _box(petition: Petition, budget: Budget, hindered: str) -> None:
    """One that waits; ``hindered`` is why nothing can be drawn for it, so that it can be refused alone."""
    key = f"decide-{petition.request_id}"
    now = words.in_100(budget.share_spent)
    charge = budget.charge_for(petition.cost, petition.neighbours)
    after = "" if charge is None or hindered else f" and {words.in_100(budget.after(charge).share_spent)}% would be"
    _, cost = approval.costs(petition, budget)
    with st.container(border=True):
        st.markdown(f"**{asked(petition.what)}**")
        st.markdown(
            f"It costs **{cost}** of “{words.safe(budget.name)}”, of which {now}% is spent now{after}, and hides "
            f"{hides(petition.neighbours, words.safe(petition.unit, 80))}."
        )
        st.markdown(f"Asked by {said.shown(petition.subject)} on {when_utc(petition.time)}.")
        if hindered:
            st.warning(words.safe(hindered, 400))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            text_box("Why? Kept on the record with your decision; a refusal needs it", key=f"{key}-why", most=1000)
            st.button(
                "Grant it",
                key=f"{key}-grant",
                icon=":material/check:",
                disabled=bool(hindered),
                on_click=_decide,
                args=(petition.request_id, True),
            )
            st.button(
                "Refuse it",
                key=f"{key}-refuse",
                icon=":material/block:",
                on_click=_decide,
                args=(petition.request_id, False),
            )


def _own(petition: Petition, budget: Budget | None, end: str) -> None:
    name = petition.lineage if budget is None else budget.name
    _, cost = approval.costs(petition, budget)
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{asked(petition.what)}**  \nIt would cost {cost} of “{words.safe(name)}”; asked on "
            f"{when_utc(petition.time)}{end}."
        )
        st.button(
            said.WITHDRAW,
            key=f"withdraw-{petition.request_id}",
            icon=":material/undo:",
            on_click=_withdraw,
            args=(petition.request_id,),
        )


def _withdraw(request_id: str) -> None:
    """Callback. The ledger asks once more whose it is, and whether somebody decided in the meantime."""
    try:
        compute.ledger().withdraw(request_id)
    except DpcoreError as error:
        session.say(_NOTE, words.reason(error))
        return
    session.say(_NOTE, said.WITHDRAWN_NOW)


def _decide(request_id: str, grant: bool) -> None:
    """Callback. The ledger asks once more who may decide, and takes one decision."""
    why = str(session.entered(f"decide-{request_id}-why", "") or "").strip()
    if not grant and not why:
        session.say(_NOTE, "Say why it is refused; whoever asked reads it.")
        return
    try:
        ledger = compute.ledger()
        if grant:
            ledger.grant(request_id, why)
        else:
            ledger.refuse(request_id, why)
    except DpcoreError as error:
        session.say(_NOTE, words.reason(error))
        return
    session.say(_NOTE, said.GRANTED if grant else "Refused, on the record.")


def _table(found: Sequence[Petition], budgets: dict[str, Budget], ends: Mapping[str, str]) -> None:
    names = {lineage: budget.name for lineage, budget in budgets.items()}
    rows = [
        {
            "Asked (UTC)": one.time[:19].replace("T", " "),
            "By": said.who_is(one.subject, 120),
            "People": words.visible(names.get(one.lineage, one.lineage), 60),
            "Question": words.visible(one.what, 200),
            "Cost": approval.costs(one, budgets.get(one.lineage))[0],
            "State": "drawn" if one.charged else f"{said.STATES[one.state]}{ends.get(one.request_id, '')}",
            "Decided by": said.who_is(one.by, 120),
            "Why": words.visible(one.because, 200),
        }
        for one in found
    ]
    st.dataframe(
        safe_cells(pd.DataFrame(rows)), hide_index=True, alt="Every other request with its state and who decided"
    )
