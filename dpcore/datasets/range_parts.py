"""Numbers as whole parts of their declared range, so that they can be added up exactly in any order."""

from __future__ import annotations

import numpy as np

from dpcore.validate import FloatArray, IntArray


def range_parts(values: FloatArray, low: float, high: float, parts: int) -> IntArray:
    """Where values lie between ``low`` and ``high``, as the nearest of 0 to ``parts`` (the even one of two), same
    shape; half of ``parts`` where a value is missing.
    """
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    found: IntArray = np.rint(np.where(np.isnan(share), 0.5, share) * parts).astype(np.int64)
    return found
