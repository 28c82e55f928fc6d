"""Rows in whole numbers before their numbers and dates are cut: cells of public grids, counted in trees."""

from __future__ import annotations

import numpy as np

from dpcore.releases.whole_classes import whole_codes
from dpcore.releases.whole_codes import KeptRows, WholeCodes
from dpcore.training.features import Features
from dpcore.training.paid_cuts import bits_for
from dpcore.training.uncut import cells_of, grid_of, is_bought
from dpcore.validate import IntArray


class WholeCells:
    """The rows of a table that have an answer, as cells of public grids, before their cuts are known.

    One row is in at most one node of every level of each of the ``trees``.
    """

    def __init__(self, features: Features, rows: KeptRows) -> None:
        self._features, self._rows = features, rows

    def trees(self) -> list[IntArray]:
        """How many rows are in every node of the tree over each uncut column's cells, the root first, exact."""
        found = []
        for column, typed in zip(self._features.columns, self._rows.numbers, strict=True):
            if is_bought(column):
                cells = cells_of(column, typed)
                grid = grid_of(column)
                level = np.bincount(cells[cells >= 0], minlength=1 << bits_for(grid)).astype(np.int64)
                levels = [level]
                while level.size > 1:
                    level = level.reshape(-1, 2).sum(axis=1)
                    levels.append(level)
                found.append(np.concatenate(levels[::-1]))
        return found

    def codes(self, features: Features) -> WholeCodes:
        """The same rows on the steps of ``features``, which are cut by now."""
        return whole_codes(features, self._rows)
