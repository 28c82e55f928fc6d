"""The speaker's page, as the room sees it on the wall: join, guess, forecast, and the one private answer.

Until the answer, everything here is made from ``Room.seen`` and the declaration, in which there are no votes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import visitor
from dashboard.charts.ready import Ready
from dashboard.charts.tally import tally
from dashboard.charts.theme import EPSILON_TITLE, palette
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.poll import desk, follow_speaker, forecast, wall, watch_speaker
from dashboard.poll.answering import answer
from dashboard.poll.asked import Poll
from dashboard.poll.follow_room import FollowRoom
from dashboard.poll.kinds import ROOM
from dashboard.poll.live_opening import follow_form, watch_form
from dashboard.poll.lobby import LOOK, lobby
from dashboard.poll.opening import opening
from dashboard.poll.room import GUESSES, Phase, Room, Seen
from dashboard.poll.rooms import ROOMS, AnyRoom
from dashboard.poll.shown import guess_question, receipt_below, told, true_counts
from dashboard.poll.watch_room import WatchRoom
from dashboard.view import describe_at
from dashboard.widgets import controls
from dashboard.widgets.picture import picture
from dashboard.words import poll as said
from dpcore.releases.selection import MostCommonOption

_SCALE = Scale(title=said.CURVE_TITLE, factor=100.0, unit=" times in 100", hundred=True)
_LEAD = "poll-lead"
_FORMS: Mapping[str, Callable[..., None]] = {"vote": opening, "follow": follow_form, "watch": watch_form}


def show() -> None:
    """The whole page."""
    room, kind = ROOMS.of_host(visitor.token()), session.ask(ROOM)
    wall.close()
    if wall.on_stage() and (room is None or room.kind != kind):
        _scene(room, kind)
        return
    if not wall.on_stage():
        wall.large(kind if room is None else room.kind)
    if room is None:
        st.title(said.TITLE, anchor=False)
        controls.draw(ROOM)
        _FORMS[kind]()
        return
    try:
        _shown(room)
    except Exception:
        desk.leaving(room, ended=False, over=True)  # whatever a room fails by, its speaker is not left with it
        raise


def _shown(room: AnyRoom) -> None:
    match room:
        case Room():
            _polled(room)
        case FollowRoom():
            follow_speaker.show(room)
        case WatchRoom():
            watch_speaker.show(room)


def _scene(other: AnyRoom | None, kind: str) -> None:
    """A room on the stage before it is open: one click with what is filled in, and all of it behind another."""
    wall.scene()
    opens = st.container()
    if other is not None:
        opens.caption(said.OTHER_ROOM)
    with st.expander(said.DECLARED):
        _FORMS[kind](opens)


def _polled(room: Room) -> None:
    seen = room.seen()
    if not wall.on_stage():
        _steps(seen.phase)
    wall.asked(seen.poll.question)
    told()
    if seen.phase == "voting":
        _voting(room, seen)
    elif seen.phase == "guessing":
        _guessing(room, seen)
    elif seen.receipt is not None:
        _answered(room, seen)
    elif seen.phase == "forecast":
        _forecast(room, seen)
    desk.leaving(room, ended=seen.phase == "ended", over=seen.receipt is not None)


def _steps(phase: Phase) -> None:
    names = [f"**{name}**" if key == phase else f":gray[{name}]" for key, name in said.STEPS.items() if key != "ended"]
    st.markdown("  ›  ".join(names) + ("  ›  **Ended**" if phase == "ended" else ""))


# -- voting ------------------------------------------------------------------------------------------------------------


def _voting(room: Room, seen: Seen) -> None:
    def below() -> None:
        if seen.poll.choices:
            st.subheader(" · ".join(words.safe(said.choice(choice)) for choice in seen.poll.choices), anchor=False)
        if not wall.on_stage():
            st.markdown(f":material/shield_person: {said.protection(seen.poll.epsilon)}")
            st.markdown(said.counts_coming(seen.poll.counts))
        desk.button(said.TO_GUESS, "to-guess", room.close_voting, ":material/how_to_vote:")

    lobby(room, below)


# -- guessing ----------------------------------------------------------------------------------------------------------


def _guessing(room: Room, seen: Seen) -> None:
    st.header(guess_question(seen.poll), anchor=False)
    _guesses(room)
    if not wall.on_stage():
        st.caption(said.GUESS_SEEN)
    desk.button(said.TO_FORECAST, "to-forecast", room.show_forecast, ":material/show_chart:")


@st.fragment(run_every=LOOK)
def _guesses(room: Room) -> None:
    counts = room.seen().guesses
    names = [said.guess_name(guess) for guess in GUESSES]
    told = "; ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
    st.plotly_chart(
        Ready(tally(names, counts, size=23 if wall.on_stage() else 20, dark=session.dark())),
        key="poll-guesses",
        theme=None,
        alt=f"The room's guesses. {told}.",
        config={"displayModeBar": False},
    )


# -- the forecast ------------------------------------------------------------------------------------------------------


def _lead(poll: Poll) -> int:
    found = session.entered(_LEAD, None)
    return int(found) if found in forecast.LEADS else forecast.usual_lead(poll)


def _chance(poll: Poll, lead: int) -> float:
    return compute.MEMORY(("poll-chance", poll, lead), lambda: forecast.chance(poll, lead))


def _forecast(room: Room, seen: Seen) -> None:
    poll, lead = seen.poll, _lead(seen.poll)
    told = said.forecast(poll.form, poll.near, poll.people, _chance(poll, lead), poll.epsilon)
    if wall.on_stage():
        right, left = st.columns([2, 3], gap="medium")
        with left:
            _curve(poll, lead)
        with right:
            st.markdown(told)
            _guessed(seen)
            _draw(room)
        return
    st.header(told.replace("**", ""), anchor=False)
    left, right = st.columns([5, 2], gap="large")
    with left:
        _curve(poll, lead)
    with right:
        if poll.choices:
            if session.entered(_LEAD, None) not in forecast.LEADS:
                session.enter(_LEAD, lead)
            st.select_slider(said.LEAD, forecast.LEADS, key=_LEAD, help=said.LEAD_HELP, persist_state="session")
        st.caption(said.SIMULATED)
        _guessed(seen)
        st.markdown(said.cost(poll.epsilon))
        _draw(room)


def _draw(room: Room) -> None:
    desk.button(said.DRAW, "draw", partial(room.release, draw=answer), ":material/casino:", failed=said.DRAW_AGAIN)


def _guessed(seen: Seen) -> None:
    given = sum(seen.guesses)
    if given:
        most = max(range(len(GUESSES)), key=lambda place: seen.guesses[place])
        st.markdown(said.room_guessed(given, said.guess_name(GUESSES[most]), seen.guesses[most]))


def _curve(poll: Poll, lead: int) -> None:
    frame = compute.MEMORY(("poll-curve", poll, lead), lambda: forecast.curve(poll, lead))
    names, dark = {"poll": said.CURVE_NAME}, session.dark()
    picture(
        tradeoff(
            frame,
            x="epsilon",
            x_title=EPSILON_TITLE,
            scale=_SCALE,
            names=names,
            colour={"poll": palette(dark).accent},
            main="poll",
            chosen=poll.epsilon,
            dark=dark,
        ),
        key="poll-curve",
        alt=describe_at(frame, names, _SCALE, "epsilon", poll.epsilon, f"ε = {words.number(poll.epsilon)}"),
        data=None if wall.on_stage() else frame,
    )


# -- the answer --------------------------------------------------------------------------------------------------------


def _answered(room: Room, seen: Seen) -> None:
    receipt, poll = seen.receipt, seen.poll
    if receipt is None:
        return
    with st.container(border=True, key="poll-answer"):
        st.markdown(f"**{said.ANSWER}**")
        st.title(said.private_answer(poll.form, receipt.answer), anchor=False)
        st.markdown(said.sure(_chance(poll, _lead(poll)), poll.form, poll.near))
        if isinstance(poll.request, MostCommonOption) and not wall.on_stage():
            st.caption(said.bound(poll.request.error_bound().number))
        receipt_below(receipt, key="poll")
    _guessed(seen)
    if seen.counts is not None:
        true_counts(seen)
    elif seen.phase == "answered" and poll.counts:
        desk.button(said.SHOW_COUNTS, "counts", room.show_counts, ":material/visibility:")
    elif not poll.counts and not wall.on_stage():
        st.caption(said.counts_coming(poll.counts))
