"""What tells a file's kind, its parts and its end can stand in a cell as well, as a text or as the bytes of a number: a
file with such a cell is read as with any other there."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from dpcore.audit.sheets import workbook as excel
from dpcore.datasets import Reading, UnreadableFile, read_table
from dpcore.datasets.reading import compound, packing, workbook
from tests.datasets.cases.kinds import people_sheet, sheet
from tests.datasets.test_old_workbook_bombs import number, record, stream
from tests.datasets.test_old_workbook_formulas import FIRST, label

NAMES = ("EncryptedPackage", "Workbook\0", "Book\0", "WordDocument", "Root Entry", "vbaProject.bin", "xl/workbook.xml")
SIGNS = ("PK\1\2", "PK\3\4", "PK\5\6", "PK\6\6", "PK\6\7", "PAR1", "ARROW1", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
ROWS, PLACE = 7, 4
Make = Callable[[str], bytes]


def old(cell: Callable[[int], bytes]) -> bytes:
    rows = [FIRST, *(label(row, 0, f"r{row}") + label(row, 1, "x") + number(row, 2) for row in range(1, ROWS + 1))]
    rows[PLACE] = label(PLACE, 0, f"r{PLACE}") + cell(PLACE)
    return compound.container_of(stream(b"".join(rows)))


def as_text(mark: str) -> bytes:
    """With one byte a letter."""
    return old(lambda row: label(row, 1, "") + number(row, 2)).replace(
        label(PLACE, 1, ""), record(0x204, struct.pack("<HHHHB", PLACE, 1, 0, len(mark), 0) + mark.encode("latin-1"))
    )


def as_wide_text(mark: str) -> bytes:
    """With two bytes a letter, as where any word of the cell is Cyrillic."""
    letters = f"лог: {mark}".encode("utf-16-le")
    head = struct.pack("<HHHHB", PLACE, 1, 0, len(letters) // 2, 1)
    return old(lambda row: record(0x204, head + letters) + number(row, 2))


def as_number(mark: str) -> bytes:
    held = mark.encode("latin-1")[:8].ljust(8, b"\x40")
    return old(lambda row: label(row, 1, "x") + record(0x203, struct.pack("<HHH", row, 2, 0) + held))


def in_a_sheet(mark: str) -> bytes:
    """Of a newer workbook, whose parts are not packed."""
    printed = "".join(filter(str.isprintable, mark))
    cells = [[f"r{row}", printed if row == PLACE else "x", "1"] for row in range(1, ROWS + 1)]
    return excel([["ward", "note", "age"], *cells])


def in_an_archive(mark: str) -> bytes:
    """Of a text in an archive that does not pack it: once, or as often as no archive has parts."""
    made = io.BytesIO()
    cell = mark * (10_001 if len(mark) < 5 else 1)
    lines = [f"r{row},{cell if row == PLACE else 'x'},1\n" for row in range(1, ROWS + 1)]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("table.csv", "".join(["ward,note,age\n", *lines]).replace("\0", "").encode())
    return made.getvalue()


WAYS: dict[str, Make] = {made.__name__: made for made in (as_text, as_wide_text, as_number, in_a_sheet, in_an_archive)}


def read(data: bytes) -> Reading:
    return read_table(data, header_rows=1, header_line=1, keep_footer=True, breaks="between")


def others(data: bytes) -> tuple[Any, ...]:
    """All that a file says but of the one row."""
    found = read(data)
    cells = found.frame.to_numpy().tolist()
    said = [notice.sentence for notice in found.report.notices]
    return list(found.frame.columns), found.records, cells[: PLACE - 1] + cells[PLACE:], cells[PLACE - 1][0], said


@pytest.mark.parametrize("way", WAYS)
def test_a_cell_that_looks_like_a_part_of_a_file_moves_itself_alone(way: str) -> None:
    usual = others(WAYS[way]("plain"))
    assert len(usual[2]) == ROWS - 1
    for mark in (*NAMES, *SIGNS):
        assert others(WAYS[way](mark)) == usual, mark


def refusing(sign: bytes) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A reader that looks for a sign anywhere in a file."""

    def made(reader: Callable[..., Any]) -> Callable[..., Any]:
        def look(data: bytes, *more: Any) -> Any:
            if sign in data:
                raise UnreadableFile("The file is not what it is.")
            return reader(data, *more)

        return look

    return made


@pytest.mark.parametrize(
    ("way", "sign"),
    [("as_text", b"PK\5\6"), ("as_wide_text", "EncryptedPackage".encode("utf-16-le")), ("as_number", b"PK\5\6")],
)
def test_these_tests_can_fail(way: str, sign: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compound, "_NO_ARCHIVE", b"")
    monkeypatch.setattr(workbook, "workbook_stream", refusing(sign)(compound.workbook_stream))
    with pytest.raises(UnreadableFile):
        test_a_cell_that_looks_like_a_part_of_a_file_moves_itself_alone(way)


def test_macros_and_parts_looked_for_anywhere_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_holds_macros", lambda data: b"vbaProject.bin" in data)
    with pytest.raises(AssertionError):
        test_a_cell_that_looks_like_a_part_of_a_file_moves_itself_alone("in_a_sheet")
    monkeypatch.setattr(packing, "most_parts", lambda data: data.count(b"PK\1\2"))
    with pytest.raises(UnreadableFile, match="far more files"):
        test_a_cell_that_looks_like_a_part_of_a_file_moves_itself_alone("in_an_archive")


_SHEET_OF_NO_KIND = (b"\0\0\x04\0S000", b"\0\x09\x04\0S000")
"""As a workbook names its first sheet, and with a kind of sheet that there is not."""


def inside() -> list[bytes]:
    """Workbooks that the library cannot open, with another kept in a record of theirs, or in a cell."""
    whole = sheet(people_sheet)()
    streams = [stream(number(0, 0), among=record(0x896, whole)), stream(record(0x204, whole))]
    return [compound.container_of(one.replace(*_SHEET_OF_NO_KIND)) for one in streams]


def test_an_archive_within_an_old_workbook_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the library cannot open the one it tries the other, whose sheets nobody counted."""
    monkeypatch.setattr(workbook, "_old_workbook", lambda data, say: data)
    for made in inside():
        with pytest.raises(UnreadableFile, match="damaged"):
            read_table(made)
    monkeypatch.setattr(compound, "_NO_ARCHIVE", b"")
    for made in inside():
        assert "Ann" in read_table(made).frame.to_numpy()


@pytest.mark.parametrize("sectors", [1, 2, 1020, 1021, 1022, 1023, 1024, 2045, 2046, 2047])
def test_a_container_of_any_size_is_opened(sectors: int) -> None:
    rows = number(0, 0) + number(1, 1)
    made = stream(rows, among=b"".join(record(0x896, bytes(8000)) for _ in range(sectors * 4096 // 8004)))
    assert read_table(compound.container_of(made.ljust(sectors * 4096, b"\0"))).frame.shape[1] == 2
