"""Means over the exact law of a private quantile of very many values, from groups of intervals of near ranks.

Where the log-density changes by no more than an eighth within a group, the group's part of a sum is a series in its
moments that ends at double precision: a group then costs what an interval does, whatever it holds.
"""

from __future__ import annotations

import numpy as np

from dpcore.validate import FloatArray, IntArray

_TERMS = 8
"""Of the series: what is left out is less than (1/16)⁸/8! < 10⁻¹⁴ of a group's part."""
_PER_GROUP = 0.125
"""How much the log-density changes from one end of a group to the other at most."""
_FEWEST = 256  # groups that there are, so that few ranks lie in one that has the wanted rank within
_CELLS = 1 << 19  # settings × groups worked on at a time


def groups(reach: float, rate: float) -> float:
    """How many groups ranks within ``reach`` (a share of the values, above 0) make at most at this rate."""
    return reach / _size(reach, rate) + 1


def _size(reach: float, rate: float) -> float:
    return min(_PER_GROUP / rate, reach / _FEWEST)


def group_means(
    below: FloatArray, widths: FloatArray, worth: FloatArray, rates: FloatArray, targets: FloatArray
) -> FloatArray:
    """Mean of ``worth`` (d,) at each setting, shape (m,), where an interval of rank ``below`` (d,) has the weight
    width · exp(−rate · |below − target|).

    ``below`` are shares of the values in ascending order, ``rates`` (m,) and ``targets`` (m,) the settings, rates above
    0 and near each other: groups are made for the largest. Precise to 10⁻¹² of the mean of |``worth``|.
    """
    size = _size(float(below[-1] - below[0]), float(rates.max()))
    cells = np.floor(below / size)
    starts: IntArray = np.flatnonzero(np.diff(cells, prepend=-1.0))
    stops = np.append(starts[1:], below.size)
    centres: FloatArray = (cells[starts] + 0.5) * size
    moments = _moments(below - np.repeat(centres, stops - starts), np.stack([widths, widths * worth]), starts)
    means = np.empty_like(rates)
    step = max(1, _CELLS // starts.size)
    for first in range(0, rates.size, step):
        rows = slice(first, first + step)
        away = centres - targets[rows, None]
        split = np.abs(away) <= size * 0.500001  # the wanted rank may lie within: its two sides are not one series
        nearest = np.abs(away).min(axis=1)
        chances = np.exp(-rates[rows, None] * (np.abs(away) - nearest[:, None]))
        chances[split] = 0.0
        sums = _series(chances, np.sign(away), rates[rows], moments)
        for row, group in np.argwhere(split).tolist():
            inside, at = slice(starts[group], stops[group]), first + row
            weights = widths[inside] * np.exp(-rates[at] * (np.abs(below[inside] - targets[at]) - nearest[row]))
            sums[:, row] += weights.sum(), weights @ worth[inside]
        means[rows] = sums[1] / sums[0]
    return means


def _moments(offsets: FloatArray, weights: FloatArray, starts: IntArray) -> FloatArray:
    """Σ weight · offset^k / k! of each group, shape (2, terms, groups), for ``weights`` (2, d) from ``starts`` on."""
    found = np.empty((2, _TERMS, starts.size))
    term = weights.copy()
    for k in range(_TERMS):
        found[:, k] = np.add.reduceat(term, starts, axis=1)
        term *= offsets / (k + 1)
    return found


def _series(chances: FloatArray, sides: FloatArray, rates: FloatArray, moments: FloatArray) -> FloatArray:
    """Sums over groups, shape (2, m): on the far side of a wanted rank a rank more is less likely, on the near side it
    is likelier, so odd terms have opposite signs."""
    sums = np.zeros((2, rates.size))
    for parity, signed in enumerate((chances, -chances * sides)):
        for k in range(parity, _TERMS, 2):
            sums += rates**k * (moments[:, k] @ signed.T)
    return sums
