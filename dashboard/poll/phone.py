"""The phone's page: one question, one tap; its own protection; and, after the release, the answer and its receipt."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.charts.laws import chances, curves
from dashboard.charts.ready import Ready
from dashboard.charts.theme import palette
from dashboard.people.browser_token import PHONE as COOKIE
from dashboard.people.browser_token import BrowserToken
from dashboard.poll import along, ballot, follow_phone, forecast, joining, watch_phone
from dashboard.poll.asked import Poll, Vote
from dashboard.poll.codes import GO, PARAMETER, plain_code, shown_code
from dashboard.poll.follow_room import FollowRoom
from dashboard.poll.held import PHONE, PROBLEM
from dashboard.poll.refused import Elsewhere, PollRefused
from dashboard.poll.room import GUESSES, Room, Seen
from dashboard.poll.rooms import ROOMS, AnyRoom
from dashboard.poll.shown import guess_question, receipt_below, told, true_counts
from dashboard.poll.watch_room import WatchRoom
from dashboard.widgets.apart import apart
from dashboard.widgets.inputs import primary, text_box
from dashboard.words import poll as said

LOOK = 2.0
"""Seconds between two looks whether the speaker has moved on."""
NAME = 18
"""Characters of a choice's name that a phone's picture has room for."""
_TYPED, _NUMBER = "poll-code", "poll-number"
_KEPT = BrowserToken(COOKIE, PHONE)


def wanted() -> bool:
    """Whether this window is a phone's: its address asks to join."""
    return PARAMETER in st.query_params


def show() -> None:
    """The whole page."""
    _KEPT.remember()
    asked = st.query_params.get(PARAMETER, "")
    if not plain_code(asked):
        _ask_for_code()
        return
    try:
        room = ROOMS.enter(asked, _KEPT.value())
        room.join(_KEPT.value())
    except Elsewhere as elsewhere:
        _lead(plain_code(asked), str(elsewhere))
        return
    except PollRefused as refused:
        _ask_for_code(words.reason(refused))
        return
    stage = room.stage
    match room:
        case Room():
            _page(room)
        case FollowRoom():
            follow_phone.page(room, _KEPT.value())
        case WatchRoom():
            watch_phone.page(room, _KEPT.value())
    if stage[0] != "ended":
        _watch(room, stage)


@st.fragment(run_every=LOOK)
def _watch(room: AnyRoom, stage: tuple[object, ...]) -> None:
    """Follow the speaker; costs next to nothing while nothing has changed."""
    if room.stage != stage:
        st.rerun()


def _lead(code: str, why: str) -> None:
    """To the replica of a room, by a link that says so: what this browser has open here stays behind.

    A page that was loaded by such a link is here because that replica does not answer, so it goes no further.
    """
    if GO in st.query_params:
        _ask_for_code(why)
        return
    st.title(said.JOIN_TITLE, anchor=False)
    st.info(said.AT_ANOTHER)
    there = joining.address("", code, go=along.proof(code, _KEPT.value()))
    st.link_button(primary(said.ENTER), there, type="primary", width="stretch")


def _ask_for_code(why: str = "") -> None:
    st.title(said.JOIN_TITLE, anchor=False)
    if why:
        st.warning(why)
    text_box(said.CODE, key=_TYPED, most=20, placeholder="ABCD-2345")
    st.button(primary(said.ENTER), type="primary", key="poll-enter", width="stretch", on_click=_enter)


def _enter() -> None:
    """Callback: the code goes into the address, so that a reload finds the room again."""
    st.query_params[PARAMETER] = plain_code(str(session.entered(_TYPED, "") or ""))
    if GO in st.query_params:
        del st.query_params[GO]


def _page(room: Room) -> None:
    seen = room.seen()
    st.caption(f"{said.TITLE} · {shown_code(room.code)}")
    st.title(words.safe(seen.poll.question, 200), anchor=False)
    own = room.own(_KEPT.value())
    if seen.receipt is not None:
        _answered(room, seen)
    elif seen.phase == "ended":
        st.info(said.ENDED_WITHOUT)
    elif not own.joined:
        st.info(said.LATE)
        st.caption(said.WAITING)
    elif seen.phase == "voting":
        st.markdown(said.counts_coming(seen.poll.counts))
        _ballot(room)
    elif seen.phase == "guessing":
        st.markdown(said.WAIT_CLOSED)
        _guesses(room)
    else:
        st.markdown(said.WAIT_CLOSED)
        st.markdown(said.WAIT_FORECAST)
    if own.joined:
        _protection(seen.poll)
        _otherwise(room)
    with st.expander(said.WHO_SEES):
        st.markdown(said.WHO_SEES_TEXT)


# -- voting and guessing -----------------------------------------------------------------------------------------------


@st.fragment
def _ballot(room: Room) -> None:
    """One tap is a vote; a fragment, so that a tap draws this part alone."""
    own = room.own(_KEPT.value())
    if room.poll.choices:
        for place, choice in enumerate(room.poll.choices):
            label, mine = words.safe(said.choice(choice)), own.vote == choice
            ballot.tap(label, f"vote-{place}", partial(room.vote, _KEPT.value(), choice), mine=mine)
    else:
        _number(room, own.vote)
    st.markdown(said.NONE_YET if own.vote is None else said.your_vote(own.vote))
    if own.vote is not None:
        take_back = partial(room.vote, _KEPT.value(), None)
        st.button(said.TAKE_BACK, type="tertiary", key="poll-take-back", on_click=ballot.do, args=(take_back,))
    told()


def _in(room: Room, key: str) -> str:
    """The key of what was typed or chosen in this room, and stands in no other."""
    return f"{key}-{room.code}"


def _number(room: Room, vote: Vote | None) -> None:
    poll, key = room.poll, _in(room, _NUMBER)
    if session.entered(key, None) is None and vote is not None:
        session.enter(key, float(vote))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            f"{said.value(poll.low)} to {said.value(poll.high)}",
            min_value=float(poll.low),
            max_value=float(poll.high),
            value=None,
            step=float(poll.step),
            format="%g",
            key=key,
        )
        st.button(primary(said.SEND), type="primary", key="poll-send", on_click=_send, args=(room,))


def _send(room: Room) -> None:
    """Callback: what stands in the field is the vote."""
    typed: float | None = session.entered(_in(room, _NUMBER), None)
    if typed is None:
        PROBLEM.put(said.outside(room.poll.low, room.poll.high))
        return
    ballot.do(partial(room.vote, _KEPT.value(), float(typed)))


@st.fragment
def _guesses(room: Room) -> None:
    own = room.own(_KEPT.value())
    st.markdown(f"**{guess_question(room.poll)}**")
    for guess in GUESSES:
        act = partial(room.guess, _KEPT.value(), guess)
        ballot.tap(said.guess_name(guess), f"guess-{guess}", act, mine=own.guess == guess)
    st.caption(said.GUESS_PUBLIC)
    told()


# -- protection, and the answer ----------------------------------------------------------------------------------------


def _protection(poll: Poll) -> None:
    with st.container(border=True):
        st.markdown(f":material/shield_person: {said.protection(poll.epsilon)}")


@st.fragment
def _otherwise(room: Room) -> None:
    """What this vote changes: the law with it, and with another in its place, in a simulated room."""
    if not st.toggle(said.OTHERWISE, key=_in(room, "poll-otherwise")):
        return
    poll, mine = room.poll, room.own(_KEPT.value()).vote
    other = _other(poll, mine, _in(room, "poll-other"))
    found = forecast.otherwise(poll, forecast.usual_lead(poll), mine, other)
    st.markdown(said.told(found.told, found.allowed))
    laws, labels = {"mine": found.mine, "other": found.other}, {"mine": said.MINE, "other": said.OTHER}
    dark = session.dark()
    colour = {"mine": palette(dark).accent, "other": palette(dark).series[1]}
    figure: Any
    if poll.choices:
        names = [words.html(said.choice(outcome), NAME) for outcome in poll.outcomes]
        figure = chances(names, laws, labels, colour, dark=dark)
        figure["layout"]["height"] += 40  # the legend takes two rows on a phone
        best = max(range(len(names)), key=lambda place: abs(found.mine[place] - found.other[place]))
        alt = f"{names[best]}: {_share(found.mine[best])} as you voted, {_share(found.other[best])} otherwise."
    else:
        scaled = {key: 100 * law for key, law in laws.items()}
        figure = curves(
            poll.grid, scaled, labels, colour, x_title="private median", y_title="times in 100", steps=(), dark=dark
        )
        alt = "The chances of every private median, with your vote and with another in its place."
    st.plotly_chart(Ready(figure), key="poll-otherwise-chart", theme=None, alt=alt, config={"displayModeBar": False})
    st.caption(said.OTHERWISE_NOTE)


def _share(chance: float) -> str:
    return words.times_in_100(float(chance))


def _other(poll: Poll, mine: Vote | None, key: str) -> Vote | None:
    if poll.choices:
        rest: list[Vote | None] = [choice for choice in poll.choices if choice != mine]
        if mine is not None:
            rest.append(None)
        return st.selectbox(
            said.OTHERWISE_OTHER,
            rest,
            key=key,
            format_func=apart(rest, lambda one: said.NO_VOTE if one is None else said.choice(str(one))),
        )
    found = st.slider(
        said.OTHERWISE_OTHER,
        float(poll.low),
        float(poll.high),
        float(poll.high if mine is None or float(mine) < (poll.low + poll.high) / 2 else poll.low),
        float(poll.step),
        format="%g",
        key=key,
    )
    return poll.checked(float(found))


def _answered(room: Room, seen: Seen) -> None:
    receipt = seen.receipt
    if receipt is None:
        return
    with st.container(border=True):
        st.markdown(f"**{said.ANSWER}**")
        st.header(said.private_answer(seen.poll.form, receipt.answer), anchor=False)
        receipt_below(receipt, key="poll")
    if seen.counts is not None:
        true_counts(seen)
    if seen.phase == "ended":
        st.caption(said.ENDED_AFTER)
