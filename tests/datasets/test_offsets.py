"""An offset from UTC says nothing of a day or of a clock as it stands, in whichever of its forms it is written."""

from __future__ import annotations

import re
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import dates, read_table
from dpcore.datasets.plain_words import plain, plainly
from dpcore.datasets.schema import DateOrder
from dpcore.datasets.short_dates import read_short
from dpcore.datasets.written_dates import read_written

OFFSETS = ("Z", "+00", "-03", "+05", "+0000", "-0330", "+00:00", "-03:30", " +01:00", " -0500", " +02")
NONE = ("z", "+0", "+000", "+00:", "+00:0", "+00000", "Z+00", "+", "ZZ", "  +00", "+00Z")
MOMENTS: dict[str, DateOrder] = {
    "2024-01-31 10:30": "ymd",
    "2024-01-31T10:30:00": "ymd",
    "2024/1/31 10:30:00.25": "ymd",
    "20240131 10:30:00": "ymd",
    "31.01.2024 10:30:00": "dmy",
    "31/1/24 9:30 pm": "dmy",
    "01/31/2024 10:30:00,125": "mdy",
    "31 January 2024 10:30:00": "dmy",
    "Jan 31, 2024 10:30:00": "mdy",
}
MANY = 250
ZONES = ("Time zones are left out; clock times stay as written.",)


def one_by_one(word: str, order: DateOrder) -> object:
    return dates.moment(word, order)


def in_its_places(word: str, order: DateOrder) -> object:
    read, known = read_written(pd.Series([word], dtype="str"), order)
    return read[0] if known[0] else None


def short(word: str, order: DateOrder) -> object:
    read, known = read_short(pd.Series([word], dtype="str"), order)
    return read[0] if known[0] else None


def in_a_column(word: str, order: DateOrder) -> object:
    (read,) = set(dates.dates(pd.Series([word] * MANY, dtype="str"), order).tolist())
    return None if read is None else np.datetime64(read, "s")


READERS = (one_by_one, in_its_places, short, in_a_column)


def read_with(offsets: tuple[str, ...], *, same: bool) -> set[tuple[str, str]]:
    """The readers and offsets with which a moment that a reader knows is the same one as without, or is not; what it
    leaves to another reader is neither."""
    return {
        (reader.__name__, offset)
        for moment, order in MOMENTS.items()
        for reader in READERS
        if (read := reader(moment, order)) is not None
        for offset in offsets
        if (zoned := reader(moment + offset, order)) is not None
        if (str(zoned) == str(read)) == same
    }


def test_every_form_is_read_by_every_reader() -> None:
    assert read_with(OFFSETS, same=False) == set()
    assert read_with(OFFSETS, same=True) == {(reader.__name__, offset) for reader in READERS for offset in OFFSETS}


def test_what_is_no_offset_is_no_part_of_a_date() -> None:
    assert read_with(NONE, same=True) == set()


@pytest.mark.parametrize("form", ["_ISO", "_COMPACT", "_NUMERIC", "_DAY_NAMED", "_MONTH_NAMED"])
def test_a_reader_that_wants_four_digits_is_found_out(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = getattr(dates, form).pattern
    monkeypatch.setattr(dates, form, re.compile(known.replace("(?::?[0-9]{2})?", ":?[0-9]{2}")))
    assert ("one_by_one", "+00") in read_with(OFFSETS, same=False)


@pytest.mark.parametrize("offset", OFFSETS)
def test_parts_of_a_second_that_are_none_are_taken_off_before_it(offset: str) -> None:
    word = f"2024-01-31 10:30:00.250{offset}"
    expected = f"2024-01-31 10:30:00.25{offset}"
    assert plain(word) == expected
    assert plainly(pd.Series([word], dtype="str")).tolist() == [expected]


@pytest.mark.parametrize("offset", OFFSETS)
def test_a_column_of_them_is_suggested_as_days_and_said_to_have_zones(offset: str) -> None:
    alike, several = (
        pd.Series([f"2024-01-{day:02} {hour}:30:00{offset}" for day in range(1, 29)], name="t", dtype="str")
        for hour in ("10", "9")
    )
    for cells in (alike, several, several + " "):
        found = read_table(cells.to_frame().assign(n=range(28)).to_csv(index=False).encode()).columns[0]
        assert (found.suggestion.type, found.notes) == ("date", ZONES)


def test_days_of_lines_are_counted_as_they_stand() -> None:
    """By DuckDB, as a folder of CSV is."""
    with closing(duckdb.connect()) as connection:
        for offset in OFFSETS:
            word = f"2024-01-31 23:30:00{offset}"
            read = connection.execute("SELECT TRY_CAST(? AS TIMESTAMP)::DATE::VARCHAR", [word]).fetchone()
            assert read == (str(dates.moment(word, "ymd"))[:10],), offset
