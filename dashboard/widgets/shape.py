"""The shape every analysis page has: question, headline, chart beside three cards, and tabs that run only when open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.widgets import tradeoff
from dashboard.widgets.tradeoff import View

Piece = str | Callable[[], object]


@dataclass(frozen=True, slots=True)
class Screen:
    """The first screen's places, made in the order they are seen and filled in the order they can be.

    ``options`` is beside the switch of the axis, so that a page can read its options before anything is computed.
    """

    head: DeltaGenerator
    axis: DeltaGenerator
    options: DeltaGenerator
    chart: DeltaGenerator
    cards: DeltaGenerator

    def answer(self, headline: str, caption: str) -> None:
        """The headline answer and the one line under it."""
        with self.head:
            st.markdown(f"### {headline}")
            st.caption(caption)

    def show(self, view: View, cards: Callable[[], None]) -> None:
        """The chart on the left two thirds, the cards on the right; on a phone the cards follow the chart."""
        with self.axis:
            axis = tradeoff.axis_switch(view)
        with self.chart:
            tradeoff.show(view, axis)
        with self.cards:
            cards()


def screen() -> Screen:
    """Lay out the first screen under the question."""
    head = st.container(gap="xsmall")
    left, right = st.columns([2, 1], gap="medium")
    with left:
        toolbar = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        axis, options = toolbar.container(width="content"), toolbar.container(width="content")
        chart = st.container()
    return Screen(head=head, axis=axis, options=options, chart=chart, cards=right)


def sentence(*pieces: Piece) -> None:
    """The question as one sentence in heading size, with its choices (callables that draw a control) inside it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for index, piece in enumerate(pieces):
            if callable(piece):
                piece()
            else:
                # One heading of the first rank, the rest in its size by the theme; none is a place to link to.
                write = st.title if index == 0 else st.header
                write(piece, anchor=False, width="content")


def tabs(page: str, bodies: Mapping[str, Callable[[], None]]) -> None:
    """Peer views below the chart; only the open one runs."""
    names: Sequence[str] = list(bodies)
    for tab, name in zip(st.tabs(names, key=f"{page}_tab", on_change="rerun"), names, strict=True):
        if tab.open:
            with tab:
                bodies[name]()
