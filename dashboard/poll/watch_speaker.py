"""“Alarm, live” on the wall: join, when it would go off in a simulated room, listening, and the alarm. Everything but
announced true counts is made from ``WatchRoom.seen``, in which there are no taps.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.ready import Ready
from dashboard.charts.theme import layout, palette
from dashboard.poll import desk, wall
from dashboard.poll.answering import live
from dashboard.poll.lobby import LOOK, lobby
from dashboard.poll.shown import receipt_below, told
from dashboard.poll.watch import Watch
from dashboard.poll.watch_room import SeenWatch, WatchRoom
from dashboard.widgets.picture import fitted
from dashboard.words import live as said
from dpcore.validate import FloatArray

TAPPING = (0, 10, 25, 50, 75, 100)
_TAPPING = "poll-tapping"


def show(room: WatchRoom) -> None:
    """The whole page of a room with an alarm."""
    seen = room.seen()
    if not wall.on_stage():
        st.caption(said.KINDS["watch"])
    wall.asked(seen.asked.question)
    told()
    if seen.problem:
        started = said.STOPPED if seen.phase == "ended" else said.NOT_STARTED
        st.error(f"{started}{words.safe(seen.problem, 300)}", icon=":material/lock:")
    if seen.phase == "joining":
        _joining(room, seen.asked)
    elif seen.phase == "listening":
        _listening(room)
    elif seen.phase == "kept":
        _kept(room)
    elif seen.receipt is not None:
        _answered(room, seen)
    if not wall.on_stage() or seen.receipt is None:
        _leaving(room, seen)


def _leaving(room: WatchRoom, seen: SeenWatch) -> None:
    desk.leaving(room, ended=seen.phase == "ended", over=seen.receipt is not None)


def _joining(room: WatchRoom, asked: Watch) -> None:
    def below() -> None:
        st.subheader(said.bar_told(asked.bar, asked.looks, asked.seconds), anchor=False)
        desk.button(said.LISTEN, "listen", partial(room.listen, draw=live), ":material/hearing:")
        if wall.on_stage():
            return
        st.markdown(f":material/shield_person: {said.watch_protection(asked.epsilon)}")
        st.markdown(said.truth_coming(asked.counts))

    lobby(room, below)
    if not wall.on_stage():
        _forecast(asked)


def _listening(room: WatchRoom) -> None:
    asked = room.asked

    @st.fragment(run_every=LOOK)
    def now() -> None:
        seen = room.seen()
        if seen.phase != "listening":
            st.rerun()
        st.header(said.listening(max(seen.look, 1), asked.looks), anchor=False)
        st.progress(min(seen.look / asked.looks, 1.0))

    if wall.on_stage():
        left, right = st.columns([2, 3], gap="medium")
        with left:
            now()
            st.markdown(said.bar_told(asked.bar, asked.looks, asked.seconds))
            tapping = _tapping()
        with right:
            _law(asked, tapping, None)
        return
    now()
    st.subheader(said.bar_told(asked.bar, asked.looks, asked.seconds), anchor=False)
    st.markdown(f":material/shield_person: {said.watch_protection(asked.epsilon)}")
    _forecast(asked)


def _kept(room: WatchRoom) -> None:
    @st.fragment(run_every=LOOK)
    def now() -> None:
        if room.seen().phase != "kept":
            st.rerun()
        st.info(said.KEPT, icon=":material/hourglass_top:")

    now()
    st.subheader(said.bar_told(room.asked.bar, room.asked.looks, room.asked.seconds), anchor=False)


def _answered(room: WatchRoom, seen: SeenWatch) -> None:
    receipt, asked = seen.receipt, seen.asked
    if receipt is None:
        return
    look = receipt.answer["look"]
    if wall.on_stage():
        left, right = st.columns([2, 3], gap="medium")
        with left:
            _alarm(asked, look)
            _truth(room, seen, look)
            _leaving(room, seen)
        with right:
            _law(asked, _supposed(), look)
        return
    with st.container(border=True, key="poll-answer"):
        _alarm(asked, look)
        receipt_below(receipt, key="poll")
    _truth(room, seen, look)
    _forecast(asked, look)


def _alarm(asked: Watch, look: int | None) -> None:
    icon = ":material/notifications_off:" if look is None else ":material/notifications_active:"
    st.title(f"{icon} {said.alarm_told(look, asked.seconds)}", anchor=False)
    st.markdown(said.bar_told(asked.bar, asked.looks, asked.seconds))


def _truth(room: WatchRoom, seen: SeenWatch, look: int | None) -> None:
    """The true counts, once they are shown, and until then whether they will be."""
    if seen.counts is not None:
        st.header(said.TRUTH, anchor=False)
        st.warning(said.TRUE_MARK, icon=":material/visibility:")
        st.markdown(said.true_taps(seen.counts.tolist(), seen.asked.bar, look))
    elif seen.asked.counts and seen.phase == "answered":
        desk.button(said.SHOW_TRUTH, "counts", room.show_counts, ":material/visibility:")
    else:
        st.caption(said.truth_coming(seen.asked.counts))


# -- a simulated room --------------------------------------------------------------------------------------------------


def _forecast(asked: Watch, look: int | None = None) -> None:
    """When the alarm would go off if so many tapped: the exact law of the very release, on taps nobody made."""
    told, picture = st.container(), st.columns([5, 2], gap="large")
    with picture[1]:
        tapping = _tapping()
        st.caption(said.watch_cost(asked.epsilon))
    told.markdown(_told(asked, tapping))
    with picture[0]:
        _law(asked, tapping, look)


def _tapping() -> int:
    """How many of 100 are supposed to tap."""
    if session.entered(_TAPPING, None) not in TAPPING:
        session.enter(_TAPPING, _supposed())
    return int(st.select_slider(said.TAPPING, TAPPING, key=_TAPPING, help=said.TAPPING_HELP, persist_state="session"))


def _supposed() -> int:
    """The same where the slider is not drawn."""
    found = session.entered(_TAPPING, None)
    return int(found) if found in TAPPING else 50


def _simulated(asked: Watch, tapping: int) -> FloatArray:
    found: FloatArray = compute.MEMORY(("room alarm", asked, tapping), lambda: asked.law(tapping))
    return found


def _told(asked: Watch, tapping: int) -> str:
    law = _simulated(asked, tapping)
    low, high = middle(law)
    silent, false = float(law[-1]), asked.false_alarm
    return said.watch_forecast(tapping, asked.people, asked.reached(tapping), low, high, silent, false)


def _law(asked: Watch, tapping: int, look: int | None) -> None:
    """The law as a picture; ``look`` is where the alarm went off."""
    st.plotly_chart(
        Ready(fitted(_figure(asked, _simulated(asked, tapping), look))),
        key="poll-alarm-law",
        theme=None,
        alt=_told(asked, tapping).replace("**", ""),
        config={"displayModeBar": False},
    )


def middle(law: FloatArray) -> tuple[int, int]:
    """The looks, from 1, between which 80 of 100 alarms lie, 10 before and 10 after; (1, 0) where there is hardly one.

    ``law`` (looks + 1,): its last entry is silence.
    """
    total = float(law[:-1].sum())
    if total < 0.01:
        return 1, 0
    summed = np.cumsum(law[:-1]) / total
    return int(np.searchsorted(summed, 0.1)) + 1, int(np.searchsorted(summed, 0.9)) + 1


def _figure(asked: Watch, law: FloatArray, look: int | None) -> dict[str, Any]:
    ink = palette(session.dark())
    size = 16
    colours = [ink.bad if place + 1 == look else ink.accent for place in range(asked.looks)]
    return {
        "data": [
            {
                "type": "bar",
                "x": np.arange(1, asked.looks + 1, dtype=np.float32),
                "y": (100 * law[:-1]).astype(np.float32),
                "marker": {"color": colours},
                "hovertemplate": "look %{x}: %{y:.1f} times in 100<extra></extra>",
            }
        ],
        "layout": layout(
            session.dark(),
            height=300,
            xaxis={"title": {"text": said.LOOK_AXIS, "font": {"size": size}}, "range": [0.4, asked.looks + 0.6],
                   "tickfont": {"size": size}},
            yaxis={"title": {"text": said.CHANCE_AXIS, "font": {"size": size}}, "tickfont": {"size": size},
                   "rangemode": "tozero"},
        ),
    }  # fmt: skip
