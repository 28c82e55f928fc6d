"""Points of a chart that can be dragged: the browser lays handles over them, and says where one was let go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.blocks import Drag
from dashboard.charts.theme import palette
from dashboard.controls import FARTHEST, is_number

MOST = 400
"""Points that get a handle."""
_SCRIPT = Path(__file__).with_name("handles.js").read_text(encoding="utf-8")
_HANDLES = st.components.v2.component("epsilon_lab_handles", html="<span hidden></span>", js=_SCRIPT)


def attach(chart: str, drag: Drag) -> None:
    """Handles for the points of the chart with this key."""
    key = f"{chart}-handles"
    _HANDLES(
        key=key,
        data={
            "chart": chart,
            "axes": list(drag.axes),
            "at": [list(one) for one in drag.at[:MOST]],
            "sideways": drag.keys[2] is None,
            "ink": palette(session.dark()).bad,
        },
        on_moved_change=lambda: _moved(key, drag),
    )


def _moved(key: str, drag: Drag) -> None:
    """Callback: a point was let go. What the browser says is checked as anything typed is."""
    found = getattr(session.entered(key, None), "moved", None)
    if not isinstance(found, Mapping):
        return
    told: list[Any] = [found.get(name) for name in ("who", "x", "y")]
    if not all(is_number(one) and abs(one) <= FARTHEST for one in told):
        return
    session.change(drag.keys[0], float(told[0]))
    for axis, control in enumerate(drag.keys[1:]):
        if control is not None:
            session.change(control, drag.place(axis, told[1 + axis]))
