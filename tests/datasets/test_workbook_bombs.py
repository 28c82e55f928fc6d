"""Workbooks of a few kilobytes that would unfold to gigabytes are refused before the library unfolds any sheet."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
import python_calamine

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import bounds, compound, excel_parts, workbook
from tests.datasets.cases.kinds import opendocument, people_sheet, sheet, sheet_xml
from tests.datasets.test_old_workbook_bombs import number, stream


class _Opened:
    """A workbook whose sheets nobody may unfold."""

    def __init__(self, book: Any) -> None:
        self.sheets_metadata = book.sheets_metadata

    def get_sheet_by_name(self, name: str) -> None:
        raise AssertionError("a sheet was unfolded")


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> None:
    real = python_calamine.CalamineWorkbook

    class Guarded:
        @staticmethod
        def from_filelike(file: Any) -> _Opened:
            return _Opened(real.from_filelike(file))

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", Guarded)


def with_part(data: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """The workbook with one part of its archive changed; a part that is not there begins empty."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != part:
                new.writestr(name, old.read(name))
        new.writestr(part, change(old.read(part) if part in old.namelist() else b""))
    return made.getvalue()


def spelt(corner: str, row: int) -> dict[str, bytes]:
    """Ways to write a value at A1 and one at a corner, all of which the library takes."""
    far = f"{corner}{row}"
    one, space = '<row r="1"><c r="A1"><v>1</v></c></row>', 'xmlns:x-y="http://a"'
    ways = {
        "plain": f'<row r="{row}"><c r="{far}"><v>2</v></c></row>',
        "a row that only its cell names": f'<row><c r="{far}"><v>2</v></c></row>',
        "single quotes": f"<row r='{row}'><c r='{far}'><v>2</v></c></row>",
        "spaces around the sign": f'<row r = "{row}"><c\nr\t=\n"{far}" ><v >2</v ></c ></row>',
        "a greater sign in an attribute": f'<row r="{row}"><c t="n" x=">" r="{far}"><v>2</v></c></row>',
        "a prefix with a hyphen": f'<x-y:row {space} r="{row}"><x-y:c r="{far}"><x-y:v>2</x-y:v></x-y:c></x-y:row>',
        "small letters": f'<row r="{row}"><c r="{far.lower()}"><v>2</v></c></row>',
        "text of its own": f'<row r="{row}"><c r="{far}" t="inlineStr"><is><t>2</t></is></c></row>',
        "a formula's value": f'<row r="{row}"><c r="{far}"><f>1+1</f><v>2</v></c></row>',
        "a cell after one that is placed": f'<row r="{row}"><c r="{far}"/><c><v>2</v></c></row>',
        "a row after one that is placed": f'<row r="{row}"/><row><c/><c><v>2</v></c></row>',
        "nothing after it": f'<row r="{row}"><c r="{far}"><v>2</v></c></row><row><c r="ZZ{row + 1}"/></row>',
    }
    return {name: f"{one}{way}".encode() for name, way in ways.items()}


WAYS = spelt("XFD", 1_048_575)


@pytest.mark.parametrize("way", WAYS)
def test_what_a_sheet_unfolds_to_is_what_the_library_sees(way: str) -> None:
    data = sheet_xml(spelt("C", 4)[way])
    seen = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0)
    extent = excel_parts.ExcelParts(data, lambda: None).extent("Sheet")
    assert (extent.rows, extent.columns) == (seen.end[0] + 1, seen.width)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("folded")
def test_a_far_corner_is_found_however_it_is_spelt(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1_000_000)
    with pytest.raises(UnreadableFile, match=r"columns; up to 500|cells and up to"):
        read_table(sheet_xml(WAYS[way]))


@pytest.mark.parametrize("place", ["", "1", "B", "$B$2", "B 2", "2B", "B0", "ABCD1", "B\u0663", "B" + "9" * 5000])
@pytest.mark.usefixtures("folded")
def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(sheet_xml(f'<row r="1"><c r="{place}"><v>1</v></c></row>'.encode()))


@pytest.mark.parametrize("number", ["0", "B", "-1", "\u0663", "9" * 5000])
@pytest.mark.usefixtures("folded")
def test_a_row_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(sheet_xml(f'<row hidden="1" r="{number}"/>'.encode()))


_BOMB = sheet_xml(WAYS["plain"])
_HARMLESS = b"<worksheet><sheetData/></worksheet>"


def _relations(more: str) -> Callable[[bytes], bytes]:
    return lambda text: text.replace(b"</Relationships>", f"{more}</Relationships>".encode())


AMBIGUOUS = {
    "two parts but for the case": with_part(_BOMB, "xl/worksheets/SHEET1.xml", lambda _: _HARMLESS),
    "two relations of one name": with_part(
        _BOMB, "xl/_rels/workbook.xml.rels", _relations('<Relationship Id="rId&#49;" Target="/xl/theme/theme1.xml"/>')
    ),
    "two sheets of one name": with_part(
        _BOMB, "xl/workbook.xml", lambda text: text.replace(b"</sheets>", b'<sheet name="Sheet" r:id="rId1"/></sheets>')
    ),
    "a sheet of another kind beside it": with_part(_BOMB, "content.xml", lambda _: b"<x/>"),
    "a document type": with_part(
        _BOMB, "xl/worksheets/sheet1.xml", lambda text: b'<!DOCTYPE a [<!ENTITY b "c">]>' + text
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
@pytest.mark.usefixtures("folded")
def test_a_workbook_that_could_be_read_in_two_ways_is_refused(name: str) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(AMBIGUOUS[name])


UNENDING = {  # each took the square of its length, with the other visitors waiting
    "cells": sheet_xml(b"<c " * 300_000 + b'x="'),
    "hidden rows": sheet_xml(b'<row hidden="1" ' * 60_000 + b'x="'),
    "sheets": with_part(_BOMB, "xl/workbook.xml", lambda text: text + b"<sheet " + b"a" * 900_000 + b">"),
    "relations": with_part(_BOMB, "xl/_rels/workbook.xml.rels", lambda text: text + b"<Relationship " * 60_000),
    "names": sheet_xml(b"".join(b"<a%d/>" % place for place in range(200_000))),
}


@pytest.mark.parametrize("name", UNENDING)
@pytest.mark.usefixtures("folded")
def test_tags_without_end_are_refused_at_once(name: str) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(UNENDING[name])


def shared(strings: bytes, cells: str) -> bytes:
    """A sheet of one column whose cells hold shared strings, by their numbers."""
    rows = "".join(f'<row><c t="s"><v>{number}</v></c></row>' for number in cells.split())
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    text = b'<sst xmlns="%s">%s</sst>' % (space, strings)
    return with_part(sheet_xml(rows.encode()), "xl/sharedStrings.xml", lambda _: text)


_LONG = b"<si><t>" + b"x" * 1000 + b"</t></si>"


@pytest.mark.usefixtures("folded")
def test_a_shared_string_counts_for_every_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 16 kB one of a megabyte took 4 GB."""
    for module in (bounds, excel_parts):
        monkeypatch.setattr(module, "MOST_TEXT", 50_000)
    with pytest.raises(UnreadableFile, match="more text than can be read"):
        read_table(shared(b"<si/><si><t>a</t></si>" + _LONG, "2 " * 60))


@pytest.mark.parametrize("cells", ["9 " * 60, "- " * 60, "2147483648 " * 60])
def test_a_cell_of_a_shared_string_that_there_is_not_takes_no_room(cells: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bounds, excel_parts):
        monkeypatch.setattr(module, "MOST_TEXT", 50_000)
    found = read_table(shared(b"<si/><si><t>a</t></si>" + _LONG, cells + "1 1 1"))
    assert set(found.frame.to_numpy().ravel()) <= {"a", ""}


def test_one_long_shared_string_among_short_ones_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel_parts, "MOST_TEXT", 50_000)
    found = read_table(shared(b"<si/><si><t>a</t></si>" + _LONG, "1 " * 60 + "2"))
    assert found.rows in (60, 61)


@pytest.mark.usefixtures("folded")
def test_shared_strings_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel_parts, "_MOST_SHARED", 1000)
    with pytest.raises(UnreadableFile, match="1,001 cells"):
        read_table(shared(b"<si/>" * 1001, "0"))


def _merged(book: Any, page: Any) -> None:
    people_sheet(book, page)
    for place in range(300):
        page.append([f"p{place}", 3, "no"])
    page.merge_cells("A5:A200")


def test_merged_cells_are_filled_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty ranges of a whole column each took a gigabyte."""
    data = sheet(_merged)()
    filled = next(each for each in read_table(data).report.notices if "merged" in each.sentence)
    assert filled.count == 195
    many = with_part(
        data,
        "xl/worksheets/sheet1.xml",
        lambda text: text.replace(b"</mergeCells>", b'<mergeCell ref="A1:A1048576"/>' * 50 + b"</mergeCells>"),
    )
    assert workbook._MOST_FILLED <= 1_000_000
    monkeypatch.setattr(workbook, "_MOST_FILLED", 1000)
    with pytest.raises(UnreadableFile, match="merges more than 1,000 cells"):
        read_table(many)


def test_merged_cells_are_filled_down_to_the_last_row() -> None:
    def fill(book: Any, page: Any) -> None:
        people_sheet(book, page)
        page["A4"] = None
        page.merge_cells("A3:A4")

    assert read_table(sheet(fill)()).frame.iloc[:, 0].tolist() == ["Ann", "Bob", "Bob"]


def test_many_empty_sheets_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(book: Any, page: Any) -> None:
        for each in (page, book.create_sheet(), book.create_sheet(), book.create_sheet()):
            each["A1"], each["A400"] = 1, 2

    assert read_table(sheet(fill)(), part="Sheet").rows in (1, 2)
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1000)
    with pytest.raises(UnreadableFile, match="1,200 cells"):
        read_table(sheet(fill)())


def test_sheets_of_an_opendocument_are_summed_before_all_of_them_unfold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_calamine, "CalamineWorkbook", None)  # nobody may ask it
    monkeypatch.setattr(workbook, "_MOST_CELLS", 1_000)
    cell = '<table:table-cell office:value-type="string" table:number-columns-repeated="{}"><text:p>a</text:p>'
    row = f'<table:table-row table:number-rows-repeated="30">{cell.format(20)}</table:table-cell></table:table-row>'
    sheets = (row, '</table:table><table:table table:name="T">')
    with pytest.raises(UnreadableFile, match="cells"):
        read_table(opendocument(sheets[1].join([sheets[0]] * 2)))


def test_rows_that_no_sheet_can_hold_are_not_left_out_in_silence() -> None:
    cell = '<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
    longer = opendocument(f'<table:table-row table:number-rows-repeated="3000000">{cell}</table:table-row>')
    with pytest.raises(UnreadableFile, match="more than 1,048,576 rows"):
        read_table(longer)


def many_sheets() -> dict[str, bytes]:
    """Workbooks of five sheets, in each of the three kinds."""

    def fill(book: Any, page: Any) -> None:
        for each in (page, *(book.create_sheet() for _ in range(4))):
            people_sheet(book, each)

    row = '<table:table-row><table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
    of_one = f"{row}</table:table-row>" * 3
    return {
        "xlsx": sheet(fill)(),
        "ods": opendocument('</table:table><table:table table:name="T">'.join([of_one] * 5)),
        "xls": compound.container_of(stream(*[number(0, 0) + number(1, 0)] * 5)),
    }


@pytest.mark.parametrize("kind", ["xlsx", "ods", "xls"])
def test_more_sheets_than_are_looked_through_are_refused_before_any_is_unfolded(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 539 kB with 150,000 sheets kept a reader busy for minutes."""
    data = many_sheets()[kind]
    monkeypatch.setattr(bounds, "MOST_SHEETS", 5)
    assert read_table(data).rows >= 1
    monkeypatch.setattr(bounds, "MOST_SHEETS", 4)
    monkeypatch.setattr(python_calamine, "CalamineWorkbook", None)  # nobody may ask it
    with pytest.raises(UnreadableFile, match="has more than 4 sheets"):
        read_table(data)


@pytest.mark.parametrize(
    "value", ['value="1"', 'date-value="2024-01-31"', 'boolean-value="true"', 'time-value="PT1H"', 'string-value="a"']
)
@pytest.mark.usefixtures("folded")
def test_a_cell_that_names_no_kind_counts_too(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library takes what an OpenDocument cell says all the same, and as often as it says."""
    monkeypatch.setattr(workbook, "_MOST_CELLS", 10_000)
    cell = f'<table:table-cell office:{value} table:number-columns-repeated="400"/>'
    with pytest.raises(UnreadableFile, match="cells and up to 10,000"):
        read_table(opendocument(f'<table:table-row table:number-rows-repeated="400">{cell}</table:table-row>'))
