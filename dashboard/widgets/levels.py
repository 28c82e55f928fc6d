"""Under the chart: what half and twice the ε would do to accuracy, protection and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dashboard import replay, traces, words
from dashboard.budget import tracker
from dashboard.case import Source
from dashboard.question import Offer, Question
from dashboard.view import EPSILON_HIGH, EPSILON_LOW
from dashboard.widgets.release import cost_of
from dashboard.words import levels as said
from dashboard.words.tracker import MANY


def beside(question: Question, source: Source) -> None:
    """Draw it, where the question is cheap enough to ask at another ε, or its curve is there."""
    page, epsilon = question.view.page, question.protected.epsilon
    ratios = [ratio for ratio in said.NAMES if EPSILON_LOW <= ratio * epsilon <= EPSILON_HIGH]
    rows, more = traces.followed(question, "levels", lambda: (_known(question, ratios), _more(question)), source)
    if not rows:
        return
    told = said.table(ratios, epsilon, [*rows, *_paid(question, source, ratios)])
    if more:
        told = f"{told}\n\n{more}"
    with replay.common(False):  # what is left is one visitor's
        replay.part(("levels", page, told), lambda: _draw(told, page))


def _draw(told: str, page: str) -> None:
    with st.container(border=True, key=f"{page}-levels"):
        st.markdown(said.TITLE)
        st.markdown(told)


def _known(question: Question, ratios: Sequence[float]) -> list[said.Row]:
    """What each level does, whoever asks; nothing where that is not known."""
    card, view = question.protected, question.view
    levels = [ratio * card.epsilon for ratio in ratios]
    heights = view.heights(levels) if question.follows else [None]
    known = [height for height in heights if height is not None]
    if len(known) < len(levels):
        return []
    reached = [words.height(height, hundred=view.scale.hundred) for height in known]
    met = view.enough(known)
    enough = [] if met is None else [(said.enough(average=_average(question)), [said.MET[one] for one in met])]
    odds = [words.at_most(replace(card, epsilon=level).odds) for level in levels]
    guesses = said.guesses(words.guessed(card.neighbours, card.unit))
    return [(said.measured(view.scale.title), reached), *enough, *_also(question, levels), (guesses, odds)]


def _more(question: Question) -> str:
    """What more people would do at the same ε; "" where that is not known at once."""
    view = question.view
    found = view.grown([*said.TIMES]) if question.follows else []
    told = [(size, words.height(height, hundred=view.scale.hundred)) for size, height in found]
    return said.more(view.scale.title, view.size_word, [*said.TIMES], told) if told else ""


def _average(question: Question) -> bool:
    return question.need.found is not None and question.need.found.average


def _also(question: Question, levels: Sequence[float]) -> list[said.Row]:
    """What else this question tells, a row each; none of which a level is not known."""
    told = {name: [tell(level) for level in levels] for name, tell in question.also.items()}
    return [(name, [cell for cell in cells if cell is not None]) for name, cells in told.items() if None not in cells]


def _paid(question: Question, source: Source, ratios: Sequence[float]) -> list[said.Row]:
    """How many answers the budget pays for at each level, where that is a number."""
    if not isinstance(question.offer, Offer):
        return []
    cost, neighbours = cost_of(question.offer.request), question.offer.request.neighbours
    fit = [tracker.fit_at(source, cost, neighbours, ratio) for ratio in ratios]
    counts = [said.answers(found[0], by_delta=found[1]) for found in fit if found is not None and found[0] < MANY]
    return [(said.ANSWERS, counts)] if len(counts) == len(fit) else []
