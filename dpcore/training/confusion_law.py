"""Exact laws of what is told of a model from four counts, each with noise of its own.

How many are told right is two such counts, and how many wrong the other two: all below follows from the law of the
noise on one and of a sum of two (``dpcore.training.count_noise``).

A share r/(r + w) of noisy numbers, cut at 0, rises with r and falls with w. So where neither is off by more than x, the
share is farthest off with x more of one and x less of the other, where the total is what it was: it is off by at most
x over the true total, and, read the other way round, by at most x over the told one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.training.confusion import Confusion
from dpcore.training.count_noise import LaplaceNoise, Noise
from dpcore.validate import FloatArray, finite_vector, probability

PLACES = 601
"""Of noise, up to which every one is gone through by itself; beyond, groups of neighbouring ones."""
_AT_ONCE = 256  # settings worked on at a time


def told_off(
    right: ArrayLike,
    wrong: ArrayLike,
    scale: ArrayLike,
    beta: float = 0.05,
    *,
    law: type[Noise] = LaplaceNoise,
    counts: int = 2,
    places: int = PLACES,
    finest: float = 1e-5,
) -> FloatArray:
    """How far off the told share of ``right`` among both is at most, but for a chance of ``beta``, shape (m,).

    ``right`` and ``wrong`` are true numbers, at least 0 and one of them more, (m,) each as ``scale`` is; each is told
    as the sum of ``counts`` counts with noise of this ``law``. Found to a share of ``finest``; exact up to so many
    ``places`` of the noise (a scale of 7, of 23 where it is Gaussian), beyond which neighbouring ones are taken
    together. Raises InvalidArgument.
    """
    asked = np.broadcast_arrays(*(np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in (right, wrong, scale)))
    here, there, scales = (finite_vector(numbers=one) for one in asked)
    if (here < 0.0).any() or (there < 0.0).any() or (here + there <= 0.0).any():
        raise InvalidArgument("right", "and wrong must be numbers of rows, at least one together")
    parts = [slice(start, start + _AT_ONCE) for start in range(0, here.size, _AT_ONCE)]
    noises = (law(scale=scales[one, None], counts=counts) for one in parts)
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
    reach = np.ceil(noise.reach * np.asarray(noise.scale)) + 1.0
    edges = np.round(-reach + (2.0 * reach + 1.0) * np.linspace(0.0, 1.0, most + 1))
    return (edges[:, :-1] + edges[:, 1:] - 1.0) / 2.0, -np.diff(noise.at_least(edges), axis=1)


def verdict_chance(true: Confusion, scale: float, law: type[Noise] = LaplaceNoise) -> float:
    """How likely the told counts say that the model is better than always the more common answer: exact.

    Each of the two comparisons is of two counts that the other does not have (``Confusion.better``).
    """
    gains = np.array([true.found - true.false_alarms, true.rightly_left - true.missed])
    return float(np.prod(law(scale=scale).at_least(np.floor(-gains) + 1.0)))
