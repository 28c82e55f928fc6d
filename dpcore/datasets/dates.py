"""Dates as people write them: ISO, day or month first, month names, ISO weeks (their Monday), spreadsheet serials."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import numpy as np
import pandas as pd

from dpcore.datasets.different import encoded
from dpcore.datasets.plain_words import OFFSET, plain
from dpcore.datasets.schema import DateOrder
from dpcore.datasets.short_dates import LONGEST, read_short
from dpcore.datasets.stopping import each
from dpcore.datasets.written_dates import NEVER, read_written

_TIME = rf"(?:[T ,]+(\d{{1,2}}):(\d{{2}})(?::(\d{{2}})(?:[.,]\d{{1,9}})?)?(?: ?([AaPp])\.?[Mm]\.?)?{OFFSET}?)?"
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_COMPACT = re.compile(r"((?:19|20)\d{2})()(\d{2})(\d{2})" + _TIME)
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _TIME)
_DAY_NAMED = re.compile(r"(\d{1,2})([-/. ]?)(?:st|nd|rd|th)?\.?[-/. ]*([A-Za-z]{3,9})\.?[-/., ]*(\d{4}|\d{2})" + _TIME)
_MONTH_NAMED = re.compile(r"([A-Za-z]{3,9})(\.?)[-/ ]+(\d{1,2})(?:st|nd|rd|th)?,?[-/ ]+(\d{4})" + _TIME)
_WEEK = re.compile(r"(\d{4})-?[Ww](\d{2})(?:-?([1-7]))?")
_YEAR_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december", "sept"),
)
_MANY = 200
_SERIAL_ORIGIN = datetime(1899, 12, 30)
_SERIAL_LAST = 2_958_465.0  # 9999-12-31


def dates(text: pd.Series, order: DateOrder) -> np.ndarray:
    """datetime64[s] of tidied text; NaT where a cell is no date in that order. Clock times are kept as written."""
    if len(text) < _MANY or order == "serial":
        return _one_by_one(text, order)
    read, written = read_written(text, order)
    rest = np.flatnonzero(~written)
    if rest.size >= _MANY:
        read[rest], short = read_short(text.iloc[rest], order)
        rest = rest[~short]
    read[rest] = _one_by_one(text.iloc[rest], order)
    return read


def _one_by_one(text: pd.Series, order: DateOrder) -> np.ndarray:
    """Every different word by itself."""
    codes, words = encoded(text)
    read = np.full(len(words) + 1, NEVER)
    for place, word in enumerate(each(words)):
        read[place] = moment(str(word), order)
    return read[codes]


def moment(word: str, order: DateOrder) -> np.datetime64:
    """One date, or NaT."""
    if len(word) > LONGEST:
        return NEVER
    word = plain(word)  # of 20240131.0, as which a day stands where another row has none
    if not any(character.isdigit() for character in word):
        return NEVER
    if order == "serial":
        return _serial(word)
    try:
        if (week := _WEEK.fullmatch(word)) is not None:
            return np.datetime64(datetime.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1)), "s")
        year, month, day, clock = _parts(word, order)
        return np.datetime64(datetime(year, month, day, *clock), "s")
    except ValueError:
        return NEVER


def _parts(word: str, order: DateOrder) -> tuple[int, int, int, tuple[int, int, int]]:
    if (found := _YEAR_MONTH.fullmatch(word)) is not None:
        return int(found[1]), int(found[2]), 1, (0, 0, 0)
    if (found := _ISO.fullmatch(word) or _COMPACT.fullmatch(word)) is not None:
        return int(found[1]), int(found[3]), int(found[4]), _clock(found)
    if (found := _NUMERIC.fullmatch(word)) is not None and order in ("dmy", "mdy"):
        day, month = (found[1], found[3]) if order == "dmy" else (found[3], found[1])
        return _year(found[4]), int(month), int(day), _clock(found)
    if (found := _DAY_NAMED.fullmatch(word)) is not None:
        return _year(found[4]), _month(found[3]), int(found[1]), _clock(found)
    if (found := _MONTH_NAMED.fullmatch(word)) is not None:
        return _year(found[4]), _month(found[1]), int(found[3]), _clock(found)
    return 0, 0, 0, (0, 0, 0)


def _clock(found: re.Match[str]) -> tuple[int, int, int]:
    hour, minute, second = (int(found[index] or 0) for index in (5, 6, 7))
    half = (found[8] or "").lower()
    if half:
        hour = 99 if not 1 <= hour <= 12 else hour % 12 + (12 if half == "p" else 0)
    return hour, minute, second


def _year(digits: str) -> int:
    """Two digits mean 1970 to 2069."""
    year = int(digits)
    return year if len(digits) == 4 else year + (1900 if year >= 70 else 2000)


def _month(name: str) -> int:
    lower = name.lower()
    return MONTHS.index(lower[:3]) + 1 if lower in MONTHS or lower in _FULL else 0


def _serial(word: str) -> np.datetime64:
    try:
        days = float(word)
    except ValueError:
        return NEVER
    if not 1.0 <= days <= _SERIAL_LAST:
        return NEVER
    return np.datetime64(_SERIAL_ORIGIN + timedelta(seconds=round(days * 86_400)), "s")
