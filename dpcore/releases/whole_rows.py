"""Rows, slopes and gradient sums in whole numbers: what a released model adds its noise to.

Products are taken in double precision, where they are exact in any order: every number is whole and every partial sum
stays below 2⁵³. So one row's part in a sum is the same whatever the other rows are and wherever it stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpcore.training.encoding import Encoding
from dpcore.training.features import Features
from dpcore.training.pairs import Pair
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import OpenRows

ROW_BITS, SLOPE_BITS, WEIGHT_BITS = 18, 14, 14
SUM_UNIT = 2.0 ** -(ROW_BITS + SLOPE_BITS)
LARGEST_WEIGHT = 2.0**11
LARGEST_SUM = 2**60  # so that noise cannot wrap; far beyond what 2²⁸ rows of the largest clip add up to
_MARGIN_BITS = ROW_BITS + WEIGHT_BITS
_TABLE_BITS, _TABLE_REACH = 12, 32  # slopes at margins −32 to 32, 2⁻¹² apart
_CHUNK = 1 << 16  # rows at a time: 2¹⁶ rows × slope 2¹⁴ × entry 2¹⁸ is 2⁴⁸
_NUMBERS = 1 << 22  # numbers of them at a time, so that rows of many columns take no more beside the others


_Held = tuple[IntArray, FloatArray | None]
"""A column's whole units, or its codes and the whole units that each of them stands for."""


def clip_units(clip: float) -> int:
    """A clipping norm in units of the sums, rounded down."""
    return math.floor(clip / SUM_UNIT)


class WholeRows:
    """The rows of a table as whole units of 2⁻¹⁸; ``sums(weights)`` adds up their clipped gradients in ``SUM_UNIT``.

    For any weights, one row's part in the sums has an L2 length of at most ``clip`` units. Every row counts: a missing
    number is the middle of its declared range (of a column cut into steps: in no step), a missing word none of the
    options, and a row without an answer adds 0.

    Kept of a row are four bytes for a number and two at most for what is one of several, however many numbers that
    becomes: they are written out a part of the rows at a time.
    """

    def __init__(self, features: Features, clip: int, table: OpenRows) -> None:
        self.rows = table.rows
        self.d, self._logistic = features.d, features.two_classes
        answers = features.answers(features.target.typed(table.typed(features.target.name)))
        self._columns = [_held(column, features.scale, table) for column in features.columns]
        self._columns += [_paired(pair, features, table) for pair in features.pairs]
        self._last = _units(np.ones(1), features.scale) if features.intercept else np.zeros(0)
        self._answers = self._whole_answers(answers)
        self._caps = np.zeros(self.rows, dtype=np.int64)
        present = ~np.isnan(answers)
        for rows, exact in self._parts():
            here = exact.astype(np.int64)
            squares = (here**2).sum(axis=1)
            # the first condition alone decides in practice; the second is what the proof asks for
            kept = present[rows] & (squares <= 1 << 2 * ROW_BITS)
            lengths = np.maximum(np.ceil(np.sqrt(np.where(kept, squares, 0))), 1.0).astype(np.int64)
            self._caps[rows] = np.where(kept, clip // lengths, 0)
        self._table = _slope_table() if self._logistic else np.zeros(0, dtype=np.int64)

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Rows (m, d) in whole units, so many at a time as make no more numbers than memory can spare."""
        size = max(1, min(_CHUNK, _NUMBERS // self.d))
        for start in range(0, self.rows, size):
            rows = slice(start, min(start + size, self.rows))
            parts = [values[rows, None] if units is None else units[values[rows]] for values, units in self._columns]
            last = np.broadcast_to(self._last, (rows.stop - start, self._last.size))
            yield rows, np.concatenate([*parts, last], axis=1, dtype=np.float64)

    def _whole_answers(self, answers: FloatArray) -> IntArray:
        """1 for the positive class and 0 otherwise; numbers in units of a margin."""
        present = np.nan_to_num(answers, nan=0.0)
        if self._logistic:
            return (present > 0.0).astype(np.int64)
        return np.asarray(np.trunc(np.clip(present, -1.0, 1.0) * 2.0**_MARGIN_BITS), dtype=np.int64)

    def sums(self, weights: FloatArray) -> IntArray:
        """Σ over rows of the clipped gradient at public ``weights`` (d,), in ``SUM_UNIT``, exact, shape (d,)."""
        units = np.rint(np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT) * 2.0**WEIGHT_BITS)
        total = np.zeros(self.d, dtype=np.int64)
        for rows, exact in self._parts():
            slopes = self._slopes((exact @ units).astype(np.int64), self._answers[rows])
            caps = self._caps[rows]
            total += (np.clip(slopes, -caps, caps).astype(np.float64) @ exact).astype(np.int64)
        return np.clip(total, -LARGEST_SUM, LARGEST_SUM)

    def _slopes(self, margins: IntArray, answers: IntArray) -> IntArray:
        if not self._logistic:
            return np.asarray((margins - answers) >> (_MARGIN_BITS - SLOPE_BITS))
        half = self._table.size // 2
        places = np.clip(margins >> (_MARGIN_BITS - _TABLE_BITS), -half, half) + half
        return np.asarray(self._table[places] - (answers << SLOPE_BITS))


def _units(values: FloatArray, scale: float) -> FloatArray:
    """Numbers of a row in whole units. None is beyond 1 but by rounding; cut all the same, so that no square can wrap
    whatever it were."""
    return np.asarray(np.trunc(np.clip(np.nan_to_num(values / scale), -1.0, 1.0) * 2.0**ROW_BITS))


def _held(column: Encoding, scale: float, table: OpenRows) -> _Held:
    typed = column.typed(table.typed(column.name))
    if column.levels or column.kind == "category":
        return _coded(column.codes(typed), column.ones(), scale)
    return _units(column.spread(typed)[:, 0], scale).astype(np.int32), None


def _paired(pair: Pair, features: Features, table: OpenRows) -> _Held:
    known = {column.name: column for column in features.columns}
    typed = (known[name].typed(table.typed(name)) for name in pair.names)
    return _coded(pair.codes(*typed), pair.basis(), features.scale)


def _coded(codes: IntArray, ones: FloatArray, scale: float) -> _Held:
    """What each row is one of, and what that becomes."""
    return codes.astype(np.min_scalar_type(len(ones))), _units(ones, scale)


def _slope_table() -> IntArray:
    """The chance of the positive class in units of 2⁻¹⁴ at margins from −32 to 32: public, the same for everyone."""
    half = _TABLE_REACH << _TABLE_BITS
    return np.asarray(np.rint(expit(np.arange(-half, half + 1) / 2.0**_TABLE_BITS) * 2.0**SLOPE_BITS), dtype=np.int64)
