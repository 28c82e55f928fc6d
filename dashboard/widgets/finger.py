"""The picture moves with the finger: what every step of the ε scale would say, handed to the browser at once.

The native slider stays as it is, for the finger, the keyboard and the screen reader, and the server answers when it is
let go. Until then the browser shows, over the page, the sentences and dots that the very same question gives for the
step under the finger. The same finger may move along the chart itself. Where the script does not run, nothing is
missing but that.
"""

from __future__ import annotations

import html
import json
import math
import re
import zlib
from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import made_up, replay, session
from dashboard.case import Case
from dashboard.charts.dots import beside, two_bars_inks
from dashboard.charts.theme import palette, plain
from dashboard.question import Kind, Question
from dashboard.replay import Known, kept
from dashboard.widgets import cards

MOST_ROWS = 50_000
"""Rows of a table that is still asked for every step; a larger one would make the page wait."""
STALE = ("found", "draw", "levels", "price")
"""Parts of the page, by the end of their keys, that wait for the server."""
_SCRIPT = Path(__file__).with_name("finger.js").read_text(encoding="utf-8")
_FOLLOW = st.components.v2.component("epsilon_lab_finger", html="<span hidden></span>", js=_SCRIPT)
_STEPS = st.components.v2.component(
    "epsilon_lab_steps",
    html="<span hidden></span>",
    js=Path(__file__).with_name("steps.js").read_text(encoding="utf-8"),
)
"""What every step says: a message that stays as it is while ε moves, so that it is sent once."""
_BOLD = re.compile(r"(?<!\\)\*\*")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~$:])")


def follows(question: Question, case: Case) -> bool:
    """Whether the page follows the finger here."""
    return question.follows and case.table.rows <= MOST_ROWS


def follow(question: Question, kind: type[Kind], case: Case, read: session.Reader, axis: str) -> None:
    """Hand the browser every step of the scale for a question that is cheap enough to ask for all of them."""
    if not follows(question, case):
        return
    page, dark = question.view.page, session.dark()
    levels = session.epsilon_levels()
    at = levels.index(case.epsilon)
    set_to = tuple((key, repr(held)) for key, held in read.held.items())
    known = (kind.key, *about(case), set_to, dark)

    def step(level: float) -> dict[str, Any]:
        return case.memo((*known, "finger", level), lambda: told(kind, case, level, dark=dark))

    every = (*known, "steps", tuple(levels))
    steps = kept(every, lambda: _steps([step(level) for level in levels]), large=True)
    look, key = palette(dark), f"{page}-finger"
    _STEPS(key=f"{page}-steps", data=steps)
    with replay.asking():
        _FOLLOW(
            key=key,
            data={
                "page": page,
                "at": at,
                "steps": steps["name"],
                "chart": f"{page}-epsilon" if axis == "epsilon" else "",
                "stale": [
                    *([] if axis == "epsilon" else [f"{page}-{axis}"]),
                    *(f"{page}-{part}" for part in STALE),
                ],
                "look": {"soft": look.soft, "risk": look.risk, "paper": look.paper, "accent": look.accent},
            },
            # nothing of the case within it: the browser's last picture outlives a file that is forgotten
            on_epsilon_change=partial(session.epsilon_from_picture, key),
        )


def about(case: Case) -> tuple[Hashable, ...]:
    """All of a case that its steps hang on: nothing that is made anew in every run, for it is remembered by this."""
    source = case.source
    models = tuple((one.receipt, one.when, one.same, one.alone) for one in case.models)
    return (
        *(source.table.fingerprint, source.key, source.title, source.mode, source.practice, source.related),
        *(case.delta, case.hides, case.counting, models),
    )


def _steps(levels: list[dict[str, Any]]) -> Known:
    """The steps under a name that hangs on nothing but what they say."""
    return Known(name=f"{zlib.crc32(json.dumps(levels).encode()):08x}", levels=levels)


def told(kind: type[Kind], case: Case, level: float, *, dark: bool) -> dict[str, Any]:
    """What the page says at this ε: the headline, the odds in words and dots, what one might see, what is uncertain,
    and the point.
    """
    at = replace(case, epsilon=level, brief=True)
    question = made_up.told(kind.ask(at, session.Reader()), at)
    card, seen, unsure = question.protected, question.outcomes, question.uncertain
    said = {"caption": question.caption, "odds-words": card.lines()[0], "judged": card.judged}
    bars: list[list[Any]] = []
    if unsure is not None:
        said["uncertain-box"] = unsure.sentence
        shares = (unsure.noise, unsure.people)
        named = zip(unsure.names, shares, two_bars_inks(dark), strict=True)
        bars = [[name, beside(share, unsure.sign, in_100=unsure.in_100), share, ink] for name, share, ink in named]
    return {
        "said": plain(level),
        "level": level,
        "headline": pieces(question.headline),
        "words": [[key, pieces(text)] for key, text in said.items()],
        "most": math.ceil(card.odds - 1e-9),
        "value": question.view.point,
        "rows": [] if seen is None else [[name, count, ink] for name, count, ink in cards.strips(seen, dark=dark)],
        "bars": bars,
    }


def pieces(text: str) -> list[str]:
    """A sentence in Markdown as plain words: every second piece is bold."""
    return [html.unescape(_ESCAPED.sub(r"\1", part)) for part in _BOLD.split(text)]
