"""The page at which people log in, and who is logged in, in the sidebar. Nothing of either without a login."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.background import compute
from dashboard.people import login, wanted
from dashboard.widgets.inputs import primary
from dashboard.words import login as said
from dpcore.errors import DpcoreError

_BUDGET = Path(__file__).parents[1] / "app_pages" / "budget.py"


def show() -> None:
    """The page at which to log in."""
    here = login.configured()
    if here is None:
        return
    st.title(said.TITLE)
    st.markdown(said.WHY)
    if told := said.NO_LOGIN.get(_why()):
        st.warning(told)
    for provider in here.issuers:
        name = "" if provider == login.DEFAULT else provider
        st.button(
            primary(f"{said.LOG_IN}: {name}" if name else said.LOG_IN),
            key=f"log-in-{name}",
            icon=":material/login:",
            type="primary",
            on_click=st.login,
            args=(name,) if name else (),
        )


def _why() -> str:
    """The word for why the login that ended here came to nothing, as the browser says it: anybody may have written
    it."""
    return str(st.context.cookies.get(wanted.NO_LOGIN, ""))


def who() -> None:
    """In the sidebar: who is logged in, as what, and the way out."""
    person = login.person()
    if person is None:
        return
    with st.container(border=True, gap="small"):
        st.markdown(f":material/person: {said.shown(person.subject)} · {said.who(compute.roles())}")
        if waiting := _waiting():
            st.page_link(_BUDGET, label=said.waiting(waiting), icon=":material/how_to_reg:")
        st.button(said.LOG_OUT, key="log-out", icon=":material/logout:", type="tertiary", on_click=login.log_out)


def _waiting() -> int:
    """How many requests wait for who is logged in to decide."""
    if "owner" not in compute.roles():
        return 0
    try:
        return len(compute.ledger().to_decide())
    except DpcoreError:
        return 0  # the budget's own place says that the ledger is closed
