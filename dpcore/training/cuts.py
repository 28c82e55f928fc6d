"""Public cuts: where a number or a date is cut into steps, from its declared bounds and shape alone.

Nothing here sees data. Cuts stand at round numbers, those at which laws, prices and habits change, in two or three
levels from coarse to fine: coarse steps learn from few people, fine ones follow what is sharp.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from typing import Literal, get_args

from dpcore.errors import InvalidArgument
from dpcore.validate import finite_vector, one_of

Shape = Literal["even", "heavy"]
Cuts = tuple[float, ...]
EVEN = (5, 20)  # at most so many cuts a level
CALENDAR = (5, 20, 100)
FINEST = 1000
DECADES = 5
_EPOCH = date(1970, 1, 1)


def public_cuts(low: float, high: float, shape: Shape = "even") -> tuple[Cuts, ...]:
    """Levels of cuts inside ``low``..``high``, coarse to fine; a value at a cut belongs to the step above it.

    ``even``: spread over the range, equal steps of 1, 2 or 5 times a power of ten, at most 5 and at most 20 cuts.
    ``heavy``: mostly small, sometimes very large: powers of ten, then 1-2-5, over the five decades below the largest
    size on either side of 0, then at most 1,000 equal steps. Raises InvalidArgument.
    """
    bottom, top = _bounds(low, high)
    one_of(get_args(Shape), shape=shape)
    if shape == "even":
        levels = [_equal(bottom, top, most) for most in EVEN]
    else:
        levels = [_decades(bottom, top, (1,)), _decades(bottom, top, (1, 2, 5)), _equal(bottom, top, FINEST)]
    return _different(levels, bottom, top)


def own_cuts(low: float, high: float, cuts: Iterable[float]) -> tuple[Cuts, ...]:
    """One level of the given cuts, in order; those outside ``low``..``high`` are refused with InvalidArgument."""
    bottom, top = _bounds(low, high)
    chosen = tuple(sorted(set(finite_vector(cuts=list(cuts)).tolist())))
    if chosen[0] <= bottom or chosen[-1] > top:
        raise InvalidArgument("cuts", "must lie within the column's bounds, above the lowest")
    if len(chosen) > FINEST:
        raise InvalidArgument("cuts", f"must be at most {FINEST:,}")
    return (chosen,)


def calendar_cuts(first: date, last: date) -> tuple[Cuts, ...]:
    """Levels of cuts in days since 1970 for dates from ``first`` to ``last``: the calendar units that fit.

    Of decades, years, quarters, months, weeks (Mondays) and days, the finest with at most 5, at most 20 and at most 100
    cuts. Raises InvalidArgument.
    """
    if not first < last:
        raise InvalidArgument("last", "must be after first")
    units = [tuple(float((day - _EPOCH).days) for day in unit) for unit in _calendar(first, last)]
    levels = []
    for most in CALENDAR:
        fitting = [unit for unit in units if 0 < len(unit) <= most]
        levels += [max(fitting, key=len)] if fitting else []
    return _different(levels, float((first - _EPOCH).days), float((last - _EPOCH).days))


def _calendar(first: date, last: date) -> list[list[date]]:
    years = range(first.year, last.year + 1)
    found = [
        [date(year, 1, 1) for year in years if year % 10 == 0],
        [date(year, 1, 1) for year in years],
        [date(year, month, 1) for year in years for month in (1, 4, 7, 10)],
        [date(year, month, 1) for year in years for month in range(1, 13)],
    ]
    # by their numbers, since no day comes after 9999-12-31
    begins, ends = first.toordinal(), last.toordinal()
    mondays = range(begins + (7 - first.weekday()) % 7, ends + 1, 7)
    found += [[date.fromordinal(day) for day in unit[:FINEST]] for unit in (mondays, range(begins, ends + 1))]
    return [[day for day in unit if first < day <= last] for unit in found]


def _bounds(low: float, high: float) -> tuple[float, float]:
    bottom, top = finite_vector(low=[low])[0], finite_vector(high=[high])[0]
    if not bottom < top or not math.isfinite(top - bottom):
        raise InvalidArgument("high", "must be greater than low")
    return float(bottom), float(top)


def _different(levels: Iterable[Cuts], low: float, high: float) -> tuple[Cuts, ...]:
    found = tuple(dict.fromkeys(level for level in levels if level))
    return found or (((low + high) / 2.0,),)


def _equal(low: float, high: float, most: int) -> Cuts:
    """Multiples of the smallest 1-2-5 step that has at most ``most`` of them above ``low`` and below ``high``."""
    power = math.floor(math.log10((high - low) / (most + 1))) - 1
    while True:
        for digit in (1, 2, 5):
            start = math.floor(_round(low, digit, power)) + 1
            count = math.ceil(_round(high, digit, power)) - start
            if count <= most:
                return tuple(_exact(digit * (start + place), power) for place in range(count))
        power += 1


def _round(value: float, digit: int, power: int) -> float:
    steps = value / _exact(digit, power)
    return float(round(steps)) if abs(steps - round(steps)) < 1e-9 * max(1.0, abs(steps)) else steps


def _exact(digit: int, power: int) -> float:
    """digit × 10^power as the nearest double, as a person would type it."""
    return float(f"{digit}e{power}")


def _decades(low: float, high: float, digits: tuple[int, ...]) -> Cuts:
    top = math.ceil(math.log10(max(abs(low), abs(high))) - 1e-9)
    sizes = [_exact(digit, power) for power in range(top - DECADES, top + 1) for digit in digits]
    # a negative value belongs to the step that its size begins, so its cut stands at the size and −size is below it
    both = [*(-size for size in sizes), 0.0, *sizes] if low < 0.0 else sizes
    return tuple(sorted(cut for cut in both if low < cut < high))
