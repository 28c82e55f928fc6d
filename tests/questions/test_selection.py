"""The questions of Selection as values: what is promised is what would be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dashboard import catalogue, words
from dashboard.controls import Choice, Setting
from dashboard.question import CannotAsk, NoOffer, Offer, Question
from dashboard.questions.selection.best_rule import BestRule
from dashboard.questions.selection.candidates import candidates
from dashboard.questions.selection.most_common import MostCommon
from dashboard.questions.selection.most_common_controls import METHODS
from dashboard.questions.selection.quantile import Quantile
from dashboard.view import View
from dashboard.words import best_rule as rule_words
from dashboard.words import most_common as said
from dashboard.words import quantile as said_of_quantiles
from dpcore.selection import QuantileProblem
from tests.questions.samples import KEYS, sample_case

SUITED = ("clinic", "town", "meeting_dates", "election", "digits")


def asked(kind: Any, sample: str, epsilon: float = 0.5, **values: Any) -> Question:
    return kind.ask(sample_case(sample, epsilon), Setting(values))


def faults(question: Question, sample: str, method: str, epsilon: float) -> list[str]:
    """What a page would say wrongly about the release of ``question``; computed from the sample, not from the page."""
    offer = question.offer
    assert isinstance(offer, Offer)
    case, about = sample_case(sample), METHODS[method].about
    found = candidates(case.table, getattr(offer.request, "column", None) or offer.request.score)
    mechanism = METHODS[method](
        epsilon=epsilon,
        sensitivity=found.sensitivity,
        monotonic=offer.request.neighbours == "add_remove" and found.one_way,
    )
    right = float(mechanism.probabilities(found.scores)[found.scores == found.scores.max()].sum())
    wrong = []
    if offer.request.rule != about.release:
        wrong.append("another method is drawn than the one chosen")
    if offer.forecast != said.forecast(right):
        wrong.append("the forecast is not the law of what is drawn")
    if offer.request.cost != mechanism.cost:
        wrong.append("the cost is not the mechanism's")
    rows = offer.data()
    drawn, scores = offer.request.law(rows), offer.request.read(rows)
    if not np.isclose(float(drawn[scores == scores.max()].sum()), right, atol=1e-12):
        wrong.append("the request's law is not the mechanism's")
    return wrong


@pytest.mark.parametrize("kind", [MostCommon, BestRule])
@pytest.mark.parametrize("method", METHODS)
def test_theory_never_says_more_than_the_method_in_use_keeps(kind: Any, method: str) -> None:
    """The theorem on the page is that of the method on the page, at every ε of the scale."""
    chosen = "rule_method" if kind is BestRule else "selection_method"
    view = asked(kind, "clinic", **{chosen: method}).view
    assert view.main == method
    for epsilon in (0.02, 0.1, 0.5, 2.0, 10.0):
        at = np.array([epsilon]), np.array([float(view.problem.n)])
        for name, metric in view.problem.metrics.items():
            exact = float(view.problem.evaluate(method, name, *at).value[0])
            bound = float(view.problem.evaluate("theory", name, *at).value[0])
            assert bound <= exact + 1e-12 if metric.higher else bound >= exact - 1e-12, (epsilon, name)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("sample", SUITED)
def test_what_is_promised_is_what_is_drawn(sample: str, relation: str, epsilon: float) -> None:
    for method, kind in METHODS.items():
        question = asked(MostCommon, sample, epsilon, selection_method=method, neighbours=relation)
        if kind.about.release is None:
            assert isinstance(question.offer, NoOffer)
            assert question.offer.instead is not None
            assert METHODS[str(question.offer.instead[1])].about.release is not None
        else:
            assert faults(question, sample, method, epsilon) == []


def test_a_swapped_method_is_caught() -> None:
    question = asked(MostCommon, "clinic", selection_method="exponential")
    assert isinstance(question.offer, Offer)
    swapped = replace(
        question, offer=replace(question.offer, request=replace(question.offer.request, rule="permute_and_flip"))
    )
    assert "another method is drawn than the one chosen" in faults(swapped, "clinic", "exponential", 0.5)
    assert "the cost is not the mechanism's" in faults(swapped, "clinic", "exponential", 0.5)


def test_edits_change_the_picture_and_never_the_release() -> None:
    plain = asked(MostCommon, "clinic")
    edits = {"edit-clinic-complaint": (5.0, 90.0, *[1.0] * 5), "what_if_factor": 3.0, "what_if_questions": 4.0}
    edited = asked(MostCommon, "clinic", **edits)
    assert edited.headline != plain.headline
    assert isinstance(plain.offer, Offer)
    assert isinstance(edited.offer, Offer)
    assert edited.offer.request == plain.offer.request
    assert edited.offer.forecast == plain.offer.forecast


@pytest.mark.parametrize("method", [key for key, kind in METHODS.items() if kind.about.release])
def test_the_rule_is_drawn_by_the_method_chosen(method: str) -> None:
    question = asked(BestRule, "clinic", rule_method=method)
    offer = question.offer
    assert isinstance(offer, Offer)
    errors = -offer.request.read(offer.data())
    law = METHODS[method](epsilon=0.5, monotonic=True).probabilities(-errors)
    people = sample_case("clinic").table.rows
    assert offer.forecast == rule_words.forecast(float(law @ errors) / people)
    assert offer.request.cost == METHODS[method](epsilon=0.5).cost


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_a_quantile_is_promised_as_it_is_drawn(relation: str) -> None:
    question = asked(Quantile, "clinic", quantile_neighbours=relation)
    offer = question.offer
    assert isinstance(offer, Offer)
    values = sample_case("clinic").table.numbers(offer.request.column)
    law = offer.request.law(offer.data())
    steps = np.cumsum(law)
    grid = offer.request.grid
    low, high = (float(grid[np.searchsorted(steps, share)]) for share in (0.25, 0.75))
    assert said_of_quantiles.forecast((low, high), "years") == offer.forecast
    assert words.number(low) in offer.forecast
    assert words.number(high) in offer.forecast
    problem = QuantileProblem(
        values=values, low=offer.request.low, high=offer.request.high, q=0.5, relation=relation, tolerance=1.0
    )
    assert offer.request.cost.epsilon == problem.mechanism(0.5).cost.epsilon


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [MostCommon, Quantile, BestRule])
@pytest.mark.parametrize("sample", KEYS)
def test_every_sample_opens_or_says_why_not(kind: Any, sample: str) -> None:
    try:
        question = asked(kind, sample)
    except CannotAsk as error:
        question, why = None, str(error)
    if question is None:
        assert why.endswith(".")
        return
    for tab in question.tabs:
        assert tab.blocks()
    for axis in question.view.axes:
        picture = question.view.picture(axis)
        assert picture.alt
        assert picture.figure(False)["data"]


@pytest.mark.parametrize("kind", [MostCommon, Quantile, BestRule])
def test_every_option_of_every_control_asks(kind: Any) -> None:
    read = Setting()
    kind.ask(sample_case("clinic"), read)
    for key, (_, control) in read.seen.items():
        for option in _options(control):
            try:
                question = asked(kind, "clinic", **{key: option})
            except CannotAsk:
                continue
            assert question.headline


def _options(control: Any) -> list[Any]:
    return list(control.options)[:6] if isinstance(control, Choice) else []


def test_the_same_choices_give_the_same_question() -> None:
    values: Mapping[str, Any] = {"selection_method": "exponential"}
    one, other = asked(MostCommon, "clinic", **values), asked(MostCommon, "clinic", **values)
    assert (one.headline, one.caption, one.protected) == (other.headline, other.caption, other.protected)
    assert isinstance(one.offer, Offer)
    assert isinstance(other.offer, Offer)
    assert one.offer.request == other.offer.request


@pytest.mark.parametrize("epsilon", [0.02, 0.2])
def test_dots_of_a_quantile_are_good_as_often_as_the_headline_says(epsilon: float) -> None:
    """Only those in the same part of the scale as the truth were: 7 of 50 blue, under a headline of 99.9 in 100."""
    question = catalogue.questions("selection")["quantile"].ask(sample_case("clinic", epsilon), Setting())
    seen = question.outcomes
    assert seen is not None
    assert sum(seen.chances) == pytest.approx(1.0)
    good = sum(chance for chance, one in zip(seen.chances, seen.good, strict=True) if one)
    assert isinstance(question.view, View)
    assert good == pytest.approx(question.view.at("quantile", "success"), abs=1e-9)
