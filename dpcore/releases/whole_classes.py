"""Rows of several classes in whole numbers: softmax slopes, exact gradient sums and cells for a released model.

Chances come from a public table of powers of e and whole-number division, so one row's part in a sum is the same
whatever the other rows are, wherever it stands and whatever a processor does with floating point.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np

from dpcore.releases.filed_rows import FiledRows
from dpcore.releases.whole_codes import (
    LARGEST_SUM,
    MARGIN_BITS,
    SCALE_BITS,
    SLOPE_BITS,
    KeptRows,
    WholeCodes,
    root_up,
)
from dpcore.training.features import Features
from dpcore.training.scaled_descent import SURE
from dpcore.validate import FloatArray, IntArray

_POWER_BITS = 20  # of e to the power of how far a margin is below the largest
_TABLE_BITS, _TABLE_REACH = 12, 16  # powers at 0 to −16, 2⁻¹² apart; e^−16 is less than half a unit


class WholeClasses(WholeCodes):
    """The rows of a table that have an answer, as codes, for a model that tells ``outputs`` classes apart.

    For any public weights (d, outputs) and scales one row's part in ``sums`` has an L2 length of at most ``clip``
    units over all classes together, it is in at most ``most_ones`` of the ``counts``, and in one of the ``cells``.
    """

    at_once: ClassVar[int] = 1 << 14

    def __init__(self, features: Features, rows: KeptRows | FiledRows) -> None:
        super().__init__(features, rows)
        self._outputs = features.outputs

    def _whole_answers(self, answers: FloatArray) -> IntArray:
        """The number of each row's class."""
        return answers.astype(np.int64)

    def sums(self, weights: FloatArray, scales: IntArray, clip: int) -> IntArray:
        """Σ over rows of the gradient by scaled ones, each cut to ``clip`` units, in ``SUM_UNIT``, exact, (d, outputs).

        ``weights`` (d, outputs) of the scaled ones, ``scales`` (d,) in their units: all public.
        """
        points = self._points(weights * scales[:, None] * 2.0**-SCALE_BITS)
        squares = np.asarray(self._basis @ (scales * scales))
        total = np.zeros((self._basis.shape[0], self._outputs), dtype=np.int64)
        for codes, answers in self._parts():
            slopes = self._wrong(points, codes, answers)
            caps = clip // np.maximum(root_up(squares[codes].sum(axis=1)), 1)
            capped = _shortened(slopes, caps).astype(np.float64)
            for column in range(codes.shape[1]):
                for output in range(self._outputs):
                    found = np.bincount(codes[:, column], capped[:, output], minlength=self._basis.shape[0])
                    total[:, output] += found.astype(np.int64)
        return np.clip(np.asarray(self._basis.T @ total) * scales[:, None], -LARGEST_SUM, LARGEST_SUM)

    def cells(self, points: FloatArray) -> IntArray:
        """How many rows are told wrong and right, by how sure the ``points`` (d, outputs) are of them, (bins × 2,)."""
        units = self._points(points)
        least = np.floor(np.exp(-SURE) * (1 << _POWER_BITS)).astype(np.int64)  # falling
        found = np.zeros(2 * SURE.size + 2, dtype=np.int64)
        for codes, answers in self._parts():
            margins = self._margins(units, codes)
            others = _powers(margins).sum(axis=1) - (1 << _POWER_BITS)
            bins = (others[:, None] <= least).sum(axis=1)
            right = margins.argmax(axis=1) == answers
            found += np.bincount(2 * bins + right, minlength=found.size)
        return found

    def _wrong(self, points: IntArray, codes: IntArray, answers: IntArray) -> IntArray:
        """Chances less a one for a row's class, in 2⁻¹⁴, (rows, outputs): never longer than √2, so never cut."""
        powers = _powers(self._margins(points, codes))
        found = (powers << SLOPE_BITS) // powers.sum(axis=1, keepdims=True)
        found[np.arange(codes.shape[0]), answers] -= 1 << SLOPE_BITS
        return np.asarray(found)

    def _margins(self, points: IntArray, codes: IntArray) -> IntArray:
        total = np.zeros((codes.shape[0], self._outputs), dtype=np.int64)
        for column in range(codes.shape[1]):
            total += points[codes[:, column]]
        return total


def whole_codes(features: Features, rows: KeptRows | FiledRows) -> WholeCodes:
    """The rows as codes, for one number a row or for one a class."""
    return WholeClasses(features, rows) if features.apart else WholeCodes(features, rows)


def _powers(margins: IntArray) -> IntArray:
    """e to the power of how far each of a row's ``margins`` (rows, outputs) is below its largest, in 2⁻²⁰."""
    below = (margins.max(axis=1, keepdims=True) - margins) >> (MARGIN_BITS - _TABLE_BITS)
    table = _power_table()
    return np.asarray(table[np.minimum(below, table.size - 1)])


def _shortened(slopes: IntArray, caps: IntArray) -> IntArray:
    """Each row of ``slopes`` (rows, outputs) made shorter where it is longer than its ``caps`` (rows,), toward 0."""
    lengths = root_up((slopes * slopes).sum(axis=1))
    long = lengths > caps
    cut = np.abs(slopes[long]) * caps[long, None] // lengths[long, None]
    slopes[long] = np.sign(slopes[long]) * cut
    return slopes


@cache
def _power_table() -> IntArray:
    """Powers of e at 0 to −16, in 2⁻²⁰: public, the same for everyone."""
    steps = np.arange((_TABLE_REACH << _TABLE_BITS) + 1)
    return np.asarray(np.rint(np.exp(-steps / 2.0**_TABLE_BITS) * 2.0**_POWER_BITS), dtype=np.int64)
