"""Is a line that is not ASCII alone UTF-8, in a file that is not? Told in whole arrays, however short the lines are.

Which bytes may follow which is Table 3-7 of the Unicode Standard (well-formed UTF-8 byte sequences).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from dpcore.validate import BoolArray

_PIECE = 1 << 20
_END = re.compile(rb"[\r\n]")
# What follows some first bytes lies in a narrower range than 80 to BF: else it would be too long, no letter, too large.
_NARROWER = ((0xE0, 0xA0, 0xBF), (0xED, 0x80, 0x9F), (0xF0, 0x90, 0xBF), (0xF4, 0x80, 0x8F))


def has_utf8_line(data: bytes) -> bool:
    """Whether some line holds bytes beyond ASCII and all of it is UTF-8. A line ends with either sign or both."""
    return any(_in(np.frombuffer(data, dtype=np.uint8)[start:end]) for start, end in _pieces(data))


def _pieces(data: bytes) -> Iterator[tuple[int, int]]:
    """Parts of about one size that end with a line."""
    start = 0
    while start < len(data):
        found = _END.search(data, start + _PIECE)
        end = len(data) if found is None else found.end()
        yield start, end
        start = end


def _in(signs: np.ndarray) -> bool:
    follows = (signs & 0xC0) == 0x80
    begins = (signs >= 0xC2) & (signs <= 0xF4)
    if not (begins[:-1] & follows[1:]).any():
        return False
    if signs[-1] not in (10, 13):
        signs, follows = np.append(signs, np.uint8(10)), np.append(follows, False)
    wrong = _wrong(signs, follows)
    ends = (signs == 10) | (signs == 13)
    line = np.cumsum(ends) - ends
    lines = int(line[-1]) + 1
    beyond, broken = np.zeros(lines, dtype=bool), np.zeros(lines, dtype=bool)
    beyond[line[signs >= 0x80]] = True
    broken[line[wrong]] = True
    return bool((beyond & ~broken).any())


def _wrong(signs: np.ndarray, follows: BoolArray) -> BoolArray:
    """Where a byte is none of UTF-8, or stands where another kind is due.

    An end of a line where another byte was due is wrong, and belongs to the line it ends.
    """
    due, unbroken = np.zeros(signs.size, dtype=bool), np.ones(signs.size, dtype=bool)
    for distance, least in ((1, 0xC2), (2, 0xE0), (3, 0xF0)):
        begins = (signs[:-distance] >= least) & (signs[:-distance] <= 0xF4)
        due[distance:] |= begins & unbroken[distance:]
        unbroken[distance:] &= follows[:-distance]  # the bytes between the first and this one
    wrong = (due != follows) | (signs == 0xC0) | (signs == 0xC1) | (signs > 0xF4)
    for first, low, high in _NARROWER:
        after = np.flatnonzero(signs[:-1] == first) + 1
        wrong[after] |= (signs[after] < low) | (signs[after] > high)
    return np.asarray(wrong, dtype=bool)
