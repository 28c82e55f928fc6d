"""What a model of two classes says of rows against what they say themselves: the four cells of its confusion matrix.

Which cell a row is in hangs on that row and the model alone. Its margin is added up column by column, each a product
and a sum of two numbers, so no other row, no place among them and no order in which a processor adds up can move it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InvalidArgument
from dpcore.training.encoding import Encoding
from dpcore.training.features import Features
from dpcore.validate import FloatArray, IntArray, Neighbours, one_of

if TYPE_CHECKING:
    import pandas as pd

CELLS = ("found", "missed", "false_alarms", "rightly_left")
"""By what the row says and what the model says of it: yes and yes, yes and no, no and yes, no and no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How many rows are in each cell; or, told with noise, whole numbers near that, which may be below 0."""

    found: float
    missed: float
    false_alarms: float
    rightly_left: float

    @classmethod
    def of(cls, counts: IntArray) -> Self:
        """From counts (4,) in the order of ``CELLS``."""
        return cls(**{name: int(count) for name, count in zip(CELLS, counts, strict=True)})

    @property
    def right(self) -> float:
        """How many the model is right about."""
        return self.found + self.rightly_left

    @property
    def wrong(self) -> float:
        return self.missed + self.false_alarms

    @property
    def yes(self) -> float:
        """How many have what the model looks for."""
        return self.found + self.missed

    @property
    def no(self) -> float:
        return self.false_alarms + self.rightly_left

    @property
    def named(self) -> float:
        """Of how many the model says that they have it."""
        return self.found + self.false_alarms

    @property
    def total(self) -> float:
        return self.right + self.wrong

    @property
    def right_share(self) -> float:
        """How often the model is right."""
        return share(self.right, self.wrong)

    @property
    def common_share(self) -> float:
        """How often one is right who always says the more common answer."""
        return max(yes := share(self.yes, self.no), 1.0 - yes)

    @property
    def found_share(self) -> float:
        """Of those who have it, how many the model finds."""
        return share(self.found, self.missed)

    @property
    def named_share(self) -> float:
        """Of those the model names, how many have it."""
        return share(self.found, self.false_alarms)

    @property
    def better(self) -> bool:
        """Whether the model is right more often than the more common answer said of everybody.

        It is better than always no by the found ones less the false alarms, and than always yes by those rightly left
        less the missed ones.
        """
        return self.found > self.false_alarms and self.rightly_left > self.missed


def share(these: float, others: float) -> float:
    """The share of ``these`` among both, of numbers that noise may have brought below 0: such count as 0; a half where
    neither is left. The more of these, or the fewer others, the larger it is."""
    here, there = max(these, 0.0), max(others, 0.0)
    return here / (here + there) if here + there > 0.0 else 0.5


def margins(features: Features, weights: FloatArray, typed: Iterable[FloatArray]) -> FloatArray:
    """What the ``weights`` (d,) say of every row, shape (n,), from what each column's ``typed`` gives.

    As a model takes rows: a missing number is the middle of its bounds, or in no step where it is cut, and a missing
    word none of the options. Each column is asked for once and let go of when it is added; of one that acts with
    another, two bytes a row stay.
    """
    points, start = np.asarray(weights, dtype=np.float64) / features.scale, 0
    total: FloatArray | float = float(points[-1]) if features.intercept else 0.0
    paired = {side for pair in features.pairs for side in (pair.first, pair.second)}
    codes: dict[Encoding, NDArray[np.uint16]] = {}
    for column, values in zip(features.columns, typed, strict=True):
        own = points[start : start + column.width]
        start += column.width
        if column.levels or column.kind == "category":
            total = total + _added(column.ones(), own)[column.codes(values)]
        else:
            total = total + np.nan_to_num(values, nan=0.0) * own[0]
        codes |= {side: side.codes(values).astype(np.uint16) for side in paired if side.name == column.name}
    for pair in features.pairs:
        own = points[start : start + pair.cells]
        start += pair.cells
        cells = pair.cell(*(codes[side].astype(np.int64) for side in (pair.first, pair.second)))
        total = total + _added(pair.basis(), own)[cells]
    return np.asarray(total)


def _added(ones: FloatArray, points: FloatArray) -> FloatArray:
    """What each code adds: a public table."""
    return np.array([math.fsum(row * points) for row in ones])


def counts(features: Features, weights: FloatArray, typed: Iterable[FloatArray], answers: FloatArray) -> IntArray:
    """How many rows are in each of ``CELLS``, int64 (4,); those without an answer in none. ``typed`` as in
    ``margins``. Raises InvalidArgument."""
    check_two_classes(features)
    says, has, there = margins(features, weights, typed) > 0.0, answers > 0.0, ~np.isnan(answers)
    cells = np.where(has, np.where(says, 0, 1), np.where(says, 2, 3))
    return np.bincount(cells[there], minlength=len(CELLS)).astype(np.int64)


def confusion_of(features: Features, weights: FloatArray, frame: pd.DataFrame) -> Confusion:
    """The exact cells of a typed table: for looking at data, never for a release. Raises InvalidArgument."""
    typed = (column.typed(frame[column.name]) for column in features.columns)
    answers = features.answers(features.target.typed(frame[features.target.name]))
    return Confusion.of(counts(features, weights, typed, answers))


def check_two_classes(features: Features) -> None:
    """That rows have four cells. Raises InvalidArgument."""
    if not features.two_classes:
        what = "tells more than two classes apart" if features.apart else "predicts a number"
        raise InvalidArgument("model", f"cannot be counted in four cells: it {what}")


def lean(rho: float, neighbours: Neighbours) -> float:
    """How much more often, on average, a model of ρ-zCDP is right on the rows it was made from than on new ones.

    At most √(2ρ), or √(ρ/2) where a row is replaced: for rows drawn independently from one population, one row and a
    new one in its place change how often the model is right about it by at most the total variation between what it is
    with either, which is at most √(KL/2) (Pinsker), and KL is at most ρ, or 4ρ for one removed and one added (Bun and
    Steinke, TCC 2016). Never more than 1. It holds where ρ is all that ties the model to its rows: not where what was
    asked was chosen by a look at them, nor of the best of several models on them.

    >>> round(lean(0.005, "add_remove"), 3)
    0.1
    """
    one_of(("add_remove", "replace_one"), neighbours=neighbours)
    return min(1.0, math.sqrt(2.0 * rho if neighbours == "add_remove" else rho / 2.0))
