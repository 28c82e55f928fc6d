"""The public grid: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 in each decade, 0, and the same below 0.

A level or a line that a page offers from what it finds in the data says as little about them as its choices are few:
on this grid, ten in each decade.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from dpcore.errors import InvalidArgument
from dpcore.validate import in_range

STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
_LARGEST = 1e100


def round_up(value: float) -> float:
    """The smallest number of the grid that is at least ``value``. Raises InvalidArgument."""
    number = _checked(value)
    return _above(number) if number >= 0.0 else -_below(-number)


def round_down(value: float) -> float:
    """The largest number of the grid that is at most ``value``. Raises InvalidArgument."""
    return -round_up(-_checked(value))


def nearest(value: float) -> float:
    """The number of the grid closest to ``value``, the lower of two; 0 for one that is too close to it to tell. Raises
    InvalidArgument."""
    if abs(value) < 1.0 / _LARGEST:
        return 0.0
    low, high = round_down(value), round_up(value)
    return low if value - low <= high - value else high


def on_grid(value: float) -> bool:
    """Whether ``value`` is a number of the grid. Raises InvalidArgument."""
    return round_up(value) == value


def _checked(value: float) -> float:
    number = in_range(-_LARGEST, _LARGEST, value=value)
    if 0.0 < abs(number) < 1.0 / _LARGEST:
        raise InvalidArgument("value", "is too close to 0 for the grid")
    return number + 0.0  # −0 becomes 0


def _around(number: float) -> list[float]:
    """Numbers of the grid in the decades about a positive one, ascending; each is the float its digits stand for."""
    decade = math.floor(math.log10(number))
    return [float(f"{step}e{place}") for place in (decade - 1, decade, decade + 1) for step in STEPS]


def _above(number: float) -> float:
    if number == 0.0:
        return 0.0
    near = _around(number)
    return near[bisect_left(near, number)]


def _below(number: float) -> float:
    near = _around(number)
    place = bisect_left(near, number)
    return number if near[place] == number else near[place - 1]
