"""Exact laws of what is told of a model from four counts, each with discrete Laplace noise.

P(noise = x) = (1 − q)/(1 + q)·q^|x| with q = exp(−1/scale) (Ghosh, Roughgarden & Sundararajan, STOC 2009). How many are
told right is two such counts, and how many wrong the other two: all below follows from the law of one and of a sum
of two, whose tails are in closed form.

A share r/(r + w) of noisy numbers, cut at 0, rises with r and falls with w. So where neither is off by more than x, the
share is farthest off with x more of one and x less of the other, where the total is what it was: it is off by at most
x over the true total, and, read the other way round, by at most x over the told one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.training.confusion import Confusion
from dpcore.validate import FloatArray, in_range, positive, probability, whole

_REACH = 40.0  # scales beyond which there is no chance that a float64 could tell from 0
_PLACES = 1500  # up to which every place is gone through by itself; beyond, groups of neighbouring ones
_SMALLEST = 1e-5  # of an error that is told apart from another, as a share of the smallest


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Noise of ``scale`` rows on each count, in what is the sum of ``counts`` (1 or 2) of them. Raises InvalidArgument.

    >>> round(float(Noise(scale=2.0, counts=1).at_least([1.0])[0]), 4)
    0.3775
    """

    scale: float
    counts: int = 2

    def __post_init__(self) -> None:
        positive(scale=self.scale)
        whole(1, 2, counts=self.counts)

    def chance(self, places: ArrayLike) -> FloatArray:
        """P(noise = k) for whole numbers k, exact, same shape."""
        away = np.abs(np.asarray(places, dtype=np.float64))
        one = -math.expm1(-1.0 / self.scale) / (1.0 + math.exp(-1.0 / self.scale))
        fall = np.exp(-away / self.scale)
        return np.asarray(one * fall if self.counts == 1 else one * one * fall * (away + self._middle))

    @property
    def _middle(self) -> float:
        """What a sum of two at 0 is as likely as, in units of both being there."""
        q2 = math.exp(-2.0 / self.scale)
        return (1.0 + q2) / -math.expm1(-2.0 / self.scale)

    def at_least(self, places: ArrayLike) -> FloatArray:
        """P(noise ≥ k) for whole numbers k, exact, same shape."""
        k = np.asarray(places, dtype=np.float64)
        above = np.where(k >= 1.0, k, 1.0 - k)  # P(noise ≥ k) = 1 − P(noise ≥ 1 − k)
        gap, q = -math.expm1(-1.0 / self.scale), math.exp(-1.0 / self.scale)
        fall = np.exp(-np.minimum(above / self.scale, 700.0))
        both = gap * (above + self._middle) + q
        tail = fall / (1.0 + q) if self.counts == 1 else fall * both / (1.0 + q) ** 2
        return np.where(k >= 1.0, tail, 1.0 - tail)

    def within(self, beta: float) -> int:
        """The smallest x so that two independent ones are both at most x off, but for a chance of ``beta``."""
        level = 1.0 - probability(beta=beta)
        low, high = -1, math.ceil(_REACH * self.scale * (1.0 + 1.0 / beta)) + 1
        while high - low > 1:
            middle = (low + high) // 2
            inside = 1.0 - 2.0 * float(self.at_least([middle + 1.0])[0])
            low, high = (low, middle) if max(inside, 0.0) ** 2 >= level else (middle, high)
        return high


def told_off(right: float, wrong: float, scale: float, beta: float = 0.05, *, counts: int = 2) -> float:
    """How far off the told share of ``right`` among both is at most, but for a chance of ``beta``: exact, but that
    beyond 1,500 places of the noise neighbouring ones are taken together.

    Both are true numbers, at least 0 and one of them more; each is told as the sum of ``counts`` noisy counts. Raises
    InvalidArgument.
    """
    noise, level = Noise(scale=scale, counts=counts), 1.0 - probability(beta=beta)
    true = in_range(0.0, math.inf, right=right) / positive(total=right + in_range(0.0, math.inf, wrong=wrong))
    places, chances = _grouped(noise)
    here = np.maximum(right + places, 0.0)

    def inside(off: float) -> float:
        return float(chances @ _between(noise, here, wrong, true - off, true + off))

    low, high = 0.0, min(1.0, noise.within(beta) / (right + wrong) * (1.0 + 1e-9))
    if inside(0.0) >= level:
        return 0.0
    while high - low > _SMALLEST * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if inside(middle) >= level else (middle, high)
    return high


def _between(noise: Noise, here: FloatArray, wrong: float, low: float, high: float) -> FloatArray:
    """How likely the told share is from ``low`` to ``high``, at each of ``here`` told right."""
    slack = 1e-9  # a share at an edge is within it
    least = np.full(here.size, -np.inf) if high >= 1.0 else here * (1.0 - high) / max(high, 1e-300)
    most = np.full(here.size, np.inf) if low <= 0.0 else here * (1.0 - low) / low
    none = here <= 0.0  # then the share is 0, or a half where nobody is told wrong either
    above = np.where(least > 0.0, noise.at_least(np.ceil(np.nan_to_num(least, neginf=0.0) - wrong - slack)), 1.0)
    beyond = np.where(
        np.isfinite(most), noise.at_least(np.floor(np.nan_to_num(most, posinf=0.0) - wrong + slack) + 1.0), 0.0
    )
    told = np.maximum(above - beyond, 0.0)
    some = float(noise.at_least([math.floor(-wrong) + 1.0])[0])
    zero, half = low <= 0.0, low <= 0.5 <= high
    return np.where(none, some * zero + (1.0 - some) * half, told)


def _grouped(noise: Noise) -> tuple[FloatArray, FloatArray]:
    """Places of the noise and their chances, neighbouring ones together where there are very many."""
    reach = math.ceil(_REACH * noise.scale) + 1
    if 2 * reach + 1 <= _PLACES:
        places = np.arange(-reach, reach + 1, dtype=np.float64)
        return places, noise.chance(places)
    edges = np.unique(np.round(np.linspace(-reach, reach + 1, _PLACES + 1)))
    chances = -np.diff(noise.at_least(edges))
    return (edges[:-1] + edges[1:] - 1.0) / 2.0, chances


def verdict_chance(true: Confusion, scale: float) -> float:
    """How likely the told counts say that the model is better than always the more common answer: exact.

    Each of the two comparisons is of two counts that the other does not have (``Confusion.better``).
    """
    noise = Noise(scale=scale)
    gains = np.array([true.found - true.false_alarms, true.rightly_left - true.missed])
    return float(np.prod(noise.at_least(np.floor(-gains) + 1.0)))
