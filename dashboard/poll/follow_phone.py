"""A phone's page in a room that predicts: its team, one tap a round, its protection, and the receipts."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import words
from dashboard.poll import ballot
from dashboard.poll.codes import shown_code
from dashboard.poll.follow_room import FollowRoom, SeenFollow
from dashboard.poll.shown import receipt_below, told
from dashboard.words import live as said
from dashboard.words import poll as poll_words


def page(room: FollowRoom, token: str) -> None:
    """The whole page below the browser's own address."""
    seen, own = room.seen(), room.own(token)
    asked = seen.asked
    st.caption(f"{poll_words.TITLE} · {shown_code(room.code)}")
    st.title(words.safe(asked.question, 200), anchor=False)
    if own.joined:
        st.markdown(said.team_of(own.team, asked.size(own.team, seen.phones)))
    elif seen.phase != "ended":
        st.info(said.LATE)
    if seen.phase == "joining":
        st.markdown(said.truth_coming(asked.counts))
        st.caption(poll_words.WAITING)
    elif seen.phase == "predicting":
        st.header(said.follow_headline(len(seen.plays), asked.rounds, seen.plays[-1]), anchor=False)
        if own.joined:
            _predict(room, token)
    elif seen.phase == "drawing":
        st.caption(poll_words.WAITING)
    else:
        st.info(said.ENDED_PHONE if seen.phase == "ended" else said.FOLLOW_OVER)
    _answers(seen)
    with st.container(border=True):
        spent = asked.spends(seen.phones) if seen.phones >= asked.teams and seen.plays else asked.epsilon
        st.markdown(f":material/shield_person: {said.follow_protection(spent, asked.rounds)}")
    with st.expander(poll_words.WHO_SEES):
        st.markdown(said.WHO_FOLLOW)


@st.fragment
def _predict(room: FollowRoom, token: str) -> None:
    """One tap is a prediction; a fragment, so that a tap draws this part alone."""
    own, outcomes = room.own(token), room.asked.outcomes
    for outcome, name in enumerate(outcomes):
        act = partial(room.predict, token, outcome)
        ballot.tap(words.safe(name), f"predict-{outcome}", act, mine=own.prediction == outcome)
    st.markdown(said.your_prediction(None if own.prediction is None else outcomes[own.prediction]))
    told()


def _answers(seen: SeenFollow) -> None:
    """The teams that were followed, the last receipt to take away, and the truth once it is shown."""
    if not seen.plays:
        return
    st.markdown(said.followed_so_far(seen.plays, tuple(seen.asked.outcomes[one] for one in seen.happened)))
    if seen.losses is not None:
        st.warning(said.TRUE_MARK, icon=":material/visibility:")
        lost, least, best = seen.true_losses()
        st.markdown(said.true_regret(float(lost[-1]), best, float(least[-1])))
    for receipt in seen.receipts[:-1]:
        st.caption(f"{said.receipt_named(receipt.journal_hash[:12])}: {words.safe(str(receipt.answer['team']))}")
    if seen.receipts:
        receipt_below(seen.receipts[-1], key="poll")
