"""The speaker opens a room that predicts, or one with an alarm: all that is declared before anybody says anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session
from dashboard.background.once import once
from dashboard.charts.theme import plain
from dashboard.poll import desk
from dashboard.poll.asked import FEWEST_PEOPLE, LONGEST_OPTION, LONGEST_QUESTION, MOST_PEOPLE
from dashboard.poll.follow import FEWEST_ROUNDS, FEWEST_TEAMS, MOST_ROUNDS, MOST_TEAMS, Follow
from dashboard.poll.rooms import Declared
from dashboard.poll.watch import FEWEST_LOOKS, LONGEST, MOST_LOOKS, SHORTEST, Watch
from dashboard.widgets.inputs import text_box
from dashboard.words import live as said
from dashboard.words import poll as poll_words
from dpcore.threads import NoThread, begun

LEVELS = (0.5, 1.0, 2.0, 3.0, 5.0)
_FOLLOW: Mapping[str, object] = {
    "question": said.FIRST_FOLLOW,
    "first": "heads",
    "second": "tails",
    "rounds": 8,
    "teams": 3,
    "people": 30,
    "epsilon": 1.0,
    "counts": False,
}
_WATCH: Mapping[str, object] = {
    "question": said.FIRST_WATCH,
    "bar": 10,
    "looks": 30,
    "seconds": 2.0,
    "people": 30,
    "epsilon": 1.0,
    "counts": False,
}


def follow_form(place: DeltaGenerator | None = None) -> None:
    """The form of a room that predicts; the button that opens it stands in ``place``."""
    with suppress(NoThread):  # then the lobby waits for them
        _loaded()
    left, right = _form(said.FOLLOW_WHY, "follow", _FOLLOW)
    with left:
        _question("follow", said.FOLLOW_QUESTION)
        for column, name in zip(st.columns(2), ("first", "second"), strict=True):
            key = _key("follow", name)
            with column:
                text_box(f"{said.OUTCOMES}: {name}", key=key, most=LONGEST_OPTION, persist_state="session")
        rounds, teams = st.columns(2)
        with rounds:
            _whole("follow", "rounds", said.ROUNDS, FEWEST_ROUNDS, MOST_ROUNDS)
        with teams:
            _whole("follow", "teams", said.TEAMS, FEWEST_TEAMS, MOST_TEAMS, said.TEAMS_HELP)
    with right:
        _right(
            "follow",
            said.FOLLOW_EPSILON,
            lambda epsilon: said.follow_protection(epsilon, _number("follow", "rounds", 8)),
            lambda: Follow(
                question=_text("follow", "question"),
                outcomes=(_text("follow", "first"), _text("follow", "second")),
                rounds=_number("follow", "rounds", 0),
                teams=_number("follow", "teams", 0),
                people=_number("follow", "people", 0),
                epsilon=_level("follow"),
                counts=bool(session.entered(_key("follow", "counts"), False)),
            ),
            place,
        )


@once()
def _loaded() -> None:
    """Once per server: while the form is filled in, load the compiled loops that the lobby's forecast waits for."""
    first = Follow(question=said.FIRST_FOLLOW)
    begun(partial(first.blind, 50), "loops of the experts")


def watch_form(place: DeltaGenerator | None = None) -> None:
    """The form of a room with an alarm; the button that opens it stands in ``place``."""
    left, right = _form(said.WATCH_WHY, "watch", _WATCH)
    with left:
        _question("watch", said.WATCH_QUESTION)
        _whole("watch", "bar", said.BAR, 1, MOST_PEOPLE, said.BAR_HELP)
        looks, seconds = st.columns(2)
        with looks:
            _whole("watch", "looks", said.LOOKS, FEWEST_LOOKS, MOST_LOOKS)
        seconds.number_input(
            said.SECONDS, SHORTEST, LONGEST, step=0.5, key=_key("watch", "seconds"), persist_state="session"
        )
    with right:
        _right(
            "watch",
            said.WATCH_EPSILON,
            said.watch_protection,
            lambda: Watch(
                question=_text("watch", "question"),
                bar=_number("watch", "bar", 0),
                looks=_number("watch", "looks", 0),
                seconds=float(session.entered(_key("watch", "seconds"), 2.0) or 0.0),
                people=_number("watch", "people", 0),
                epsilon=_level("watch"),
                counts=bool(session.entered(_key("watch", "counts"), False)),
            ),
            place,
        )


def _key(form: str, name: str) -> str:
    return f"poll-{form}-{name}"


def _form(why: str, form: str, first: Mapping[str, object]) -> list[DeltaGenerator]:
    for name, value in first.items():
        if session.entered(_key(form, name), None) is None:
            session.enter(_key(form, name), value)
    st.markdown(why)
    return st.columns([3, 2], gap="large")


def _question(form: str, label: str) -> None:
    text_box(label, key=_key(form, "question"), most=LONGEST_QUESTION, height=80, persist_state="session", lines=True)


def _whole(form: str, name: str, label: str, low: int, high: int, help_text: str | None = None) -> None:
    st.number_input(label, low, high, step=1, key=_key(form, name), help=help_text, persist_state="session")


def _right(
    form: str,
    level: str,
    protection: Callable[[float], str],
    make: Callable[[], Declared],
    place: DeltaGenerator | None,
) -> None:
    """How many people, ε with what it protects, whether the truth comes, and the button that opens the room."""
    _whole(form, "people", said.PEOPLE, FEWEST_PEOPLE, MOST_PEOPLE, said.PEOPLE_HELP)
    key = _key(form, "epsilon")
    st.select_slider(level, LEVELS, key=key, format_func=plain, help=poll_words.EPSILON_HELP, persist_state="session")
    st.markdown(f":material/shield_person: {protection(_level(form))}")
    counts = _key(form, "counts")
    st.checkbox(said.COUNTS_LABEL, key=counts, help=said.COUNTS_LABEL_HELP, persist_state="session")
    place = place or st.container()
    st.caption(poll_words.RULES_LIVE)
    with place:
        desk.opens(said.OPEN_FOLLOW, _key(form, "open"), make, _text(form, "question"))


def _text(form: str, name: str) -> str:
    return str(session.entered(_key(form, name), "") or "")


def _number(form: str, name: str, otherwise: int) -> int:
    found = session.entered(_key(form, name), None)
    return int(found) if isinstance(found, int | float) else otherwise


def _level(form: str) -> float:
    found = session.entered(_key(form, "epsilon"), None)
    return float(found) if isinstance(found, int | float) else 1.0
