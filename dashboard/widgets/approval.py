"""Answers that a person may not take alone: asked for, and drawn once an owner of the budget has granted them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import words
from dashboard.background import compute
from dashboard.people import login
from dashboard.widgets.answer import cost_words, when_utc
from dashboard.widgets.inputs import primary
from dashboard.words import login as said
from dpcore.ledger import Budget, Ledger, Petition
from dpcore.ledger.approvals import OUTGROWN
from dpcore.ledger.terms import ENDED
from dpcore.release import Request, asked_before


def closed(found: Budget) -> str:
    """Why nothing can be asked of this budget by who is logged in, in a sentence; empty where it can."""
    person = login.person()
    if found.practice or person is None:
        return ""
    now = compute.ledger().terms(found.lineage)
    if now.ended:
        return ENDED
    if not now.at_least(person.subject, "ask"):
        return said.NOT_FOR_ASKING
    why = compute.no_files()
    return words.reason(why) if why else ""


def above(found: Budget, request: Request) -> str:
    """Why this answer takes who is logged in above what they may take alone; empty where it does not. Raises
    LedgerError."""
    person = login.person()
    if found.practice or person is None:
        return ""
    ledger = compute.ledger()
    if not ledger.needs_approval(found.lineage, request.cost, request.neighbours):
        return ""
    now = ledger.terms(found.lineage)
    return said.above(now.limit_for(person.subject), raised=person.subject in now.lower)


def latest(found: Budget, request: Request) -> Sequence[Petition]:
    """The requests of who is logged in for this very question that were not drawn yet (``asked_before``). Raises
    LedgerError."""
    person = login.person()
    if found.practice or person is None:
        return ()
    return asked_before(compute.ledger(), found.lineage, request)


def costs(petition: Petition, found: Budget | None) -> tuple[str, str]:
    """What a request took of its budget when it was asked, and what it takes now, as that counts it."""
    now = None if found is None else found.counted(petition.cost, petition.neighbours)
    asked = petition.counted or now or petition.cost
    return cost_words(asked), cost_words(now or asked)


def hindered(ledger: Ledger, petition: Petition, budget: Budget) -> str:
    """Why nothing can be drawn for a request, whoever grants it; empty where something can. Raises LedgerError."""
    return petition.hindered(budget, ledger.terms(budget.lineage), ledger.protects(budget.lineage))


def told(petition: Petition, draw: Callable[[str], None], found: Budget, *, key: str) -> None:
    """What became of a request; ``draw`` is a callback that releases it under its request id. Of one that was charged
    and not drawn its charge tells (``budget.unanswered``)."""
    if petition.charged:
        return
    if petition.state in ("waiting", "granted") and petition.unfit:
        why = said.outgrown(*costs(petition, found)) if petition.unfit == OUTGROWN else petition.unfit
        st.info(why, icon=":material/replay:")
    elif petition.state == "waiting":
        st.info(said.waits(when_utc(petition.time)), icon=":material/hourglass_top:")
        st.button(said.LOOK_AGAIN, key=f"{key}-look", icon=":material/refresh:", type="tertiary")
    elif petition.state == "refused":
        st.warning(said.refused(petition.by, petition.because), icon=":material/block:")
    elif petition.state == "withdrawn":
        st.info(said.WITHDRAWN, icon=":material/undo:")
    else:
        st.success(said.granted(petition.by, petition.because), icon=":material/how_to_reg:")
        st.caption(said.DRAWN_FROM_THIS)
        st.button(
            primary(said.DRAW_GRANTED),
            key=f"{key}-granted",
            type="primary",
            icon=":material/casino:",
            on_click=draw,
            args=(petition.request_id,),
        )
