"""Spans of time in a sheet: a number shown as one that is beyond any leaves its own row without cells, and no other."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import openpyxl
import pytest

from dpcore.datasets import Reading, read_table
from dpcore.datasets.reading import workbook
from dpcore.errors import Defect, UnreadableFile

Row = tuple[str | None, float, str]
ROWS: list[Row] = [("north", 1.5, "yes"), ("south", 0.25, "no"), ("south", 999_999_999.0, "no"), ("north", -0.5, "yes")]
BEYOND = (1e9, -1e9, 5_551_234_567.0, 1e300, -1e300)


def read(rows: Sequence[Row], merged: str = "", shown: str = "[h]:mm:ss") -> Reading:
    book = openpyxl.Workbook()
    page = book.active
    assert page is not None
    page.append(("ward", "spent", "ill"))
    for row in rows:
        page.append(row)
        page.cell(page.max_row, 2).number_format = shown
    if merged:
        page.merge_cells(merged)
    saved = io.BytesIO()
    book.save(saved)
    return read_table(saved.getvalue(), header_rows=1, header_line=1, merged="each" if merged else None)


def with_one_more(place: int, number: float) -> Reading:
    return read([*ROWS[:place], ("north", number, "no"), *ROWS[place:]])


@pytest.mark.parametrize("number", BEYOND)
def test_a_span_beyond_any_moves_no_other_row(number: float) -> None:
    usual = read(ROWS)
    assert usual.frame["spent"].tolist() == ["36:00:00", "6:00:00", "23999999976:00:00", "-12:00:00"]
    for place in (0, 2, len(ROWS)):
        found = with_one_more(place, number)
        assert found.frame.equals(usual.frame), place
        assert (found.records, place in found.places) == (len(ROWS) + 1, False), "the others keep their places"
        (notice,) = (one for one in found.report.notices if "beyond any" in one.sentence)
        assert (notice.count, notice.lines) == (1, (place + 2,))


def test_a_day_beyond_any_moves_no_other_row() -> None:
    """The library panics there, which is no usual error."""
    for place in (0, 2, len(ROWS)):
        days = [("north", -1e300, "no") if row == place else ROWS[row % 4] for row in range(len(ROWS) + 1)]
        usual, found = (read(rows, shown="yyyy-mm-dd") for rows in ([*days[:place], *days[place + 1 :]], days))
        assert found.frame.equals(usual.frame), place
        assert (found.records, place in found.places) == (len(ROWS) + 1, False)


def test_what_ends_a_reading_from_outside_is_no_number_of_a_row() -> None:
    class Stopped:
        def iter_rows(self) -> Iterator[list[object]]:
            raise KeyboardInterrupt
            yield []

    with pytest.raises(KeyboardInterrupt):
        next(workbook._rows(Stopped()))


def test_cells_merged_over_it_hold_what_they_held() -> None:
    rows: list[Row] = [
        ("north", 1.0, "yes"),
        (None, 2.0, "no"),
        (None, 1e9, "no"),
        (None, 3.0, "no"),
        ("south", 4, "no"),
    ]
    assert read(rows, "A2:A5").frame["ward"].tolist() == ["north"] * 4 + ["south"]
    with pytest.raises(UnreadableFile, match="row 2 is shown as a span of time or a day"):
        read([("north", 1e9, "yes"), *rows[1:]], "A2:A5")


@pytest.mark.defects
def test_a_library_that_stops_there_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_rows", lambda sheet: sheet.iter_rows())
    with pytest.raises(Defect):
        with_one_more(2, 1e9)
