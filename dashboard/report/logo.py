"""The picture of a report's title page, by its bytes alone: how many pixels it says that it has, and without all else
that its file holds. Nothing is decoded here.

Source: PNG (ISO/IEC 15948), 5.3 and 11.2; JPEG (ITU-T T.81), B.1 and B.2.
"""

from __future__ import annotations

_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_SIGNATURE = 8
_CHUNKS = frozenset((b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"))
_JPEG = b"\xff\xd8\xff"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that begin a frame; the three others define tables."""
_SCAN, _END, _RESTARTS = 0xDA, 0xD9, frozenset(range(0xD0, 0xD8))
_SEGMENTS = _FRAMES | {0xC4, 0xCC, 0xDB, 0xDD, _SCAN, 0xEE}
"""Frames, tables, scans, and the word of one program that says how colours are stored (Adobe)."""
_JFIF = bytes.fromhex("ffe000104a46494600010100000100010000")
"""The first segment that all readers know, of version 1.1, with pixels that are square and of no stated size."""


def pixels(picture: bytes) -> int:
    """Width times height of a PNG, or of the largest frame of a JPEG; 0 for anything else, and where none is stated."""
    if picture.startswith(_PNG):
        return int.from_bytes(picture[16:20]) * int.from_bytes(picture[20:24])
    return _largest_frame(picture) if picture.startswith(_JPEG) else 0


def bare(picture: bytes) -> bytes:
    """The picture without profiles, texts and further pictures, which can unfold to a thousand times what they take;
    b"" for what is no whole PNG or JPEG."""
    if picture.startswith(_PNG):
        return _bare_png(picture)
    return _bare_jpeg(picture) if picture.startswith(_JPEG) else b""


def _largest_frame(picture: bytes) -> int:
    """Every place that could begin a frame counts, so that no reader finds a larger one than was looked at."""
    largest, place = 0, 0
    while (place := picture.find(b"\xff", place)) >= 0:
        head = picture[place : place + 9]
        if len(head) == 9 and head[1] in _FRAMES and head[4] in (8, 12, 16):
            largest = max(largest, int.from_bytes(head[5:7]) * int.from_bytes(head[7:9]))
        place += 1
    return largest


def _bare_png(picture: bytes) -> bytes:
    kept, place = [picture[:_SIGNATURE]], _SIGNATURE
    while place < len(picture):
        end = place + 12 + int.from_bytes(picture[place : place + 4])
        name = picture[place + 4 : place + 8]
        if end > len(picture):
            return b""
        if name in _CHUNKS:
            kept.append(picture[place:end])
        if name == b"IEND":
            return b"".join(kept)
        place = end
    return b""


def _bare_jpeg(picture: bytes) -> bytes:
    kept, place = [picture[:2], _JFIF], 2
    while place + 4 <= len(picture) and picture[place] == 0xFF:
        marker = picture[place + 1]
        if marker == 0xFF:  # one of any number that may stand before a marker
            place += 1
            continue
        end = place + 2 + int.from_bytes(picture[place + 2 : place + 4])
        if marker == _SCAN:
            end = _after_scan(picture, end)
        if marker in _SEGMENTS:
            kept.append(picture[place:end])
        place = end
        if picture[place : place + 2] == bytes((0xFF, _END)):
            return b"".join([*kept, picture[place : place + 2]])
    return b""


def _after_scan(picture: bytes, place: int) -> int:
    """Where the marker stands that ends a scan."""
    while (place := picture.find(b"\xff", place)) >= 0:
        following = picture[place + 1 : place + 2]
        if following and following[0] not in (0x00, 0xFF) and following[0] not in _RESTARTS:
            return place
        place += 1
    return len(picture)
