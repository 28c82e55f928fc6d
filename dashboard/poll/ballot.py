"""What the phones' pages of the live rooms have in common."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.poll.held import PROBLEM, problem
from dashboard.poll.refused import PollRefused
from dashboard.widgets.inputs import primary


def tap(label: str, key: str, act: Callable[[], None], *, mine: bool, disabled: bool = False) -> None:
    """A button as wide as the phone; ``mine`` where this phone has chosen it."""
    st.button(
        primary(label) if mine else label,
        key=f"poll-{key}",
        type="primary" if mine else "secondary",
        icon=":material/check:" if mine else None,
        width="stretch",
        wrap=True,
        disabled=disabled,
        on_click=_do,
        args=(act,),
    )


def _do(act: Callable[[], None]) -> None:
    """Callback."""
    try:
        act()
    except PollRefused as refused:
        PROBLEM.put(str(refused))


def told() -> None:
    """What could not be, once."""
    found = problem()
    if found:
        st.warning(found)
