"""How many pixels a picture says that it has, read from its first bytes alone: nothing is decoded.

Source: PNG (ISO/IEC 15948), 11.2.2 IHDR; JPEG (ITU-T T.81), B.2.2 frame header.
"""

from __future__ import annotations

_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_JPEG = b"\xff\xd8\xff"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that begin a frame; the three others define tables."""


def pixels(picture: bytes) -> int:
    """Width times height of a PNG, or of the largest frame of a JPEG; 0 for anything else, and where none is stated."""
    if picture.startswith(_PNG):
        return int.from_bytes(picture[16:20]) * int.from_bytes(picture[20:24])
    return _largest_frame(picture) if picture.startswith(_JPEG) else 0


def _largest_frame(picture: bytes) -> int:
    """Every place that could begin a frame counts, so that no reader finds a larger one than was looked at."""
    largest, place = 0, 0
    while (place := picture.find(b"\xff", place)) >= 0:
        head = picture[place : place + 9]
        if len(head) == 9 and head[1] in _FRAMES and head[4] in (8, 12, 16):
            largest = max(largest, int.from_bytes(head[5:7]) * int.from_bytes(head[7:9]))
        place += 1
    return largest
