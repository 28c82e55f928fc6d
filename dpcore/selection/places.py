"""Where a private quantile may lie: in the gaps between values, or on a grid; and how many values are below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.in_units import LARGEST, binary_unit, to_units
from dpcore.validate import FloatArray, IntArray, whole

MOST_POINTS = 10**5
USUAL_POINTS = 1001
_FINEST = 1024  # units between neighbouring points


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

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The least and the largest answer of each, shapes (d,)."""
        return self.edges[:-1], self.edges[1:]

    def off(self, target: FloatArray | float) -> FloatArray:
        """How many too many lie below rather than above for the quantile ``target``, as a share of all: rises from one
        to the next."""
        return np.asarray(self.below - target)

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

    def reached(self, steps: FloatArray, chances: FloatArray) -> FloatArray:
        """Where the chances summed up to here, ``steps`` (d+1,), come to ``chances`` (m,), shape (m,)."""
        return np.asarray(np.interp(chances, steps, self.edges))

    def passed(self, steps: FloatArray, points: FloatArray) -> FloatArray:
        """What of ``steps`` (d+1,) lies below each of ``points`` (m,), shape (m,)."""
        return np.asarray(np.interp(points, self.edges, steps))

    def drawn(self, chosen: IntArray, rng: np.random.Generator) -> FloatArray:
        """A uniform point in each of the intervals ``chosen`` (m,), shape (m,)."""
        return np.asarray(self.edges[chosen] + rng.random(chosen.size) * self.widths[chosen])


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoints(Intervals):
    """The same where only ``numbers`` (d,), evenly spaced, come out: each stands for the interval around it.

    ``below`` (d,): the share of values under it; ``up_to`` (d,): of those not over it. Values equal to a number lie on
    neither side of it, so they speak for it.
    """

    numbers: FloatArray
    up_to: FloatArray

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Each number twice."""
        return self.numbers, self.numbers

    def off(self, target: FloatArray | float) -> FloatArray:
        """See ``Intervals``: (1 − q)·below − q·above."""
        return np.asarray((1.0 - target) * self.below - target * (1.0 - self.up_to))

    def part(self, first: int, last: int) -> GridPoints:
        """The numbers ``first`` … ``last`` − 1 alone."""
        inside = slice(first, last)
        return GridPoints(
            edges=self.edges[first : last + 1],
            below=self.below[inside],
            n=self.n,
            numbers=self.numbers[inside],
            up_to=self.up_to[inside],
        )

    def deviation(self, truth: float) -> FloatArray:
        """Distance of each number to ``truth``, shape (d,)."""
        return np.asarray(np.abs(self.numbers - truth))

    def share_within(self, truth: float, tolerance: float) -> FloatArray:
        """1 for each number at most ``tolerance`` (to rounding) from ``truth``, else 0; shape (d,)."""
        return np.asarray((self.deviation(truth) <= tolerance * (1.0 + 1e-12)).astype(np.float64))

    def reached(self, steps: FloatArray, chances: FloatArray) -> FloatArray:
        """The least number up to which the chances come to ``chances`` (m,), shape (m,)."""
        place = np.searchsorted(steps[1:], chances, side="left")
        return self.numbers[np.minimum(place, self.numbers.size - 1)]

    def passed(self, steps: FloatArray, points: FloatArray) -> FloatArray:
        """What of ``steps`` (d+1,) is that of numbers below each of ``points`` (m,), shape (m,)."""
        return steps[np.searchsorted(self.numbers, points, side="left")]

    def drawn(self, chosen: IntArray, rng: np.random.Generator) -> FloatArray:
        """The numbers ``chosen`` (m,)."""
        return self.numbers[chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """``points`` numbers, evenly spaced from ``low`` to ``high``, both among them: all that may come out.

    Values are counted in ``unit``, so that one that is written as a point is equal to it. Raises InvalidArgument.
    """

    low: float
    high: float
    points: int

    def __post_init__(self) -> None:
        whole(2, MOST_POINTS, points=self.points)
        if not 0 < self.high - self.low < np.inf:
            raise InvalidArgument("high", "must be greater than low")
        if max(abs(self.low), abs(self.high)) / self.unit > LARGEST or (np.diff(self.numbers) <= 0).any():
            raise InvalidArgument("points", "must be fewer: they are too close together to tell apart")

    @property
    def numbers(self) -> FloatArray:
        """Shape (points,), ascending."""
        return np.linspace(self.low, self.high, self.points)

    @property
    def step(self) -> float:
        """From one to the next."""
        return (self.high - self.low) / (self.points - 1)

    @property
    def unit(self) -> float:
        """A power of two, at most a 1024th of ``step``."""
        return binary_unit(self.step / _FINEST)

    def units(self, values: FloatArray) -> IntArray:
        """``values`` (n,), moved to the bounds, in units."""
        return to_units(np.clip(values, self.low, self.high), self.unit)

    def places(self, values: FloatArray) -> GridPoints:
        """``values`` (n,), n ≥ 0, as a mechanism over the grid sees them."""
        ordered, points = np.sort(self.units(values)), to_units(self.numbers, self.unit)
        below, up_to = (np.searchsorted(ordered, points, side) / max(1, ordered.size) for side in ("left", "right"))
        middles = (self.numbers[1:] + self.numbers[:-1]) / 2.0
        return GridPoints(
            edges=np.concatenate([[self.low - self.step / 2.0], middles, [self.high + self.step / 2.0]]),
            below=below,
            n=ordered.size,
            numbers=self.numbers,
            up_to=up_to,
        )


def points_between(low: float, high: float, *, whole: bool) -> int:
    """Of how many numbers a private quantile is one unless somebody says otherwise: every ``whole`` one, where both
    bounds are and they are no more than ``USUAL_POINTS``; else that many."""
    if whole and float(low).is_integer() and float(high).is_integer() and high - low < USUAL_POINTS:
        return int(high - low) + 1
    return USUAL_POINTS
