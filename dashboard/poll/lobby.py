"""The speaker's screen while phones join: the code, the short address, how many are in, and what comes next."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.poll import joining, wall
from dashboard.poll.codes import shown_code
from dashboard.poll.kinds import PAGE
from dashboard.poll.rooms import AnyRoom
from dashboard.words import poll as said

LOOK = 1.0
"""Seconds between two looks at how many phones are in."""


def lobby(room: AnyRoom, below: Callable[[], None]) -> None:
    """The code on the left; on the right how to join, how many are in, and what ``below`` draws."""
    at = joining.for_phones(PAGE)
    code, beside = st.columns([2, 3], gap="large")
    with code:
        st.image(joining.qr(joining.address(at, room.code)), width="stretch", alt=f"QR code: join with {room.code}")
    with beside:
        st.header(said.JOIN, anchor=False)
        st.title(f"`{joining.typed(at)}`", anchor=False)
        st.title(f"`{shown_code(room.code)}`", anchor=False)
        if not wall.on_stage():
            reach(at)
        _phones(room)
        below()


def reach(at: str) -> None:
    """What the speaker must know about the address ``at`` that phones are sent to."""
    if joining.local(at):
        st.warning(said.LOCAL_ON_STAGE if wall.on_stage() else said.LOCAL, icon=":material/wifi_off:")
    elif at != joining.here(PAGE):
        st.warning(said.elsewhere(joining.typed(at).split("/")[0]), icon=":material/wifi:")


@st.fragment(run_every=LOOK)
def _phones(room: AnyRoom) -> None:
    """How many phones are in: all that is shown of them."""
    st.header(said.phones(room.seen().phones), anchor=False, help=said.PHONES_WHY)
