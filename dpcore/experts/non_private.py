"""Hedge without privacy: what the private strategies are measured against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.experts import strategy, stretches
from dpcore.experts.hedge import Losses
from dpcore.experts.rates import hedge_rate
from dpcore.experts.strategy import Assumption, Chances, Forecast, check_run
from dpcore.experts.stretches import Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class NonPrivate:
    """Hedge at η = √(8 ln k / T): regret at most √(T ln k / 2) on any losses. Nothing is protected.

    Cesa-Bianchi & Lugosi, Prediction, Learning, and Games, 2006, Theorem 2.2. Raises InvalidArgument.

    >>> run = NonPrivate.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> losses = [[0, 1]] * 100  # the first expert is always right
    >>> round(run.expected_regret(losses), 1)
    3.2
    """

    key: ClassVar[str] = "non_private"
    rank: ClassVar[int] = 9
    about: ClassVar[About] = About(
        name="Without privacy",
        plain="follow better experts more often, nothing hidden",
        how=(
            "Every round one expert is drawn at random, better ones far likelier, at the pace that learns best. "
            "Nothing is protected: it shows what privacy costs."
        ),
        formula=r"\eta = \sqrt{8 \ln k / T}",
        source="Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006, Theorem 2.2.",
        nearest="batched",
    )
    assumption: ClassVar[Assumption] = "any"

    rounds: int
    experts: int

    def __post_init__(self) -> None:
        check_run(self.rounds, self.experts)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        return cls(rounds=rounds, experts=experts)

    @property
    def rate(self) -> float:
        """η."""
        return hedge_rate(self.rounds, self.experts)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        return (Stretch(0, self.rounds, 1, self.rate),)

    @classmethod
    def forecast(cls, runs: Sequence[Self], losses: Losses, *, spread: bool = True) -> Forecast:
        return stretches.forecast([run.stretches for run in runs], losses, spread=spread)

    def chances(self, losses: Losses) -> Chances:
        return stretches.chances(self.stretches, losses)

    expected_regret = strategy.expected_regret
    play = strategy.play
    weights = strategy.weights

    @property
    def cost(self) -> Cost:
        """Infinite: there is no guarantee."""
        return Cost(epsilon=math.inf)
