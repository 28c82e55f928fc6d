"""A phone's page in a room with an alarm: one tap, its protection, and the alarm with its receipt."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard import words
from dashboard.poll import ballot
from dashboard.poll.codes import shown_code
from dashboard.poll.shown import receipt_below, told
from dashboard.poll.watch_room import WatchRoom
from dashboard.words import live as said
from dashboard.words import poll as poll_words


def page(room: WatchRoom, token: str) -> None:
    """The whole page below the browser's own address."""
    seen, own = room.seen(), room.own(token)
    asked, receipt = seen.asked, seen.receipt
    st.caption(f"{poll_words.TITLE} · {shown_code(room.code)}")
    st.title(words.safe(asked.question, 200), anchor=False)
    if receipt is not None:
        with st.container(border=True):
            st.header(said.alarm_told(receipt.answer["look"], asked.seconds), anchor=False)
            receipt_below(receipt, key="poll")
        if seen.counts is not None:
            st.warning(said.TRUE_MARK, icon=":material/visibility:")
            st.markdown(said.true_taps(seen.counts.tolist(), asked.bar, receipt.answer["look"]))
    if seen.phase == "ended":
        st.info(said.ENDED_PHONE)
    elif seen.phase == "kept":
        st.info(said.KEPT)
    elif not own.joined:
        st.info(said.LATE)
    elif receipt is None:
        st.markdown(said.truth_coming(asked.counts))
        _tap(room, token)
    with st.container(border=True):
        st.markdown(f":material/shield_person: {said.watch_protection(asked.epsilon)}")
        st.caption(said.bar_told(asked.bar, asked.looks, asked.seconds))
    with st.expander(poll_words.WHO_SEES):
        st.markdown(said.WHO_WATCH)


@st.fragment
def _tap(room: WatchRoom, token: str) -> None:
    """The one tap; a fragment, so that it draws this part alone."""
    own, waiting = room.own(token), room.seen().phase == "joining"
    ballot.tap(said.TAP, "tap", partial(room.tap, token), mine=own.tapped, disabled=waiting)
    st.markdown(said.NOT_YET_LISTENING if waiting else said.TAPPED if own.tapped else said.NOT_TAPPED)
    told()
