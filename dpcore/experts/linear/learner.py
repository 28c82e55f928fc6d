"""Online learning turned into one private choice, as in the textbook, with its scale put right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.experts import stretches
from dpcore.experts.hedge import hedge_chances
from dpcore.experts.linear.choice import Excess, as_costs, check_method, costs_of, mean_costs
from dpcore.experts.rates import as_rule
from dpcore.experts.strategy import drawn
from dpcore.experts.weighted_majority import WeightedMajority
from dpcore.validate import FloatArray, probability


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearLearner:
    """Run weighted majority once through the rows, the columns being the experts, and answer the average of its plays.

    Dwork & Roth 2014, Algorithm 17. Costs lie in [−1, 1] but the rate of Theorem 11.2 is for losses in [0, 1]: used as
    printed, each play would have bounded range 4η and the guarantee fail. Here costs are rescaled first, so it is 2η.
    ``rule`` as in ``learning_rate``. Raises InvalidArgument.
    """

    key: ClassVar[str] = "linear_learner"
    rank: ClassVar[int] = 3
    about: ClassVar[About] = About(
        name="Linear learner",
        plain="follow columns row by row, and answer their average",
        how=(
            "The columns are treated as experts, and one is followed in each row, better ones more often. The answer "
            "is how often each column was followed. It was made for harder choices than one column of many."
        ),
        source="Dwork and Roth, 2014, Algorithm 17, with its scale put right.",
        textbook=True,
        nearest="vertex_permute_and_flip",
    )

    epsilon: float
    delta: float
    rows: int
    columns: int
    rule: str = "bounded_range"

    def __post_init__(self) -> None:
        check_method(self.epsilon, self.rows, self.columns)
        probability(delta=self.delta)
        as_rule(self.rule)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rows: int, columns: int) -> Self:
        return cls(epsilon=epsilon, delta=delta, rows=rows, columns=columns)

    @property
    def majority(self) -> WeightedMajority:
        """What runs inside, on losses in [0, 1]."""
        return WeightedMajority(
            epsilon=self.epsilon, delta=self.delta, rounds=self.rows, experts=self.columns, rule=self.rule
        )

    @classmethod
    def excess(cls, runs: Sequence[Self], costs: FloatArray) -> Excess:
        means, losses = mean_costs(runs, costs), unit_losses(costs)
        expected, variance = np.zeros(len(runs)), np.zeros(len(runs))
        for index, (run, mean) in enumerate(zip(runs, means, strict=True)):
            for law in hedge_chances(losses[: run.rows], run.majority.rate):
                paid = law @ mean
                expected[index] += paid.sum()
                variance[index] += np.maximum(law @ (mean * mean) - paid * paid, 0.0).sum()
        rows = np.array([run.rows for run in runs])
        return Excess(mean=expected / rows - means.min(axis=1), deviation=np.sqrt(variance) / rows)

    def expected_choice(self, costs: ArrayLike) -> FloatArray:
        """The mean of the average play, shape (columns,), exact. Raises InvalidArgument."""
        losses = unit_losses(costs_of(self, costs))
        total = np.zeros(self.columns)
        for law in hedge_chances(losses, self.majority.rate):
            total += law.sum(axis=0)
        return total / self.rows

    def choose(self, costs: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """One simulated answer: how often each column was played, as a share. Raises InvalidArgument."""
        losses = unit_losses(costs_of(self, costs))
        plays = drawn(stretches.chances(self.majority.stretches, losses), rng)
        return np.bincount(plays, minlength=self.columns) / self.rows

    @property
    def cost(self) -> Cost:
        """All plays together, at most (ε, δ)."""
        return self.majority.cost


def unit_losses(costs: ArrayLike) -> FloatArray:
    """Costs in [−1, 1] as losses in [0, 1]. Raises InvalidArgument."""
    losses: FloatArray = (1.0 + as_costs(costs)) / 2
    return losses
