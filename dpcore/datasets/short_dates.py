"""Dates of digits that leave out a nought or the century, read by Arrow for many cells together.

As ``dates.moment`` reads them, which takes a hundred times as long: of a million cells half a minute.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.matching import words
from dpcore.datasets.plain_words import OFFSET
from dpcore.datasets.schema import DateOrder
from dpcore.datasets.stopping import go_on
from dpcore.datasets.written_dates import NEVER, months
from dpcore.validate import BoolArray, IntArray

LONGEST = 60
"""Letters of what may be a date."""
_PORTION = 1 << 15
_TIME = (
    r"(?:[T ,]+(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,][0-9]{1,9})?)?"
    rf"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?{OFFSET}?)?"
)
_LED = rf"^(?P<year>[0-9]{{4}})(?P<mark>[-/.])(?P<one>[0-9]{{1,2}})(?P<same>[-/.])(?P<two>[0-9]{{1,2}}){_TIME}$"
_ENDED = (
    rf"^(?P<one>[0-9]{{1,2}})(?P<mark>[-/.])(?P<two>[0-9]{{1,2}})(?P<same>[-/.])(?P<year>[0-9]{{4}}|[0-9]{{2}}){_TIME}$"
)


def read_short(text: pd.Series, order: DateOrder) -> tuple[np.ndarray, BoolArray]:
    """datetime64[s] of the cells that are such dates, NaT where no such day or time exists; and which cells are."""
    held = words(text).fill_null("")
    read, known = np.full(len(held), NEVER), np.zeros(len(held), dtype=bool)
    for start, part in _portions(held):
        for pattern in (_LED, _ENDED):
            found = pc.extract_regex(part, pattern)
            same = pc.equal(found.field("mark"), found.field("same"))
            fits = np.asarray(pc.and_(pc.less_equal(pc.binary_length(part), LONGEST), pc.fill_null(same, False)))
            here = np.flatnonzero(fits & np.asarray(found.is_valid()))
            if here.size:
                read[start + here] = _read(found.take(pa.array(here)), order, led=pattern is _LED)
                known[start + here] = True
    return read, known


def _portions(held: pa.Array) -> Iterator[tuple[int, pa.Array]]:
    for start in range(0, len(held), _PORTION):
        go_on()
        part = held.slice(start, _PORTION)
        yield start, part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part


def _read(found: pa.StructArray, order: DateOrder, *, led: bool) -> np.ndarray:
    if not led and order not in ("dmy", "mdy"):
        return np.full(len(found), NEVER)
    year, one, two = (_whole(found, name) for name in ("year", "one", "two"))
    short = np.asarray(pc.equal(pc.binary_length(found.field("year")), 2))
    year[short] += np.where(year[short] >= 70, 1900, 2000)
    month, day = (one, two) if led or order == "mdy" else (two, one)
    hour, minute, second = (_whole(found, name) for name in ("hour", "minute", "second"))
    half = np.asarray(pc.utf8_lower(found.field("half")).fill_null("").to_numpy(zero_copy_only=False))
    late, halved = half == "p", half != ""
    hour = np.where(halved, np.where((hour >= 1) & (hour <= 12), hour % 12 + 12 * late, 99), hour)
    starts, sizes = months()
    place = np.clip(12 * year + month - 1, 0, sizes.size - 1)
    real = (year > 0) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= sizes[place])
    real &= (hour < 24) & (minute < 60) & (second < 60)
    seconds = 86_400 * (starts[place] + day - 1) + 3600 * hour + 60 * minute + second
    return np.where(real, seconds.astype("datetime64[s]"), NEVER)


def _whole(found: pa.StructArray, name: str) -> IntArray:
    """The digits of a group as numbers, 0 where there are none."""
    digits = pc.fill_null(found.field(name), "")
    return np.array(pc.cast(pc.if_else(pc.equal(digits, ""), "0", digits), pa.int64()), dtype=np.int64)
