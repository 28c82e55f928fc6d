"""A question where it stands alone: in large type for a room, or as one chart within somebody else's page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import blocks as values
from dashboard import replay, session, traces, words
from dashboard.case import Case
from dashboard.charts.dots import odds_grid
from dashboard.controls import Control
from dashboard.question import RELEASE, Question, Tab, open_control
from dashboard.scenes import draw_again
from dashboard.scenes.held import STAGE, Stage
from dashboard.view import EPSILON, axis_control
from dashboard.widgets import blocks, cards, controls, inputs
from dashboard.widgets.blocks import Around
from dashboard.widgets.picture import picture
from dashboard.words import page as page_words

Live = Callable[[str, DeltaGenerator, DeltaGenerator], Question]
"""Draws a question that fills in: the axis, the place of its headline, and that of its chart."""


def draw(
    question: Question,
    case: Case,
    around: Around,
    stage: Stage,
    placed: list[Control[Any]],
    places: tuple[DeltaGenerator, DeltaGenerator],
    live: Live,
) -> None:
    """The headline in the first of ``places`` and, in the second, the part that is spoken of.

    ``placed`` are the controls the question asked for; the one whose turn it is, is drawn beside the headline.
    """
    beside, main = places
    axis = session.ask(axis_control(question.view))
    session.ask(open_control(question))
    part = stage.part if stage.kind == "present" else "chart"
    with beside:
        head = st.container()
    if part != "chart" and question.works:
        part = "chart" if part in ("outcomes", "need") else part
    if question.works and part == "chart":
        question = live(axis, head, main)
    elif part == "protected":
        with head:
            st.markdown(question.protected.at_once)
    elif part in ("chart", "outcomes", "need"):  # the headline speaks of these alone
        with head:
            headline(question)
    if part == RELEASE:
        with replay.common(False):  # their answers, and what is left to them
            draw_again.panel(case.source, question.offer, beside, main)
    with main:
        _part(part, question, around, axis, chart=not question.works)
        if stage.kind == "embed":
            st.caption(page_words.MAY_SHOW[case.source.mode])
    with beside:
        _turn(stage.turn, question, placed, around)


def headline(question: Question) -> None:
    """The headline as it stands alone: the heading of a frame, or words below a scene's title."""
    stage = STAGE.get()
    st.markdown(f"# {question.headline}" if stage is not None and stage.kind == "embed" else question.headline)


def _part(part: str, question: Question, around: Around, axis: str, *, chart: bool) -> None:
    if part == "tab":
        _tab(question, around)
    elif part == "protected":
        right, dark = question.protected.odds, session.dark()
        alt = f"100 dots: 50 right guesses before, at most {words.at_most(right)} with the answer."
        grid = replay.kept(("odds on stage", right, dark), lambda: odds_grid(right, dark=dark), large=True)
        picture(grid, key=f"{question.view.page}-odds", alt=alt)
    elif part == "outcomes" and question.outcomes is not None:
        cards.might_see(question.outcomes, key=question.view.page)
    elif chart and part != RELEASE:
        drawn = traces.followed(question, ("picture", axis), lambda: question.view.picture(axis), around.source)
        blocks.chart(drawn, around.mark)


def _tab(question: Question, around: Around) -> None:
    """The first picture of the view below the chart that is open; all of it where it has none."""
    key = session.value(open_control(question))
    if key == RELEASE:
        return
    parts = _blocks(next(tab for tab in question.tabs if tab.key == key), question, around)
    pictures = [part for part in parts if isinstance(part, (values.Picture, values.Slow))]
    blocks.draw_all(pictures[:1] or parts, around)


def _blocks(tab: Tab, question: Question, around: Around) -> Sequence[values.Block]:
    return traces.followed(question, ("tab", tab.key), tab.blocks, around.source)


def _turn(key: str, question: Question, placed: list[Control[Any]], around: Around) -> None:
    """The control that people are invited to move."""
    if key == EPSILON.key:
        inputs.epsilon_slider()
        return
    parts = [one for tab in question.tabs for one in _blocks(tab, question, around)] if key else []
    below = [one for one in parts if isinstance(one, values.Ask)]
    every = [*placed, axis_control(question.view), *(control for part in below for control in part.controls)]
    found = next((control for control in every if control.key == key), None)
    if found is not None:
        controls.draw(found)
