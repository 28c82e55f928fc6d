"""A workbook whose archive says one thing in two ways is refused: bounds and cells could come from different parts."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable

import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.reading import workbook
from tests.datasets.cases.kinds import opendocument, people_sheet, sheet, sheet_xml
from tests.datasets.test_workbook_bombs import with_part

BOOK = sheet(people_sheet)()
SHEET = b"xl/worksheets/sheet1.xml"


def entry(data: bytes, name: bytes) -> tuple[int, int]:
    """Where a part's head and its line in the list begin."""
    return data.index(name) - 30, data.rindex(name) - 46


def patched(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def in_head(offset: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: patched(data, entry(data, SHEET)[0] + offset, new)


def in_list(offset: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: patched(data, entry(data, SHEET)[1] + offset, new)


def end(offset: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: patched(data, data.rindex(b"PK\5\6") + offset, new)


def repacked(data: bytes, change: Callable[[zipfile.ZipInfo], None], more: dict[str, bytes] | None = None) -> bytes:
    """Written anew with each part's entry changed, so that head and list say the same."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name)
            change(info)
            new.writestr(info, old.read(name))
        for name, content in (more or {}).items():
            new.writestr(name, content)
    return made.getvalue()


OTHER = SHEET.replace(b"sheet1", b"other1")
TWO_SHEETS = b"".join(b'<row r="%d"><c r="A%d"><v>%d</v></c></row>' % (row, row, row) for row in range(1, 30))


def other_names(info: zipfile.ZipInfo) -> None:
    """A second name in an extra field, which the library goes by and Python does not: two sheets trade places."""
    name = info.filename.encode()
    if name in (SHEET, OTHER):
        body = struct.pack("<BI", 1, zipfile.crc32(name)) + (OTHER if name == SHEET else SHEET)
        info.extra = struct.pack("<HH", 0x7075, len(body)) + body


def traded(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(sheet_xml(TWO_SHEETS))) as larger:
        both = with_part(data, OTHER.decode(), lambda _: larger.read(SHEET.decode()))
    return repacked(both, other_names)


def two_lists(data: bytes) -> bytes:
    """A whole archive behind another: each reader is free to take one of the two lists."""
    other = repacked(data, lambda info: None)
    return data[: data.rindex(b"PK\5\6") + 20] + struct.pack("<H", len(other)) + other


def moved(data: bytes) -> bytes:
    """Something between the last part and the list, which says that it begins there."""
    start = struct.unpack_from("<I", data, data.rindex(b"PK\5\6") + 16)[0]
    return data[:start] + b"PK\3\4 and more " + data[start:]


DISAGREE = {
    "another name in the head": in_head(30, SHEET.replace(b"sheet1", b"sheet2")),
    "a name but for the case": in_head(30, SHEET.upper()),
    "another way of packing in the head": in_head(8, b"\0\0"),
    "a lock in the head": in_head(6, b"\1\0"),
    "another check in the head": in_head(14, b"\1\2\3\4"),
    "another size in the head": in_head(18, struct.pack("<I", 7)),
    "a size of 64 bits in the head alone": in_head(22, b"\xff" * 4),
    "no head where the list says": in_list(42, struct.pack("<I", 5)),
    "a head behind the end": in_list(42, struct.pack("<I", 1 << 30)),
    "an end in a name": in_list(46, SHEET.replace(b".xml", b"\0xml")),
    "other names in extra fields": traded,
    "two parts of one name": lambda data: repacked(data, lambda info: None, {SHEET.decode().upper(): b"<x/>"}),
    "two lists": two_lists,
    "something before the list": moved,
    "something behind the end": lambda data: data + b"more",
    "fewer parts than listed": end(8, struct.pack("<HH", 3, 3)),
    "parts on another disk": end(4, struct.pack("<HH", 0, 1)),
}


@pytest.mark.parametrize("way", DISAGREE)
def test_an_archive_that_says_one_thing_in_two_ways_is_refused(way: str) -> None:
    made = DISAGREE[way](BOOK)
    assert made != BOOK
    with pytest.raises(UnreadableFile) as caught:
        read_table(made)
    assert str(caught.value).startswith(("The workbook cannot be opened: it is damaged", "The archive "))


def spreadsheet(part: str, change: Callable[[bytearray, int, int], None]) -> bytes:
    """An OpenDocument sheet with one part changed, given where its head and its line in the list begin."""
    made = bytearray(opendocument(""))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        head = archive.getinfo(part).header_offset
    change(made, head, made.rindex(part.encode()) - 46)
    return bytes(made)


def newer(made: bytearray, head: int, line: int) -> None:
    made[line + 6] = 99


def otherwise(made: bytearray, head: int, line: int) -> None:
    made[head + 8] = made[line + 10] = 97


def locked(made: bytearray, head: int, line: int) -> None:
    made[head + 6] |= 1
    made[line + 8] |= 1


def damaged(made: bytearray, head: int, line: int) -> None:
    size = sum(struct.unpack_from("<HH", made, head + 26))
    made[head + 30 + size] ^= 0xFF


def astray(made: bytearray, head: int, line: int) -> None:
    struct.pack_into("<I", made, line + 42, 7)


@pytest.mark.parametrize("part", ["mimetype", "META-INF/manifest.xml", "content.xml"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (newer, "packed in a way"),
        (otherwise, "packed in a way"),
        (locked, "locked with a password"),
        (damaged, "This workbook breaks off or is damaged|it is damaged"),
        (astray, "packed in a way|damaged"),
    ],
)
def test_what_is_wrong_with_a_part_of_a_spreadsheet_is_said(
    part: str, change: Callable[[bytearray, int, int], None], said: str
) -> None:
    with pytest.raises(UnreadableFile, match=said):
        read_table(spreadsheet(part, change))


def sized(info: zipfile.ZipInfo) -> None:
    """As a field beside the name says things that nobody here asks for."""
    info.extra = struct.pack("<HHIB", 0x5455, 5, 0, 0)


def streamed(data: bytes) -> bytes:
    """As programs write that do not know a part's size before it: it stands behind the part."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.written = b""

        def writable(self) -> bool:
            return True

        def write(self, piece: bytes) -> int:  # type: ignore[override]
            self.written += bytes(piece)
            return len(piece)

    pipe = Pipe()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as part:
                part.write(old.read(name))
    return pipe.written


def large(data: bytes) -> bytes:
    """With the longer end that some programs always write."""
    at = data.rindex(b"PK\5\6")
    _, _, _, _, count, size, start, _ = struct.unpack_from("<4sHHHHIIH", data, at)
    longer = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    longer += struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)
    return data[:at] + longer + patched(data, at + 16, b"\xff" * 4)[at:]


@pytest.mark.parametrize("make", [streamed, large, lambda data: repacked(data, sized)])
def test_other_ways_to_write_the_same_are_read(make: Callable[[bytes], bytes]) -> None:
    assert read_table(make(BOOK)).rows == 3


def test_a_longer_end_that_says_another_thing_is_refused() -> None:
    made = large(BOOK)
    for offset, new in ((24, b"\7"), (40, b"\7"), (48, b"\7"), (4, b"\7"), (0, b"X")):
        with pytest.raises(UnreadableFile):
            read_table(patched(made, made.rindex(b"PK\6\6") + offset, new))


def test_other_documents_are_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """And before the library sees them."""
    made = opendocument("<table:table-row><table:table-cell/></table:table-row>")
    monkeypatch.setattr(workbook, "follow", lambda *_: pytest.fail("looked into"))
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(patched(made, made.index(b"content.xml"), b"CONTENT.xml"))
