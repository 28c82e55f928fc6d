"""The two uncertainties: privacy noise, and having only these people."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from dashboard import catalogue, words
from dashboard.case import Case
from dashboard.charts.dots import beside, two_bars
from dashboard.controls import Setting
from dashboard.question import CannotAsk
from dashboard.questions.experts import other_rounds
from dashboard.questions.selection import most_common, most_common_setting
from dashboard.questions.selection.learned import DRAWS, Learned, worse_elsewhere
from dashboard.words.usual import redrawn
from dpcore.datasets import Column, Declaration, Schema, Table
from dpcore.memory import Memory
from dpcore.selection import QuantileProblem
from dpcore.selection.rules import Cuts, RuleClass
from tests.questions.samples import sample_case


def test_another_choice_is_best_as_often_as_the_law_says() -> None:
    """Two choices, one of them cheaper by 1 in 60 of 100 rounds and dearer by 1 in 40: binomial (4 standard errors)."""
    costs = np.array([[0.0, 1.0]] * 60 + [[1.0, 0.0]] * 40)
    other = sum(math.comb(100, wins) * 0.6**wins * 0.4 ** (100 - wins) for wins in range(50))
    found = other_rounds.another_best(costs, seed=3)
    assert found == pytest.approx(other, abs=4 * math.sqrt(other * (1 - other) / other_rounds.DRAWS))
    assert other_rounds.another_best(costs, seed=3) == found


def test_a_tie_is_no_other_choice() -> None:
    assert other_rounds.another_best(np.zeros((20, 3)), seed=1) == 0.0
    assert not other_rounds.few_enough(np.zeros((20_001, 2)))


@pytest.mark.parametrize(
    ("page", "key", "name"),
    [
        ("selection", "most_common", "clinic"),
        ("selection", "quantile", "clinic"),
        ("selection", "best_rule", "clinic"),
        ("thresholding", "alarm", "outbreak"),
        ("experts", "follow", "forecasts"),
        ("experts", "fixed_choice", "clinic"),
    ],
)
def test_noise_goes_with_more_epsilon_and_people_stay(page: str, key: str, name: str) -> None:
    kind = catalogue.questions(page)[key]
    few, many = (kind.ask(sample_case(name, level), Setting()).uncertain for level in (0.05, 10.0))
    assert few is not None
    assert many is not None
    assert few.noise > many.noise
    assert few.people == many.people
    for found in (few, many):
        assert re.findall(r"of 100", found.sentence)
        assert f"{100 * found.noise:.0f} of 100" in found.sentence or "fewer than 1 of 100" in found.sentence
        assert "drawn" in found.sentence or "calculated" in found.sentence.lower()


def test_another_median_is_as_far_off_as_all_draws_say() -> None:
    """Every one of the draws of five values from five, counted."""
    values = np.array([1.0, 2.0, 2.5, 4.0, 7.0])
    problem = QuantileProblem(values=values, low=0.0, high=10.0, tolerance=1.0)
    middles = np.median(np.array(list(itertools.product(values, repeat=5))), axis=1)
    assert problem.elsewhere() == pytest.approx((np.abs(middles - 2.5) > 1.0).mean(), abs=1e-12)


def test_another_rule_is_better_elsewhere_as_often_as_the_law_says() -> None:
    """Two rules that err on different people: the difference of their errors is nearly normal (4 standard errors)."""
    rows, near = 400, 0.01
    first, second = np.arange(rows) < 100, np.arange(rows) >= rows - 104
    mistakes = np.stack([first, second]).astype(float)
    learned = Learned(
        rules=RuleClass(columns=(Cuts(column="age", low=0.0, high=90.0, count=2),)),
        names=("a", "b"),
        errors=mistakes.sum(axis=1),
        people=rows,
    )
    spread = math.sqrt(rows * float(np.var(mistakes[0] - mistakes[1])))
    other = float(ndtr((-4.0 - near * rows) / spread))
    found = worse_elsewhere(learned, np.cov(mistakes, bias=True), near)
    assert found == pytest.approx(other, abs=4 * math.sqrt(other * (1 - other) / DRAWS))


def test_the_error_of_what_is_drawn_is_said() -> None:
    assert redrawn(0.5, 1000) == "drawn 1,000 times, to within 3.2 in 100"
    assert redrawn(0.0, 1000) == "drawn 1,000 times, to within 0.2 in 100"


def test_bars_carry_their_numbers() -> None:
    assert [beside(one) for one in (0.001, 0.23)] == ["<1 in 100", "23 in 100"]
    assert [beside(one, "±") for one in (0.001, 0.044, 0.2)] == ["±0.1 in 100", "±4.4 in 100", "±20 in 100"]
    assert [beside(one, "±", in_100=False) for one in (0.00001234, 0.0456, 12.3)] == ["±0.000012", "±0.046", "±12"]
    bars = two_bars(0.01, 0.23, ("noise", "people"))["data"][0]
    assert list(zip(bars["y"], bars["text"], strict=True)) == [("people", "23 in 100"), ("noise", "1 in 100")]


def test_other_people_are_drawn_in_portions_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, shares = catalogue.questions("selection")["most_common"], []
    for at_once in (1 << 40, 1 << 20, 97):
        monkeypatch.setattr(most_common_setting, "_AT_ONCE", at_once)
        found = kind.ask(replace(sample_case("clinic"), memo=Memory(10, room=1 << 20)), Setting()).uncertain
        assert found is not None
        shares.append(found.people)
    assert len(set(shares)) == 1
    assert 0.0 < shares[0] < 1.0


def options(count: int) -> Case:
    """A file of a person's own with so many options."""
    case = sample_case("clinic")
    names = tuple(f"o{at:06}" for at in range(count))
    column = Column(name="many", type="category", categories=names)
    frame = pd.DataFrame({"many": pd.Categorical.from_codes(np.arange(count) % max(count - 9, 1), list(names))})
    table = Table(frame=frame, schema=Schema(columns=(column,)), fingerprint=f"{count} options", lineage="")
    source = replace(case.source, table=table, declared=Declaration(columns=(column,)), lineage=None)
    return replace(case, source=source)


def test_of_more_options_than_anybody_compares_no_other_people_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four thousand draws of all of them took gigabytes."""
    kind = catalogue.questions("selection")["most_common"]
    monkeypatch.setattr(most_common_setting, "_MOST_DRAWN", 30)
    monkeypatch.setattr(most_common, "MOST_OPTIONS", 40)
    assert kind.ask(options(30), Setting()).uncertain is not None
    assert kind.ask(options(31), Setting()).uncertain is None
    assert kind.ask(options(40), Setting()).headline
    with pytest.raises(CannotAsk, match=r"has 41 options, and 40 can be compared here\. On the Data page, type"):
        kind.ask(options(41), Setting())


@pytest.mark.parametrize("epsilon", [0.3, 0.5, 0.7, 1.0, 2.0])
def test_what_privacy_costs_experts_is_the_difference_of_what_stands_beside_it(epsilon: float) -> None:
    found = catalogue.questions("experts")["follow"].ask(sample_case("forecasts", epsilon), Setting())
    assert found.uncertain is not None
    (private,) = re.findall(r"loses \*\*([\d.]+)\*\* points more", found.headline)
    (learnt,) = re.findall(r"learning without privacy ([\d.]+) more", found.caption)
    (costs,) = re.findall(r"it costs ([\d.]+) points", found.uncertain.sentence)
    assert costs == words.number(float(private) - float(learnt))
