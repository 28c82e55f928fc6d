"""Cuts at private quantiles: where a column is cut into steps of about as many people each, paid for with privacy.

``NoisyQuantiles`` asks for all quantiles of a column at once; ``RecursiveQuantiles`` is the published method that is
compared with it (``benchmarks/cuts.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from dpcore.errors import InvalidArgument
from dpcore.training.cuts import Cuts, own_cuts
from dpcore.validate import FloatArray, IntArray, finite_vector, positive, whole

if TYPE_CHECKING:
    from numpy.random import Generator

CUTS_SHARE = 0.1
"""Of 1/σ², or of ρ, where cuts are bought: fixed for every table."""
STEPS = (5, 20)  # how many steps, coarse to fine, a paid column has
EQUAL, MOST_BITS = 960, 20
_LARGEST_DECADE = 5


def fine_grid(low: float, high: float, *, days: bool = False) -> FloatArray:
    """Public places at which a column between the bounds may be cut, in rising order: 960 equal parts, and the numbers
    of one digit over the five decades below the largest size on either side of 0. ``days``: whole ones alone.

    Raises InvalidArgument.
    """
    bottom, top = finite_vector(low=[low])[0], finite_vector(high=[high])[0]
    if not bottom < top:
        raise InvalidArgument("high", "must be greater than low")
    equal = bottom + (top - bottom) * np.arange(1, EQUAL) / EQUAL
    power = math.ceil(math.log10(max(abs(bottom), abs(top))) - 1e-9)
    decades = [float(f"{digit}e{power - down}") for down in range(_LARGEST_DECADE + 1) for digit in range(1, 10)]
    both = np.array([0.0, *decades, *(-size for size in decades)])
    if days:
        return np.unique(np.ceil(equal))
    return np.unique(np.concatenate([equal, both[(both > bottom) & (both < top)]]))


def bits_for(grid: FloatArray) -> int:
    """How often the cells between the places of a ``grid`` (m,) must be halved to have them one by one."""
    return math.ceil(math.log2(grid.size + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyQuantiles:
    """Ranks of all cells at once from noisy counts of halves, quarters, eighths … of the cells of ``columns`` columns.

    One row is in one node of each of ``bits`` + 1 levels of a column's tree: all counts together have L2 sensitivity
    √(columns × (bits + 1)), add/remove, and each gets Gaussian noise of that times ``noise``: one Gaussian release of
    multiplier ``noise``. The counts that are consistent and nearest to the noisy ones (Hay, Rastogi, Miklau & Suciu,
    VLDB 2010), made to rise, give the ranks. Raises InvalidArgument.
    """

    bits: int
    columns: int
    noise: float

    def __post_init__(self) -> None:
        whole(1, MOST_BITS, bits=self.bits)
        whole(1, columns=self.columns)
        positive(noise=self.noise)

    @property
    def count_noise(self) -> float:
        """Standard deviation of the noise on every count."""
        return self.noise * math.sqrt(self.columns * (self.bits + 1))

    def levels(self, counts: IntArray) -> list[FloatArray]:
        """The exact counts of every level's nodes, from all rows at once to the cells; ``counts`` (at most 2^bits,)."""
        if counts.ndim != 1 or counts.size > 1 << self.bits:
            raise InvalidArgument("counts", "must have one entry for each of at most 2^bits cells")
        cells = np.zeros(1 << self.bits)
        cells[: counts.size] = counts
        return [cells.reshape(1 << level, -1).sum(axis=1) for level in range(self.bits + 1)]

    def draw(self, counts: IntArray, rng: Generator) -> FloatArray:
        """The noisy share of rows below the upper end of every cell, rising from about 0 to 1, shape (cells,)."""
        noisy = [level + self.count_noise * rng.standard_normal(level.size) for level in self.levels(counts)]
        return shares_below(noisy, counts.size)


def shares_below(noisy: list[FloatArray], cells: int) -> FloatArray:
    """What noisy counts of every level's nodes, as ``NoisyQuantiles.levels`` has them, say of the share of rows below
    the upper end of each of the ``cells``, rising from about 0 to 1, shape (cells,)."""
    below = isotonic_regression(np.cumsum(_consistent(noisy))[:cells]).x
    return np.asarray(below / max(float(below[-1]), 1.0))


def _consistent(noisy: list[FloatArray]) -> FloatArray:
    """The cells of the tree whose nodes are the sums of their halves and are nearest to the ``noisy`` ones."""
    best = [noisy[-1]]
    for height, own in enumerate(reversed(noisy[:-1]), start=2):
        halves = best[0].reshape(-1, 2).sum(axis=1)
        part = 2.0 ** (height - 1) / (2.0**height - 1.0)
        best.insert(0, part * own + (1.0 - part) * halves)
    found = best[0]
    for level in best[1:]:
        short = found - level.reshape(-1, 2).sum(axis=1)
        found = level + np.repeat(short, 2) / 2.0
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveQuantiles:
    """The middle quantile by the exponential mechanism, then those of either half among its own rows, and so on.

    Kaplan, Schnapp & Stemmer, ICML 2022 (approximate quantiles): ``rho`` is shared by the ⌈log₂(m + 1)⌉ rounds, since
    a row takes part in one choice of each; a choice of bounded range ε is ε²/8-zCDP. Raises InvalidArgument.
    """

    rho: float

    def __post_init__(self) -> None:
        positive(rho=self.rho)

    def draw(self, counts: IntArray, many: int, rng: Generator) -> IntArray:
        """Places of the ends of cells at ``many`` evenly spaced quantiles of ``counts`` (cells,), rising."""
        rounds = math.ceil(math.log2(whole(1, many=many) + 1))
        epsilon = math.sqrt(8.0 * self.rho / rounds)
        found = np.zeros(many, dtype=np.int64)
        self._between(counts, 0, counts.size, 0, many, found, epsilon, rng)
        return found

    def _between(
        self,
        counts: IntArray,
        left: int,
        right: int,
        first: int,
        last: int,
        found: IntArray,
        epsilon: float,
        rng: Generator,
    ) -> None:
        if first >= last:
            return
        middle = (first + last) // 2
        own = counts[left:right]
        ranks = np.concatenate([[0], np.cumsum(own)])
        wanted = ranks[-1] * (middle - first + 1) / (last - first + 1)
        # one row added moves both the rank and what is wanted, the distance by at most 1
        scores = -np.abs(ranks - wanted) * epsilon / 2.0 + rng.gumbel(size=ranks.size)
        place = left + int(np.argmax(scores))
        found[middle] = place
        self._between(counts, left, place, first, middle, found, epsilon, rng)
        self._between(counts, place, right, middle + 1, last, found, epsilon, rng)


def places_of(shares: FloatArray, many: int) -> IntArray:
    """Which ends of cells have shares nearest to ``many`` evenly spaced quantiles, shape (many,), rising."""
    wanted = np.arange(1, whole(1, many=many) + 1) / (many + 1)
    after = np.clip(np.searchsorted(shares, wanted), 0, shares.size - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(shares[before] - wanted) < np.abs(shares[after] - wanted)
    return np.asarray(np.where(nearer, before, after) + 1, dtype=np.int64)


def levels_at(shares: FloatArray, grid: FloatArray, low: float, high: float) -> tuple[Cuts, ...]:
    """Levels of cuts at places of the ``grid`` (m,) by the ``shares`` (m + 1,) of rows below the ends of its cells."""
    levels = []
    for steps in STEPS:
        places = np.unique(np.clip(places_of(shares, steps - 1), 1, grid.size))
        levels.append(own_cuts(low, high, grid[places - 1])[0])
    return tuple(level for level, later in pairwise([*levels, ()]) if level != later)


def paid_cuts(
    values: FloatArray,
    low: float,
    high: float,
    *,
    noise: float,
    columns: int,
    rng: Generator,
    days: bool = False,
) -> tuple[Cuts, ...]:
    """Levels of cuts of one of ``columns`` columns at private quantiles of its ``values`` (n,), NaN where missing.

    All columns together are one Gaussian release of multiplier ``noise``. Raises InvalidArgument.
    """
    grid = fine_grid(low, high, days=days)
    there = values[~np.isnan(values)]
    counts = np.bincount(np.searchsorted(grid, there, side="right"), minlength=grid.size + 1)
    asked = NoisyQuantiles(bits=bits_for(grid), columns=columns, noise=noise)
    return levels_at(asked.draw(counts, rng), grid, low, high)
