"""Old binary workbooks of a few kilobytes that would unfold to gigabytes are refused before the library is asked."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
import python_calamine

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import bounds, compound, workbook
from tests.datasets.cases.kinds import _OLD_WORKBOOK, people_sheet, sheet

OLD = zlib.decompress(base64.b85decode(_OLD_WORKBOOK))


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def number(row: int, column: int) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, 0, 1.0))


def shared(row: int, index: int = 0) -> bytes:
    return record(0xFD, struct.pack("<HHHI", row, 0, 0, index))


def formula(row: int, column: int) -> bytes:
    return record(0x06, struct.pack("<HHHdHIH", row, column, 0, 1.0, 0, 0, 0))


def numbers(row: int, first: int, last: int) -> bytes:
    cells = struct.pack("<HI", 0, 0) * (last - first + 1)
    return record(0xBD, struct.pack("<HH", row, first) + cells + struct.pack("<H", last))


def begin(kind: int) -> bytes:
    return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 6))


def stream(*sheets: bytes, among: bytes = b"", same: bool = False) -> bytes:
    """A workbook of these sheets, given by their records; ``same`` lets all names stand for the first."""
    parts = [begin(0x10) + each + record(0x0A) for each in sheets]

    def front(starts: list[int]) -> bytes:
        names = (f"S{place:03}".encode() for place in range(len(starts)))
        bound = (
            record(0x85, struct.pack("<IBBBB", at, 0, 0, 4, 0) + name) for at, name in zip(starts, names, strict=False)
        )
        return begin(5) + record(0x42, struct.pack("<H", 1200)) + b"".join(bound) + among + record(0x0A)

    at = len(front([0] * len(parts)))
    starts = [at if same else at + sum(map(len, parts[:place])) for place in range(len(parts))]
    return front(starts) + b"".join(parts)


def strings(*words: str) -> bytes:
    """Shared strings, in a record and those it goes on in."""
    body = b"".join(struct.pack("<HB", len(word), 0) + word.encode() for word in words)
    first = record(0xFC, struct.pack("<ii", len(words), len(words)) + body[:8000])
    return first + b"".join(record(0x3C, b"\0" + body[at : at + 8000]) for at in range(8000, len(body), 8000))


@pytest.fixture
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Guarded:
        @staticmethod
        def from_filelike(file: Any) -> None:
            raise AssertionError("the library was asked")

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", Guarded)


def test_what_the_container_holds_is_read_as_before() -> None:
    table = number(0, 0) + number(0, 1) + number(1, 0) + numbers(1, 1, 1) + formula(2, 0) + number(2, 1)
    made = compound.container_of(stream(table, among=record(0x896, b"PK\x05\x06" * 8)))
    assert read_table(made).frame.shape in ((3, 2), (2, 2))
    long = "".join(chr(97 + place % 26) for place in range(20_000))
    read = read_table(compound.container_of(stream(shared(0, 1) + shared(1) + shared(2, 1), among=strings(long, "b"))))
    assert long in read.frame.iloc[:, 0].tolist()


@pytest.mark.parametrize("size", [5, 5000, 5_000_000])
def test_a_container_gives_back_its_stream(size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    assert compound.workbook_stream(compound.container_of(content)).rstrip(b"\0") == content.rstrip(b"\0")
    assert len(compound.workbook_stream(OLD)) < len(OLD)


_FAR = number(0, 0) + number(65_535, 255)
FAR = {
    "two corners": stream(_FAR),
    "in the second sheet": stream(number(0, 0), _FAR),
    "many names of one sheet": stream(*[number(0, 0) + number(999, 9)] * 30, same=True),
    "words of several kinds": stream(number(0, 0) + record(0xD6, struct.pack("<HHHHB", 65_535, 255, 0, 0, 0))),
    "formulas": stream(formula(0, 0) + formula(65_535, 255)),
    "a row of numbers": stream(numbers(0, 3, 203) + number(65_535, 0)),
    "columns that no sheet has": stream(number(0, 0) + number(0, 65_535) + number(9, 9)),
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.usefixtures("unasked")
def test_the_cells_of_all_sheets_are_summed_first(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 12 kB took 40 GB: every sheet is unfolded when the workbook is opened."""
    monkeypatch.setattr(workbook, "_MOST_CELLS", 200_000)
    with pytest.raises(UnreadableFile, match="cells and up to 200,000"):
        read_table(compound.container_of(FAR[name]))


@pytest.mark.usefixtures("unasked")
def test_a_shared_string_counts_for_every_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_TEXT", 100_000)
    cells = b"".join(shared(row) for row in range(20))
    with pytest.raises(UnreadableFile, match="more text than can be read"):
        read_table(compound.container_of(stream(cells, among=strings("x" * 20_000))))


@pytest.mark.parametrize("kind", [0x204, 0xD6])
@pytest.mark.usefixtures("unasked")
def test_a_word_takes_the_room_that_it_states(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_TEXT", 1_000_000)
    cells = b"".join(record(kind, struct.pack("<HHHHB", row, 0, 0, 65_535, 0)) for row in range(20))
    with pytest.raises(UnreadableFile, match="more text than can be read"):
        read_table(compound.container_of(stream(cells)))


def _round(data: bytes) -> bytes:
    """The container with every sector followed by the first of its stream."""
    made = bytearray(data)
    struct.pack_into("<6I", made, 4096, 0xFFFFFFFD, 0xFFFFFFFE, 2, 2, 2, 2)
    return bytes(made)


def _within(many: int) -> bytes:
    """Sheets that begin one record after the other, in the same cells."""
    cells = b"".join(number(row, 0) for row in range(200))
    made = stream(*[cells, *[b""] * (many - 1)])
    places = [made.index(b"S%03d" % place) - 8 for place in range(many)]
    first = struct.unpack_from("<I", made, places[0])[0]
    found = bytearray(made)
    for place, at in enumerate(places):
        struct.pack_into("<I", found, at, first + len(begin(0x10)) + place * len(number(0, 0)))
    return bytes(found)


_PLAIN = compound.container_of(stream(number(0, 0)))
DAMAGED = {
    "a stream that goes round": _round(_PLAIN),
    "tables that go round": _PLAIN[:68] + bytes(4) + _PLAIN[72:8188] + bytes(4) + _PLAIN[8192:],
    "a sector far behind the end": _PLAIN[:48] + struct.pack("<I", 0xFFFFFF0) + _PLAIN[52:],
    "sectors of another size": _PLAIN[:30] + b"\x20" + _PLAIN[31:],
    "a header alone": _PLAIN[:600] + "Workbook\0".encode("utf-16-le"),
    "a sheet behind the end": compound.container_of(
        stream(number(0, 0)).replace(b"S000", b"S000")[:40].ljust(9000, b"\1")
    ),
    "room for more than a sheet has": compound.container_of(
        stream(record(0x200, struct.pack("<IIHHH", 0, 0xFFFFFFFF, 0, 256, 0)))
    ),
    "more strings than bytes": compound.container_of(
        stream(number(0, 0), among=record(0xFC, struct.pack("<ii", 0, 0x7FFFFFFF)))
    ),
    "a string that breaks off": compound.container_of(
        stream(number(0, 0), among=record(0xFC, struct.pack("<iiHB", 1, 1, 9000, 0)))
    ),
    "sheets that lie one in the other": compound.container_of(_within(40)),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.usefixtures("unasked")
def test_a_container_that_leads_astray_is_refused(name: str) -> None:
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(DAMAGED[name])


def test_an_archive_behind_an_old_workbook_is_not_looked_at() -> None:
    """Where the library cannot open the one it tries the other, whose sheets nobody counted."""
    broken = stream(number(0, 0)).replace(struct.pack("<H", 0x85) + b"\x0c\0", struct.pack("<H", 0x85) + b"\x0c\0", 1)
    broken = broken.replace(b"\0\0\x04\0S000", b"\0\x09\x04\0S000")  # a kind of sheet that there is not
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(compound.container_of(broken) + sheet(people_sheet)())


def test_a_locked_old_workbook_is_named() -> None:
    with pytest.raises(UnreadableFile, match="password"):
        read_table(compound.container_of(stream(number(0, 0), among=record(0x2F, b"\1\0" + bytes(50)))))
