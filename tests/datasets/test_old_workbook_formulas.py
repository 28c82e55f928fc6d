"""Of an old workbook a formula's text has no place of its own, and charts within a sheet have records as cells have."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import compound, old_sheets, workbook
from tests.datasets.test_old_workbook_bombs import begin, number, numbers, record, stream

TEXT, EMPTY, NUMBER = b"\0\0\0\0\0\0\xff\xff", b"\3\0\0\0\0\0\xff\xff", struct.pack("<d", 5.0)


def label(row: int, column: int, word: str, kind: int = 0x204) -> bytes:
    return record(kind, struct.pack("<HHHHB", row, column, 0, len(word), 0) + word.encode())


def worked_out(row: int, column: int, came_to: bytes = TEXT) -> bytes:
    return record(0x06, struct.pack("<HHH", row, column, 0) + came_to + struct.pack("<HIH", 0, 0, 0))


def text(word: str = "word") -> bytes:
    return record(0x207, struct.pack("<HB", len(word), 0) + word.encode())


def usual(row: int) -> bytes:
    return label(row, 0, f"r{row}") + worked_out(row, 1) + text(f"t{row}") + number(row, 2)


BETWEEN = [record(kind, bytes(12)) for kind in (0x3C, 0x236, 0x221, 0x4BC)]
FIRST = label(0, 0, "ward") + label(0, 1, "note") + label(0, 2, "age")
ODD = {
    "beside a label": lambda row: label(row, 0, "a") + text() + number(row, 2),
    "before all": lambda row: text() + usual(row),
    "alone": lambda row: text(),
    "behind a number": lambda row: worked_out(row, 1, NUMBER) + text(),
    "behind none": lambda row: worked_out(row, 1, EMPTY) + text(),
    "two": lambda row: usual(row)[:-18] + text() + number(row, 2),
    "behind another cell": lambda row: worked_out(row, 1) + label(row, 0, "a") + text(),
    "behind a chart": lambda row: worked_out(row, 1) + begin(0x20) + record(0x0A) + text(),
    "none": lambda row: worked_out(row, 1) + number(row, 2),
    "of an array": lambda row: worked_out(row, 1) + BETWEEN[2] + text(),
    "within a chart": lambda row: usual(row) + begin(0x20) + text() + number(row - 1, 2) + record(0x0A),
    "shared": lambda row: worked_out(row, 1) + BETWEEN[3] + BETWEEN[0] + text() + BETWEEN[0],
}
TAKING = {
    "another row's": lambda row: usual(row) + label(2, 1, "mine"),
    "another's, before its own": lambda row: label(2, 1, "mine") + usual(row),
    "by a formula": lambda row: usual(row) + worked_out(2, 1) + text("mine"),
    "by a number": lambda row: usual(row) + number(2, 2),
    "by several numbers": lambda row: usual(row) + numbers(3, 0, 2),
    "the next row's": lambda row: usual(row) + label(row + 1, 0, "mine"),
    "a name": lambda row: usual(row) + label(0, 2, "mine"),
    "a name alone": lambda row: label(0, 0, "mine"),
    "a name that is not there": lambda row: usual(row) + label(0, 3, "mine"),
    "its own": lambda row: usual(row) + label(row, 0, "mine"),
    "its own, within several": lambda row: label(row, 1, "a") + numbers(row, 0, 2),
    "one of several of its own": lambda row: numbers(row, 0, 2) + label(row, 1, "mine"),
}
"""Places of cells that are there, or come earlier."""


def read(rows: list[bytes]) -> list[list[str]]:
    made = compound.container_of(stream(b"".join(rows)))
    found = read_table(made, header_rows=1, header_line=1, keep_footer=True)
    return [list(found.frame.columns), *found.frame.to_numpy().tolist()]


def moved(odd_rows: dict[str, Callable[[int], bytes]]) -> list[tuple[str, int]]:
    """Which of the odd rows, at which places, move others."""
    rows, found = [FIRST, *map(usual, range(1, 8))], []
    whole = read(rows)
    for place in (1, 4, 7):
        for name, odd in odd_rows.items():
            try:
                after = read([*rows[:place], odd(place), *rows[place + 1 :]])
            except UnreadableFile:
                continue
            others = [(old, new) for at, (old, new) in enumerate(zip(whole, after, strict=False)) if at != place]
            if any(old != new for old, new in others):
                found.append((name, place))
    return found


def test_one_row_moves_itself_alone_whatever_its_formulas_are() -> None:
    assert moved(ODD) == []


def test_one_row_takes_no_other_s_place() -> None:
    assert moved(TAKING) == []


@pytest.mark.parametrize("name", TAKING)
def test_a_cell_that_takes_a_place_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(
        UnreadableFile, match=r"not in the order of its rows; save it as \.xlsx or CSV and try again\.$"
    ):
        read([FIRST, *map(usual, range(1, 5)), TAKING[name](5), usual(6)])


def test_a_text_of_no_formula_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_sheets, "_RESULT", -2)
    assert {"beside a label", "alone"} <= {name for name, _ in moved(ODD)}


def test_a_text_of_no_formula_is_refused_in_a_sentence() -> None:
    with pytest.raises(UnreadableFile, match="holds a text that belongs to no formula; save it as"):
        read([FIRST, usual(1), ODD["beside a label"](2)])


@pytest.mark.parametrize("between", [b"", *BETWEEN, BETWEEN[0] * 2, BETWEEN[3] + BETWEEN[0]])
def test_what_belongs_to_a_formula_may_stand_before_its_text(between: bytes) -> None:
    row = worked_out(2, 0) + between + text("found") + record(0x3C, b"\0more") + label(2, 1, "b", 0xD6) + number(2, 2)
    assert read([FIRST, usual(1), row])[2] == ["found", "b", "1"]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_cells_behind_a_chart_count_and_those_in_it_are_none(depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 16 kB took more than a gigabyte."""
    chart = b""
    for _ in range(depth):
        chart = begin(0x20) + number(1, 2) + chart + number(600, 200) + record(0x0A)
    rows = [FIRST, usual(1), chart, usual(2)]
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1000)
    assert read(rows)[1:] == [["r1", "t1", "1"], ["r2", "t2", "1"]]
    with pytest.raises(UnreadableFile, match="cells and up to 1,000"):
        read([*rows, number(600, 2)])


def test_cells_behind_a_chart_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1000)
    monkeypatch.setattr(old_sheets, "_BEGIN", -2)
    assert read([FIRST, begin(0x20) + record(0x0A), number(600, 2)])[-1] == ["", "", "1"]
