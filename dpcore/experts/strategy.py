"""What every strategy is, and what they share: checks, forecasts and simulated plays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.experts.hedge import Losses, as_losses
from dpcore.validate import FloatArray, IntArray, generator, positive, probability, whole

Assumption = Literal["any", "oblivious", "independent"]
ASSUMPTIONS: tuple[Assumption, ...] = ("any", "oblivious", "independent")
"""What must be true of the losses, weakest first: nothing; they do not react to what was played; rounds are alike and
independent (drawn one by one from one distribution)."""

Chances = Iterator[tuple[FloatArray, IntArray]]
"""Blocks of draws in order: chances of each expert (draws, experts), and for how many rounds each draw is held."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """The total loss of m runs: ``mean`` and standard ``deviation``, shape (m,), and the ``best`` expert's total, (m,).

    ``error`` is the standard error of ``mean`` from simulation; None when mean and deviation are exact.
    """

    mean: FloatArray
    deviation: FloatArray
    best: FloatArray
    error: FloatArray | None = None

    @property
    def regret(self) -> FloatArray:
        """Expected total regret, shape (m,)."""
        return self.mean - self.best


class Strategy(Protocol):
    """A way to play ``rounds`` rounds over ``experts`` experts under a stated guarantee; all fields are public.

    Neighbours differ in the losses of one round (replace-one); losses lie in [0, 1].
    """

    key: ClassVar[str]
    about: ClassVar[About]
    assumption: ClassVar[Assumption]

    @property
    def rounds(self) -> int: ...

    @property
    def experts(self) -> int: ...

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        """The strategy for an (ε, δ) guarantee, also for losses that react to plays if ``reacting`` and it can be.

        What a strategy does not need it leaves out.
        """

    @classmethod
    def forecast(cls, runs: Sequence[Self], losses: Losses, *, spread: bool = True) -> Forecast:
        """Total loss of every run over the first ``run.rounds`` rounds of ``losses``; deviations only on request."""

    @property
    def cost(self) -> Cost:
        """What the whole sequence of plays costs."""

    def chances(self, losses: Losses) -> Chances:
        """The law of each draw of one run over exactly ``rounds`` rounds of ``losses``."""

    def expected_regret(self, losses: ArrayLike) -> float: ...
    def play(self, losses: ArrayLike, rng: np.random.Generator) -> IntArray: ...
    def weights(self, losses: ArrayLike, rounds: IntArray | None = None) -> FloatArray: ...


# Methods that strategies have in common: each class takes them in by name.


def expected_regret(self: Strategy, losses: ArrayLike) -> float:
    """Expected total regret on ``losses`` (rounds, experts), exact. Raises InvalidArgument."""
    return float(type(self).forecast([self], losses_of(self, losses), spread=False).regret[0])


def play(self: Strategy, losses: ArrayLike, rng: np.random.Generator) -> IntArray:
    """One simulated run: the expert followed in each round, shape (rounds,). Raises InvalidArgument."""
    return drawn(self.chances(losses_of(self, losses)), rng)


def weights(self: Strategy, losses: ArrayLike, rounds: IntArray | None = None) -> FloatArray:
    """The chance of each expert in each round, shape (rounds, experts), or in ``rounds`` (m,) alone, counted from 0 and
    ascending. Raises InvalidArgument."""
    wanted = np.arange(self.rounds) if rounds is None else rounds
    parts, first = [], 0
    for law, held in self.chances(losses_of(self, losses)):
        ends: IntArray = first + np.cumsum(held)
        here = wanted[slice(*np.searchsorted(wanted, [first, ends[-1]]))]
        parts.append(law[np.searchsorted(ends, here, side="right")])
        first = int(ends[-1])
    return np.concatenate(parts)


def check_run(rounds: int, experts: int) -> None:
    """The size of a run. Raises InvalidArgument."""
    whole(1, rounds=rounds)
    whole(2, experts=experts)


def check_private_run(epsilon: float, delta: float, rounds: int, experts: int) -> None:
    """The fields of a strategy with an (ε, δ) guarantee. Raises InvalidArgument."""
    positive(epsilon=epsilon)
    probability(delta=delta)
    check_run(rounds, experts)


def losses_of(strategy: Strategy, losses: ArrayLike) -> Losses:
    """``losses`` in the strategy's own shape. Raises InvalidArgument."""
    table = as_losses(losses)
    if table.shape != (strategy.rounds, strategy.experts):
        raise InvalidArgument("losses", "must have one row for each round and one column for each expert, as declared")
    return table


def drawn(chances: Iterable[tuple[FloatArray, IntArray]], rng: np.random.Generator) -> IntArray:
    """One simulated run of plays by inversion of each law, shape (rounds,). Not for releases."""
    generator(rng=rng)
    parts = []
    for law, held in chances:
        steps = np.cumsum(law, axis=1)
        choice = (steps < (rng.random(law.shape[0]) * steps[:, -1])[:, None]).sum(axis=1)
        parts.append(np.repeat(choice, held))
    return np.concatenate(parts).astype(np.int64)


def running_regret(losses: ArrayLike, plays: IntArray) -> FloatArray:
    """Loss of ``plays`` (rounds,) so far, less that of the best expert so far, after each round, shape (rounds,)."""
    table = as_losses(losses)
    if plays.shape != table.shape[:1]:
        raise InvalidArgument("plays", "must have one entry for each round")
    suffered = np.cumsum(table[np.arange(plays.size), plays], dtype=np.float64)
    regret: FloatArray = suffered - np.cumsum(table, axis=0, dtype=np.float64).min(axis=1)
    return regret
