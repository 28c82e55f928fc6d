"""Play, pause and the slider of a picture in steps, by keyboard: Plotly draws them for a pointer alone."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.words import page as said

_SCRIPT = Path(__file__).with_name("stepper.js").read_text(encoding="utf-8")
_STEPPER = st.components.v2.component("epsilon_lab_stepper", html="<span hidden></span>", js=_SCRIPT)


def attach(chart: str) -> None:
    """Keys for the steps (``charts.steps.stepped``) of the chart with this key."""
    _STEPPER(key=f"{chart}-stepper", data={"chart": chart, "buttons": [said.PLAY, said.PAUSE], "slider": said.STEPS})
