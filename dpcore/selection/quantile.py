"""Private medians and quantiles: the exponential mechanism over the gaps between values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.selection.scores import logit_slope
from dpcore.selection.softmax import Softmax
from dpcore.validate import (
    FloatArray,
    Neighbours,
    finite_vector,
    generator,
    non_negative,
    one_of,
    positive,
    probability,
    whole,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Sorted values as the mechanism sees them: between ``edges`` (d+1,) the number of values below is constant.

    ``below`` (d,): that number as a share of all values (0 when there are none); ``n``: how many values.
    """

    edges: FloatArray
    below: FloatArray
    n: int

    @property
    def widths(self) -> FloatArray:
        """Lengths of the intervals, shape (d,), all above 0."""
        return np.diff(self.edges)

    def part(self, first: int, last: int) -> Intervals:
        """The intervals ``first`` … ``last`` − 1 alone."""
        return Intervals(edges=self.edges[first : last + 1], below=self.below[first:last], n=self.n)

    def deviation(self, truth: float) -> FloatArray:
        """Mean distance to ``truth`` of a point drawn uniformly in each interval, shape (d,); closed form."""
        low, high = self.edges[:-1], self.edges[1:]
        # |x − truth| integrates to a difference of x|x|/2, which cancels far away; the midpoint does not
        inside = np.clip(truth, low, high)
        left, right = inside - low, high - inside
        mean: FloatArray = np.abs((low + high) / 2 - truth)
        crossed = (left > 0) & (right > 0)
        mean[crossed] = ((left**2 + right**2) / (2 * self.widths))[crossed]
        return mean

    def share_within(self, truth: float, tolerance: float) -> FloatArray:
        """The part of each interval at most ``tolerance`` from ``truth``, shape (d,)."""
        reach = np.clip([truth - tolerance, truth + tolerance], self.edges[0], self.edges[-1])
        covered = np.minimum(self.edges[1:], reach[1]) - np.maximum(self.edges[:-1], reach[0])
        part: FloatArray = np.clip(covered / self.widths, 0.0, 1.0)
        return part


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalLaw:
    """The law of a private quantile: an interval by ``probabilities`` (d,), then a uniform point in it."""

    intervals: Intervals
    probabilities: FloatArray

    @property
    def density(self) -> FloatArray:
        """Probability per unit in each interval, shape (d,)."""
        density: FloatArray = self.probabilities / self.intervals.widths
        return density

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Points below which the answer falls with probability ``levels`` (m,), shape (m,). Raises InvalidArgument."""
        wanted = finite_vector(levels=levels)
        if (wanted < 0).any() or (wanted > 1).any():
            raise InvalidArgument("levels", "must be between 0 and 1")
        steps = np.concatenate([[0.0], np.cumsum(self.probabilities)])
        points: FloatArray = np.interp(wanted * steps[-1], steps, self.intervals.edges)
        return points


def true_quantile(values: ArrayLike, q: float) -> float:
    """The quantile the answers are measured against; the midpoint where any value of an interval would do."""
    return float(np.quantile(finite_vector(values=values), q, method="averaged_inverted_cdf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A private ``q``-quantile (½: the median) of values within public bounds ``low`` < ``high``; Smith, STOC 2011.

    Density at r proportional to exp(−ε·|below(r) − q·n| / (2s)), where below(r) counts values up to r: constant
    between neighbouring values, so exact by intervals. s is how far one person moves the score: max(q, 1 − q) with
    ``relation`` add_remove, 1 with replace_one, times the ``rows_per_person`` values that one person can have. Values
    outside the bounds are moved to them first. The bounds must not come from the data. ε-DP and ε-bounded range.
    Raises InvalidArgument.
    """

    epsilon: float
    low: float
    high: float
    q: float = 0.5
    relation: Neighbours = "add_remove"
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        whole(1, rows_per_person=self.rows_per_person)
        finite_vector(low=[self.low])
        finite_vector(high=[self.high])
        if not 0 < self.high - self.low < np.inf:
            raise InvalidArgument("high", "must be greater than low")
        probability(q=self.q)
        one_of(("add_remove", "replace_one"), relation=self.relation)

    @property
    def sensitivity(self) -> float:
        """How far one person moves the score of a point, in rows."""
        return self.rows_per_person * (max(self.q, 1 - self.q) if self.relation == "add_remove" else 1.0)

    def slopes(self, epsilons: ArrayLike) -> FloatArray:
        """Change of log-density per person of rank error at each of ``epsilons`` (m,), shape (m,)."""
        return logit_slope(epsilons, self.sensitivity, one_way=False)

    def intervals(self, values: ArrayLike) -> Intervals:
        """``values`` (n,), n ≥ 0, as the mechanism sees them. Raises InvalidArgument."""
        inside = np.clip(finite_vector(values=values, at_least=0), self.low, self.high)
        points, counts = np.unique(inside, return_counts=True)
        within = (points > self.low) & (points < self.high)
        below = np.cumsum(np.concatenate([[(inside == self.low).sum()], counts[within]]))
        edges = np.concatenate([[self.low], points[within], [self.high]])
        return Intervals(edges=edges, below=below / max(1, inside.size), n=inside.size)

    def laws(self, intervals: Intervals, people: FloatArray, target: FloatArray, slopes: FloatArray) -> FloatArray:
        """Probabilities of ``intervals``, shape (m, d), at ``slopes`` (m,) for ``people`` (m,) and quantile ``target``
        (m,): values repeated people/n times."""
        rank = np.abs(intervals.below - target[:, None]) * people[:, None]
        depths = (rank - rank.min(axis=1, keepdims=True)) * slopes[:, None]
        return Softmax().rows(depths, intervals.widths)

    def law(self, values: ArrayLike) -> IntervalLaw:
        """The exact law of the answer on ``values`` (n,), n ≥ 0. Raises InvalidArgument."""
        intervals = self.intervals(values)
        chances = self.laws(
            intervals, np.array([float(intervals.n)]), np.array([self.q]), self.slopes(np.array([self.epsilon]))
        )
        return IntervalLaw(intervals=intervals, probabilities=chances[0])

    def expected_error(self, values: ArrayLike) -> float:
        """Mean |answer − true quantile|, in the values' unit; exact. Raises InvalidArgument."""
        law = self.law(finite_vector(values=values))
        return float(law.probabilities @ law.intervals.deviation(self._truth(values)))

    def rank_error(self, values: ArrayLike) -> float:
        """Mean distance of the answer's rank from q·n, as a share of n; exact. Raises InvalidArgument."""
        law = self.law(finite_vector(values=values))
        return float(law.probabilities @ np.abs(law.intervals.below - self.q))

    def success(self, values: ArrayLike, tolerance: float) -> float:
        """Chance of an answer at most ``tolerance`` from the true quantile; exact. Raises InvalidArgument."""
        law = self.law(finite_vector(values=values))
        share = law.intervals.share_within(self._truth(values), non_negative(tolerance=tolerance))
        return float(law.probabilities @ share)

    def sample(self, values: ArrayLike, rng: np.random.Generator, size: int) -> FloatArray:
        """``size`` simulated answers, shape (size,). Raises InvalidArgument."""
        law = self.law(values)
        steps = np.cumsum(law.probabilities)
        chosen = np.searchsorted(steps, generator(rng=rng).random(whole(0, size=size)) * steps[-1], side="right")
        edges = law.intervals.edges
        chosen = np.minimum(chosen, steps.size - 1)
        drawn: FloatArray = edges[chosen] + rng.random(chosen.size) * (edges[chosen + 1] - edges[chosen])
        return drawn

    @property
    def cost(self) -> Cost:
        """One answer: ε-bounded range."""
        return Cost.bounded_range(self.epsilon)

    def _truth(self, values: ArrayLike) -> float:
        return true_quantile(np.clip(finite_vector(values=values), self.low, self.high), self.q)
