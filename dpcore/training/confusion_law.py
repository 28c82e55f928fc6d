"""Exact laws of what is told of a model from four counts, each with discrete Laplace noise.

P(noise = x) = (1 − q)/(1 + q)·q^|x| with q = exp(−1/scale) (Ghosh, Roughgarden & Sundararajan, STOC 2009). How many are
told right is two such counts, and how many wrong the other two: all below follows from the law of one and of a sum
of two, whose tails are in closed form.

A share r/(r + w) of noisy numbers, cut at 0, rises with r and falls with w. So where neither is off by more than x, the
share is farthest off with x more of one and x less of the other, where the total is what it was: it is off by at most
x over the true total, and, read the other way round, by at most x over the told one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.training.confusion import Confusion
from dpcore.validate import FloatArray, finite_vector, probability, whole

_REACH = 40.0  # scales beyond which there is no chance that a float64 could tell from 0
PLACES = 601
"""Of noise, up to which every one is gone through by itself; beyond, groups of neighbouring ones."""
_AT_ONCE = 256  # settings worked on at a time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noise:
    """Noise of ``scale`` rows on each count, in what is the sum of ``counts`` (1 or 2) of them.

    ``scale`` may be an array; it is broadcast with what is asked. Raises InvalidArgument.

    >>> round(float(Noise(scale=2.0, counts=1).at_least(1)), 4)
    0.3775
    """

    scale: ArrayLike
    counts: int = 2

    def __post_init__(self) -> None:
        scale = np.asarray(self.scale, dtype=np.float64)
        if not (np.isfinite(scale) & (scale > 0.0)).all():
            raise InvalidArgument("scale", "must be greater than 0")
        whole(1, 2, counts=self.counts)
        object.__setattr__(self, "scale", scale)

    @property
    def _q(self) -> FloatArray:
        return np.asarray(np.exp(-1.0 / np.asarray(self.scale)))

    @property
    def _gap(self) -> FloatArray:
        """1 − q, also where that is next to nothing."""
        return np.asarray(-np.expm1(-1.0 / np.asarray(self.scale)))

    @property
    def _middle(self) -> FloatArray:
        """How much likelier a sum of two is at 0 than the square of one at 0."""
        return np.asarray((1.0 + self._q**2) / (self._gap * (1.0 + self._q)))

    def chance(self, places: ArrayLike) -> FloatArray:
        """P(noise = k) for whole numbers k, exact."""
        away = np.abs(np.asarray(places, dtype=np.float64))
        one, fall = self._gap / (1.0 + self._q), np.exp(-away / self.scale)
        return np.asarray(one * fall if self.counts == 1 else one * one * fall * (away + self._middle))

    def at_least(self, places: ArrayLike) -> FloatArray:
        """P(noise ≥ k) for whole numbers k, exact."""
        k = np.asarray(places, dtype=np.float64)
        above = np.where(k >= 1.0, k, 1.0 - k)  # P(noise ≥ k) = 1 − P(noise ≥ 1 − k)
        tail = np.exp(-np.minimum(above / self.scale, 700.0)) / (1.0 + self._q)
        if self.counts == 2:
            tail = tail * (self._gap * (above + self._middle) + self._q) / (1.0 + self._q)
        return np.where(k >= 1.0, tail, 1.0 - tail)

    def within(self, beta: float) -> FloatArray:
        """The smallest x so that two independent ones are both at most x off, but for a chance of ``beta``: whole
        numbers, the shape of ``scale``."""
        level = 1.0 - probability(beta=beta)
        high = np.ceil(_REACH * np.asarray(self.scale) * (1.0 - np.log(beta))) + 1.0
        low = np.full_like(high, -1.0)
        # beyond 2⁵³ two floats are never 1 apart
        while (((middle := np.floor((low + high) / 2.0)) > low) & (middle < high)).any():
            inside = np.maximum(1.0 - 2.0 * self.at_least(middle + 1.0), 0.0) ** 2 >= level
            low, high = np.where(inside, low, middle), np.where(inside, middle, high)
        return np.asarray(high)


def told_off(
    right: ArrayLike,
    wrong: ArrayLike,
    scale: ArrayLike,
    beta: float = 0.05,
    *,
    counts: int = 2,
    places: int = PLACES,
    finest: float = 1e-5,
) -> FloatArray:
    """How far off the told share of ``right`` among both is at most, but for a chance of ``beta``, shape (m,).

    ``right`` and ``wrong`` are true numbers, at least 0 and one of them more, (m,) each as ``scale`` is; each is told
    as the sum of ``counts`` noisy counts. Found to a share of ``finest``; exact up to so many ``places`` of the noise
    (a scale of 7), beyond which neighbouring ones are taken together. Raises InvalidArgument.
    """
    asked = np.broadcast_arrays(*(np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in (right, wrong, scale)))
    here, there, scales = (finite_vector(numbers=one) for one in asked)
    if (here < 0.0).any() or (there < 0.0).any() or (here + there <= 0.0).any():
        raise InvalidArgument("right", "and wrong must be numbers of rows, at least one together")
    parts = [slice(start, start + _AT_ONCE) for start in range(0, here.size, _AT_ONCE)]
    noises = (Noise(scale=scales[one, None], counts=counts) for one in parts)
    found = (_off(here[one], there[one], noise, beta, places, finest) for one, noise in zip(parts, noises, strict=True))
    return np.concatenate(list(found))


def _off(right: FloatArray, wrong: FloatArray, noise: Noise, beta: float, most: int, finest: float) -> FloatArray:
    level, total = 1.0 - probability(beta=beta), right + wrong
    places, chances = _grouped(noise, most)
    true = right / total
    told = np.maximum(right[:, None] + places, 0.0)

    def inside(off: FloatArray) -> FloatArray:
        between = _between(noise, told, wrong[:, None], (true - off)[:, None], (true + off)[:, None])
        return np.asarray((chances * between).sum(axis=1))

    high = np.minimum(1.0, noise.within(beta)[:, 0] / total * (1.0 + 1e-9))
    low = np.where(inside(np.zeros_like(high)) >= level, high, 0.0)
    none = low > 0.0
    while (high - low > finest * high).any():
        middle = (low + high) / 2.0
        enough = inside(middle) >= level
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(none, 0.0, high)


def _between(noise: Noise, told: FloatArray, wrong: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """How likely the told share is from ``low`` to ``high``, at each number ``told`` to be right."""
    slack = 1e-9  # a share at an edge is within it
    with np.errstate(over="ignore"):  # beyond any number there is no noise
        least = np.where(high >= 1.0, 0.0, told * (1.0 - high) / np.maximum(high, 1e-300))
        most = np.where(low <= 0.0, 0.0, told * (1.0 - low) / np.where(low <= 0.0, 1.0, low))
    above = np.where(least > 0.0, noise.at_least(np.ceil(least - wrong - slack)), 1.0)
    beyond = np.where(low > 0.0, noise.at_least(np.floor(most - wrong + slack) + 1.0), 0.0)
    # where none is told right the share is 0, or a half where none is told wrong either
    some = noise.at_least(np.floor(-wrong) + 1.0)
    none = some * (low <= 0.0) + (1.0 - some) * ((low <= 0.5) & (high >= 0.5))
    return np.where(told <= 0.0, none, np.maximum(above - beyond, 0.0))


def _grouped(noise: Noise, most: int) -> tuple[FloatArray, FloatArray]:
    """Places (m, places) of the noise of scales (m, 1), and their chances; neighbouring ones are one place where there
    are very many."""
    reach = np.ceil(_REACH * np.asarray(noise.scale)) + 1.0
    edges = np.round(-reach + (2.0 * reach + 1.0) * np.linspace(0.0, 1.0, most + 1))
    return (edges[:, :-1] + edges[:, 1:] - 1.0) / 2.0, -np.diff(noise.at_least(edges), axis=1)


def verdict_chance(true: Confusion, scale: float) -> float:
    """How likely the told counts say that the model is better than always the more common answer: exact.

    Each of the two comparisons is of two counts that the other does not have (``Confusion.better``).
    """
    gains = np.array([true.found - true.false_alarms, true.rightly_left - true.missed])
    return float(np.prod(Noise(scale=scale).at_least(np.floor(-gains) + 1.0)))
