"""The release behind a median or quantile: a request made from declared facts and the person's own choices."""

from __future__ import annotations

import numpy as np

from dashboard import words
from dashboard.words import quantile as said
from dpcore.datasets import Schema
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import QuantileValue
from dpcore.validate import FloatArray, Neighbours

LONGEST_SUBJECT = 60


def quantile_request(
    declared: Schema, column: str, *, q: float, epsilon: float, neighbours: Neighbours
) -> QuantileValue | str:
    """The request about ``column``, or why it cannot be made, in one sentence."""
    known = declared.column(column)
    try:
        return QuantileValue(
            epsilon=epsilon,
            low=float(known.low or 0.0),
            high=float(known.high or 0.0),
            q=q,
            neighbours=neighbours,
            rows_per_person=declared.rows_per_person,
            subject=words.visible(column, LONGEST_SUBJECT),
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def quartiles(request: QuantileValue, values: FloatArray) -> tuple[float, float]:
    """Between which numbers half of all answers of ``request`` about ``values`` lie, by its exact law."""
    steps = np.cumsum(request.law(values))
    low, high = (int(np.searchsorted(steps, share * steps[-1])) for share in (0.25, 0.75))
    return float(request.grid[low]), float(request.grid[min(high, request.grid.size - 1)])
