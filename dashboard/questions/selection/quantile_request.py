"""The release behind a median or quantile: a request made from declared facts and the person's own choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from dashboard.words import quantile as said
from dpcore.datasets import Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import QuantileValue
from dpcore.validate import Neighbours


def quantile_request(
    declared: Declaration, column: str, *, q: float, epsilon: float, neighbours: Neighbours
) -> QuantileValue | str:
    """The request about ``column``, or why it cannot be made, in one sentence."""
    try:
        return QuantileValue.of(declared, column, q=q, epsilon=epsilon, neighbours=neighbours)
    except InvalidArgument as error:
        return said.cannot_release(str(error))


def quartiles(request: QuantileValue, read: Any) -> tuple[float, float]:
    """Between which numbers half of all answers of ``request`` lie, by its exact law of what it ``read``: for public
    data only."""
    steps = np.cumsum(request.law_of(read))
    low, high = (int(np.searchsorted(steps, share * steps[-1])) for share in (0.25, 0.75))
    return float(request.grid[low]), float(request.grid[min(high, request.grid.size - 1)])
