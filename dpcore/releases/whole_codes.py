"""Rows of steps and options, counts and gradient sums in whole numbers: what a released model on steps is drawn from.

A row is one code per column, and what a code stands for is a public table of zeros and ones. Scales are public whole
units of 2⁻¹², so a row's numbers are too; its slope is whole units of 2⁻¹⁴, read from a public table (or subtracted) at
a whole margin. Every sum is of whole numbers below 2⁵³, so it is exact in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit

from dpcore.releases.filed_rows import FiledRows
from dpcore.training.choosing_pairs import FURTHEST
from dpcore.training.features import Features
from dpcore.training.scaled_descent import SURE
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import OpenRows

SCALE_BITS, SLOPE_BITS, MARGIN_BITS = 12, 14, 20
SUM_UNIT = 2.0 ** -(SCALE_BITS + SLOPE_BITS)
LARGEST_SCALE = 2.0**6
LARGEST_POINTS = 2.0**11  # of one step or option, added to a margin
LARGEST_SUM = 2**60  # so that noise cannot wrap; far beyond what 2²⁸ rows of the largest clip add up to
_TABLE_BITS, _TABLE_REACH = 12, 32  # slopes at margins −32 to 32, 2⁻¹² apart
_GOOD_BITS = 2 * SLOPE_BITS - 10  # squared errors are counted in units of 2⁻¹⁰
_NUMBERS = 1 << 22  # codes of them at a time, so that rows of many columns take no more beside the others


def most_good(features: Features) -> int:
    """How much one row adds to ``WholeCodes.good`` at most; never less than 0."""
    return 1 if features.classifies else round(FURTHEST * 2**SLOPE_BITS) ** 2 >> _GOOD_BITS


def clip_units(clip: float) -> int:
    """A clipping norm in units of the sums, rounded down."""
    return math.floor(clip / SUM_UNIT)


def scale_units(scales: FloatArray) -> IntArray:
    """Scales in whole units, rounded down."""
    return np.floor(np.clip(scales, 0.0, LARGEST_SCALE) * 2.0**SCALE_BITS).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """The rows of a table that have an answer: what every column's ``typed`` gave, each (n,), and ``answers`` (n,).

    Places among options, and yes and no, are small whole numbers, which single precision holds as they are.
    """

    numbers: list[FloatArray]
    answers: FloatArray

    @classmethod
    def of(cls, features: Features, table: OpenRows) -> KeptRows:
        """As the columns and the target are declared."""
        answers = features.answers(features.target.typed(table.typed(features.target.name)))
        kept = np.flatnonzero(~np.isnan(answers))
        numbers: list[FloatArray] = []
        for column in features.columns:
            exact = np.float32 if column.kind in ("category", "yes/no") else np.float64
            numbers.append(column.typed(table.typed(column.name))[kept].astype(exact))
        return cls(numbers, answers[kept])


class WholeCodes:
    """The rows of a table that have an answer, as codes; a missing number or unknown word is in no step or option.

    For any public weights and scales one row's part in ``sums`` has an L2 length of at most ``clip`` units, it is in at
    most ``most_ones`` of the ``counts``, and in one of the ``cells``. Rows of a source are ``FiledRows``: only these
    three can be had of them, a part at a time.
    """

    at_once: ClassVar[int] = 1 << 16  # 2¹⁶ slopes of at most 2²⁶ units are 2⁴²

    def __init__(self, features: Features, rows: KeptRows | FiledRows) -> None:
        self._logistic, self._classifies = features.two_classes, features.classifies
        self._filed = rows if isinstance(rows, FiledRows) else None
        coded = rows.table if isinstance(rows, FiledRows) else features.coded(rows.numbers, missing=False)
        self.d, self.most_ones, self._starts = coded.shape[1], coded.most_ones, coded.starts
        self._codes = coded.codes
        self._basis = coded.basis.astype(np.int64)
        self._answers = self._whole_answers(np.zeros(0) if isinstance(rows, FiledRows) else rows.answers)
        self.rows = rows.rows if isinstance(rows, FiledRows) else int(rows.answers.size)
        self._table = _slope_table()

    def _parts(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Codes among all columns' (rows, columns) and whole answers (rows,), at most ``at_once`` rows at a time."""
        size = max(1, min(self.at_once, _NUMBERS // self._starts.size))
        if self._filed is not None:
            for codes, answers in self._filed.parts(size):
                yield codes + self._starts, self._whole_answers(answers)
            return
        for start in range(0, self.rows, size):
            rows = slice(start, start + size)
            yield self._codes[rows].astype(np.int64) + self._starts, self._answers[rows]

    def _whole_answers(self, answers: FloatArray) -> IntArray:
        """1 for the positive class and 0 otherwise; numbers in units of a margin."""
        if self._logistic:
            return (answers > 0.0).astype(np.int64)
        return np.asarray(np.trunc(np.clip(answers, -1.0, 1.0) * 2.0**MARGIN_BITS), dtype=np.int64)

    def counts(self) -> IntArray:
        """How many rows have each one, the last being the number of rows, shape (d,)."""
        by_code = np.zeros(self._basis.shape[0], dtype=np.int64)
        for codes, _ in self._parts():
            by_code += np.bincount(codes.ravel(), minlength=by_code.size)
        return np.asarray(self._basis.T @ by_code)

    def sums(self, weights: FloatArray, scales: IntArray, clip: int) -> IntArray:
        """Σ over rows of the gradient by scaled ones, each cut to ``clip`` units, in ``SUM_UNIT``, exact, shape (d,).

        ``weights`` (d,) of the scaled ones, ``scales`` (d,) in their units: all public.
        """
        points = self._points(weights * scales * 2.0**-SCALE_BITS)
        squares = np.asarray(self._basis @ (scales * scales))
        total = np.zeros(self._basis.shape[0], dtype=np.int64)
        for codes, answers in self._parts():
            slopes = self._slopes(points[codes].sum(axis=1), answers)
            lengths = root_up(squares[codes].sum(axis=1))
            caps = clip // np.maximum(lengths, 1)
            capped = np.clip(slopes, -caps, caps).astype(np.float64)
            for column in range(codes.shape[1]):
                total += np.bincount(codes[:, column], capped, minlength=total.size).astype(np.int64)
        return np.clip(np.asarray(self._basis.T @ total) * scales, -LARGEST_SUM, LARGEST_SUM)

    def cells(self, points: FloatArray) -> IntArray:
        """How many rows are told wrong and right, by how sure the ``points`` (d,) are of them, shape (bins × 2,)."""
        units = self._points(points)
        edges = np.rint(SURE * 2.0**MARGIN_BITS).astype(np.int64)
        found = np.zeros(2 * SURE.size + 2, dtype=np.int64)
        for codes, answers in self._parts():
            margins = units[codes].sum(axis=1)
            bins = np.searchsorted(edges, np.abs(margins), side="right")
            found += np.bincount(2 * bins + ((margins > 0) == (answers > 0)), minlength=found.size)
        return found

    def good(self, points: FloatArray) -> int:
        """How well ``points`` tell the rows, exact: how many are told right, or for a number Σ over rows of how far the
        squared error, in units of 2⁻¹⁰, is below the most that counts; a row adds from 0 to ``most_good``."""
        if self._classifies:
            return int(self.cells(points).reshape(-1, 2)[:, 1].sum())
        most = round(FURTHEST * 2**SLOPE_BITS)
        wrong = self.wrong(points, most)
        return int((most * most - wrong * wrong >> _GOOD_BITS).sum())

    def wrong(self, points: FloatArray, most: int) -> IntArray:
        """What ``points`` (d,) get wrong about every row: chance or number less the answer, in 2⁻¹⁴, at most ``most``
        either way, shape (n, 1)."""
        units = self._points(points)
        found = np.empty((self.rows, *(points.shape[1:] or (1,))), dtype=np.int64)
        done = 0
        for codes, answers in self._parts():
            found[done : done + answers.size] = self._wrong(units, codes, answers)
            done += answers.size
        return np.clip(found, -most, most, out=found)

    def _wrong(self, points: IntArray, codes: IntArray, answers: IntArray) -> IntArray:
        """The same of some rows, however much, from points in units of a margin."""
        margins = points[codes].sum(axis=1)
        if not self._logistic:
            margins = np.clip(margins, -(1 << MARGIN_BITS), 1 << MARGIN_BITS)
        return self._slopes(margins, answers)[:, None]

    def _points(self, points: FloatArray) -> IntArray:
        """What every code adds to a margin, in units of a margin."""
        units = np.rint(np.clip(points, -LARGEST_POINTS, LARGEST_POINTS) * 2.0**MARGIN_BITS).astype(np.int64)
        return np.asarray(self._basis @ units)

    def _slopes(self, margins: IntArray, answers: IntArray) -> IntArray:
        if not self._logistic:
            return np.asarray((margins - answers) >> (MARGIN_BITS - SLOPE_BITS))
        half = self._table.size // 2
        places = np.clip(margins >> (MARGIN_BITS - _TABLE_BITS), -half, half) + half
        return np.asarray(self._table[places] - (answers << SLOPE_BITS))


def root_up(squares: IntArray) -> IntArray:
    """The square roots of whole numbers, rounded up."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > squares
    return np.asarray(roots + (roots * roots < squares))


@cache
def _slope_table() -> IntArray:
    """The chance of the positive class in units of 2⁻¹⁴ at margins from −32 to 32: public, the same for everyone."""
    half = _TABLE_REACH << _TABLE_BITS
    return np.asarray(np.rint(expit(np.arange(-half, half + 1) / 2.0**_TABLE_BITS) * 2.0**SLOPE_BITS), dtype=np.int64)
