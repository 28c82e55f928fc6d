"""Change one day: the plays of Hedge in two worlds that differ in the losses of one round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.experts.hedge import as_losses
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray, finite_vector, non_negative, whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangedDay:
    """Plays before and after: log-chances ``before`` and ``after`` of each expert in each round, (rounds, experts).

    Up to and on the changed ``day`` (from 0) they are the same. After it a log-ratio is at most 2η, ``promised``, and
    the spread of a round's log-ratios, its bounded range, at most 2η too.
    """

    before: FloatArray
    after: FloatArray
    day: int
    promised: float

    @property
    def log_ratios(self) -> FloatArray:
        """ln(before/after), shape (rounds, experts)."""
        return self.before - self.after

    @property
    def worst(self) -> FloatArray:
        """The largest |log-ratio| of each round, shape (rounds,): what that play can give away."""
        return np.asarray(np.abs(self.log_ratios).max(axis=1))

    @property
    def spread(self) -> FloatArray:
        """Largest less smallest log-ratio of each round, shape (rounds,)."""
        return np.asarray(np.ptp(self.log_ratios, axis=1))

    @property
    def total(self) -> FloatArray:
        """Sum of ``worst`` so far, shape (rounds,): basic composition of these two worlds, at most 2η a round."""
        return np.asarray(np.cumsum(self.worst))

    def play(self, round_: int) -> TwoWorlds:
        """The two laws of one round's play. Raises InvalidArgument."""
        place = whole(0, self.before.shape[0] - 1, round_=round_)
        return TwoWorlds(
            before=np.exp(self.before[place]),
            after=np.exp(self.after[place]),
            promised=self.promised,
            log_before=self.before[place],
            log_after=self.after[place],
        )


def changed_day(losses: ArrayLike, day: int, other: ArrayLike, learning_rate: float) -> ChangedDay:
    """Hedge at η on ``losses`` (rounds, experts) and on the same with ``other`` (experts,) on round ``day`` (from 0).

    Exact; memory of four tables. Raises InvalidArgument.
    """
    table = as_losses(losses).astype(np.float64)
    place = whole(0, table.shape[0] - 1, day=day)
    changed = finite_vector(other=other)
    if changed.shape != table[0].shape or changed.min() < 0.0 or changed.max() > 1.0:
        raise InvalidArgument("other", "must have a loss between 0 and 1 for each expert")
    rate = non_negative(learning_rate=learning_rate)
    totals = np.cumsum(table, axis=0) - table
    moved = totals.copy()
    moved[place + 1 :] += changed - table[place]
    return ChangedDay(before=_log_law(totals, rate), after=_log_law(moved, rate), day=place, promised=2.0 * rate)


def _log_law(totals: FloatArray, rate: float) -> FloatArray:
    logits = -rate * (totals - totals.min(axis=1, keepdims=True))
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))
