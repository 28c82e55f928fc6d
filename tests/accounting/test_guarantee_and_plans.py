"""What a guarantee means, and what a plan costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.accounting import Cost, compose
from dpcore.errors import InvalidArgument
from dpcore.guarantee import (
    guess_chance,
    misses,
    right_at_most,
    right_in_hundred,
)
from dpcore.planning import PlannedAnswer, affordable, cumulative, price

RATES = np.linspace(0, 1, 201)


def test_epsilon_in_odds() -> None:
    assert [round(100 * guess_chance(epsilon), 1) for epsilon in (0.1, 0.5, 1, 2, 5)] == [52.5, 62.2, 73.1, 88.1, 99.3]
    assert right_in_hundred(1.0) == 73
    assert guess_chance(0.0, prior=0.2) == pytest.approx(0.2)
    odds = 0.2 / 0.8 * math.e
    assert guess_chance(1.0, prior=0.2) == pytest.approx(odds / (1 + odds))
    with pytest.raises(InvalidArgument, match="prior"):
        guess_chance(1.0, prior=1.0)


def test_the_most_that_a_guess_can_be_right_is_rounded_up_and_counts_delta() -> None:
    """(e^ε + δ)/(1 + e^ε) from an even start: 62.3 at ε = .5, not 62; by the corners of the misses from others."""
    assert right_at_most(0.5, 1e-5) == 62.3
    assert right_at_most(0.0) == 50.0
    assert right_at_most(3.0, 1.0) == 100.0
    for epsilon, delta, prior in ((0.5, 0.01, 0.5), (1.0, 0.2, 0.7), (2.0, 0.0, 0.9), (0.1, 0.3, 0.6)):
        wrong = min(
            float((prior * misses(RATES, epsilon=epsilon, delta=delta) + (1 - prior) * RATES).min()),
            float(((1 - prior) * misses(RATES, epsilon=epsilon, delta=delta) + prior * RATES).min()),
        )
        assert right_at_most(epsilon, delta, prior) >= 100 * (1 - wrong) - 1e-9
        if prior == 0.5:
            exact = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
            assert 0.0 <= right_at_most(epsilon, delta) - 100 * exact < 0.1
    with pytest.raises(InvalidArgument, match="prior"):
        right_at_most(1.0, 0.0, prior=0.4)


def attackers_curve(likely: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Neyman–Pearson by brute force: the best test between two laws on finitely many outcomes, at each of RATES."""
    order = np.argsort(-likely / other)
    alarms = np.concatenate([[0.0], np.cumsum(other[order])])
    missed = 1.0 - np.concatenate([[0.0], np.cumsum(likely[order])])
    return np.interp(RATES, alarms, missed)


def test_pure_curve_is_randomised_responses() -> None:
    p = math.exp(1.2) / (1 + math.exp(1.2))
    assert misses(RATES, epsilon=1.2) == pytest.approx(attackers_curve(np.array([p, 1 - p]), np.array([1 - p, p])))


def test_approximate_curve_is_its_worst_case() -> None:
    p, delta = 1 / (1 + math.exp(-0.7)), 0.05
    likely = np.array([delta, (1 - delta) * p, (1 - delta) * (1 - p), 1e-300])
    other = np.array([1e-300, (1 - delta) * (1 - p), (1 - delta) * p, delta])
    curve = misses(RATES, epsilon=0.7, delta=delta)
    assert curve[1:] == pytest.approx(attackers_curve(likely, other)[1:], abs=1e-9)
    assert curve[0] == pytest.approx(1 - delta)  # with no false alarm at all, only the event of chance δ gives away


PLAN = [
    PlannedAnswer(name="most common ward", cost=Cost.pure, epsilon=0.2, count=5),
    PlannedAnswer(name="median age", cost=Cost.bounded_range, epsilon=0.3, count=3),
    PlannedAnswer(name="training", cost=lambda epsilon: Cost.gaussian(1 / epsilon, 1e-6), epsilon=0.1, count=10),
]


def test_a_plan_is_priced_under_every_rule() -> None:
    prices = price(PLAN, 1e-5)
    costs = [cost for answer in PLAN for cost in [answer.costs()[0]] * answer.count]
    whole = compose(costs, 1e-5)
    assert {one.rule: one.epsilon for one in prices} == pytest.approx({k: v for k, v in whole.items() if k != "best"})
    assert [one.epsilon for one in prices] == sorted(one.epsilon for one in prices)
    assert prices[0].best
    assert {one.rule for one in prices if one.valid_when == "adaptive"} == {"basic", "zcdp", "rdp"}


@pytest.mark.parametrize("rule", ["basic", "zcdp", "rdp", "pld"])
def test_what_a_budget_affords(rule: str) -> None:
    """At the returned factor the plan fits; 1 % more does not."""
    factor = affordable(PLAN, epsilon=3.0, delta=1e-5, rule=rule)
    for times, fits in ((factor, True), (factor * 1.01, False)):
        costs = [cost for answer in PLAN for cost in [answer.costs(times)[0]] * answer.count]
        assert (compose(costs, 1e-5, accountants=[rule])[rule] <= 3.0) is fits


def test_the_growing_total_is_the_composition_of_what_came_before() -> None:
    costs = [Cost.pure(0.1), Cost.gaussian(5, 1e-6), Cost.bounded_range(0.2)] * 10
    lines = cumulative(costs, 1e-5, points=4)
    assert [releases for releases, _ in lines] == [1, 11, 20, 30]
    for releases, found in lines:
        whole = compose(costs[:releases], 1e-5)
        assert found == pytest.approx({name: whole[name] for name in found}, rel=1e-6)
    assert cumulative([], 1e-5) == []
    assert len(cumulative(costs, 1e-5)) == 30


def test_an_empty_plan_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="answers"):
        price([], 1e-5)
    with pytest.raises(InvalidArgument, match="epsilon"):
        PlannedAnswer(name="x", cost=Cost.pure, epsilon=-1.0)
