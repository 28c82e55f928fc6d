"""Whether an archive says the same thing twice: in the head before each part, and in the list at its end.

Bounds are looked up by Python's reader, the cells by the library's own. Where the two could take another list, another
part or another name for one, the archive is refused. After APPNOTE.TXT 6.3.10 (PKWARE), sections 4.3 and 4.5.
"""

from __future__ import annotations

import struct
import zipfile

from dpcore.datasets.reading.markup import DAMAGED
from dpcore.errors import UnreadableFile

_END = struct.Struct("<4sHHHHIIH")
_END_64 = struct.Struct("<4sQHHIIQQQQ")
_PLACE_64 = struct.Struct("<4sIQI")
_HEAD = struct.Struct("<4s5H3I2H")
_LOCKED, _SIZES_AFTER, _UTF8 = 1, 8, 0x800
_LARGE, _OTHER_NAME = 0x0001, 0x7075  # what an extra field says: sizes of 64 bits, and a name of its own
_ENTRY = b"PK\1\2"
_MOST_16, _MOST_32 = 0xFFFF, 0xFFFFFFFF


def most_parts(data: bytes) -> int:
    """At least as many parts as Python's reader would look up, by the marks in the list at the end: a cell can hold any
    number of them. Where that does not say plainly how long it is, by all marks that there are."""
    at = data.rfind(b"PK\5\6")
    end, large = data[at : at + _END.size], data[max(at - _PLACE_64.size, 0) : at].startswith(b"PK\6\7")
    if at < 0 or len(end) < _END.size or large:
        return data.count(_ENTRY)
    *_, size, _, comment = _END.unpack(end)
    return data.count(_ENTRY, max(at - size, 0) if at + _END.size + comment == len(data) else 0)


def check_heads(data: bytes, archive: zipfile.ZipFile) -> None:
    """Raises UnreadableFile for an archive with two lists, or one whose parts are not as its list says."""
    try:
        agree = _one_list(data, len(archive.filelist)) and _heads_agree(data, archive)
    except (struct.error, UnicodeError):
        agree = False
    if not agree:
        raise UnreadableFile(DAMAGED)


def _one_list(data: bytes, parts: int) -> bool:
    """Whether the list ends where the archive does and begins where its end says, with nothing before the archive."""
    at = data.rfind(b"PK\5\6")
    _, disk, first, here, count, size, start, comment = _END.unpack_from(data, at)
    behind = at
    if data[at - _PLACE_64.size :].startswith(
        b"PK\6\7"
    ):  # what more than 65,535 parts or 4 GB need, and some always write
        _, _, place, _ = _PLACE_64.unpack_from(data, at - _PLACE_64.size)
        mark, rest, _, _, _, _, here_64, count_64, size_64, start_64 = _END_64.unpack_from(data, place)
        if mark != b"PK\6\6" or place + 12 + rest != at - _PLACE_64.size or here_64 != count_64:
            return False
        for short, long, most in ((count, count_64, _MOST_16), (size, size_64, _MOST_32), (start, start_64, _MOST_32)):
            if short not in (long, most):
                return False
        here, count, size, start, behind = count_64, count_64, size_64, start_64, place
    whole = at >= 0 and at + _END.size + comment == len(data)
    return whole and disk == first == 0 and here == count == parts and start + size == behind


def _heads_agree(data: bytes, archive: zipfile.ZipFile) -> bool:
    names = {info.filename.replace("\\", "/").lower() for info in archive.filelist}
    return len(names) == len(archive.filelist) and all(_head_agrees(data, info) for info in archive.filelist)


def _head_agrees(data: bytes, info: zipfile.ZipInfo) -> bool:
    mark, _, flags, method, _, _, check, packed, size, named, more = _HEAD.unpack_from(data, info.header_offset)
    at = info.header_offset + _HEAD.size
    name, extra = data[at : at + named], data[at + named : at + named + more]
    listed = info.orig_filename
    if (
        mark != b"PK\3\4"
        or info.filename != listed
        or (flags ^ info.flag_bits) & _LOCKED
        or method != info.compress_type
    ):
        return False
    if name.decode("utf-8" if flags & _UTF8 else "cp437") != listed:
        return False
    inside, outside = _fields(extra), _fields(info.extra)
    if _OTHER_NAME in inside or _OTHER_NAME in outside:
        return False
    if flags & _SIZES_AFTER:
        return True
    if _MOST_32 in (packed, size):
        size, packed = struct.unpack_from("<QQ", inside.get(_LARGE, b""))
    return (check, packed, size) == (info.CRC, info.compress_size, info.file_size)


def _fields(extra: bytes) -> dict[int, bytes]:
    """The fields of an extra part by their numbers. What is too short for a field at its end is padding."""
    found: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(extra):
        number, length = struct.unpack_from("<HH", extra, at)
        found[number] = extra[at + 4 : at + 4 + length]
        at += 4 + length
    return found
