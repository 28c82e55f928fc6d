"""The remote control of a deck: keys and clicker, the blank screen, the speaker's window, the focus on a control."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.controls import FARTHEST, is_number
from dashboard.words import scenes as words

_HERE = Path(__file__).parent
_CODE = (_HERE / "remote.js").read_text(encoding="utf-8")
_LOOK = (_HERE / "remote.css").read_text(encoding="utf-8")
KEY = "scene-remote"
_NOTES = f"""
<div class="notes">
  <p data-part="waiting">{words.WAITING}</p>
  <div data-part="shown" hidden>
    <div class="row">
      <button data-part="back">{words.BACK}</button>
      <button data-part="forward">{words.NEXT}</button>
      <button data-part="blank">{words.BLANK}</button>
      <span data-part="clock" role="timer" aria-label="{words.CLOCK}">0:00</span>
      <strong data-part="dark" hidden>{words.BLANKED}</strong>
    </div>
    <div data-part="place"></div>
    <h2 data-part="title"></h2>
    <p data-part="sentence"></p>
    <p data-part="notes"></p>
    <div class="next">{words.AFTER}: <strong data-part="next"></strong></div>
  </div>
</div>
"""

_STAGE_COMPONENT = st.components.v2.component("epsilon_lab_stage", css=_LOOK, js=_CODE)
_NOTES_COMPONENT = st.components.v2.component("epsilon_lab_notes", html=_NOTES, css=_LOOK, js=_CODE)


def control(data: dict[str, Any], go: Callable[[int], None]) -> None:
    """Listen for keys and for the speaker's window; ``go`` is called with the number of the scene that is asked for.

    ``data`` is what the speaker's window shows, and where the deck stands (``number`` of ``count``).
    """

    def asked() -> None:
        found = getattr(session.entered(KEY, None), "go", None)
        if is_number(found) and abs(found) <= FARTHEST:
            go(int(found))

    _STAGE_COMPONENT(key=KEY, data={"role": "stage", **data}, on_go_change=asked, height=1)


def notes() -> None:
    """The speaker's window: drawn and kept up to date by the browser alone."""
    _NOTES_COMPONENT(key="speaker-notes", data={"role": "notes"}, on_go_change=lambda: None)
