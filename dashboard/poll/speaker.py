"""The speaker's page, as the room sees it on the wall: join, guess, forecast, and the one private answer.

Until the answer, everything here is made from ``Room.seen`` and the declaration, in which there are no votes.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import visitor
from dashboard.charts.ready import Ready
from dashboard.charts.tally import tally
from dashboard.charts.theme import EPSILON_TITLE, palette
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.poll import desk, follow_speaker, forecast, watch_speaker
from dashboard.poll.answering import answer
from dashboard.poll.asked import Poll
from dashboard.poll.follow_room import FollowRoom
from dashboard.poll.live_opening import follow_form, watch_form
from dashboard.poll.lobby import LOOK, lobby
from dashboard.poll.opening import opening
from dashboard.poll.room import GUESSES, Phase, Room, Seen
from dashboard.poll.rooms import ROOMS
from dashboard.poll.shown import guess_question, receipt_below, told, true_counts
from dashboard.poll.watch_room import WatchRoom
from dashboard.view import describe_at
from dashboard.widgets.picture import picture
from dashboard.words import live as live_words
from dashboard.words import poll as said
from dpcore.releases.selection import MostCommonOption

_SCALE = Scale(title=said.CURVE_TITLE, factor=100.0, unit=" times in 100", hundred=True)
_LEAD = "poll-lead"


def show() -> None:
    """The whole page."""
    room = ROOMS.of_host(visitor.token())
    match room:
        case None:
            st.title(said.TITLE, anchor=False)
            _forms()
        case Room():
            _polled(room)
        case FollowRoom():
            follow_speaker.show(room)
        case WatchRoom():
            watch_speaker.show(room)


def _forms() -> None:
    """What the room will do, and what is declared for it."""
    kind = st.segmented_control(
        live_words.KIND,
        list(live_words.KINDS),
        key="poll-kind",
        format_func=lambda kind: live_words.KINDS[kind],
        default="vote",
        persist_state="session",
    )
    {"follow": follow_form, "watch": watch_form}.get(str(kind), opening)()


def _polled(room: Room) -> None:
    seen = room.seen()
    _steps(seen.phase)
    st.title(words.safe(seen.poll.question, 200), anchor=False)
    told()
    if seen.phase == "voting":
        _voting(room, seen)
    elif seen.phase == "guessing":
        _guessing(room, seen)
    elif seen.receipt is not None:
        _answered(room, seen)
    elif seen.phase == "forecast":
        _forecast(room, seen)
    desk.leaving(room, ended=seen.phase == "ended")


def _steps(phase: Phase) -> None:
    names = [f"**{name}**" if key == phase else f":gray[{name}]" for key, name in said.STEPS.items() if key != "ended"]
    st.markdown("  ›  ".join(names) + ("  ›  **Ended**" if phase == "ended" else ""))


# -- voting ------------------------------------------------------------------------------------------------------------


def _voting(room: Room, seen: Seen) -> None:
    def below() -> None:
        if seen.poll.choices:
            st.subheader(" · ".join(words.safe(said.choice(choice)) for choice in seen.poll.choices), anchor=False)
        st.markdown(f":material/shield_person: {said.protection(seen.poll.epsilon)}")
        st.markdown(said.counts_coming(seen.poll.counts))
        desk.button(said.TO_GUESS, "to-guess", room.close_voting, ":material/how_to_vote:")

    lobby(room, below)


# -- guessing ----------------------------------------------------------------------------------------------------------


def _guessing(room: Room, seen: Seen) -> None:
    st.header(guess_question(seen.poll), anchor=False)
    _guesses(room)
    st.caption(said.GUESS_SEEN)
    desk.button(said.TO_FORECAST, "to-forecast", room.show_forecast, ":material/show_chart:")


@st.fragment(run_every=LOOK)
def _guesses(room: Room) -> None:
    counts = room.seen().guesses
    names = [said.guess_name(guess) for guess in GUESSES]
    told = "; ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
    st.plotly_chart(
        Ready(tally(names, counts, size=20, dark=session.dark())),
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
    st.header(
        said.forecast(poll.form, poll.near, poll.people, _chance(poll, lead), poll.epsilon).replace("**", ""),
        anchor=False,
    )
    left, right = st.columns([5, 2], gap="large")
    with left:
        _curve(poll, lead)
    with right:
        if poll.choices:
            if session.entered(_LEAD, None) not in forecast.LEADS:
                session.enter(_LEAD, lead)
            st.select_slider(said.LEAD, forecast.LEADS, key=_LEAD, help=said.LEAD_HELP)
        st.caption(said.SIMULATED)
        _guessed(seen)
        st.markdown(said.cost(poll.epsilon))
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
        data=frame,
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
        if isinstance(poll.request, MostCommonOption):
            st.caption(said.bound(poll.request.error_bound().number))
        receipt_below(receipt, key="poll")
    _guessed(seen)
    if seen.counts is not None:
        true_counts(seen)
    elif seen.phase == "answered" and poll.counts:
        desk.button(said.SHOW_COUNTS, "counts", room.show_counts, ":material/visibility:")
    elif not poll.counts:
        st.caption(said.counts_coming(poll.counts))
