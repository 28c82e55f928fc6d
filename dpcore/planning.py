"""Plans: several answers, each good enough. What do they cost together, and under which rule?

An answer knows its cost as a function of its own ε; what ε it needs to be good enough comes from its page's
``tradeoff.epsilon_for``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dpcore.accounting import ACCOUNTANTS, VALID_WHEN, RunningTotal
from dpcore.calibration import solve
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.validate import one_of, positive, probability, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnswer:
    """``count`` answers of one kind. ``cost`` maps the ε of one answer to its cost; ``epsilon`` is what each needs."""

    name: str
    cost: Callable[[float], Cost]
    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        whole(1, 10**6, count=self.count)

    def costs(self, factor: float = 1.0) -> tuple[Cost, int]:
        """The cost of one answer at ``factor`` times its ε, and how many there are."""
        return self.cost(self.epsilon * factor), self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a plan costs under one rule: ε at the plan's δ, and when the rule may be used."""

    rule: str
    epsilon: float
    valid_when: str
    best: bool


def price(answers: Iterable[PlannedAnswer], delta: float) -> list[Price]:
    """The plan's total ε at ``delta`` under each rule that applies, cheapest first. Raises InvalidArgument."""
    total = _total(list(answers), 1.0, frozenset(ACCOUNTANTS))
    found = total.epsilons(delta)
    least = min(found.values(), default=0.0)
    prices = [
        Price(rule=rule, epsilon=epsilon, valid_when=VALID_WHEN[rule], best=epsilon == least)
        for rule, epsilon in found.items()
    ]
    return sorted(prices, key=lambda one: one.epsilon)


def _total(answers: Sequence[PlannedAnswer], factor: float, kept: frozenset[str]) -> RunningTotal:
    if not answers:
        raise InvalidArgument("answers", "must not be empty")
    total = RunningTotal(kept=kept)
    for answer in answers:
        total = total.add(*answer.costs(factor))
    return total


def cumulative(costs: Sequence[Cost], delta: float, *, points: int = 200) -> list[tuple[int, dict[str, float]]]:
    """How the total ε at ``delta`` grows: (releases so far, ε by rule), after the first, the last, and up to ``points``
    of those between, evenly spread. For the lines of the Budget page. Raises InvalidArgument.
    """
    probability(delta=delta)
    whole(2, points=points)
    shown = {round(index * (len(costs) - 1) / (points - 1)) for index in range(points)} if costs else set()
    total, found = RunningTotal(), []
    for index, cost in enumerate(costs):
        total = total.add(cost)
        if index in shown:
            found.append((index + 1, total.epsilons(delta)))
    return found


def affordable(answers: Iterable[PlannedAnswer], *, epsilon: float, delta: float, rule: str) -> float:
    """The factor by which every answer's ε may be multiplied so that the plan costs (ε, δ) under ``rule``.

    Above 1 the plan fits as it is, and each answer may be better than asked; below 1 it says how much must be given
    up. To 0.1 %, never above. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    probability(delta=delta)
    one_of(ACCOUNTANTS, rule=rule)
    chosen = list(answers)

    def guarantee(factor: float) -> float:
        return _total(chosen, factor, frozenset({rule})).epsilons(delta).get(rule, math.inf)

    factor = 1.0
    if guarantee(factor) <= epsilon:
        while factor < 1e4 and guarantee(2 * factor) <= epsilon:
            factor *= 2
    else:
        while factor > 1e-6 and guarantee(factor) > epsilon:
            factor /= 2
    return solve(guarantee, epsilon, low=factor, high=2 * factor, increasing=True, relative=1e-3)
