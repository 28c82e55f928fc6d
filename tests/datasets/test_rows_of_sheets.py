"""A row of a workbook says by a number which one it is, and so does each of its cells: no row takes another's place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from dpcore.datasets import Column, Declaration, Reading, UnreadableFile, read_table
from dpcore.datasets.reading import excel_parts
from dpcore.releases.selection import MostCommonOption
from tests.datasets.cases.kinds import sheet_xml

WARD = Column(name="ward", type="category", categories=("north", "south"))
ROWS, LAST = 20, 21
FOLLOW = "do not follow one another"


def cell(place: str, text: str) -> str:
    return f'<c{place} t="inlineStr"><is><t>{text}</t></is></c>'


def row(number: int, ward: str, *, named: bool = True, placed: bool = True) -> str:
    """A row as most programs write it; some name no row, some no cell."""
    cells = [cell(f' r="{letter}{number}"' if placed else "", text) for letter, text in (("A", ward), ("B", "x"))]
    return f"<row{f' r={chr(34)}{number}{chr(34)}' if named else ''}>{''.join(cells)}</row>"


def table(**way: bool) -> list[str]:
    wards = ["ward", *["north"] * 8, *["south"] * 12]
    return [row(number, ward, **way) for number, ward in enumerate(wards, 1)]


def odd_rows(number: int, rng: np.random.Generator, count: int) -> Iterator[str]:
    """What one row might be: numbered as itself, as others or not at all, with cells that say so too."""
    others = (*[number] * 5, number + 1, number - 1, 2, LAST, 0, "x", f"0{number}")
    numbers = ["", "", *(f' r="{other}"' for other in others)]
    for _ in range(count):
        cells, far = [], rng.random() < 0.5
        for _ in range(rng.integers(5)):
            there = int(rng.integers(2, LAST + 3)) if far else number
            place = ["", f' r="A{there}"', f' r="{"AB"[rng.integers(2)]}{there}"'][rng.integers(3)]
            cells.append(cell(place, ["north", "south", ""][rng.integers(3)]))
        inner = "".join(cells)
        own = f"<row{numbers[rng.integers(len(numbers))]}>{inner}</row>"
        twice = f'{own}<row r="{number}">{inner}</row>'
        yield [own, own, own, inner, f"<row>{own}</row>", twice, f"{own}<sheetData/>"][rng.integers(7)]


def read(rows: list[str]) -> Reading:
    return read_table(sheet_xml("".join(rows).encode()), header_rows=1, header_line=1, keep_footer=True)


def counted(reading: Reading) -> np.ndarray:
    return MostCommonOption.of(Declaration(columns=(WARD,)), "ward", epsilon=1.0).read(reading.private)


def most_moved(rng: np.random.Generator, count: int, **way: bool) -> tuple[int, int]:
    """How far one row's being another, or one more at the end, moves a count at most; and how many could be read."""
    whole = table(**way)
    before, most, told = counted(read(whole)), 0, 0
    for number in (9, LAST, LAST + 1):
        for odd in odd_rows(number, rng, count):
            try:
                after = counted(read([*whole[: number - 1], odd, *whole[number:]]))
            except UnreadableFile:
                continue
            told += 1
            most = max(most, int(abs(after - before).max()))
    return most, told


@pytest.mark.thorough
@pytest.mark.parametrize("way", [{}, {"named": False}, {"placed": False}, {"named": False, "placed": False}], ids=str)
def test_one_row_of_a_sheet_moves_itself_alone_whatever_it_says(way: dict[str, bool]) -> None:
    most, told = most_moved(np.random.default_rng(7), 25, **way)
    assert most <= 1
    assert told > 10


def test_rows_that_take_others_places_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel_parts, "_refuse_order", lambda: None)
    assert most_moved(np.random.default_rng(7), 25)[0] > 1


OTHERS = {
    "a number that comes twice": '<row r="15"><c r="A15"><v>1</v></c></row>',
    "one that comes twice, without a cell": '<row r="15"/>',
    "cells of others": '<row r="22">' + "".join(cell(f' r="A{one}"', "north") for one in range(12, 22)) + "</row>",
    "a cell of the next": '<row r="22"><c r="A23"><v>1</v></c></row>',
    "cells of two rows": '<row><c r="A22"><v>1</v></c><c r="A23"><v>1</v></c></row>',
    "cells that are placed and not": '<row><c r="A30"><v>1</v></c><c><v>1</v></c></row>',
    "a cell in no row": '<c r="A12"><v>1</v></c>',
    "a row in a row": '<row r="22"><row r="23"/></row>',
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_row_that_is_not_its_own_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(UnreadableFile, match=FOLLOW):
        read([*table(), OTHERS[name]])


@pytest.mark.parametrize(
    "rows",
    [
        [row(5, "ward"), *(row(number, "north") for number in range(9, 19))],
        ['<row><c r="A3"><v>1</v></c></row>', '<row><c r="A7"><v>2</v></c></row>', '<row r="8"/>', "<row/>"],
        ["<row/>", '<row r="4"/>', "<row><c><v>1</v></c></row>", '<row r="06"><c r="A6"><v>1</v></c></row>'],
    ],
)
def test_rows_may_be_left_out(rows: list[str]) -> None:
    assert read_table(sheet_xml("".join(rows).encode())).rows > 0


def test_rows_of_what_is_no_table_are_none() -> None:
    """Controls of a sheet say in which row they stand."""
    behind = b"<controls><row>3</row><row>1</row></controls>"
    found = read_table(sheet_xml("".join(table()).encode(), behind), header_rows=1, header_line=1, keep_footer=True)
    assert found.rows == ROWS


TABLES = {
    "within a row": '<row r="10"><sheetData/></row>',
    "within a cell": '<row r="10"><c r="A10"><sheetData></sheetData></c></row>',
    "with another within it": '<row r="10"><sheetData><sheetData/></sheetData></row>',
    "between rows": "<sheetData/>",
    "after the first one's end": "</sheetData><sheetData>",
    "of another prefix": '<row r="10"><x:sheetData xmlns:x="u"/></row>',
}


@pytest.mark.parametrize("name", TABLES)
def test_a_second_table_hides_no_rows(name: str) -> None:
    """The library stops at the first end of one, with others' rows still to come."""
    whole = table()
    with pytest.raises(UnreadableFile, match="damaged"):
        read([*whole[:9], TABLES[name], *whole[10:]])
