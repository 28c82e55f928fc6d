"""Private medians and quantiles: the exponential mechanism over the gaps between values, or over a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.selection.places import Grid, Intervals
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
class IntervalLaw:
    """The law of a private quantile: an interval by ``probabilities`` (d,), then a uniform point in it; of
    ``GridPoints`` its number."""

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
        steps = self._steps
        return self.intervals.reached(steps, wanted * steps[-1])

    def below(self, points: ArrayLike) -> FloatArray:
        """Chance of an answer below each of ``points`` (m,), shape (m,). Raises InvalidArgument."""
        return self.intervals.passed(self._steps, finite_vector(points=points))

    @property
    def _steps(self) -> FloatArray:
        return np.concatenate([[0.0], np.cumsum(self.probabilities)])


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

    With ``points`` the answer is one of so many evenly spaced numbers (see ``Grid``), as a release's is, each as likely
    as exp(−ε·|(1 − q)·below(r) − q·above(r)| / (2s)): values equal to r are on neither side; s is the same.
    Raises InvalidArgument.
    """

    epsilon: float
    low: float
    high: float
    q: float = 0.5
    relation: Neighbours = "add_remove"
    rows_per_person: int = 1
    points: int | None = None

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        whole(1, rows_per_person=self.rows_per_person)
        finite_vector(low=[self.low])
        finite_vector(high=[self.high])
        if not 0 < self.high - self.low < np.inf:
            raise InvalidArgument("high", "must be greater than low")
        probability(q=self.q)
        one_of(("add_remove", "replace_one"), relation=self.relation)
        _ = self.grid

    @property
    def grid(self) -> Grid | None:
        """What may come out, where it is not any number."""
        return None if self.points is None else Grid(low=self.low, high=self.high, points=self.points)

    @property
    def sensitivity(self) -> float:
        """How far one person moves the score of a point, in rows."""
        return self.rows_per_person * (max(self.q, 1 - self.q) if self.relation == "add_remove" else 1.0)

    def slopes(self, epsilons: ArrayLike) -> FloatArray:
        """Change of log-density per person of rank error at each of ``epsilons`` (m,), shape (m,)."""
        return logit_slope(epsilons, self.sensitivity, one_way=False)

    def intervals(self, values: ArrayLike) -> Intervals:
        """``values`` (n,), n ≥ 0, as the mechanism sees them. Raises InvalidArgument."""
        given = finite_vector(values=values, at_least=0)
        if self.grid is not None:
            return self.grid.places(given)
        inside = np.clip(given, self.low, self.high)
        points, counts = np.unique(inside, return_counts=True)
        within = (points > self.low) & (points < self.high)
        below = np.cumsum(np.concatenate([[(inside == self.low).sum()], counts[within]]))
        edges = np.concatenate([[self.low], points[within], [self.high]])
        return Intervals(edges=edges, below=below / max(1, inside.size), n=inside.size)

    def laws(self, intervals: Intervals, people: FloatArray, target: FloatArray, slopes: FloatArray) -> FloatArray:
        """Probabilities of ``intervals``, shape (m, d), at ``slopes`` (m,) for ``people`` (m,) and quantile ``target``
        (m,): values repeated people/n times."""
        rank = np.abs(intervals.off(target[:, None])) * people[:, None]
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
        return float(law.probabilities @ np.abs(law.intervals.off(self.q)))

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
        return law.intervals.drawn(np.minimum(chosen, steps.size - 1), rng)

    @property
    def cost(self) -> Cost:
        """One answer: ε-bounded range."""
        return Cost.bounded_range(self.epsilon)

    def _truth(self, values: ArrayLike) -> float:
        return true_quantile(np.clip(finite_vector(values=values), self.low, self.high), self.q)
