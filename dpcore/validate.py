"""Checks of public parameters and of the shape of inputs.

Every check takes exactly one keyword argument, whose name is the name in the message, and returns the
value in the type the engine works with. Messages name the argument and what is allowed, never the value:
an array may be private data.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InvalidArgument

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Neighbours = Literal["add_remove", "replace_one"]


def _only(named: dict[str, Any]) -> tuple[str, Any]:
    if len(named) != 1:
        raise TypeError("give exactly one keyword argument, the value to check")
    return next(iter(named.items()))


def _number(name: str, value: Any) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise InvalidArgument(name, "must be a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(name, "must be a number") from None
    if math.isnan(number):
        raise InvalidArgument(name, "must be a number, not NaN")
    return number


def positive(**named: Any) -> float:
    """A finite number above 0. Raises InvalidArgument."""
    name, value = _only(named)
    number = _number(name, value)
    if not 0.0 < number < math.inf:
        raise InvalidArgument(name, "must be finite and greater than 0")
    return number


def non_negative(**named: Any) -> float:
    """A finite number of at least 0. Raises InvalidArgument."""
    name, value = _only(named)
    number = _number(name, value)
    if not 0.0 <= number < math.inf:
        raise InvalidArgument(name, "must be finite and at least 0")
    return number


def in_range(low: float, high: float, *, open_low: bool = False, open_high: bool = False, **named: Any) -> float:
    """A number within [low, high]; an end is excluded by ``open_low`` or ``open_high``. Raises InvalidArgument."""
    name, value = _only(named)
    number = _number(name, value)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if below or above:
        left = f"greater than {low:g}" if open_low else f"at least {low:g}"
        right = f"less than {high:g}" if open_high else f"at most {high:g}"
        raise InvalidArgument(name, f"must be {left} and {right}")
    return number


def probability(**named: Any) -> float:
    """A number strictly between 0 and 1. Raises InvalidArgument."""
    return in_range(0.0, 1.0, open_low=True, open_high=True, **named)


def whole(low: int, high: int | None = None, **named: Any) -> int:
    """An integer of at least ``low`` and, where given, at most ``high``. Raises InvalidArgument."""
    name, value = _only(named)
    number = _number(name, value)
    if not math.isfinite(number) or number != math.floor(number):
        raise InvalidArgument(name, "must be a whole number")
    if number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise InvalidArgument(name, f"must be a whole number, {limits}")
    return int(value)


def one_of(allowed: tuple[str, ...], **named: Any) -> str:
    """One of the given names. Raises InvalidArgument."""
    name, value = _only(named)
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgument(name, "must be one of " + ", ".join(allowed))
    return value


def boolean(**named: Any) -> bool:
    """True or false, and nothing that merely passes for it. Raises InvalidArgument."""
    name, value = _only(named)
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidArgument(name, "must be true or false")
    return bool(value)


def generator(**named: Any) -> np.random.Generator:
    """A NumPy random generator: simulations draw from the one they are given. Raises InvalidArgument."""
    name, value = _only(named)
    if not isinstance(value, np.random.Generator):
        raise InvalidArgument(name, "must be a numpy.random.Generator")
    return value


def finite_vector(*, at_least: int = 1, **named: Any) -> FloatArray:
    """A float64 array of shape (m,), m ≥ at_least, every entry finite. Raises InvalidArgument."""
    name, value = _only(named)
    array = _array(name, value)
    if array.ndim != 1:
        raise InvalidArgument(name, "must be a one-dimensional list of numbers")
    _enough(name, array.shape[0], at_least)
    return _finite(name, array)


def positive_vector(**named: Any) -> FloatArray:
    """A float64 array of shape (m,), m ≥ 1, every entry finite and above 0. Raises InvalidArgument."""
    array = finite_vector(**named)
    if (array <= 0.0).any():
        raise InvalidArgument(next(iter(named)), "must be greater than 0 everywhere")
    return array


def finite_matrix(*, at_least: int = 1, **named: Any) -> FloatArray:
    """A float64 array of shape (rows, columns), rows ≥ at_least, every entry finite. Raises InvalidArgument."""
    name, value = _only(named)
    array = _array(name, value)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidArgument(name, "must be a table of numbers with at least one column")
    _enough(name, array.shape[0], at_least)
    return _finite(name, array)


def _array(name: str, value: Any) -> FloatArray:
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "fiub":
            raise InvalidArgument(name, "must hold numbers only")
        return raw.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(name, "must hold numbers only") from None


def _enough(name: str, size: int, at_least: int) -> None:
    if size < at_least:
        what = "must not be empty" if at_least == 1 else f"must have at least {at_least} entries"
        raise InvalidArgument(name, what)


def _finite(name: str, array: FloatArray) -> FloatArray:
    if not np.isfinite(array).all():
        raise InvalidArgument(name, "must not hold missing or infinite values")
    return array
