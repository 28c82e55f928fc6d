"""Online learning turned into one private choice: as the textbook prints it, and with scale and account put right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.accounting import Cost, compose
from dpcore.experts.hedge import hedge_chances
from dpcore.experts.linear.choice import Excess, as_costs, check_method, costs_of, mean_costs
from dpcore.experts.rates import as_rule, draws_with_data, learning_rate, plays_cost
from dpcore.experts.strategy import drawn
from dpcore.experts.weighted_majority import WeightedMajority
from dpcore.validate import FloatArray, probability


def _excess(runs: Sequence[Any], costs: FloatArray) -> Excess:
    """Exact; each run sees the first ``run.rows`` rows of ``costs`` and is judged on them."""
    means, losses = mean_costs(runs, costs), unit_losses(costs)
    expected, variance = np.zeros(len(runs)), np.zeros(len(runs))
    for index, (run, mean) in enumerate(zip(runs, means, strict=True)):
        for law in hedge_chances(losses[: run.rows], run.unit_rate):
            paid = law @ mean
            expected[index] += paid.sum()
            variance[index] += np.maximum(law @ (mean * mean) - paid * paid, 0.0).sum()
    rows = np.array([run.rows for run in runs])
    return Excess(mean=expected / rows - means.min(axis=1), deviation=np.sqrt(variance) / rows)


def expected_choice(self: Any, costs: ArrayLike) -> FloatArray:
    """The mean of the average play, shape (columns,), exact. Raises InvalidArgument."""
    losses = unit_losses(costs_of(self, costs))
    total = np.zeros(self.columns)
    for law in hedge_chances(losses, self.unit_rate):
        total += law.sum(axis=0)
    mean: FloatArray = total / self.rows
    return mean


def choose(self: Any, costs: ArrayLike, rng: np.random.Generator) -> FloatArray:
    """One simulated answer: how often each column was played, as a share. Raises InvalidArgument."""
    losses = unit_losses(costs_of(self, costs))
    laws = ((law, np.ones(law.shape[0], dtype=np.int64)) for law in hedge_chances(losses, self.unit_rate))
    shares: FloatArray = np.bincount(drawn(laws, rng), minlength=self.columns) / self.rows
    return shares


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearLearner:
    """Run weighted majority once through the rows, the columns being the experts, and answer the average of its plays.

    Dwork & Roth 2014, Algorithm 17, with two things put right: costs in [−1, 1] are rescaled to the losses in [0, 1]
    that the proof of its rate is for, and the rate is the largest that ``rule`` allows (see ``learning_rate``), several
    times the textbook's. ``PrintedLearner`` is the algorithm as it stands. Raises InvalidArgument.

    >>> method = LinearLearner.at(epsilon=1.0, delta=1e-6, rows=20, columns=2)
    >>> [round(float(share), 2) for share in method.expected_choice([[0.1, -0.1]] * 20)]
    [0.49, 0.51]
    """

    key: ClassVar[str] = "linear_learner"
    rank: ClassVar[int] = 3
    about: ClassVar[About] = About(
        name="Linear learner, exact account",
        plain="follow columns row by row, and answer their average",
        how=(
            "The columns are treated as experts, and one is followed in each row, better ones more often. The answer "
            "is how often each column was followed. It was made for harder choices than one column of many."
        ),
        source="Dwork and Roth, 2014, Algorithm 17, on costs in [0, 1] and at the fastest rate that is private.",
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

    @property
    def unit_rate(self) -> float:
        """η on losses in [0, 1]."""
        return self.majority.rate

    @classmethod
    def excess(cls, runs: Sequence[Self], costs: FloatArray) -> Excess:
        return _excess(runs, costs)

    expected_choice = expected_choice
    choose = choose

    @property
    def cost(self) -> Cost:
        """All plays together, at most (ε, δ)."""
        return self.majority.cost


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLearner:
    """Dwork & Roth 2014, Algorithm 17, as printed: the rate ε/√(32 T ln(1/δ)) on costs in [−1, 1] themselves.

    That rate is proved for losses in [0, 1]; on [−1, 1] a play has bounded range 4η, not 2η, and the printed proof
    does not give (ε, δ). What the plays cost together is ``cost``, by exact composition, whatever was claimed:
    ``printed_account`` puts the two side by side. ``epsilon`` is the claim. Raises InvalidArgument.

    >>> round(PrintedLearner(epsilon=1.0, delta=1e-5, rows=100, columns=5).rate, 5)
    0.00521
    """

    key: ClassVar[str] = "printed_linear_learner"
    rank: ClassVar[int] = 4
    about: ClassVar[About] = About(
        name="Linear learner as in the textbook",
        plain="follow columns row by row, at the textbook's slow pace",
        how=(
            "The columns are treated as experts, and one is followed in each row, better ones more often. The answer "
            "is how often each column was followed. The textbook sets a slow pace, for costs of another scale than "
            "these, so its proof does not cover them; what its answers really cost is computed exactly."
        ),
        source="Dwork and Roth, 2014, Algorithm 17, as printed.",
        textbook=True,
        nearest="vertex_permute_and_flip",
    )

    epsilon: float
    delta: float
    rows: int
    columns: int

    def __post_init__(self) -> None:
        check_method(self.epsilon, self.rows, self.columns)
        probability(delta=self.delta)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rows: int, columns: int) -> Self:
        return cls(epsilon=epsilon, delta=delta, rows=rows, columns=columns)

    @property
    def rate(self) -> float:
        """η as printed, on costs in [−1, 1]."""
        return learning_rate(self.epsilon, self.delta, self.rows, "textbook")

    @property
    def unit_rate(self) -> float:
        """The same on losses in [0, 1]: twice η."""
        return 2.0 * self.rate

    @classmethod
    def excess(cls, runs: Sequence[Self], costs: FloatArray) -> Excess:
        return _excess(runs, costs)

    expected_choice = expected_choice
    choose = choose

    @property
    def cost(self) -> Cost:
        """What all plays really cost together, at δ: neither rounded down nor up to the claim."""
        return plays_cost(self.unit_rate, draws_with_data(self.rows), math.inf, self.delta, reacting=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedAccount:
    """What the printed linear learner claims, what its proof gives, and what it costs; all at one δ.

    ``play_range`` is what a play really costs, ``proof_range`` what the printed proof takes it for. ``proof_epsilon``
    is the proof's own composition (advanced, Theorem 3.20) of the real ranges: above ``claimed`` the proof fails.
    ``true_epsilon`` is their exact composition: above ``claimed`` the guarantee would.
    """

    claimed: float
    delta: float
    rate: float
    play_range: float
    proof_range: float
    proof_epsilon: float
    true_epsilon: float

    @property
    def proof_holds(self) -> bool:
        return self.proof_epsilon <= self.claimed

    @property
    def guarantee_holds(self) -> bool:
        return self.true_epsilon <= self.claimed


def printed_account(epsilon: float, delta: float, rows: int) -> PrintedAccount:
    """The textbook's linear learner at a claimed (ε, δ) over ``rows`` rows, exactly. Raises InvalidArgument."""
    printed = PrintedLearner(epsilon=epsilon, delta=delta, rows=rows, columns=2)
    width = 4.0 * printed.rate
    composed = compose([Cost.pure(width)] * rows, delta, accountants=["advanced"])
    return PrintedAccount(
        claimed=epsilon,
        delta=delta,
        rate=printed.rate,
        play_range=width,
        proof_range=width / 2.0,
        proof_epsilon=composed["advanced"],
        true_epsilon=printed.cost.epsilon,
    )


def unit_losses(costs: ArrayLike) -> FloatArray:
    """Costs in [−1, 1] as losses in [0, 1]. Raises InvalidArgument."""
    losses: FloatArray = (1.0 + as_costs(costs)) / 2
    return losses
