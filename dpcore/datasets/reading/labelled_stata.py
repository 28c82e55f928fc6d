"""The cells of a Stata file of version 13 or later, as its bytes hold them.

ReadStat reads words of these files by the longest of their column and by all that stand apart: one that is no text to
it, or is too long for its buffer, ends the reading. Here each cell is found by its place, and no other matters.
Layout after https://www.stata.com/help.cgi?dta.
"""

from __future__ import annotations

import struct
from array import array
from typing import Any

import numpy as np

from dpcore.datasets.reading.bounds import check_text
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

_APART, _LONGEST = 32768, 2045
_OF_A_LETTER = 4  # bytes of one at most: how many letters there are is known once they are read
_NUMBERS = {
    65526: ("f8", "i8", 0x7FDFFFFFFFFFFFFF),
    65527: ("f4", "i4", 0x7EFFFFFF),
    65528: ("i4", "i4", 2147483620),
    65529: ("i2", "i2", 32740),
    65530: ("i1", "i1", 100),
}
"""How a number of each kind is written, and its largest as a whole number of the same bytes; larger are missing."""
_DAMAGED = "This Stata file is damaged; save it again or as CSV."
_HIGH = {117: 32, 118: 16, 119: 24}  # bits of the number of a column where a row points to a word


def stands_apart(data: bytes) -> bool:
    """Whether this is a Stata file of version 13 or later, which has a section for words apart from its rows."""
    return data.startswith(b"<stata_dta>")


def version(data: bytes) -> int:
    """The number of such a file's form, from 117 on. Raises UnreadableFile where none stands there."""
    found = data[28:31]
    if not found.isdigit():
        raise UnreadableFile(_DAMAGED)
    return int(found)


class StataCells:
    """All cells of a file of so many rows and columns: numbers as such or None, words as bytes up to their first zero.

    Raises UnreadableFile for a damaged file, and for a word too long for a cell.
    """

    def __init__(self, data: bytes, rows: int, columns: int) -> None:
        self._data, self._rows = memoryview(data), rows
        self._version, self._order = version(data), ">" if data[52:55] == b"MSF" else "<"
        try:
            kinds, begin, apart = self._layout(data, columns)
            self._kinds = kinds
            written = [self._written(kind) for kind in kinds]
            places = np.cumsum([0, *(np.dtype(one).itemsize for one in written)]).tolist()
            self._cells = [
                np.ndarray(rows, one, data, begin + place, (places[-1],))
                for one, place in zip(written, places[:-1], strict=True)
            ]
            found = self._words(data, apart) if _APART in kinds else ((), (), ())
            keys, self._starts, self._lengths = (np.array(part, dtype=np.uint64) for part in found)
        except (struct.error, ValueError, IndexError, TypeError, KeyError, OverflowError):
            raise UnreadableFile(_DAMAGED) from None
        self._sort = np.argsort(keys, kind="stable")
        self._keys = keys[self._sort]
        check_text(0, int(self._lengths.max(initial=0)) // _OF_A_LETTER)

    def apart(self) -> IntArray:
        """Of each row the bytes of its words that stand apart, where any number of rows can point to one."""
        found = np.zeros(self._rows, dtype=np.int64)
        for kind, cells in zip(self._kinds, self._cells, strict=True):
            if kind == _APART:
                known, spots = self._found(cells)
                found[known] += self._lengths[spots].astype(np.int64)
        return found

    def read(self, offset: int, limit: int) -> list[list[Any]]:
        """The cells of each column in at most so many rows from there on."""
        return [
            self._column(kind, cells[offset : offset + limit])
            for kind, cells in zip(self._kinds, self._cells, strict=True)
        ]

    def _column(self, kind: int, cells: Any) -> list[Any]:
        if kind == _APART:
            words = [b""] * cells.size
            known, spots = self._found(cells)
            for row, start, length in zip(known, self._starts[spots], self._lengths[spots], strict=True):
                words[row] = bytes(self._data[int(start) : int(start + length)]).partition(b"\0")[0]
            return words
        if kind not in _NUMBERS:
            return [cell.partition(b"\0")[0] for cell in cells.tolist()]
        _, whole, most = _NUMBERS[kind]
        missing = np.ascontiguousarray(cells).view(f"{self._order}{whole}") > most
        return [None if gone else cell for cell, gone in zip(cells.tolist(), missing.tolist(), strict=True)]

    def _found(self, cells: Any) -> tuple[IntArray, IntArray]:
        """Which of these cells point to a word there is, and to which."""
        keys = cells.astype(np.uint64)
        spots = np.minimum(np.searchsorted(self._keys, keys), max(self._keys.size - 1, 0))
        known = np.flatnonzero(self._keys[spots] == keys) if self._keys.size else np.zeros(0, dtype=np.int64)
        return known, self._sort[spots[known]]

    def _written(self, kind: int) -> str:
        if kind == _APART:
            return f"{self._order}u8"
        if kind in _NUMBERS:
            return f"{self._order}{_NUMBERS[kind][0]}"
        if not 1 <= kind <= _LONGEST:
            raise ValueError(kind)
        return f"S{kind}"

    def _layout(self, data: bytes, columns: int) -> tuple[tuple[int, ...], int, int]:
        """The kinds of the columns, and where the rows and the words apart from them begin."""
        at = data.index(b"<label>") + len(b"<label>")
        at += 1 + data[at] if self._version == 117 else 2 + struct.unpack_from(f"{self._order}H", data, at)[0]
        at += len(b"</label><timestamp>")
        at += 1 + data[at] + len(b"</timestamp></header><map>")
        sections = struct.unpack_from(f"{self._order}14Q", data, at)
        kinds = struct.unpack_from(f"{self._order}{columns}H", data, at + 14 * 8 + len(b"</map><variable_types>"))
        return kinds, sections[9] + len(b"<data>"), sections[10]

    def _words(self, data: bytes, at: int) -> tuple[array[int], array[int], array[int]]:
        """What a row points to each word by, where it begins and how many bytes it has, one after the other.

        Each begins with GSO, the numbers of its column and its row, its type and its length.
        """
        if not data.startswith(b"<strls>", at):
            raise ValueError(at)
        at += len(b"<strls>")
        head = struct.Struct(f"{self._order}3sI{'I' if self._version == 117 else 'Q'}BI")
        high = _HIGH[self._version]
        keys, starts, lengths = array("Q"), array("Q"), array("Q")
        while not data.startswith(b"</strls>", at):
            tag, column, row, _, length = head.unpack_from(data, at)
            at += head.size
            if tag != b"GSO" or at + length > len(data):
                raise ValueError(at)
            keys.append(column | row << high if self._order == "<" else column << 64 - high | row)
            starts.append(at)
            lengths.append(length)
            at += length
        return keys, starts, lengths
