"""The picture moves with the finger: what every step of the ε scale would say, handed to the browser at once.

The native slider stays as it is, for the finger, the keyboard and the screen reader, and the server answers when it is
let go. Until then the browser shows, over the page, the sentences and dots that the very same question gives for the
step under the finger. Where the script does not run, nothing is missing but that.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import session
from dashboard.case import Case
from dashboard.charts.theme import palette, plain
from dashboard.question import Kind, Question
from dashboard.view import View
from dashboard.widgets import cards

MOST_ROWS = 50_000
"""Rows of a table that is still asked for every step; a larger one would make the page wait."""
STALE = ("found", "draw", "uncertain-box")
"""Parts of the page, by the end of their keys, that wait for the server."""
_SCRIPT = Path(__file__).with_name("finger.js").read_text(encoding="utf-8")
_FOLLOW = st.components.v2.component("epsilon_lab_finger", html="<span hidden></span>", js=_SCRIPT)


def follow(question: Question, kind: type[Kind], case: Case, read: session.Reader, axis: str) -> None:
    """Hand the browser every step of the scale for a question that is cheap enough to ask for all of them."""
    view = question.view
    if not question.follows or not isinstance(view, View) or case.table.rows > MOST_ROWS:
        return
    dark = session.dark()
    levels = session.epsilon_levels()
    at = levels.index(case.epsilon)
    set_to = tuple((control.key, repr(session.value(control))) for part in read.placed.values() for control in part)
    known = (kind.key, case.table.fingerprint, case.source.key, set_to, dark)

    def step(level: float) -> dict[str, Any]:
        return case.memo((*known, "finger", level), lambda: told(kind, case, level, dark=dark))

    look = palette(dark)
    _FOLLOW(
        key=f"{view.page}-finger",
        data={
            "page": view.page,
            "at": at,
            "levels": [step(level) for level in levels],
            "chart": f"{view.page}-epsilon" if axis == "epsilon" else "",
            "stale": [
                *([] if axis == "epsilon" else [f"{view.page}-{axis}"]),
                *(f"{view.page}-{part}" for part in STALE),
            ],
            "look": {"soft": look.soft, "risk": look.risk, "paper": look.paper, "accent": look.accent},
        },
    )


def told(kind: type[Kind], case: Case, level: float, *, dark: bool) -> dict[str, Any]:
    """What the page says at this ε: the headline, the odds in words and dots, what one might see, and the point."""
    question = kind.ask(replace(case, epsilon=level), session.Reader())
    view, card = question.view, question.protected
    seen = question.outcomes
    return {
        "said": plain(level),
        "level": level,
        "headline": question.headline,
        "words": [
            ("caption", question.caption),
            ("odds-words", card.lines()[0]),
            ("judged", card.judged),
        ],
        "most": math.ceil(card.odds - 1e-9),
        "value": view.at(view.main) * view.scale.factor if isinstance(view, View) else None,
        "rows": [] if seen is None else [[name, count, ink] for name, count, ink in cards.strips(seen, dark=dark)],
    }
