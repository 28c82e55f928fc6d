"""Rows of steps and options in whole numbers, and where in each pair of columns a model's errors pile up.

What a model gets wrong about a row is whole units of 2⁻¹⁴, at most as many as public constants say. A row is in at most
one cell of every pair, so one row moves a pair's score by at most that many units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.releases.whole_classes import whole_codes
from dpcore.releases.whole_codes import SLOPE_BITS, KeptRows, WholeCodes
from dpcore.training.choosing_pairs import FURTHEST
from dpcore.training.features import Features
from dpcore.training.pairable import possible_pairs
from dpcore.validate import FloatArray, IntArray


def most_wrong(features: Features) -> int:
    """How long what a model gets wrong about one row is at most, in units of 2⁻¹⁴, rounded up."""
    if features.apart:
        return math.isqrt(2 << 2 * SLOPE_BITS) + 1
    return 1 << SLOPE_BITS if features.two_classes else round(FURTHEST * 2**SLOPE_BITS)


class WholePairs:
    """The rows of a table that have an answer, as codes, and their cells in the pairs that can be chosen.

    One row adds at most ``most_wrong`` to the length of the errors in one cell of every pair, hence to its score, and
    at most the square of that, in units of 2⁻¹⁴, to the ``squares``.
    """

    def __init__(self, features: Features, rows: KeptRows, many: int) -> None:
        self._features, self._rows = features, rows
        self.candidates = possible_pairs(features, many)
        self.singles = whole_codes(features, rows)
        known = {column.name: typed for column, typed in zip(features.columns, rows.numbers, strict=True)}
        # a row's cells in all pairs are many; what they follow from is a byte or two for each column
        short = {one.name: one for pair in self.candidates for one in (pair.first, pair.second)}
        self._own = {
            name: one.codes(known[name]).astype(np.min_scalar_type(len(one.basis()))) for name, one in short.items()
        }

    def wrong(self, points: FloatArray) -> IntArray:
        """What ``points`` of the singles (d,) or (d, classes) get wrong about every row, (n, outputs), in 2⁻¹⁴."""
        return self.singles.wrong(points, most_wrong(self._features))

    def squares(self, wrong: IntArray) -> int:
        """Σ over rows of the squared length of what is wrong, in units of 2⁻¹⁴, each rounded down."""
        return int(((wrong * wrong).sum(axis=1) >> SLOPE_BITS).sum())

    def scores(self, wrong: IntArray, thresholds: Sequence[int]) -> IntArray:
        """Every candidate's score: Σ over its cells of how far the length of the sum of what is wrong there is above
        the candidate's threshold, whole units, exact."""
        found = []
        for pair, threshold in zip(self.candidates, thresholds, strict=True):
            cells = pair.cell(*(self._own[name].astype(np.int64) for name in pair.names))
            sums = np.stack([
                np.bincount(cells, own.astype(np.float64), minlength=pair.cells + 1)[: pair.cells] for own in wrong.T
            ]).astype(np.int64)  # fmt: skip
            found.append(sum(max(0, length - threshold) for length in _lengths(sums)))
        return np.array(found, dtype=np.int64)

    def codes(self, features: Features) -> WholeCodes:
        """The same rows with the pairs of ``features``, which were chosen by now."""
        return whole_codes(features, self._rows)

    def chosen(self, places: Sequence[int]) -> Features:
        """The features with the candidates at these places."""
        return replace(
            self._features, pairs=(*self._features.pairs, *(self.candidates[place] for place in sorted(places)))
        )


def _lengths(sums: IntArray) -> list[int]:
    """The lengths of the columns of ``sums`` (outputs, cells), rounded down, exact however long."""
    if sums.shape[0] == 1:
        return [int(length) for length in np.abs(sums[0])]
    return [math.isqrt(sum(int(part) ** 2 for part in cell)) for cell in sums.T]
