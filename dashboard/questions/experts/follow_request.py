"""The release behind "whom should we follow": a request made from declared facts and the person's own choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dashboard.questions.experts.followed import Reading
from dashboard.words import follow as said
from dpcore.datasets import Schema, Table
from dpcore.errors import InvalidArgument
from dpcore.experts import DoublingLeader, catalog, held_bound, stretches
from dpcore.experts.stretches import Stretch
from dpcore.releases.plays import UNIT, PrivatePlays
from dpcore.selection import PermuteAndFlip, laws
from dpcore.validate import FloatArray

Publish = Literal["plays", "from_now_on"]
LIKELY = 0.05
"""The chance that a forecast is exceeded."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """A request and what it is drawn from. Everything else follows from the request alone, or with the data."""

    request: PrivatePlays
    data: Callable[[], FloatArray]

    def rounded(self) -> FloatArray:
        """The losses as the release counts them: whole numbers of its unit. For public data only."""
        return np.asarray(self.request.in_units(self.data()) * UNIT, dtype=np.float64)

    def regret(self) -> float:
        """How many points more than the best expert the drawn plays lose on average, exactly. For public data only.

        From now on: how many more the named expert has lost over all rounds.
        """
        request, losses = self.request, self.rounded()
        if request.way == "from_now_on":
            totals = losses.sum(axis=0)
            return float(self.naming() @ (totals - totals.min()))
        if request.way == "doubling_leader":
            return DoublingLeader(
                epsilon=request.epsilon, rounds=request.rounds, experts=len(request.experts)
            ).expected_regret(losses)
        run = (Stretch(0, request.rounds, request.held, request.rate),)
        return float(stretches.forecast([run], losses, spread=False).regret[0])

    def naming(self) -> FloatArray:
        """The chance of each expert to be named from now on, exactly, shape (experts,). For public data only."""
        totals = self.rounded().sum(axis=0)
        return np.asarray(laws(PermuteAndFlip, -totals, [self.request.epsilon], sensitivity=1.0)[0])

    def bound(self) -> float | None:
        """What is lost more than by the best expert, at most, from public numbers alone; None where nothing is sure.

        From now on: except with chance ``LIKELY``, by the union bound over noises of scale 2/ε. Else on average, for
        losses that do not react (Cesa-Bianchi and Lugosi 2006, Theorem 2.2, each play held). The doubling leader
        promises something only where rounds are alike and independent.
        """
        request = self.request
        if request.way == "from_now_on":
            return float(2 * np.log(len(request.experts) / LIKELY) / request.epsilon)
        if request.way == "doubling_leader":
            return None
        if request.rate == 0.0:
            return float(request.rounds)
        return min(held_bound(request.rate, request.rounds, len(request.experts), request.held), float(request.rounds))


def plays_request(
    declared: Schema,
    reading: Reading,
    *,
    released: Callable[[], Table],
    epsilon: float,
    delta: float,
    method: str,
    publish: Publish,
) -> Made | str:
    """The request that draws ``method``'s plays, or names one expert from now on; or why it cannot be made."""
    kind = catalog()[method]
    way = "from_now_on" if publish == "from_now_on" else kind.about.release
    if way is None:
        return said.no_release(kind.about.name, catalog()[kind.about.nearest or "batched"].about.name)
    if way == "doubling_leader" and reading.kind == "prices":
        return said.PRICE_TWICE
    try:
        request = PrivatePlays(
            epsilon=epsilon,
            delta=delta if way == "batched" else 0.0,
            rounds=reading.rounds(released().rows),
            experts=reading.names,
            way="from_now_on" if way == "from_now_on" else "doubling_leader" if way == "doubling_leader" else "batched",
            # weighted majority is the batched release with a fresh play in every round
            hold=1 if way == "batched" and method == "weighted_majority" else None,
            subject=reading.meaning(declared),
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))
    return Made(request=request, data=lambda: reading.losses(released()).values)
