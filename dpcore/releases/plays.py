"""Private plays over a person's own losses: whom to follow round by round, or whom to follow from now on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.calibration import zcdp_rho
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.experts.doubling import epoch_starts
from dpcore.experts.hedge import as_losses
from dpcore.experts.rates import best_hold, capped_rate, draws_with_data, plays_cost
from dpcore.releases import draws
from dpcore.releases.choice import of
from dpcore.validate import IntArray, Neighbours, one_of, positive, probability, whole

UNIT = 2.0**-20  # losses are whole numbers of it, so a round moves a total by at most 2²⁰ units, exactly
ONE = 2**20
MOST_ROUNDS = 10**6

Way = Literal["batched", "doubling_leader", "from_now_on"]
WAYS: tuple[Way, ...] = ("batched", "doubling_leader", "from_now_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivatePlays:
    """Name the experts to follow over ``rounds`` rounds of losses in [0, 1]; one round may be any other (replace-one).

    ``way``: ``batched`` plays afresh every ``hold`` rounds by the exponential mechanism at the rate η of
    ``dpcore.experts.Batched`` (``hold`` 1 is weighted majority), each play of bounded range 2η; (ε, δ)-DP in all by
    zCDP, the account that the ledger adds up (the exact one would charge more ρ for the same ε).
    ``doubling_leader`` follows the leader of the epoch before by permute-and-flip, and ``from_now_on`` names one expert
    by the total over all rounds, by permute-and-flip: both ε-DP with no δ. Losses are rounded to 2⁻²⁰ one by one and
    added up as whole numbers; totals get OpenDP's noise, so the laws of ``dpcore.experts`` hold exactly for the rounded
    losses. ``experts`` and ``rounds`` are declared; ``subject`` says in a few words what the losses are, part of the
    question. Data: the losses, shape (rounds, experts). Raises InvalidArgument.
    """

    key: ClassVar[str] = "plays"
    neighbours: ClassVar[Neighbours] = "replace_one"

    epsilon: float
    delta: float
    rounds: int
    experts: tuple[str, ...]
    way: Way = "batched"
    hold: int | None = None
    subject: str = ""

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        one_of(WAYS, way=self.way)
        if self.way == "batched":
            probability(delta=self.delta)
        elif self.delta != 0.0:
            raise InvalidArgument("delta", "must be 0: this way of choosing does not use it")
        whole(2, MOST_ROUNDS, rounds=self.rounds)
        whole(2, experts=len(self.experts))
        if len(set(self.experts)) < len(self.experts):
            raise InvalidArgument("experts", "must all have different names")
        if self.hold is not None:
            whole(1, self.rounds, hold=self.hold)
            if self.way != "batched":
                raise InvalidArgument("hold", "is for batched plays only")

    @property
    def held(self) -> int:
        """For how many rounds a batched play is held."""
        return self.hold or best_hold(zcdp_rho(self.epsilon, self.delta), self.rounds, len(self.experts))

    @property
    def rate(self) -> float:
        """η of batched plays."""
        return capped_rate(self.epsilon, self.delta, self.rounds, len(self.experts), hold=self.held, rule="zcdp")

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        if self.way == "from_now_on":
            return f"{self._which} to follow from now on, after {self.rounds:,} rounds"
        return f"{self._which} to follow in each of {self.rounds:,} rounds"

    @property
    def _which(self) -> str:
        return f"Which of {len(self.experts):,} experts{of(self.subject)}"

    @property
    def mechanism(self) -> str:
        """What answers it, by its right name."""
        if self.way == "from_now_on":
            return "Permute-and-flip on total losses"
        if self.way == "doubling_leader":
            return "Permute-and-flip on the losses of the epoch before, in doubling epochs"
        return f"Exponential mechanism on running totals, every {self.held} rounds"

    @property
    def cost(self) -> Cost:
        """All plays together; at most what was stated."""
        if self.way == "batched":
            count = draws_with_data(self.rounds, self.held)
            return plays_cost(self.rate, count, self.epsilon, self.delta, reacting=True)
        return Cost.pure(self.epsilon)

    @property
    def starts(self) -> IntArray:
        """The first round, from 0, of each play; ``rounds`` for a play that comes after all of them."""
        if self.way == "from_now_on":
            return np.array([self.rounds])
        if self.way == "doubling_leader":
            return epoch_starts(self.rounds)
        return np.arange(0, self.rounds, self.held)

    def validate(self, data: ArrayLike) -> None:
        """Raises InvalidArgument unless the losses have the declared shape and lie in [0, 1]."""
        self.in_units(data)

    def in_units(self, data: ArrayLike) -> IntArray:
        """The losses as whole numbers of 2⁻²⁰, shape (rounds, experts). Raises InvalidArgument."""
        losses = as_losses(data)
        if losses.shape != (self.rounds, len(self.experts)):
            raise InvalidArgument("losses", "must have one row for each round and one column for each expert")
        return draws.to_units(losses, UNIT)

    def scores(self, data: ArrayLike) -> Iterator[IntArray]:
        """What each play looks at, higher being better: minus the losses before it (in the epoch before), in units."""
        units, starts = self.in_units(data), self.starts
        total, before = np.zeros(len(self.experts), dtype=np.int64), 0
        for start in starts.tolist():
            recent = units[before:start].sum(axis=0, dtype=np.int64)
            total = recent if self.way == "doubling_leader" else total + recent
            before = start
            yield -total

    def answer(self, data: ArrayLike, progress: Callable[[float], None] | None = None) -> dict[str, Any]:
        """``plays``, indices of experts, each from the round in ``starts`` (from 0) to the next; and the ``experts``.

        ``progress`` is told the share of plays done: it depends on public numbers only.
        """
        starts = self.starts.tolist()
        rule: draws.Rule = "exponential" if self.way == "batched" else "permute_and_flip"
        epsilon = 2 * self.rate if self.way == "batched" else self.epsilon
        plays = []
        for done, scores in enumerate(self.scores(data), start=1):
            # the first play of a run looks at nothing: any scale will do, and the rate may be 0 when it is the only one
            plays.append(draws.noisy_max(scores, sensitivity=ONE, epsilon=epsilon or 1.0, rule=rule))
            if progress is not None:
                progress(done / len(starts))
        return {"experts": list(self.experts), "starts": starts, "plays": plays, "rounds": self.rounds}
