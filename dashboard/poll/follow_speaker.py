"""“Whom to follow, live” on the wall: join, a round at a time with its team, regret that grows, and the truth if it was
announced. Everything but that is made from ``FollowRoom.seen``, in which there are no predictions.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import session, words
from dashboard.charts.growing import growing
from dashboard.charts.ready import Ready
from dashboard.poll import desk, wall
from dashboard.poll.answering import live
from dashboard.poll.follow_room import FollowRoom, SeenFollow
from dashboard.poll.lobby import lobby
from dashboard.poll.shown import receipt_below, told
from dashboard.widgets.picture import fitted
from dashboard.words import live as said

BESTS = (55, 60, 70, 80, 90, 100)
_BEST = "poll-best"


def show(room: FollowRoom) -> None:
    """The whole page of a room that predicts."""
    seen = room.seen()
    if not wall.on_stage():
        st.caption(said.KINDS["follow"])
    wall.asked(seen.asked.question)
    told()
    if seen.phase == "joining":
        _joining(room, seen)
    elif seen.plays:
        _playing(room, seen)
    elif wall.on_stage():
        _leaving(room, seen)
    if not wall.on_stage():
        _leaving(room, seen)


def _leaving(room: FollowRoom, seen: SeenFollow) -> None:
    desk.leaving(room, ended=seen.phase == "ended", over=seen.phase == "over")


def _joining(room: FollowRoom, seen: SeenFollow) -> None:
    asked = seen.asked

    def below() -> None:
        outcomes = " · ".join(words.safe(one) for one in asked.outcomes)
        st.subheader(f"{outcomes} · {words.plural(asked.rounds, 'round')}", anchor=False)
        desk.button(said.START_FOLLOW, "start", room.start, ":material/play_arrow:")
        if wall.on_stage():
            return
        st.markdown(f":material/shield_person: {said.follow_protection(asked.epsilon, asked.rounds)}")
        st.markdown(said.truth_coming(asked.counts))

    lobby(room, below)
    if wall.on_stage():
        return
    best = _best()
    regret, promised = asked.simulated(asked.people, best)[-1], asked.promised(asked.people)[-1]
    told = said.follow_forecast(asked.rounds, asked.people, float(regret), asked.blind(best), float(promised))
    st.markdown(told)
    _suppose()


def _playing(room: FollowRoom, seen: SeenFollow) -> None:
    asked = seen.asked
    left, right = st.columns([2, 3], gap="large")
    if wall.on_stage():
        with left:
            _turn(room, seen)
            _truth(seen)
            _leaving(room, seen)
        with right:
            _regret(seen)
        return
    with left:
        _turn(room, seen)
        with st.container(border=True, key="poll-answer"):
            so_far = said.followed_so_far(seen.plays, tuple(asked.outcomes[one] for one in seen.happened))
            if so_far:
                st.markdown(so_far)
            if seen.receipts:
                receipt_below(seen.receipts[-1], key="poll")
            else:
                st.caption(said.FIRST_DRAWN)
        if seen.phones:
            st.caption(said.follow_cost(asked.spends(seen.phones), asked.epsilon))
    with right:
        _truth(seen)
        _regret(seen)
        _suppose()
        st.caption(said.REGRET_WHY)


def _turn(room: FollowRoom, seen: SeenFollow) -> None:
    """Whom to follow now, and what the speaker does next."""
    asked, done = seen.asked, len(seen.happened)
    if seen.phase == "predicting":
        st.header(said.follow_headline(done + 1, asked.rounds, seen.plays[-1]), anchor=False)
        places = [st.container(), st.container()] if wall.on_stage() else st.columns(2)
        for outcome, (name, column) in enumerate(zip(asked.outcomes, places, strict=True)):
            act, label = partial(_happened, room, done + 1, outcome), words.safe(f"{said.IT_WAS} {name}")
            with column:
                desk.button(label, f"was-{outcome}", act, ":material/flag:", failed=said.DRAW_FAILED)
        return
    st.header(said.FOLLOW_OVER if done == asked.rounds else said.DRAW_NEXT, anchor=False)
    if seen.phase == "drawing":
        act_again = partial(room.follow, draw=live)
        desk.button(said.DRAW_NEXT, "follow", act_again, ":material/casino:", failed=said.DRAW_FAILED)
    elif seen.phase == "over" and asked.counts and seen.losses is None:
        desk.button(said.SHOW_TRUTH, "counts", room.show_losses, ":material/visibility:")


def _happened(room: FollowRoom, number: int, outcome: int, host: str) -> None:
    room.happen(host, number, outcome)
    room.follow(host, live)


# -- regret ------------------------------------------------------------------------------------------------------------


def _best() -> int:
    found = session.entered(_BEST, None)
    return int(found) if found in BESTS else 70


def _suppose() -> None:
    if session.entered(_BEST, None) not in BESTS:
        session.enter(_BEST, 70)
    st.select_slider(said.BEST, BESTS, key=_BEST, help=said.BEST_HELP, persist_state="session")


def _truth(seen: SeenFollow) -> None:
    """What following has truly lost, once it is shown."""
    if seen.losses is None:
        return
    lost, least, best = seen.true_losses()
    st.header(said.TRUTH, anchor=False)
    st.warning(said.TRUE_MARK, icon=":material/visibility:")
    st.markdown(said.true_regret(float(lost[-1]), best, float(least[-1])))


def _regret(seen: SeenFollow) -> None:
    """What is promised and what a simulated room would lose, as far as the rounds have come; and the truth, once it is
    shown."""
    asked, done = seen.asked, len(seen.happened)
    phones = max(seen.phones, asked.teams) if seen.phones else asked.people
    lines = {
        said.PROMISED: asked.promised(phones)[:done].tolist(),
        said.IN_SIMULATED: asked.simulated(phones, _best())[:done].tolist(),
    }
    if seen.losses is not None:
        lost, least, _ = seen.true_losses()
        lines[said.TRULY] = (lost - least).tolist()
    figure = growing(
        lines,
        rounds=asked.rounds,
        dashed=[said.PROMISED],
        x_title=said.ROUND_AXIS,
        y_title=said.REGRET,
        dark=session.dark(),
    )
    now = "; ".join(f"{name}: {words.number(values[-1])}" for name, values in lines.items() if values)
    st.plotly_chart(
        Ready(fitted(figure)),
        key="poll-regret",
        theme=None,
        alt=f"{said.REGRET}, after {words.plural(done, 'round')}. {now}",
        config={"displayModeBar": False},
    )
