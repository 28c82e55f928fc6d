"""Batched weighted majority for when nobody knows how long it will go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import zcdp_rho
from dpcore.experts import strategy, stretches
from dpcore.experts.hedge import Losses
from dpcore.experts.rates import best_hold, capped_rate, draws_with_data, plays_cost
from dpcore.experts.strategy import Assumption, Chances, Forecast, check_private_run
from dpcore.experts.stretches import Stretch

FIRST_EPOCH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownHorizon:
    """Batched weighted majority started afresh in epochs of 16, 32, 64, … rounds, each tuned to its own length.

    An epoch's plays depend on that epoch's losses alone, and a round is in one epoch: the epochs compose in parallel
    and each has the whole (ε, δ). ``rounds`` says where a run is stopped; nothing else depends on it. The price of not
    knowing the length is what is forgotten at each start. Raises InvalidArgument.

    >>> run = UnknownHorizon.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> losses = [[0, 1]] * 100  # the first expert is always right
    >>> round(run.expected_regret(losses), 1)
    22.1
    """

    key: ClassVar[str] = "unknown_horizon"
    rank: ClassVar[int] = 4
    about: ClassVar[About] = About(
        name="Doubling epochs, length unknown",
        plain="changing rarely, started afresh in ever longer stretches",
        how=(
            "As when changing rarely, but nobody needs to know how long it will go on: stretches of 16, 32, 64, … "
            "rounds each start from nothing, with settings for their own length. What is forgotten at each start is "
            "the price."
        ),
        source=(
            "Batched weighted majority with the doubling trick; Cesa-Bianchi and Lugosi, Prediction, Learning, and "
            "Games, 2006, section 2.3."
        ),
        nearest="batched",
    )
    assumption: ClassVar[Assumption] = "oblivious"

    epsilon: float
    delta: float
    rounds: int
    experts: int

    def __post_init__(self) -> None:
        check_private_run(self.epsilon, self.delta, self.rounds, self.experts)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        return cls(epsilon=epsilon, delta=delta, rounds=rounds, experts=experts)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        found = []
        rho = zcdp_rho(self.epsilon, self.delta)
        start, length = 0, FIRST_EPOCH
        while start < self.rounds:
            hold = best_hold(rho, length, self.experts)
            rate = capped_rate(self.epsilon, self.delta, length, self.experts, hold=hold)
            found.append(Stretch(start, min(start + length, self.rounds), hold, rate))
            start, length = start + length, 2 * length
        return tuple(found)

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
        """That of the dearest epoch, at most (ε, δ)."""
        costs = [
            plays_cost(
                part.rate, draws_with_data(part.stop - part.start, part.hold), self.epsilon, self.delta, reacting=False
            )
            for part in self.stretches
        ]
        return Cost(epsilon=max(cost.epsilon for cost in costs), rho=max(cost.zcdp for cost in costs), delta=self.delta)
