"""How good the one answer would be, from a simulated room: exact laws of the very request, on rows nobody cast.

The real votes are read by nothing here. A twin of the room is made from the declaration: as many people as were
declared, who choose as ``dpcore.datasets.twin`` has them choose, but in exact shares instead of by lot, since in a
small room the lot would decide who leads. The request's own law is evaluated on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dashboard.poll.asked import Poll, Request, Vote
from dpcore.releases.selection import MostCommonOption
from dpcore.validate import FloatArray, IntArray

LEVELS = tuple(float(level) for level in np.geomspace(0.01, 10.0, 61))
LEADS = (30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 90)
"""Votes of 100 that the first choice of a simulated room may have."""


def usual_lead(poll: Poll) -> int:
    """The lead that a simulated room starts with: half as much again as an even share, and no less than 55 of two."""
    if not poll.choices:
        return LEADS[0]
    wanted = 150 / len(poll.choices) if len(poll.choices) > 2 else 60
    return min(LEADS, key=lambda lead: abs(lead - wanted))


def simulated(poll: Poll, lead: int, people: int) -> tuple[Vote, ...]:
    """The votes of ``people`` simulated phones: ``lead`` of 100 for the first choice, the others rarer in their order
    (weights 1/2, 1/3, …); numbers with a hump in the middle of their bounds (triangular).
    """
    if not poll.choices:
        rank = (np.arange(people) + 0.5) / people
        hump = np.where(rank < 0.5, np.sqrt(rank / 2.0), 1.0 - np.sqrt((1.0 - rank) / 2.0))
        return tuple(poll.checked(float(number)) for number in poll.low + (poll.high - poll.low) * hump)
    weights = 1.0 / np.arange(1, len(poll.choices) + 1)
    weights[1:] *= (1.0 - lead / 100) / weights[1:].sum()
    weights[0] = lead / 100
    counts = np.floor(people * weights).astype(np.int64)
    counts[np.argsort(counts - people * weights, kind="stable")[: people - counts.sum()]] += 1  # largest remainders
    return tuple(choice for choice, count in zip(poll.choices, counts, strict=True) for _ in range(count))


def law(poll: Poll, votes: Sequence[Vote | None], epsilon: float | None = None) -> FloatArray:
    """The chance of each of ``poll.outcomes`` when these votes are released, exactly, shape (k,)."""
    request: Request = poll.request if epsilon is None else replace(poll.request, epsilon=epsilon)
    return request.law(poll.rows(votes))


def right(poll: Poll, votes: Sequence[Vote]) -> np.ndarray:
    """Which outcomes are right for these votes, shape (k,): the most common choices, or near the true median."""
    request = poll.request
    if isinstance(request, MostCommonOption):
        counts = np.array([sum(vote == option for vote in votes) for option in request.options])
        return np.asarray(counts == counts.max())
    middle = float(np.median([float(vote) for vote in votes]))
    return np.asarray(np.abs(request.grid - middle) <= poll.near * (1 + 1e-9))


def curve(poll: Poll, lead: int) -> pd.DataFrame:
    """How often the answer is right against ε, in a simulated room: the columns of ``dpcore.tradeoff.COLUMNS``."""
    votes = simulated(poll, lead, poll.people)
    good, request = right(poll, votes), poll.request
    found = request.read(poll.rows(votes))
    value = [float(replace(request, epsilon=level).law_of(found)[good].sum()) for level in LEVELS]
    return pd.DataFrame(
        {
            "method": "poll",
            "epsilon": LEVELS,
            "n": poll.people,
            "metric": "success",
            "value": value,
            "low": value,
            "high": value,
            "kind": "exact",
        }
    )


def chance(poll: Poll, lead: int) -> float:
    """How often the answer is right at the poll's own ε, in a simulated room."""
    votes = simulated(poll, lead, poll.people)
    return float(law(poll, votes)[right(poll, votes)].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Otherwise:
    """Two laws over ``poll.outcomes``, shape (k,) each: with this vote, and with another in its place.

    ``told`` is how often of 100 somebody is right who tells the two apart from the answer, at best; ``allowed`` what ε
    allows.
    """

    mine: FloatArray
    other: FloatArray
    told: float
    allowed: float


def otherwise(poll: Poll, lead: int, mine: Vote | None, other: Vote | None) -> Otherwise:
    """What one's own vote changes, among simulated others: the real ones stay hidden from everybody.

    ``told`` is the best even bet after one answer that spoke most clearly: the largest ratio of the two laws, as odds.
    """
    others = simulated(poll, lead, poll.people)[: poll.people - 1]
    first, second = law(poll, [*others, mine]), law(poll, [*others, other])
    high, low = np.maximum(first, second), np.minimum(first, second)
    possible = high > 1e-250  # below that floats run out before the two can be compared
    largest = float((high[possible] / low[possible]).max(initial=1.0))
    told = 100.0 * largest / (1.0 + largest)
    return Otherwise(mine=first, other=second, told=told, allowed=100.0 / (1.0 + math.exp(-poll.epsilon)))


def counted(poll: Poll, votes: Sequence[Vote]) -> IntArray:
    """How many simulated phones chose each of ``poll.choices``."""
    return np.array([sum(vote == choice for vote in votes) for choice in poll.choices], dtype=np.int64)
