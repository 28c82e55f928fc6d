"""The question what a median or another quantile is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from scipy.special import bdtr, bdtrc, ndtri

from dpcore.about import About
from dpcore.selection.near_ranks import group_means, groups
from dpcore.selection.places import Intervals
from dpcore.selection.quantile import Quantile, true_quantile
from dpcore.selection.sharing import per_question
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.validate import FloatArray, IntArray, Neighbours, finite_vector, in_range, one_of, positive, whole

QUANTILE, THEORY = "quantile", "theory"
_BLOCK = 1 << 17  # settings × intervals worked on at a time
_MANY = 4  # intervals for each group that those of near ranks would make, from which on they are taken together
_DEPTH = 100.0
METRICS = keyed(
    Metric(key="expected_error", name="Average error", title="average error", better="lower", natural=True),
    Metric(
        key="rank_error",
        name="Average error in rank",
        title="average error in rank (people in 100)",
        better="lower",
        factor=100.0,
        unit=" of 100 people",
    ),
    Metric(
        key="success",
        name="Chance of a close answer",
        title="close answers in 100",
        better="higher",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
)
ABOUTS = MappingProxyType(
    {
        QUANTILE: About(
            name="Exponential mechanism on ranks",
            plain="a weighted draw by rank, the wanted one far likelier",
            how=(
                "The values cut the range into gaps. A gap is drawn at random, the nearer to the wanted rank the "
                "likelier, and then any point in it."
            ),
            formula=r"p(r) \propto e^{-a \, |\text{below}(r) - q n|}",
            source="Smith, STOC 2011.",
            textbook=True,
            release="exponential",
        ),
        THEORY: About(
            name="What theory promises",
            plain="what a theorem is sure of",
            how=(
                "A theorem about the exponential mechanism says how far from the wanted rank the answer may be. It "
                "must hold for the worst values, so the truth is better."
            ),
            formula=r"\Pr[\text{rank error} \ge t] \le e^{B - a t}",
            source="McSherry and Talwar, FOCS 2007, with a share of the range in place of a number of options.",
        ),
    }
)
GRID_ABOUTS = MappingProxyType(
    {
        QUANTILE: replace(
            ABOUTS[QUANTILE],
            how=(
                "Each number that may come out is scored by how evenly it splits the values below it and above it. "
                "One is drawn at random, the more even the split the likelier."
            ),
            formula=r"p(r) \propto e^{-a \, |(1 - q)\,\text{below}(r) - q\,\text{above}(r)|}",
        ),
        THEORY: ABOUTS[THEORY],
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuantileProblem(Problem):
    """A private ``q``-quantile of ``values`` (n,) within public bounds, exactly.

    ``low``, ``high``, ``q``, ``relation``, ``rows_per_person`` and ``points`` as for ``Quantile``; at n people the
    values keep their shares. ``tolerance``: what counts as right, in the values' unit (a hundredth of the range unless
    given). ``questions`` such answers share the budget, (ε, ``delta``) in all (see ``sharing.per_question``).

    Metrics: ``expected_error``, mean |answer − true quantile| in the values' unit; ``rank_error``, mean distance of
    the answer's rank from q, as a share of people; ``success``, the chance to be within ``tolerance``. Method
    ``theory`` is the exponential mechanism's utility theorem with the share of the range that is good enough in
    place of 1/k: P(rank error ≥ t) ≤ exp(B − a·t), B = min over τ of a·τ + ln(range / width of points within τ).

    ``value`` is privacy noise alone. ``low`` and ``high`` show the other error, of drawing n people: the rank of the
    population's quantile in the sample moves by its normal quantiles at (1 ± ``band``)/2, sd √(q(1 − q)n), and the
    band spans the metric there and at 0, judged by the population's quantile. Off when ``band`` is 0.
    Raises InvalidArgument.

    >>> import numpy as np
    >>> ages = QuantileProblem(values=np.arange(20.0, 80.0), low=0.0, high=100.0, band=0.0)
    >>> ages.truth
    49.5
    >>> ages.evaluate("quantile", "expected_error", np.array([1.0]), np.array([60.0])).value.round(2).tolist()
    [0.97]
    """

    values: FloatArray
    low: float
    high: float
    q: float = 0.5
    relation: Neighbours = "add_remove"
    tolerance: float | None = None
    rows_per_person: int = 1
    points: int | None = None
    questions: int = 1
    delta: float = 0.0
    band: float = 0.8
    _quantile: Quantile = field(init=False, repr=False)
    _intervals: Intervals = field(init=False, repr=False)
    _truth: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        values = finite_vector(values=self.values).copy()
        values.flags.writeable = False
        quantile = Quantile(
            epsilon=1.0,
            low=self.low,
            high=self.high,
            q=self.q,
            relation=self.relation,
            rows_per_person=self.rows_per_person,
            points=self.points,
        )
        if self.tolerance is not None:
            positive(tolerance=self.tolerance)
        whole(1, questions=self.questions)
        in_range(0.0, 1.0, open_high=True, delta=self.delta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        truth = true_quantile(np.clip(values, self.low, self.high), self.q)
        derived = {"values": values, "_quantile": quantile, "_intervals": quantile.intervals(values), "_truth": truth}
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """How many values there are."""
        return int(self.values.size)

    @property
    def truth(self) -> float:
        """The true quantile of the values within the bounds."""
        return self._truth

    @property
    def abouts(self) -> Mapping[str, About]:
        """``quantile`` (the mechanism) and ``theory``."""
        return ABOUTS if self.points is None else GRID_ABOUTS

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """See the class."""
        return METRICS

    @property
    def central(self) -> QuantileProblem:
        """The same question without the bands, for maps and searches."""
        if self.band == 0.0:
            return self
        found = copy(self)  # of very many values, too, there is one array
        object.__setattr__(found, "band", 0.0)
        return found

    def mechanism(self, epsilon: float) -> Quantile:
        """The mechanism that answers one of the questions when all share ``epsilon``. Raises InvalidArgument."""
        share = per_question(self._quantile.cost, np.array([positive(epsilon=epsilon)]), self.questions, self.delta)
        return replace(self._quantile, epsilon=float(share[0]))

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(self.methods, method=method)
        one_of(tuple(self.metrics), metric=metric)
        people = np.asarray(n, dtype=np.float64)
        levels = np.asarray(epsilon, dtype=np.float64)
        slopes = self._quantile.slopes(per_question(self._quantile.cost, levels, self.questions, self.delta))
        if method == THEORY:
            return Estimate.bound(self._promise(metric, slopes, people))
        value = self._measure(metric, slopes, people, np.full_like(people, self.q))
        if self.band == 0.0:
            return Estimate.exact(value)
        shift = float(ndtri((1 + self.band) / 2)) * np.sqrt(self.q * (1 - self.q) / people)
        ends = np.stack(
            [value] + [self._measure(metric, slopes, people, np.clip(self.q + s, 0.0, 1.0)) for s in (-shift, shift)]
        )
        return Estimate.exact(value, ends.min(axis=0), ends.max(axis=0))

    def elsewhere(self) -> float:
        """How often the quantile of as many other values, drawn one by one from these, lies farther from ``truth`` than
        ``tolerance``; from 0 to 1.

        Exact: the k-th smallest of n draws is at most t when at least k of them are, which are binomial. k is n·q
        rounded up, so of two values in the middle the lower one counts.

        >>> round(QuantileProblem(values=[0.0, 0.0, 1.0], low=0.0, high=1.0, tolerance=0.5).elsewhere(), 4)
        0.2593
        """
        values = np.sort(np.clip(self.values, self.low, self.high))
        rank = max(math.ceil(self.n * self.q), 1)
        reach = self._tolerance * (1.0 + 1e-12)
        below = np.searchsorted(values, self._truth - reach, side="left") / self.n
        within = np.searchsorted(values, self._truth + reach, side="right") / self.n
        return float(bdtrc(rank - 1, self.n, below) + bdtr(rank - 1, self.n, within))

    @property
    def _tolerance(self) -> float:
        return (self.high - self.low) / 100 if self.tolerance is None else self.tolerance

    def _measure(self, metric: str, slopes: FloatArray, people: FloatArray, target: FloatArray) -> FloatArray:
        intervals = self._intervals
        if metric == "success":
            worth = intervals.share_within(self._truth, self._tolerance)
        elif metric == "rank_error":
            worth = np.abs(intervals.off(self.q))
        else:
            worth = intervals.deviation(self._truth)
        rates = slopes * people
        measured = np.empty_like(slopes)
        for rows in self._blocks(rates):
            inside = self._window(float(rates[rows[0]]), target[rows])
            near, weighed = intervals.part(inside.start, inside.stop), worth[inside]
            ranks = float(near.below[-1] - near.below[0])
            if ranks and self.points is None and near.below.size > _MANY * groups(ranks, float(rates[rows[-1]])):
                measured[rows] = group_means(near.below, near.widths, weighed, rates[rows], target[rows])
                continue
            step = max(1, _BLOCK // near.below.size)
            for part in (rows[i : i + step] for i in range(0, rows.size, step)):
                measured[part] = self._quantile.laws(near, people[part], target[part], slopes[part]) @ weighed
        return measured

    def _blocks(self, rates: FloatArray) -> Iterator[IntArray]:
        """Settings to be worked on together, by ascending rates: all of them or those within an octave."""
        order = np.argsort(rates)
        if order.size * self._intervals.below.size <= _BLOCK:
            yield order
            return
        octaves = np.floor(np.log2(rates[order]))
        yield from np.split(order, np.flatnonzero(np.diff(octaves)) + 1)

    def _window(self, rate: float, target: FloatArray) -> slice:
        """The intervals that count at these ``target`` and this rate or more: those more than e^−100 below the
        likeliest are left out."""
        below = self._intervals.below
        if self.points is not None:
            return slice(0, below.size)  # they are few
        after = np.searchsorted(below, target)
        nearest = np.abs(below[np.clip([after - 1, after], 0, below.size - 1)] - target).min(axis=0)
        reach = _DEPTH / rate + nearest.max()
        first = int(np.searchsorted(below, target.min() - reach))
        return slice(first, int(np.searchsorted(below, target.max() + reach, side="right")))

    def _promise(self, metric: str, slopes: FloatArray, people: FloatArray) -> FloatArray:
        intervals = self._intervals
        miss = np.abs(intervals.off(self.q))
        order: IntArray = np.argsort(miss, kind="stable")
        rank = miss[order]
        good = np.log(np.cumsum(intervals.widths[order]) / (intervals.edges[-1] - intervals.edges[0]))
        slope = slopes * people  # per share of people
        start = np.array([(a * rank - good).min() for a in slope])
        if metric == "rank_error":
            promised: FloatArray = np.minimum((start + 1) / slope, rank[-1])
            return promised
        low, high = (ends[order] for ends in intervals.ends)
        reach = np.maximum.accumulate(np.maximum(np.abs(low - self._truth), np.abs(high - self._truth)))
        if metric == "success":
            first = int(np.searchsorted(reach, self._tolerance, side="right"))
            if first == reach.size:
                return np.ones_like(slope)
            kept: FloatArray = 1 - np.exp(np.minimum(start - slope * rank[first], 0.0))
            return kept
        step = np.flatnonzero(np.diff(reach)) + 1
        rise = np.diff(reach)[step - 1]
        tails = (np.exp(np.minimum(b - a * rank[step], 0.0)) @ rise for a, b in zip(slope, start, strict=True))
        error: FloatArray = reach[0] + np.fromiter(tails, dtype=np.float64, count=slope.size)
        return error
