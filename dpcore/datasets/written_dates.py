"""Dates with every digit of their date and time in its usual place, read from their bytes for all cells together.

Anything else is left to ``dates.moment``, and these are read exactly as it reads them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.plain_words import OFFSET
from dpcore.datasets.schema import DateOrder
from dpcore.validate import BoolArray, IntArray

_BEHIND = rf"^(?s:.{{19}})(?:[.,][0-9]{{1,9}})?{OFFSET}?$"
DAY, MINUTE, SECOND = 10, 16, 19
"""How long a date is that ends with its day, its minutes, its seconds; parts of a second and a zone stand behind."""
_DASH, _POINT, _SLASH, _ZERO, _COLON, _T, _SPACE = b"-./0:T "
NEVER = np.datetime64("NaT", "s")


def read_written(text: pd.Series, order: DateOrder) -> tuple[np.ndarray, BoolArray]:
    """datetime64[s] of the cells that are written out, NaT where no such day or time exists; and which cells are."""
    cells = pa.array(text, pa.large_string())
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if whole.null_count:
        whole = whole.fill_null("")
    signs, lengths = signs_of(whole)
    written = _in_places(signs, lengths)
    longer = np.flatnonzero(written & (lengths > SECOND))
    if longer.size:
        written[longer] = np.asarray(pc.match_substring_regex(whole.take(pa.array(longer)), _BEHIND), dtype=bool)
    return np.where(written, read_signs(signs, order), NEVER), written


def signs_of(cells: pa.LargeStringArray) -> tuple[np.ndarray, IntArray]:
    """The first bytes of each cell, shape (SECOND, cells), "0" behind the end of a cell; and its length in bytes."""
    _, places, content = cells.buffers()
    borders = np.frombuffer(places, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    lengths = np.diff(borders)
    signs = np.full((SECOND, len(cells)), _ZERO, dtype=np.uint8)
    if content is None or not len(cells):
        return signs, lengths
    shown = np.minimum(lengths, SECOND)
    order = np.argsort(shown.astype(np.uint8), kind="stable")
    ends = np.cumsum(np.bincount(shown, minlength=SECOND + 1))
    for length in range(1, SECOND + 1):
        here = order[ends[length - 1] : ends[length]]
        alike = cells.take(pa.array(here))
        if length == SECOND:
            alike = pc.binary_slice(alike.cast(pa.large_binary()), 0, SECOND)
        text = np.frombuffer(alike.buffers()[2] or b"", dtype=np.uint8)
        signs[:length, here] = text[: length * len(alike)].reshape(len(alike), length).T
    return signs, lengths


def _in_places(signs: np.ndarray, lengths: IntArray) -> BoolArray:
    """Where digits and marks stand as in a date with all of its digits, and with a time or without."""
    digit = (signs - _ZERO) <= 9  # of unsigned bytes
    mark = (signs == _DASH) | (signs == _SLASH) | (signs == _POINT)
    year_first = digit[:4].all(axis=0) & digit[5:7].all(axis=0) & digit[8] & mark[4] & (signs[4] == signs[7])
    year_last = digit[:2].all(axis=0) & digit[3:5].all(axis=0) & digit[6:9].all(axis=0)
    year_first |= year_last & mark[2] & (signs[2] == signs[5])
    found = year_first & digit[9]
    minutes = digit[11:13].all(axis=0) & digit[14:16].all(axis=0) & (signs[13] == _COLON)
    minutes &= (signs[10] == _T) | (signs[10] == _SPACE)
    seconds = digit[17:SECOND].all(axis=0) & (signs[16] == _COLON)
    timed = minutes & ((lengths == MINUTE) | (seconds & (lengths >= SECOND)))
    return np.asarray(found & ((lengths == DAY) | timed), dtype=bool)


def read_signs(signs: np.ndarray, order: DateOrder) -> np.ndarray:
    """datetime64[s] of dates that are written out, from ``signs_of`` them; NaT where there is no such day or time."""

    def two(place: int) -> np.ndarray:
        """The number of two digits at a place."""
        tens = signs[place] - _ZERO
        return np.asarray(10 * tens + (signs[place + 1] - _ZERO), dtype=np.uint8)  # at most 99

    led = (signs[2] - _ZERO) <= 9
    first, second = (two(0), two(3)) if order == "dmy" else (two(3), two(0))
    year = np.where(led, 100 * two(0).astype(np.int32) + two(2), 100 * two(6).astype(np.int32) + two(8))
    month, day = np.where(led, two(5), second), np.where(led, two(8), first)
    hour, minute, seconds = two(11), two(14), two(17)
    starts, sizes = months()
    place = np.clip(12 * year + month - 1, 0, sizes.size - 1)
    real = (year > 0) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= sizes[place])
    real &= (hour < 24) & (minute < 60) & (seconds < 60)
    if order == "ymd":
        real &= led
    clock = 3600 * hour.astype(np.int32) + 60 * minute.astype(np.int32) + seconds
    read = (86_400 * (starts[place] + day - 1) + clock).view("datetime64[s]")
    return np.where(real, read, NEVER)


@cache
def months() -> tuple[IntArray, IntArray]:
    """Of every month from January of the year 0 to December 9999: its first day, from 1970 on, and its length."""
    starts = np.arange("0000-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return starts[:-1], np.diff(starts)
