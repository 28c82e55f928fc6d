"""Numbers as whole units, so that what follows is exact: rounding keeps their order."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.validate import IntArray, finite_vector, positive

LARGEST = 2**60
"""Of any value in units, so that noise cannot wrap."""
FARTHEST = 2.0**50
"""Units: what is not bounded by a declaration is bounded here, so that it can be added up."""


def binary_unit(resolution: float) -> float:
    """The largest power of two that is at most ``resolution``: units of it are exact in floating point."""
    return math.ldexp(1.0, math.frexp(positive(resolution=resolution))[1] - 1)


def to_units(values: ArrayLike, unit: float) -> IntArray:
    """Every value as the nearest whole number of units (halves up), int64, same shape; never out of order.

    Round each record before adding any up. Raises InvalidArgument for NaN, infinities and values of more than 2⁶⁰
    units; the message holds no value.
    """
    positive(unit=unit)
    shape = np.shape(values)
    scaled = finite_vector(values=np.ravel(values), at_least=0) / unit
    if (np.abs(scaled) > LARGEST).any():
        raise InvalidArgument("values", "must be smaller: at most 2^60 units")
    # above 2⁵² a float is whole already, and adding a half would round it again
    units = np.where(np.abs(scaled) < 2.0**52, np.floor(scaled + 0.5), scaled)
    return units.astype(np.int64).reshape(shape)
