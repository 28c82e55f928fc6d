"""Is it a column of dates, and which of day and month comes first?"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.datasets.dates import dates
from dpcore.datasets.guessing.examples import reading
from dpcore.datasets.guessing.words import MOSTLY, Guess, Hint, Words
from dpcore.datasets.matching import fullmatch
from dpcore.datasets.plain_words import OFFSET
from dpcore.datasets.schema import Column, DateOrder
from dpcore.validate import BoolArray

_SAMPLE = 500
COMPACT = r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[.,]0)?"
_NAME = re.compile(r"date|datum|fecha|dato|day|tag|dob|birth", re.I)
_FEWEST = 3
ZONED = rf":[0-9]{{2}}(?:[.,][0-9]+)?{OFFSET}"
CLEAR = "Dates in one clear form"
_ORDERS: tuple[DateOrder, ...] = ("dmy", "mdy")
_FIRST = {"dmy": "the day", "mdy": "the month", "ymd": "the year"}


def decisive_order(read: Both | None) -> DateOrder | None:
    """Whether day or month comes first, where the column shows it beyond doubt."""
    if read is None:
        return None
    day, month = read.day, read.month
    if (day & ~month).any() and not (month & ~day).any():
        return "dmy"
    return "mdy" if (month & ~day).any() and not (day & ~month).any() else None


def guess(words: Words, read: Both | None, hint: Hint) -> Guess | None:
    """A date column, or None; ``read`` are its words as dates."""
    if read is None:
        return None
    day, month = read.day, read.month
    if hint.order is not None:
        return _as_stated(words, read, hint.order)
    if max(words.share(day), words.share(month)) < MOSTLY:
        return None
    if _of_digits(words) and _NAME.search(words.name) is None:
        return _year_month_day(words, day)
    apart = day & month & read.apart
    if words.share(day) != words.share(month) or not apart.any():
        if not (apart | (day ^ month)).any():
            return _finish(words, "ymd", day, CLEAR)
        if words.share(day) >= words.share(month):
            return _finish(words, "dmy", day, "Dates with the day first: some have a day above 12")
        return _finish(words, "mdy", month, "Dates with the month first: some have a day above 12")
    if words.words[apart].str.contains(r"^[0-9]+\.[0-9]+\.", regex=True).all():
        return _finish(words, "dmy", day, "Dates with points, where the day comes first")
    order = hint.agreed_order or "dmy"
    found = _finish(words, order, day if order == "dmy" else month, "Dates, as in other columns of this file")
    if hint.agreed_order is not None:
        return found
    readings = tuple(reading(Column(name=words.name, type="date", date_order=each), words, apart) for each in _ORDERS)
    reason = "Dates, but day or month could come first: please choose."
    return Guess(column=found.column, reason=reason, bad=found.bad, readings=readings)


def _as_stated(words: Words, read: Both, order: DateOrder) -> Guess | None:
    """A date column in the order that a person stated, whatever its cells show; None where they are no such dates."""
    good = {"dmy": read.day, "mdy": read.month}.get(order)
    good = ~np.isnat(dates(words.words, order)) if good is None else good
    if words.share(good) < MOSTLY:
        return None
    if _of_digits(words) and _NAME.search(words.name) is None:
        return _year_month_day(words, good)
    apart = (read.apart & (read.day | read.month)).any()
    return _finish(words, order, good, f"Dates with {_FIRST[order]} first, as was stated" if apart else CLEAR)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Both:
    """Which words are dates with the day first and with the month first, and which are different ones then."""

    day: BoolArray
    month: BoolArray
    apart: BoolArray


def both(words: Words) -> Both | None:
    """Words read as dates either way; None when hardly any word is a date."""
    if words.distinct == 0 or (_of_digits(words) and not _compact(words)):
        return None
    start = words.words.iloc[:: max(words.distinct // _SAMPLE, 1)]
    if max((~np.isnat(dates(start, order))).mean() for order in _ORDERS) < MOSTLY - 0.2:
        return None
    first = dates(words.words, "dmy")
    # Where the year leads, nothing is left to be told apart.
    led = bool(fullmatch(words.words, r"[0-9]{4}(?s:.*)").all())
    second = first if led else dates(words.words, "mdy")
    return Both(day=~np.isnat(first), month=~np.isnat(second), apart=first != second)


def _of_digits(words: Words) -> bool:
    return bool(words.plain.all() or fullmatch(words.words, COMPACT).all())


def _compact(words: Words) -> bool:
    """Eight digits that are days of the calendar: under a name that says so, or several of them."""
    telling = _NAME.search(words.name) is not None or words.distinct >= _FEWEST
    return telling and bool(fullmatch(words.words, COMPACT).all())


def _year_month_day(words: Words, good: BoolArray) -> Guess:
    """Eight digits each, all of them days of the calendar, under a name that does not say so: shown both ways."""
    found = _finish(words, "ymd", good, "")
    every = np.ones(words.distinct, dtype=bool)
    columns = (found.column, Column(name=words.name, type="integer"))
    return Guess(
        column=found.column,
        reason="Eight digits that all are days of the calendar: dates, or whole numbers; please choose.",
        bad=found.bad,
        readings=tuple(reading(column, words, every) for column in columns),
    )


def _finish(words: Words, order: DateOrder, good: BoolArray, why: str) -> Guess:
    rest = words.cells(~good)
    zoned = words.words[good].str.contains(f"{ZONED}$", regex=True).any()
    return dated(words.name, order, why, bad=~good, rest=rest, zoned=bool(zoned))


def dated(name: str, order: DateOrder, why: str, *, bad: BoolArray, rest: int, zoned: bool) -> Guess:
    """The guess that it is a column of dates, in all but ``rest`` of its cells; ``zoned``: some name a time zone."""
    share = "" if rest == 0 else f"; {rest:,} cells are none"
    return Guess(
        column=Column(name=name, type="date", date_order=order),
        reason=f"{why}{share}.",
        bad=bad,
        notes=("Time zones are left out; clock times stay as written.",) if zoned else (),
    )


def spoiled_names(words: pd.Series) -> bool:
    """Whether some words look like what spreadsheets make of names such as SEPT2: a date without a year."""
    month = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    return bool(fullmatch(words, rf"(?:[0-9]{{1,2}}-{month}|{month}-[0-9]{{1,2}})").any())
