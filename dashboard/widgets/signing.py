"""The page at which people log in, and who is logged in, in the sidebar. Nothing of either without a login."""

from __future__ import annotations

import streamlit as st

from dashboard import login
from dashboard.background import compute
from dashboard.widgets.inputs import primary
from dashboard.words import login as said


def needed() -> bool:
    """Whether whoever is at the page has to log in before they see any other."""
    return login.configured() is not None and login.person() is None


def show() -> None:
    """The page at which to log in."""
    here = login.configured()
    if here is None:
        return
    st.title(said.TITLE)
    st.markdown(said.WHY)
    for name in here.providers:
        st.button(
            primary(f"{said.LOG_IN}: {name}" if name else said.LOG_IN),
            key=f"log-in-{name}",
            icon=":material/login:",
            type="primary",
            on_click=st.login,
            args=(name,) if name else (),
        )


def who() -> None:
    """In the sidebar: who is logged in, as what, and the way out."""
    person = login.person()
    if person is None:
        return
    with st.container(border=True, gap="small"):
        st.caption(f":material/person: {said.shown(person.subject)} · {said.who(compute.roles())}")
        st.button(said.LOG_OUT, key="log-out", icon=":material/logout:", type="tertiary", on_click=st.logout)
