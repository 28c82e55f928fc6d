"""Follow the leader of the previous epoch, for days that are alike and independent; pure ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.experts import strategy
from dpcore.experts.hedge import Losses, sums_between, totals_at
from dpcore.experts.strategy import Assumption, Chances, Forecast, check_run
from dpcore.validate import FloatArray, IntArray, positive


@dataclass(frozen=True, slots=True, kw_only=True)
class DoublingLeader:
    """In epochs of 1, 2, 4, … rounds, follow one expert: the private leader of the epoch before, by permute-and-flip.

    Each round's losses are used once, so the whole sequence is ε-DP (no δ) on any losses. Regret is
    O(√(T ln k) + (ln k/ε) log T) only when rounds are independent draws from one distribution; otherwise an epoch says
    nothing about the next and nothing is promised. Raises InvalidArgument.

    >>> run = DoublingLeader.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> losses = [[0, 1]] * 100  # the first expert is always right
    >>> round(run.expected_regret(losses), 1)
    2.5
    """

    key: ClassVar[str] = "doubling_leader"
    rank: ClassVar[int] = 3
    about: ClassVar[About] = About(
        name="Doubling follow-the-leader",
        plain="follow whoever led the stretch before, each stretch twice as long",
        how=(
            "Rounds are cut into stretches of 1, 2, 4, … rounds. In each, one expert is followed throughout: the one "
            "with the fewest losses in the stretch before, found with one noisy bonus per expert. Good only when "
            "rounds are alike."
        ),
        formula=r"\text{stretch } j: \text{ rounds } 2^j, \dots, 2^{j+1} - 1",
        source=(
            "Follow the leader with permute-and-flip (McKenna and Sheldon, NeurIPS 2020); each round is used once."
        ),
        release="doubling_leader",
    )
    assumption: ClassVar[Assumption] = "independent"

    epsilon: float
    rounds: int
    experts: int

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        check_run(self.rounds, self.experts)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        return cls(epsilon=epsilon, rounds=rounds, experts=experts)

    @classmethod
    def forecast(cls, runs: Sequence[Self], losses: Losses, *, spread: bool = True) -> Forecast:
        rounds = np.array([run.rounds for run in runs])
        levels, place = np.unique([run.epsilon for run in runs], return_inverse=True)
        starts, laws = _epoch_laws(levels, losses[: rounds.max()])
        points = np.unique(np.concatenate([starts, rounds]))
        totals = totals_at(losses, points)
        mean, variance = np.zeros(rounds.size), np.zeros(rounds.size)
        for start, law in zip(starts, laws, strict=True):
            # what each run loses in this epoch, which may be cut short or not reached at all
            ends = np.clip(rounds, start, 2 * start + 1)
            part = totals[np.searchsorted(points, ends)] - totals[np.searchsorted(points, start)]
            expected = np.einsum("mk,mk->m", law[place], part)
            mean += expected
            variance += np.maximum(np.einsum("mk,mk->m", law[place], part * part) - expected * expected, 0.0)
        return Forecast(
            mean=mean, deviation=np.sqrt(variance), best=totals[np.searchsorted(points, rounds)].min(axis=1)
        )

    def chances(self, losses: Losses) -> Chances:
        starts, laws = _epoch_laws(np.array([self.epsilon]), losses)
        ends = np.append(starts[1:], losses.shape[0])
        yield np.concatenate(laws), ends - starts

    expected_regret = strategy.expected_regret
    play = strategy.play
    weights = strategy.weights

    @property
    def cost(self) -> Cost:
        """ε, however long it runs: the epochs look at different rounds."""
        return Cost.pure(self.epsilon)


def epoch_starts(rounds: int) -> IntArray:
    """First round, from 0, of each epoch of 1, 2, 4, … rounds."""
    return np.array([(1 << epoch) - 1 for epoch in range(rounds.bit_length())], dtype=np.int64)


def _epoch_laws(levels: FloatArray, losses: Losses) -> tuple[IntArray, list[FloatArray]]:
    """First round of each epoch, and the laws of its play at each ε of ``levels``, shape (levels, experts)."""
    from dpcore.selection import PermuteAndFlip, laws

    rounds, experts = losses.shape
    starts = epoch_starts(rounds)
    sums = sums_between(losses, starts)
    # one round moves each sum by at most 1, in either direction
    later = [laws(PermuteAndFlip, -before, levels, sensitivity=1.0, monotonic=False) for before in sums[1:]]
    return starts, [np.full((levels.size, experts), 1 / experts), *later]
