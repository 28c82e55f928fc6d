"""No one row decides by its width, or by a name of its own, whether a file is read: what is beyond is left out."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import openpyxl
import pytest

from dpcore.datasets import UnreadableFile
from dpcore.datasets.reading import documents, survey, tabulate
from dpcore.datasets.reading.bounds import MOST_COLUMNS
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.dialect import DELIMITERS
from dpcore.datasets.reading.kinds import table_of
from dpcore.datasets.reading.tabulate import Tabulated
from tests.datasets.test_json_form import listed
from tests.datasets.test_widths import STATED

pytestmark = pytest.mark.usefixtures("one_connection")
Row = list[str]
HEADING = ["party", "age"]
PEOPLE = [["Left", "20"], ["Right", "3"], ["Left", "5"]]
WIDE: dict[str, Row] = {
    "as wide as is read": ["Left", "1", *["x"] * (MOST_COLUMNS - 2)],
    "one cell more": ["Left", "1", *["x"] * (MOST_COLUMNS - 1)],
    "twice as wide": ["Left", "1", *["x"] * (2 * MOST_COLUMNS)],
    "very wide": ["Left"] * 20_000,
    "one cell far away": [""] * 15_000 + ["Left"],
    "over lines": ["Left", "1", *["x"] * MOST_COLUMNS, *["a\n\nb"] * 200],
}


def in_lines(rows: list[Row]) -> bytes:
    return "".join(",".join(f'"{cell}"' if "\n" in cell else cell for cell in row) + "\n" for row in rows).encode()


def in_a_sheet(rows: list[Row]) -> bytes:
    book, saved = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append([cell or None for cell in row[:16_384]])
    book.save(saved)
    return saved.getvalue()


KINDS: dict[str, Callable[[list[Row]], bytes]] = {"text": in_lines, "sheet": in_a_sheet, "JSON": listed}


def read(kind: str, rows: list[Row], **stated: Any) -> Tabulated:
    said = STATED if kind == "text" else {"header_line": 1, "header_rows": 1}
    return table_of(KINDS[kind](rows), Choices(**(said | stated)), lambda *_: None)


def cells(table: Tabulated) -> dict[str, Counter[str]]:
    """Of each column that is there whatever rows hold."""
    public = [name for name in table.frame.columns if name not in table.from_rows]
    return {name: Counter(cell for cell in table.frame[name] if cell) for name in public}


def places(table: Tabulated) -> tuple[list[int], int]:
    """Which of how many records its rows are."""
    found = np.arange(len(table.frame)) if table.places is None else table.places
    return found.tolist(), len(table.frame) if table.records is None else table.records


@pytest.mark.thorough
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_any_width_moves_itself_alone(kind: str, wide: str) -> None:
    for stated, rows in (({}, [HEADING, *PEOPLE]), ({"header_rows": 0, "columns": 2}, PEOPLE)):
        here = read(kind, rows, **stated)
        for place in (len(rows) - len(PEOPLE), len(rows)):
            there = read(kind, [*rows[:place], WIDE[wide], *rows[place:]], **stated)
            assert cells(there).keys() == cells(here).keys()
            for name, counts in cells(here).items():
                assert sum((cells(there)[name] - counts).values()) <= 1
                assert not counts - cells(there)[name]
            assert there.frame.shape[1] <= MOST_COLUMNS
            own, (found, records) = place - len(rows) + len(PEOPLE), places(there)
            assert ([at - (at > own) for at in found if at != own], records - 1) == places(here)


TABLE = [
    ["name", "age", "when", "party"],
    *([f"p{row}", f"{20 + row}", f"2024-01-{row:02}", "Left"] for row in range(1, 9)),
]
FILLED = {"numbers": "5", "words": "x", "days": "2024-01-09"}


@pytest.mark.thorough
@pytest.mark.parametrize("cell", FILLED)
@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_is_stated_a_row_of_any_width_refuses_no_file(kind: str, cell: str) -> None:
    """As a page reads it first: where the names stand is found by how wide rows are as a rule."""
    for width in (4, 40, MOST_COLUMNS, MOST_COLUMNS + 1):
        for place in (1, 8):
            rows = [*TABLE[:place], [FILLED[cell]] * width, *TABLE[place + 1 :]]
            found = table_of(KINDS[kind](rows), Choices(uneven="set aside"), lambda *_: None)
            assert found.report.header_lines == (1,), (width, place)
            for row, cells in zip(places(found)[0], found.frame[TABLE[0]].to_numpy().tolist(), strict=True):
                assert row == place - 1 or cells == TABLE[row + 1]


def test_a_guess_by_the_widest_row_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey.Survey, "usual", property(lambda seen: int(seen.counts.max())))
    with pytest.raises((UnreadableFile, AssertionError)):
        test_where_nothing_is_stated_a_row_of_any_width_refuses_no_file("sheet", "words")


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_more_columns_than_are_read_are_refused_whatever_rows_hold(kind: str) -> None:
    heading = [f"c{place}" for place in range(MOST_COLUMNS + 1)]
    for rows in ([], PEOPLE, [heading]):
        with pytest.raises(UnreadableFile, match="501 columns; up to 500 can be read"):
            read(kind, [heading, *rows])
    assert read(kind, [heading[:-1], *PEOPLE]).frame.shape[1] == MOST_COLUMNS


@pytest.mark.parametrize("count", [700, 60_000, 200_000])
@pytest.mark.parametrize("sign", DELIMITERS)
def test_a_line_of_any_number_of_delimiters_is_told_as_it_is(sign: str, count: int) -> None:
    """Alone; beside a table it moves itself alone. It was said to take too much memory, which it does not."""
    with pytest.raises(UnreadableFile, match=f"{count + 1:,} columns; up to 500 can be read"):
        table_of(f"x{sign * count}".encode(), Choices(), lambda *_: None)
    lines = [sign.join(row) for row in [HEADING, *PEOPLE]]
    found = table_of("\n".join([*lines, sign * count]).encode(), Choices(uneven="set aside"), lambda *_: None)
    assert found.frame.to_numpy().tolist()[: len(PEOPLE)] == PEOPLE


def test_a_sniffer_that_is_given_such_a_line_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    line = b"," * 200_000
    with pytest.raises(UnreadableFile, match="200,001 columns"):
        table_of(line, Choices(), lambda *_: None)
    monkeypatch.setattr(tabulate, "_narrow", lambda sample: sample)
    with pytest.raises(MemoryError):
        table_of(line, Choices(), lambda *_: None)


def test_that_cells_were_left_out_is_said() -> None:
    for kind in KINDS:
        reading = read(kind, [HEADING, *PEOPLE, WIDE["very wide"]])
        said = next(one for one in reading.report.notices if "500 columns" in one.sentence or "more" in one.sentence)
        assert (said.count, said.lines) == (1, (5,))


def test_too_many_wide_lines_are_told_as_they_are() -> None:
    with pytest.raises(UnreadableFile, match="Line 5 has 20,000 cells where the table has 2 columns"):
        read("text", [HEADING, *PEOPLE, WIDE["very wide"]], uneven="refuse")


LONG = "k" * (documents._LONGEST_NAME + 1)
NAMED: tuple[dict[str, Any], ...] = (
    {LONG: "x"},
    {LONG: {"a": {"b": 1}}},
    {"k" * 6000: {"l" * 6000: 1}},
    {"a": {LONG: [{}]}},
)


def test_a_name_that_is_too_long_takes_its_own_cell_along() -> None:
    rows = [{"party": party, "age": age} for party, age in PEOPLE]
    here = table_of(json.dumps(rows).encode(), Choices(), lambda *_: None)
    for own in NAMED:
        for data in (json.dumps([*rows, own]), "\n".join(map(json.dumps, [*rows, own]))):
            there = table_of(data.encode(), Choices(), lambda *_: None)
            assert cells(there) == cells(here)
            assert len(there.frame) == len(here.frame) + 1
            assert sum(one.count for one in there.report.notices if "10,000 letters" in one.sentence) == 1


@pytest.mark.parametrize("kind", ["text", "sheet", "JSON"])
def test_a_reader_that_refuses_is_found_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = tabulate.layout.find

    def refusing(seen: survey.Survey, **stated: Any) -> Any:
        if seen.beyond:
            raise UnreadableFile("A row is too wide.")
        return find(seen, **stated)

    monkeypatch.setattr(tabulate.layout, "find", refusing)
    with pytest.raises(UnreadableFile):
        test_a_row_of_any_width_moves_itself_alone(kind, "very wide")


def test_a_line_that_takes_others_along_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "narrowed", lambda data, *_: data.rpartition(b"\n")[0])
    with pytest.raises((UnreadableFile, AssertionError)):
        test_a_row_of_any_width_moves_itself_alone("text", "very wide")
