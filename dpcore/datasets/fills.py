"""What stands for a missing cell: checked when it is declared, and one value wherever rows are read.

Writing it must never fail. It is written only where a cell is missing, so that whether there is an answer would tell
whether one person's cell is.
"""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING

from dpcore.errors import InvalidArgument

if TYPE_CHECKING:
    from dpcore.datasets.schema import Column

MOST_WHOLE = 9e18
"""No larger whole number stands for a missing cell: a table holds 64 bits of it."""


def check_fill(column: Column) -> None:
    """Whether the declared ``fill`` is a value of its column, where there is one. Raises InvalidArgument."""
    if column.fill is None:
        return
    if column.is_numeric:
        _check_number(column)
    elif column.type == "date":
        _check_day(column)
    elif column.type == "yes/no":
        if str(column.fill).lower() not in {"yes", "no", *_lowered(column.yes_words), *_lowered(column.no_words)}:
            raise InvalidArgument("fill", "must be yes or no")
    elif column.categories and column.fill not in column.categories:
        raise InvalidArgument("fill", "must be one of the options")


def fill_number(column: Column) -> float:
    """What a missing number counts as; not a number where nothing was said."""
    return math.nan if column.fill is None else float(column.fill)


def fill_day(column: Column) -> date | None:
    """What a missing day counts as."""
    return None if column.fill is None else date.fromisoformat(str(column.fill))


def fill_yes(column: Column) -> bool | None:
    """What a missing yes or no counts as."""
    if column.fill is None:
        return None
    word = str(column.fill).lower()
    return word in _lowered(column.yes_words) or (word == "yes" and word not in _lowered(column.no_words))


def _check_number(column: Column) -> None:
    try:
        value = fill_number(column)
    except (ValueError, TypeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidArgument("fill", "must be a number")
    if column.type == "integer" and not (value.is_integer() and abs(value) <= MOST_WHOLE):
        raise InvalidArgument("fill", f"must be a whole number between {-MOST_WHOLE:g} and {MOST_WHOLE:g}")
    if column.from_file:  # bounds that nobody stated refuse nothing
        return
    if (column.low is not None and value < column.low) or (column.high is not None and value > column.high):
        raise InvalidArgument("fill", "must lie between the smallest and the largest possible value")


def _check_day(column: Column) -> None:
    try:
        value = date.fromisoformat(str(column.fill))
    except ValueError:
        raise InvalidArgument("fill", "must be a day, as 2024-05-01") from None
    if column.from_file:
        return
    first, last = column.earliest, column.latest
    if (first is not None and value < first) or (last is not None and value > last):
        raise InvalidArgument("fill", "must lie between the earliest and the latest possible date")


def _lowered(words: tuple[str, ...]) -> set[str]:
    return {word.lower() for word in words}
