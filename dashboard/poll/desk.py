"""What the speaker's screens of the live rooms have in common: buttons that move the room on, and its end."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import words
from dashboard.budget import tracker, visitor
from dashboard.poll.held import PROBLEM
from dashboard.poll.refused import PollRefused
from dashboard.poll.rooms import ROOMS, AnyRoom
from dashboard.widgets.inputs import primary
from dashboard.words import live as said
from dpcore.errors import DpcoreError, LedgerUnsound


def button(label: str, key: str, act: Callable[[str], object], icon: str, *, failed: str = "") -> None:
    """A large button; ``act`` is given the speaker's secret. ``failed`` is said after what the ledger refuses."""
    st.button(
        primary(label),
        type="primary",
        key=f"poll-{key}",
        icon=icon,
        on_click=do,
        args=(act,),
        kwargs={"failed": failed},
        width="stretch",
        wrap=True,
    )


def do(act: Callable[[str], object], *, failed: str = "") -> None:
    """Callback: act as the speaker; what cannot be is one sentence."""
    try:
        act(visitor.token())
    except PollRefused as refused:
        PROBLEM.put(str(refused))
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        PROBLEM.put(f"{words.sentence(error)} {failed}".strip())


def leaving(room: AnyRoom, *, ended: bool) -> None:
    """How it ends, or what can be done after its end."""
    st.space("small")
    if ended:
        st.info(said.ENDED)
        st.button(said.ANOTHER, key="poll-leave", icon=":material/add:", on_click=do, args=(ROOMS.leave,))
        return
    st.button(
        said.END,
        key="poll-end",
        type="tertiary",
        icon=":material/stop_circle:",
        help=said.END_HELP,
        on_click=do,
        args=(room.end,),
    )
