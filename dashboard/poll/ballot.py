"""What the phones' pages of the live rooms have in common."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import words
from dashboard.poll.held import PROBLEM
from dashboard.poll.refused import PollRefused
from dashboard.widgets.inputs import primary


def tap(label: str, key: str, act: Callable[[], object], *, mine: bool, disabled: bool = False) -> None:
    """A button as wide as the phone; ``mine`` where this phone has chosen it."""
    st.button(
        primary(label) if mine else label,
        key=f"poll-{key}",
        type="primary" if mine else "secondary",
        icon=":material/check:" if mine else None,
        width="stretch",
        wrap=True,
        disabled=disabled,
        on_click=do,
        args=(act,),
    )


def do(act: Callable[[], object]) -> None:
    """Callback: what cannot be is one sentence."""
    try:
        act()
    except PollRefused as refused:
        PROBLEM.put(words.reason(refused))
