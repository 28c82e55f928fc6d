"""The shape every analysis page has: question, headline, chart beside three cards, and tabs that run only when open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dashboard.panels import tradeoff
from dashboard.panels.tradeoff import View

Piece = str | Callable[[], object]


def sentence(*pieces: Piece) -> None:
    """The question as one sentence in heading size, with its choices (callables that draw a control) inside it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for index, piece in enumerate(pieces):
            if callable(piece):
                piece()
            else:
                # One heading of the first rank, the rest in its size by the theme.
                st.markdown(f"{'#' if index == 0 else '##'} {piece}", width="content")


def answer(headline: str, caption: str) -> None:
    """The headline answer and the one line under it."""
    st.markdown(f"### {headline}")
    st.caption(caption)


def first_screen(view: View, cards: Callable[[], None], controls: Callable[[], None] | None = None) -> None:
    """The chart on the left two thirds, the cards on the right; on a phone the cards follow the chart."""
    left, right = st.columns([2, 1], gap="medium")
    with left:
        if controls is not None:
            controls()
        tradeoff.show(view)
    with right:
        cards()


def tabs(page: str, bodies: Mapping[str, Callable[[], None]]) -> None:
    """Peer views below the chart; only the open one runs."""
    names: Sequence[str] = list(bodies)
    for tab, name in zip(st.tabs(names, key=f"{page}_tab", on_change="rerun"), names, strict=True):
        if tab.open:
            with tab:
                bodies[name]()
