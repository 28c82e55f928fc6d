"""The speaker opens a poll: what is asked, and all that is declared before anybody votes."""

from __future__ import annotations

from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session
from dashboard.charts.theme import plain
from dashboard.poll import desk
from dashboard.poll.asked import FEWEST_PEOPLE, LONGEST_QUESTION, MOST_PEOPLE, Form, Poll
from dashboard.widgets.inputs import text_box
from dashboard.words import poll as said

LONGEST_LIST = 2_000
"""Characters of all options: more than a poll takes, so that it is said what is too much."""
LEVELS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0)
_FIRST: dict[str, object] = {
    "question": "",
    "form": "options",
    "options": "",
    "low": 0.0,
    "high": 10.0,
    "step": 1.0,
    "people": 30,
    "epsilon": 0.5,
    "counts": False,
}


def _key(name: str) -> str:
    return f"poll-{name}"


def opening(place: DeltaGenerator | None = None) -> None:
    """The form. Its entries are this session's until the poll is open; the button that opens it stands in ``place``."""
    bundled = said.bundled()
    first = next(iter(bundled))
    if session.entered(_key("form"), None) is None:
        _fill(first)
    st.markdown(said.WHY)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.selectbox(
            said.START_FROM,
            [*bundled, said.OWN],
            key=_key("start"),
            persist_state="session",
            on_change=lambda: _fill(str(session.entered(_key("start"), first))),
        )
        text_box(
            said.QUESTION,
            key=_key("question"),
            most=LONGEST_QUESTION,
            height=80,
            persist_state="session",
            lines=True,
        )
        st.radio(
            said.ANSWERS,
            get_args(Form),
            key=_key("form"),
            format_func=lambda form: said.FORMS[form],
            persist_state="session",
        )
        form = session.entered(_key("form"), "options")
        if form == "options":
            text_box(
                said.OPTIONS, key=_key("options"), most=LONGEST_LIST, height=130, persist_state="session", lines=True
            )
        elif form == "number":
            for column, name, label in zip(
                st.columns(3), ("low", "high", "step"), (said.LOW, said.HIGH, said.STEP), strict=True
            ):
                column.number_input(label, key=_key(name), format="%g", persist_state="session")
    with right:
        st.number_input(
            said.PEOPLE,
            FEWEST_PEOPLE,
            MOST_PEOPLE,
            step=1,
            key=_key("people"),
            help=said.PEOPLE_HELP,
            persist_state="session",
        )
        st.select_slider(
            said.EPSILON,
            LEVELS,
            key=_key("epsilon"),
            format_func=plain,
            help=said.EPSILON_HELP,
            persist_state="session",
        )
        st.markdown(f":material/shield_person: {said.protection(float(session.entered(_key('epsilon'), 0.5)))}")
        st.checkbox(said.COUNTS, key=_key("counts"), help=said.COUNTS_HELP, persist_state="session")
        place = place or st.container()
        st.caption(said.RULES)
    with place:
        desk.opens(said.OPEN, _key("open"), _declared, str(session.entered(_key("question"), "")))


def _fill(title: str) -> None:
    """Put a bundled poll into the form; one of one's own keeps what stands there."""
    found = said.bundled().get(title)
    if found is None:
        return
    for name, value in (_FIRST | found).items():
        if name in found or session.entered(_key(name), None) is None:
            session.enter(_key(name), value)


def _declared() -> Poll:
    """What stands in the form. Raises PollRefused."""

    def entry(name: str) -> object:
        return session.entered(_key(name), _FIRST[name])

    form = str(entry("form"))
    lines = tuple(line for line in str(entry("options") or "").splitlines() if line.strip())
    return Poll(
        question=str(entry("question") or ""),
        form=form,  # type: ignore[arg-type]  # checked by the poll
        options=lines if form == "options" else (),
        **{name: _number(entry(name)) for name in ("low", "high", "step", "epsilon")},
        people=int(_number(entry("people"))),
        counts=bool(entry("counts")),
    )


def _number(entry: object) -> float:
    """What a number's field holds; an empty one is no number, which the poll refuses."""
    return float(entry) if isinstance(entry, int | float) else float("nan")
