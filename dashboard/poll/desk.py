"""What the speaker's screens of the live rooms have in common: buttons that open a room and move it on, and its end."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import words
from dashboard.background import compute
from dashboard.budget import tracker, visitor
from dashboard.poll import joining, wall
from dashboard.poll.held import PROBLEM
from dashboard.poll.kinds import PAGE
from dashboard.poll.lobby import reach
from dashboard.poll.refused import PollRefused
from dashboard.poll.rooms import ROOMS, AnyRoom, Declared
from dashboard.poll.shown import told
from dashboard.widgets.inputs import primary
from dashboard.words import live as said
from dashboard.words import poll as poll_words
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger import rate


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
        PROBLEM.put(words.reason(refused))
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        PROBLEM.put(f"{words.reason(error)} {failed}".strip())


def opens(label: str, key: str, declared: Callable[[], Declared], question: str) -> None:
    """The button that opens a room with what is declared, or why no room can be opened now.

    On the stage, where the form is folded away, it stands below the ``question``.
    """
    if wall.on_stage():
        wall.asked(question, below=True)
    closed = tracker.trouble()
    if closed is not None:
        st.error(poll_words.CANNOT_DRAW + words.reason(closed), icon=":material/lock:")
    st.button(
        primary(label) if closed is None else label,
        type="primary",
        icon=":material/qr_code_2:",
        key=key,
        width="stretch",
        disabled=closed is not None,
        on_click=do,
        args=(lambda host: _open(declared(), host),),
    )
    told()
    at = joining.for_phones(PAGE)
    if joining.local(at):
        reach(at)


def _open(declared: Declared, host: str) -> None:
    """Open a room. Raises LedgerError for a visitor who has begun as much as the ledger takes: now, and not when the
    room waits for its answer."""
    ledger = compute.ledger()
    ledger.may_begin(rate.room(declared.answers))
    ledger.note_room(ROOMS.open(declared, host, st.context.ip_address or "").lineage)


def leaving(room: AnyRoom, *, ended: bool, over: bool = False) -> None:
    """How it ends, or what can be done after its end. On the stage only once it is ``over``: space is for the room."""
    if wall.on_stage() and not (ended or over):
        return
    if not wall.on_stage():
        st.space("small")
    if ended:
        st.info(said.ENDED)
        st.button(
            said.ANOTHER,
            key="poll-leave",
            icon=":material/add:",
            help=said.ANOTHER_HELP,
            on_click=do,
            args=(ROOMS.leave,),
        )
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
