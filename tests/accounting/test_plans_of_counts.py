"""A plan of counts costs no less than the laws of this program's own answers tell together."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from dashboard.budget.kinds import Wish, kinds, planned
from dpcore.costs import Cost
from dpcore.planning import PlannedAnswer, price
from tests.accounting.test_attackers import DELTA, laws

NOISES = {"count": "laplace", "count_gaussian": "gaussian"}
SIZES = ((1.0, 1), (3.0, 1), (3.0, 2), (3.0, 3), (10.0, 1), (10.0, 2), (10.0, 3))


def delta_of(noise: str, one: float, count: int, epsilon: float) -> float:
    """The δ at ``epsilon`` of so many real answers of ε ``one`` each, by every outcome."""
    without, within = (reduce(np.multiply.outer, [law] * count).ravel() for law in laws(noise, one))
    return float(np.maximum(within - np.exp(min(epsilon, 600.0)) * without, 0.0).sum())


def whole_delta(count: int) -> float:
    """The δ of a plan in which each answer asks for ``DELTA``."""
    return max(10, 2 * count) * DELTA


def told_too_low(answers: list[PlannedAnswer], noise: str, one: float) -> list[str]:
    """The rules that tell a smaller ε than the answers have."""
    count, delta = answers[0].count, whole_delta(answers[0].count)
    return [
        found.rule
        for found in price(answers, delta)
        if delta_of(noise, one, count, found.epsilon) > delta * (1 + 1e-6) + 1e-12
    ]


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize(("epsilon", "count"), SIZES)
def test_no_rule_tells_less_than_real_answers_cost(kind: str, epsilon: float, count: int) -> None:
    answers = planned([Wish(kind=kind, count=count, epsilon=epsilon)], whole_delta(count), None)
    assert answers is not None
    assert told_too_low(answers, NOISES[kind], epsilon) == []


def test_these_tests_can_fail() -> None:
    """With noise on real numbers."""
    smooth = PlannedAnswer(name="count", cost=lambda epsilon: Cost.laplace(1 / epsilon), epsilon=3.0, count=3)
    assert "pld" in told_too_low([smooth], "laplace", 3.0)
    assert set(NOISES) <= set(kinds())
