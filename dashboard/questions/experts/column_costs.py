"""What each column would have cost: shares of its declared range, and their totals in whole units."""

from __future__ import annotations

import numpy as np

from dpcore.datasets import Table
from dpcore.validate import FloatArray, IntArray

UNITS = 2**20
"""Units of a whole declared range."""


def costs(table: Table, names: tuple[str, ...]) -> FloatArray:
    """The columns scaled to [−1, 1] by their declared bounds, complete rows only, shape (rows, columns)."""
    rows = table.complete(*names)
    return 2 * np.column_stack([_share(table, name)[rows] for name in names]) - 1


def total_units(table: Table, names: tuple[str, ...]) -> IntArray:
    """The total cost of each column over all complete rows, shape (columns,).

    Each cost is a whole number of 2⁻²⁰ of its declared range before anything is added up, so one row replaced, or
    made incomplete, moves every total by at most 2²⁰, and one row added moves all of them up: exactly, whatever the
    other rows are.
    """
    rows = table.complete(*names)
    units = [np.rint(_share(table, name)[rows] * UNITS).astype(np.int64) for name in names]
    return np.array([column.sum() for column in units], dtype=np.int64)


def _share(table: Table, name: str) -> FloatArray:
    """Where each value lies in the declared range, 0 to 1; NaN where missing."""
    column = table.schema.column(name)
    low = 0.0 if column.low is None else float(column.low)
    high = 1.0 if column.high is None else float(column.high)
    values = table.frame[name].to_numpy(np.float64, na_value=np.nan)
    return np.asarray(np.clip((values - low) / (high - low), 0.0, 1.0))
