"""Which columns there are, and how wide a table is, follows from the lines that name them: what one row holds moves
nothing of another."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import openpyxl
import pandas as pd
import pytest

from dpcore.audit.sheets import workbook
from dpcore.datasets import Reading, UnreadableFile, read_table
from dpcore.datasets.apart.crossing import read as crossed
from dpcore.datasets.apart.crossing import taken
from dpcore.datasets.apart.crossing import write as cross
from dpcore.datasets.reading import columns
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.kinds import table_of

pytestmark = pytest.mark.usefixtures("one_connection")
Row = tuple[str, ...]
STATED: dict[str, Any] = {
    "delimiter": ",",
    "encoding": "utf-8",
    "quote": '"',
    "header_rows": 1,
    "header_line": 1,
    "keep_footer": True,
    "uneven": "set aside",
}
HEADINGS: tuple[Row, ...] = (
    ("party", "age", "x", "note"),
    ("party", "age", "x", ""),
    ("party", "", "x", "note"),
    ("party", "2023", "2024", "2025", "2026", "2027", "2028", "2029"),
    ("", "party"),
)
PEOPLE: tuple[Row, ...] = (
    ("Left",),
    *[("Left", "20", "a")] * 5,
    *[("Right", "3", "b", "more")] * 3,
    ("", "", "", "Left"),
)
OTHERS: tuple[Row, ...] = (
    ("Left",),
    ("Left", "2", "a"),
    ("Left",) * 9,
    ("", "", "", "Left"),
    ("Left", "", "", "", "", "x"),
)


def text(lines: list[Row]) -> bytes:
    return "".join(",".join(line) + "\n" for line in lines).encode()


def counts(reading: Reading) -> dict[str, Counter[str]]:
    """What a private answer reads: of each column, how often each cell is there that is not missing."""
    behind: pd.DataFrame = reading.private._behind  # type: ignore[attr-defined, assignment]
    return {str(name): Counter(cell for cell in behind[name] if cell) for name in behind.columns}


def moved(before: Reading, after: Reading) -> int:
    """By how much one row more moved any count; as many as there are where it changed which columns there are."""
    here, there = counts(before), counts(after)
    if here.keys() != there.keys():
        return 1000
    return max(((there[name] - here[name]) + (here[name] - there[name])).total() for name in here)


KINDS = {"text": text, "sheet": workbook}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heading", HEADINGS, ids=",".join)
def test_a_row_of_any_width_moves_itself_alone(kind: str, heading: Row) -> None:
    written = KINDS[kind]
    before = read_table(written([heading, *PEOPLE]), **STATED)
    assert counts(before).keys() <= {cell or f"column {place + 1}" for place, cell in enumerate(heading)}
    for row in OTHERS:
        assert moved(before, read_table(written([heading, *PEOPLE, row]), **STATED)) <= 1, row


def test_a_width_that_rows_decide_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_rows(heading: list[list[str]], lines: tuple[int, ...], filled: columns.Filled) -> columns.Columns:
        return columns.numbered(max(place + 1 for place in range(4) if filled(place)), too_many=True)

    monkeypatch.setattr(columns, "of_lines", by_rows)
    rows = [("party", "age", "x", "note"), ("Left", "20", "a")]
    plain, fuller = (read_table(text([*rows, *more]), **STATED) for more in ([], [("Left", "2", "a", "b")]))
    assert moved(plain, fuller) == 1000


@pytest.mark.parametrize("kind", KINDS)
def test_where_no_line_names_them_their_number_is_asked_and_stated(kind: str) -> None:
    written, stated = KINDS[kind], STATED | {"header_rows": 0}
    before = read_table(written(list(PEOPLE)), **stated)
    assert before.report.decided == ("columns",)
    assert before.report.columns == before.frame.shape[1]
    ways = [way.value for way in before.report.alternatives if way.argument == "columns"]
    assert ways[0] == str(before.report.columns)
    for width in (3, 6):
        here = read_table(written(list(PEOPLE)), columns=width, **stated)
        assert here.report.decided == ()
        assert here.report.columns == here.frame.shape[1] == width
        for row in (("Left",) * 4, ("Left",) * 9):
            assert moved(here, read_table(written([*PEOPLE, row]), columns=width, **stated)) <= 1, row


def test_a_sheet_is_counted_from_its_first_column() -> None:
    """A cell on the left of all others moves none of them to another column."""
    rows = [("", "Left", "1"), ("", "Right", "2"), ("", "Left", "3")]
    here, there = (
        read_table(workbook([*rows, *more]), header_rows=0, header_line=1, columns=3) for more in ([], [("x", "", "")])
    )
    assert moved(here, there) == 1
    assert list(here.frame.iloc[:, 1]) == ["Left", "Right", "Left"]


def test_a_column_without_a_name_is_shown_and_in_no_release() -> None:
    for data in (text([("a", "b", ""), ("1", "2", "x")]), workbook([("a", "b"), ("1", "2", "x")])):
        reading = read_table(data, **STATED)
        assert list(reading.frame.columns) == ["a", "b", "column 3"]
        assert reading.from_rows == {"column 3"}
        assert reading.column("column 3").suggestion.from_file
        assert counts(reading).keys() == {"a", "b"}
        assert any("name them in the file" in notice.sentence for notice in reading.report.notices)


def test_it_is_so_from_a_process_of_its_own() -> None:
    table = table_of(workbook([("a", "b"), ("1", "2", "x")]), Choices(), lambda part, words: None)
    file = io.BytesIO()
    cross(table, file)
    told = taken(file)
    assert crossed(file.getvalue(), told).from_rows == table.from_rows == {"column 3"}


def test_row_labels_of_a_sheet_keep_their_place() -> None:
    """A cross table: its first column has no name, and is there to be looked at."""
    book = openpyxl.Workbook()
    for row in ([None, "2023", "2024"], ["North", 1, 2], ["South", 3, 4]):
        book.active.append(row)
    saved = io.BytesIO()
    book.save(saved)
    reading = read_table(saved.getvalue(), header_rows=1, header_line=1)
    assert list(reading.frame.columns) == ["column 1", "2023", "2024"]
    assert list(reading.frame["column 1"]) == ["North", "South"]


def test_what_is_wider_than_its_heading_is_refused_or_set_aside() -> None:
    data = text([("a", "b"), *[("1", "5", "2")] * 5, ("1", "2")])
    with pytest.raises(UnreadableFile, match="has 2 names but the rows have 3 cells"):
        read_table(data)
    reading = read_table(data, uneven="set aside")
    assert reading.frame.to_numpy().tolist() == [["1", "2"]]
    with pytest.raises(UnreadableFile, match="has 2 names but the rows have 3 cells"):
        read_table(text([("a", "b"), *[("1", "5", "2")] * 5]), uneven="set aside")
