"""Dates as people write them: ISO, day or month first, month names, ISO weeks (their Monday), spreadsheet serials."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import numpy as np
import pandas as pd

from dpcore.datasets.matching import fullmatch
from dpcore.datasets.schema import DateOrder

_TIME = r"(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?: ?([AaPp])\.?[Mm]\.?)?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_COMPACT = re.compile(r"((?:19|20)\d{2})()(\d{2})(\d{2})" + _TIME)
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + _TIME)
_DAY_NAMED = re.compile(r"(\d{1,2})([-/. ]?)(?:st|nd|rd|th)?\.?[-/. ]*([A-Za-z]{3,9})\.?[-/., ]*(\d{4}|\d{2})" + _TIME)
_MONTH_NAMED = re.compile(r"([A-Za-z]{3,9})(\.?)[-/ ]+(\d{1,2})(?:st|nd|rd|th)?,?[-/ ]+(\d{4})" + _TIME)
_WEEK = re.compile(r"(\d{4})-?[Ww](\d{2})(?:-?([1-7]))?")
_YEAR_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december", "sept"),
)
_FIXED = (
    r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}/[0-9]{2}/[0-9]{2}|[0-9]{4}[.][0-9]{2}[.][0-9]{2}"
    r"|[0-9]{2}-[0-9]{2}-[0-9]{4}|[0-9]{2}/[0-9]{2}/[0-9]{4}|[0-9]{2}[.][0-9]{2}[.][0-9]{4})"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?)?)?"
)
_MANY = 200
_SERIAL_ORIGIN = datetime(1899, 12, 30)
_SERIAL_LAST = 2_958_465.0  # 9999-12-31
NEVER = np.datetime64("NaT", "s")


def dates(text: pd.Series, order: DateOrder) -> np.ndarray:
    """datetime64[s] of tidied text; NaT where a cell is no date in that order. Clock times are kept as written."""
    codes, words = pd.factorize(text)
    read = np.full(len(words) + 1, NEVER)
    rest = np.ones(len(words), dtype=bool)
    if len(words) >= _MANY and order != "serial":
        places = np.flatnonzero(_written_out(words))
        rest[places] = False
        read[places] = _at_once(words.take(places), order)
    for place in np.flatnonzero(rest):
        read[place] = moment(str(words[int(place)]), order)
    return read[codes]


def _written_out(words: pd.Index) -> np.ndarray:
    """Which words have every digit of their date and time in its usual place."""
    return fullmatch(pd.Series(words), _FIXED)


def _at_once(words: pd.Index, order: DateOrder) -> np.ndarray:
    """datetime64[s] of words that are written out: digits are taken by their places, for all words together."""
    signs = np.ascontiguousarray(np.array(words.tolist(), dtype="S19").view(np.uint8).reshape(len(words), 19).T)
    year_first = (signs[2] >= 48) & (signs[2] <= 57)

    def two(place: int) -> np.ndarray:
        """The number of two digits at a place, or 0 behind the end of the word."""
        tens, ones = signs[place].astype(np.int32), signs[place + 1].astype(np.int32)
        return np.where(tens == 0, 0, 10 * tens + ones - 528)

    year = np.where(year_first, 100 * two(0) + two(2), 100 * two(6) + two(8))
    first, second = (two(0), two(3)) if order == "dmy" else (two(3), two(0))
    month, day = np.where(year_first, two(5), second), np.where(year_first, two(8), first)
    hour, minute, seconds = two(11), two(14), two(17)
    start = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    days = start.astype("datetime64[D]") + (day - 1)
    real = (year > 0) & (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == start)
    real &= (hour < 24) & (minute < 60) & (seconds < 60)
    if order == "ymd":
        real &= year_first
    return np.where(real, days.astype("datetime64[s]") + (3600 * hour + 60 * minute + seconds), NEVER)


def moment(word: str, order: DateOrder) -> np.datetime64:
    """One date, or NaT."""
    if len(word) > 60 or not any(character.isdigit() for character in word):
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
    return _MONTHS.index(lower[:3]) + 1 if lower in _MONTHS or lower in _FULL else 0


def _serial(word: str) -> np.datetime64:
    try:
        days = float(word)
    except ValueError:
        return NEVER
    if not 1.0 <= days <= _SERIAL_LAST:
        return NEVER
    return np.datetime64(_SERIAL_ORIGIN + timedelta(seconds=round(days * 86_400)), "s")
