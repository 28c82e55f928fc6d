"""Under the chart stands what more people do at the same ε: what the chart against their number shows there."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard import catalogue, words
from dashboard.controls import Setting
from dashboard.question import CannotAsk, Question
from dashboard.view import View
from dashboard.widgets import levels
from dashboard.words import levels as said
from dpcore.tradeoff import sweep_size
from tests.questions.samples import sample_case

ASKED: list[Any] = [kind for page in catalogue.pages() for kind in catalogue.questions(page.key).values()]


def question(kind: Any) -> Question:
    """Asked of the first sample that suits it."""
    for name in ("clinic", "outbreak", "forecasts"):
        try:
            found: Question = kind.ask(sample_case(name, 0.05), Setting())
        except CannotAsk:
            continue
        return found
    raise AssertionError(kind.key)


@pytest.mark.parametrize("kind", ASKED, ids=[kind.key for kind in ASKED])
def test_more_people_do_what_the_chart_against_their_number_shows(kind: Any) -> None:
    found = question(kind)
    told, view = levels._more(found), found.view
    if not isinstance(view, View) or not found.follows:
        assert told == "", "each size takes models of its own"
        return
    most = float("inf") if view.sizes is None else view.sizes[1]
    sizes = {name: many * view.size for many, name in said.TIMES.items() if many * view.size <= most}
    assert sizes
    for name, size in sizes.items():
        there = sweep_size(view.problem.central, [size], epsilon=0.05, methods=[view.main], metrics=[view.metric])
        height = words.height(float(there["value"].iloc[0]) * view.scale.factor, hundred=view.scale.hundred)
        assert f"with {name} as many ({words.number(size)}): **{height}**" in told


def test_some_are_told() -> None:
    told = [levels._more(question(kind)) for kind in ASKED]
    assert sum(text != "" for text in told) >= len(told) - 2
    assert sum("almost 100" not in text and "**" in text for text in told) >= 3
