"""What each column would have cost, for the pictures: shares of its declared range."""

from __future__ import annotations

import numpy as np

from dpcore.datasets import Table
from dpcore.validate import FloatArray, IntArray


def costs(table: Table, names: tuple[str, ...], most: int | None = None) -> FloatArray:
    """The columns scaled to [−1, 1] by their declared bounds, shape (rows, columns), of ``most`` rows evenly spread
    over the table where that is given, which may be sorted; a missing cost is half of the range.

    That is how a release counts them, to 2⁻²⁰ of the range.
    """
    rows = len(table.frame)
    places = np.arange(rows) if most is None or most >= rows else np.arange(most) * rows // most
    found = np.empty((places.size, len(names)))
    for place, name in enumerate(names):
        found[:, place] = _scaled(table, name, places)
    return found


def _scaled(table: Table, name: str, places: IntArray) -> FloatArray:
    column = table.schema.column(name)
    low = 0.0 if column.low is None else float(column.low)
    high = 1.0 if column.high is None else float(column.high)
    values = table.frame[name].iloc[places].to_numpy(np.float64, na_value=np.nan)
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return 2.0 * np.where(np.isnan(share), 0.5, share) - 1.0
