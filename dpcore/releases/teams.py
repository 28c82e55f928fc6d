"""Whom a room follows next: one play of randomised weighted majority, whose experts are teams of the room's phones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.costs import Cost
from dpcore.datasets.declaration import shown
from dpcore.errors import InvalidArgument
from dpcore.experts.rates import hedge_rate
from dpcore.releases.choice import Choice
from dpcore.validate import FloatArray, IntArray, positive, whole

ONE = 2**20
"""Units of a loss of 1: losses are whole numbers of them, so that totals are exact."""
MOST_ROUNDS, MOST_PHONES = 100, 10**4
MISSING = -1
"""In place of a prediction that was not made; it loses one half."""
_SPARE = 1e-6
"""Of ε: what rounding may take, so that all plays together never cost more than was declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamToFollow:
    """Names the team to follow in the round after ``happened``, the outcome (0 or 1) of each round so far.

    Phone i of ``phones`` is in team i mod k of the ``teams`` (k,): who is in which team is public, and so is what
    happened. Private are the predictions, an array (phones, rounds so far) of 0, 1 and ``MISSING``. Neighbours differ
    in all predictions of one phone (``replace_one``). A team's loss in a round is the share of its phones that were
    wrong, in units of 2⁻²⁰ rounded down for each phone; so one phone moves the total of one team by at most
    ``sensitivity`` units after t rounds, t times its share, and no other team's. The exponential mechanism at ``rate``
    η, P(team) ∝ exp(−η × its losses so far), is then ε-DP with ε = η × sensitivity: one score moves, one way.

    Dwork & Roth 2014, Algorithm 16; McSherry & Talwar, FOCS 2007. Plays may depend on earlier ones, and phones may
    react to them: their ε add up. Raises InvalidArgument.
    """

    subject: str
    teams: tuple[str, ...]
    phones: int
    happened: tuple[int, ...]
    rate: float
    neighbours: str = "replace_one"

    def __post_init__(self) -> None:
        if self.neighbours != "replace_one":
            raise InvalidArgument("neighbours", "must be replace_one: the number of phones is public")
        whole(2, teams=len(self.teams))
        if len(set(self.teams)) < len(self.teams):
            raise InvalidArgument("teams", "must all have different names")
        whole(len(self.teams), MOST_PHONES, phones=self.phones)
        whole(1, MOST_ROUNDS, rounds=len(self.happened))
        if any(one not in (0, 1) for one in self.happened):
            raise InvalidArgument("happened", "must be 0 or 1 for every round")
        positive(rate=self.rate)
        _ = self.choice

    @property
    def sensitivity(self) -> int:
        """Units by which one phone moves its team's total."""
        return len(self.happened) * moved(self.phones, len(self.teams))

    @property
    def epsilon(self) -> float:
        """Of this play."""
        return self.rate * self.sensitivity / ONE

    @property
    def choice(self) -> Choice:
        """How it is drawn."""
        return Choice(epsilon=self.epsilon, sensitivity=self.sensitivity, monotonic=True, rule="exponential")

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        now = len(self.happened) + 1
        return f"Which of {len(self.teams)} teams to follow in round {now} of “{shown(self.subject)}”"

    @property
    def mechanism(self) -> str:
        """What answers it, by its right name."""
        return "Exponential mechanism on the teams' losses so far (randomised weighted majority)"

    @property
    def cost(self) -> Cost:
        """One play."""
        return self.choice.cost

    def losses(self, predictions: IntArray) -> IntArray:
        """Every team's loss in each round so far, in units, shape (rounds, k)."""
        made = np.asarray(predictions, dtype=np.int64)
        if made.shape != (self.phones, len(self.happened)):
            raise InvalidArgument("predictions", "must have a row for each phone and a column for each round")
        halves = np.where(made == MISSING, 1, 2 * (made != np.array(self.happened)))
        of = np.arange(self.phones) % len(self.teams)
        return np.stack([halves[of == team].sum(axis=0) * unit for team, unit in enumerate(self._units)], axis=1)

    @property
    def _units(self) -> list[int]:
        """What half a loss of one phone weighs in each team."""
        return [ONE // (2 * size) for size in sizes(self.phones, len(self.teams))]

    def law(self, predictions: IntArray) -> FloatArray:
        """The chance of each team, shape (k,), exact."""
        return self.choice.law(-self.losses(predictions).sum(axis=0))

    def answer(self, rows: IntArray) -> dict[str, Any]:
        """The ``team`` to follow and the ``round``, from 1, it is followed in."""
        place = self.choice.draw(-self.losses(rows).sum(axis=0))
        return {"team": self.teams[place], "round": len(self.happened) + 1}


def sizes(phones: int, teams: int) -> list[int]:
    """How many phones are in each team, those with one more first."""
    return [(phones - team + teams - 1) // teams for team in range(teams)]


def moved(phones: int, teams: int) -> int:
    """Units by which one phone moves its team's loss in one round, at most."""
    return 2 * (ONE // (2 * min(sizes(phones, teams))))


def team_rate(epsilon: float, *, rounds: int, phones: int, teams: int) -> float:
    """η by which the plays of rounds 2 to ``rounds`` cost at most ``epsilon`` together: ε/Σ_t(t × one phone's share).

    Never faster than the best rate without privacy, past which it would only lose. Raises InvalidArgument.
    """
    looked = whole(2, MOST_ROUNDS, rounds=rounds) * (rounds - 1) / 2
    share = moved(whole(teams, MOST_PHONES, phones=phones), whole(2, teams=teams)) / ONE
    return min(positive(epsilon=epsilon) * (1 - _SPARE) / (looked * share), hedge_rate(rounds, teams))


def plays_epsilon(rate: float, *, rounds: int, phones: int, teams: int) -> float:
    """ε of the plays of rounds 2 to ``rounds`` together; the first looks at nothing."""
    return rate * moved(phones, teams) / ONE * rounds * (rounds - 1) / 2


def first_play(teams: Sequence[str]) -> dict[str, Any]:
    """Whom to follow in the first round, when nothing is known: each team with the same chance, at no cost."""
    even = Choice(epsilon=math.log(2), sensitivity=1, monotonic=True, rule="exponential")
    return {"team": teams[even.draw(np.zeros(len(teams), dtype=np.int64))], "round": 1}
