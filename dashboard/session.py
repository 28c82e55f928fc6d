"""The only writer of ``st.session_state``.

Widget keys that are bound to the link are listed here with their defaults; everything else a session holds has one
typed accessor below.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from dpcore.errors import InvalidArgument
from dpcore.validate import in_range

EPSILON_LOW, EPSILON_HIGH, EPSILON_DEFAULT = 0.01, 10.0, 0.5
_MANTISSAS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
EPSILON_STEPS = (*(round(m * scale, 4) for scale in (0.01, 0.1, 1.0) for m in _MANTISSAS), 10.0)

T = TypeVar("T")


def begin() -> None:
    """Put defaults in place. Call once, first, in every run."""
    state = st.session_state
    state.setdefault("_receipts", {})
    state.setdefault("_request", None)
    state.setdefault("_notes", {})
    state.setdefault("_linked_data", st.query_params.get("data", ""))  # the link forgets a choice there is not


def epsilon() -> float:
    """The privacy level every page uses: what was typed, dragged or linked to, where it lies within the limits."""
    try:
        return in_range(EPSILON_LOW, EPSILON_HIGH, epsilon=st.session_state.get("epsilon", EPSILON_DEFAULT))
    except InvalidArgument:
        return EPSILON_DEFAULT


def epsilon_problem() -> str | None:
    """One sentence when what was typed or linked to cannot be used."""
    try:
        in_range(EPSILON_LOW, EPSILON_HIGH, epsilon=st.session_state.get("epsilon", EPSILON_DEFAULT))
    except InvalidArgument:
        return (
            f"ε must be a number from {EPSILON_LOW:g} to {EPSILON_HIGH:g}; "
            f"the pages use {EPSILON_DEFAULT:g} until you change it."
        )
    return None


def sync_slider() -> None:
    """Put the slider where ε is; call just before it is drawn."""
    st.session_state["_slider"] = epsilon()


def set_epsilon(value: float) -> None:
    """For buttons such as "use this ε"; call from a callback only."""
    st.session_state["epsilon"] = float(min(max(value, EPSILON_LOW), EPSILON_HIGH))


def epsilon_from_slider() -> None:
    set_epsilon(st.session_state["_slider"])


def say(name: str, sentence: str) -> None:
    """Leave a sentence for ``note`` to show."""
    st.session_state["_notes"][name] = sentence


def note(name: str) -> str | None:
    """A sentence about something a link or a control asked for that cannot be; shown once."""
    notes: dict[str, str] = st.session_state["_notes"]
    return notes.pop(name, None)


def put(key: str, value: Any) -> None:
    """Set a widget's value from a callback, or one of this session's own values."""
    st.session_state[key] = value


def get(key: str, default: T) -> T:
    return st.session_state.get(key, default)


def forget(*keys: str) -> None:
    for key in keys:
        st.session_state.pop(key, None)


def remember(key: str, make: Callable[[], T]) -> T:
    """A value made once per session."""
    if key not in st.session_state:
        st.session_state[key] = make()
    return st.session_state[key]


def begin_release(slot: str) -> None:
    """A person wants a release: give it an id that every later click repeats, and forget the last answer.

    One release waits at a time: its question is on screen.
    """
    st.session_state["_request"] = (slot, uuid.uuid4().hex)
    st.session_state["_receipts"].pop(slot, None)


def request_id(slot: str) -> str | None:
    """The id of the release that waits for its confirmation in this place, or None."""
    waiting = st.session_state["_request"]
    return waiting[1] if waiting is not None and waiting[0] == slot else None


def end_release(slot: str) -> None:
    """Nothing waits in this place any more."""
    if request_id(slot) is not None:
        st.session_state["_request"] = None


def release_done(slot: str, receipt: Any) -> None:
    """Keep the receipt on screen until another release is begun."""
    end_release(slot)
    st.session_state["_receipts"][slot] = receipt


def page_opened(name: str) -> None:
    """A release that was waiting on another page is forgotten: nobody looks at it any more."""
    if st.session_state.get("_page") != name:
        st.session_state["_page"] = name
        st.session_state["_request"] = None


def receipt(slot: str) -> Any | None:
    return st.session_state["_receipts"].get(slot)


def next_cost(cost: Any | None, neighbours: str = "") -> None:
    """What one more answer of the page in view would cost, and what it hides; the tracker counts with it."""
    st.session_state["_next_cost"] = None if cost is None else (cost, neighbours)


def dark() -> bool:
    """Whether this person sees the dark appearance."""
    return st.context.theme.type == "dark"
