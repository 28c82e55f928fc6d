"""Under the chart: what half and twice the ε would do to accuracy, protection and budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dashboard import replay, words
from dashboard.budget import tracker
from dashboard.case import Source
from dashboard.question import Offer, Question
from dashboard.view import EPSILON_HIGH, EPSILON_LOW
from dashboard.widgets.release import cost_of
from dashboard.words import levels as said

RATIOS = (0.5, 1.0, 2.0)


def beside(question: Question, source: Source) -> None:
    """Draw it, where the question is cheap enough to ask at another ε, or its curve is there."""
    told = table(question, source)
    if told:
        with replay.common(False):  # what is left is one visitor's
            replay.part(("levels", question.view.page, told), lambda: _draw(told, question.view.page))


def _draw(told: str, page: str) -> None:
    with st.container(border=True, key=f"{page}-levels"):
        st.markdown(said.TITLE)
        st.markdown(told)


def table(question: Question, source: Source) -> str:
    """What each level does, in Markdown; "" where it is not known."""
    card, view = question.protected, question.view
    if not question.follows or view.point is None:
        return ""
    ratios = [ratio for ratio in RATIOS if EPSILON_LOW <= ratio * card.epsilon <= EPSILON_HIGH]
    others = [ratio for ratio in ratios if ratio != 1.0]
    found = dict(zip(others, view.heights([ratio * card.epsilon for ratio in others]), strict=True))
    heights = {ratio: view.point if ratio == 1.0 else found[ratio] for ratio in ratios}
    if len(ratios) < 2 or any(height is None for height in heights.values()):
        return ""
    odds = [replace(card, epsilon=ratio * card.epsilon).odds for ratio in ratios]
    rows = [
        (said.measured(view.scale.title), [words.number(height) for height in heights.values() if height is not None]),
        *_also(question, [ratio * card.epsilon for ratio in ratios]),
        (said.GUESS, [words.at_most(one) for one in odds]),
    ]
    if isinstance(question.offer, Offer):
        cost, neighbours = cost_of(question.offer.request), question.offer.request.neighbours
        fit = [tracker.fit_at(source, cost, neighbours, ratio) for ratio in ratios]
        if all(count is not None and count < said.MANY for count in fit):
            rows.append((said.ANSWERS, [f"{count:,}" for count in fit]))
    chosen = ratios.index(1.0)
    rows = [(name, [*cells[:chosen], f"**{cells[chosen]}**", *cells[chosen + 1 :]]) for name, cells in rows]
    return said.table([said.heading(ratio, ratio * card.epsilon) for ratio in ratios], rows)


def _also(question: Question, epsilons: Sequence[float]) -> list[tuple[str, list[str]]]:
    """What else this question tells, a row each; none of which a level is not known."""
    told = {name: [tell(epsilon) for epsilon in epsilons] for name, tell in question.also.items()}
    return [(name, [cell for cell in cells if cell is not None]) for name, cells in told.items() if None not in cells]
