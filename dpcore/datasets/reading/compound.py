"""The old container of office programs: the one stream that holds a workbook, taken out and put into a plain container.

A container of a few bytes can name a stream that goes round without end, or sectors far behind its last byte; the
library that reads old workbooks follows both. Layout after [MS-CFB], Compound File Binary File Format.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from dpcore.datasets.reading.markup import DAMAGED
from dpcore.errors import UnreadableFile

_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_LAST_SECTOR = 0xFFFFFFF9
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SMALL = 4096  # shorter streams stand in the small sectors
_SECTOR = 4096
_NAMES, _LOCKED = ("Workbook", "Book"), "EncryptedPackage"
_NO_ARCHIVE = b"PK\5\6" + bytes(18)
"""The end of an archive without any part."""


class Locked(Exception):
    """The workbook is encrypted."""


def workbook_stream(data: bytes) -> bytes:
    """The stream of the workbook, found by the names that the container lists alone: any of them can stand in a cell,
    too. Raises UnreadableFile for a container that is damaged or holds none, and Locked."""
    try:
        return _stream(data)
    except (struct.error, IndexError):
        raise UnreadableFile(DAMAGED) from None


def _stream(data: bytes) -> bytes:
    shift = struct.unpack_from("<H", data, 30)[0]
    if shift not in (9, 12) or struct.unpack_from("<H", data, 32)[0] != 6:
        raise UnreadableFile(DAMAGED)
    size = 1 << shift
    first_entry, small_first, more = (struct.unpack_from("<I", data, at)[0] for at in (48, 60, 68))
    fat_sectors = [each for each in struct.unpack_from("<109I", data, 76) if each <= _LAST_SECTOR]
    seen = set[int]()
    while more <= _LAST_SECTOR:
        if more in seen:
            raise UnreadableFile(DAMAGED)
        seen.add(more)
        *listed, more = struct.unpack(f"<{size // 4}I", _sector(data, more, size))
        fat_sectors += [each for each in listed if each <= _LAST_SECTOR]
        if len(fat_sectors) * size > len(data):
            raise UnreadableFile(DAMAGED)
    fat = _numbers(b"".join(_sector(data, each, size) for each in fat_sectors))
    entries = _chain(data, first_entry, fat, size, size)
    found: dict[str, tuple[int, int]] = {}
    for at in range(0, len(entries) - 127, 128):
        name = entries[at : at + 64].decode("utf-16-le", "replace").partition("\0")[0]
        found.setdefault(name, struct.unpack_from("<II", entries, at + 116))
    place = next((found[name] for name in _NAMES if name in found), None)
    if place is None and _LOCKED in found:
        raise Locked
    if place is None:
        raise UnreadableFile("This is an old Office document without a sheet; save the table as CSV.")
    start, length = place
    if length >= _SMALL:
        return _chain(data, start, fat, size, size)[:length]
    root = _chain(data, struct.unpack_from("<I", entries, 116)[0], fat, size, size)
    small = _numbers(_chain(data, small_first, fat, size, size))
    return _chain(root, start, small, 64, 0)[:length]


def _sector(data: bytes, number: int, size: int) -> bytes:
    part = data[(number + 1) * size : (number + 2) * size]
    return part.ljust(size, b"\0") if part else part


def _numbers(data: bytes) -> npt.NDArray[np.uint32]:
    return np.frombuffer(data, dtype="<u4", count=len(data) // 4)


def _chain(data: bytes, number: int, following: npt.NDArray[np.uint32], size: int, before: int) -> bytes:
    """The sectors from one on. Raises UnreadableFile for a chain that comes back to itself or leaves the file."""
    parts: list[bytes] = []
    while number != _END:
        part = data[number * size + before : (number + 1) * size + before]
        if not part or len(parts) * size > len(data):
            raise UnreadableFile(DAMAGED)
        parts.append(part)
        number = int(following[number])
    return b"".join(parts)


def container_of(stream: bytes | bytearray) -> bytes:
    """A plain container of one stream, "Workbook", with sectors of 4,096 bytes.

    It ends as an empty archive does: where the library cannot open the workbook it looks for the end of an archive, and
    would find one that is kept in the stream, as themes are, or whatever a cell's bytes look like.
    """
    count = -(-max(len(stream), _SMALL) // _SECTOR)
    tables = -(-(count + 2) // (_SECTOR // 4 - 1))
    if tables > 109:
        raise UnreadableFile(DAMAGED)
    links = [_FAT] * tables + [_END, *range(tables + 2, tables + 1 + count), _END]
    links += [_FREE] * (tables * _SECTOR // 4 - len(links))
    header = _MAGIC + bytes(16) + struct.pack("<HHHHH", 0x3E, 4, 0xFFFE, 12, 6) + bytes(6)
    header += struct.pack("<9I", 1, tables, tables, 0, _SMALL, _END, 0, _END, 0)
    header += struct.pack("<109I", *range(tables), *[_FREE] * (109 - tables))
    root = _entry("Root Entry", 5, 1, 0, 0)  # the library asks for a place of small sectors, though there are none
    entries = root + _entry("Workbook", 2, _FREE, tables + 1, max(len(stream), _SMALL))
    return b"".join(
        [
            header.ljust(_SECTOR, b"\0"),
            struct.pack(f"<{len(links)}I", *links),
            entries.ljust(_SECTOR, b"\0"),
            stream.ljust(count * _SECTOR, b"\0"),
            _NO_ARCHIVE.rjust(_SECTOR, b"\0"),
        ]
    )


def _entry(name: str, kind: int, child: int, start: int, length: int) -> bytes:
    letters = f"{name}\0".encode("utf-16-le")
    links = struct.pack("<HBBIII", len(letters), kind, 1, _FREE, _FREE, child)
    return letters.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, length)
