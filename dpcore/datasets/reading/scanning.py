"""The survey of a file in whole arrays: where its records begin and end, told from quotes, delimiters and line ends.

It knows the plain case only: every quotation mark stands at the border of its cell or doubled inside it. For anything
else it gives up, and Python's csv module, which this must agree with, looks at the file record by record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.datasets.reading.bounds import LONGEST_CELL
from dpcore.datasets.reading.dialect import Dialect
from dpcore.validate import IntArray

_PART = 16 << 20
_NEWLINE = 10
Say = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """Cells per record and lines before each, shape (records,), blank lines left out; the outermost records' text."""

    counts: IntArray
    lines: IntArray
    blank: IntArray
    head: bytes
    tail: bytes


def scan(data: bytes, dialect: Dialect, outer: tuple[int, int], say: Say) -> Scan | None:
    """None where the file is not plain. ``outer`` is how many records are wanted from its two ends."""
    if dialect.escape == "\\" or not data:
        return None
    quote = dialect.quote.encode()
    return _Scanner(data, dialect, quote if quote and quote in data else b"", outer).run(say)


class _Scanner:
    def __init__(self, data: bytes, dialect: Dialect, quote: bytes, outer: tuple[int, int]) -> None:
        self._data = data
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        self._separator = ord(dialect.separator)
        self._quote = quote[0] if quote else None
        self._outer = outer
        self._within = 0  # 1 while a quotation mark is open
        self._cells = self._line = self._begin = 0  # of the record under way: delimiters, line, place
        self._breaks = 0  # line ends before the part that is looked at
        self._counts: list[IntArray] = []
        self._lines: list[IntArray] = []
        self._blank: list[IntArray] = []
        self._first: list[int] = []  # where the first records end
        self._last: list[int] = []  # where the last records begin

    def run(self, say: Say) -> Scan | None:
        size = len(self._data)
        for start in range(0, size, _PART):
            if not self._part(start, min(start + _PART, size)):
                return None
            say(start / size)
        if self._within:
            return None
        if self._begin < size:  # a last line without a line end
            self._close(np.array([size]), np.array([self._cells]), np.array([self._line]))
            if size - self._begin > LONGEST_CELL:
                return None
        counts = np.concatenate(self._counts) if self._counts else np.zeros(0, dtype=np.int64)
        if not counts.size:
            return None
        return Scan(
            counts=counts.astype(np.int64),
            lines=np.concatenate(self._lines),
            blank=np.concatenate(self._blank),
            head=self._data[: self._first[-1]],
            tail=self._data[self._last[0] :],
        )

    def _part(self, start: int, end: int) -> bool:
        """Look at one part of the file; False where it is not plain."""
        part = self._bytes[start:end]
        breaks = np.flatnonzero(part == _NEWLINE)
        marks = np.flatnonzero(part == self._separator)
        ends, outside = breaks, marks
        if self._quote is not None:
            quoted = part == self._quote
            within = (np.cumsum(quoted, dtype=np.uint8) + self._within) & 1
            if not self._at_borders(np.flatnonzero(quoted), within, start):
                return False
            ends, outside = breaks[within[breaks] == 0], marks[within[marks] == 0]
            self._within = int(within[-1])
        before = np.searchsorted(outside, ends)
        cells = np.diff(before, prepend=0)
        lines = np.searchsorted(breaks, ends)
        if ends.size:
            longest = int(np.diff(ends, prepend=self._begin - start).max())
            if longest > LONGEST_CELL:
                return False
            first = self._line
            following = self._breaks + lines + 1
            begun = np.concatenate([[first], following[:-1]])
            cells[0] += self._cells
            self._close(ends + start, cells, begun)
            self._begin, self._line = int(ends[-1]) + start + 1, int(following[-1])
            self._cells = int(outside.size - before[-1])
        else:
            self._cells += int(outside.size)
        self._breaks += int(breaks.size)
        return end - self._begin <= LONGEST_CELL + _PART

    def _close(self, ends: IntArray, cells: IntArray, lines: IntArray) -> None:
        """Note records that end at ``ends``: with ``cells`` delimiters and begun on ``lines``; blank lines are none."""
        begins = np.concatenate([[self._begin], ends[:-1] + 1])
        full = ends > begins
        self._counts.append((cells[full] + 1).astype(np.int32))
        self._lines.append(lines[full].astype(np.int64))
        self._blank.append(lines[~full].astype(np.int64))
        self._note(begins[full], ends[full])

    def _note(self, begins: IntArray, ends: IntArray) -> None:
        """Keep the borders of the outermost records."""
        self._first += [int(end) for end in ends[: max(self._outer[0] - len(self._first), 0)]]
        self._last = [*self._last, *(int(begin) for begin in begins[-self._outer[1] :])][-self._outer[1] :]

    def _at_borders(self, quotes: IntArray, within: IntArray, start: int) -> bool:
        """Whether every opening mark follows a border or a mark, and every closing one is followed by such."""
        whole, size = self._bytes, len(self._bytes)
        places = quotes + start
        opening = within[quotes] == 1
        before, after = places[opening] - 1, places[~opening] + 1
        return self._borders(whole[before[before >= 0]]) and self._borders(whole[after[after < size]])

    def _borders(self, signs: IntArray) -> bool:
        return bool(((signs == self._separator) | (signs == _NEWLINE) | (signs == self._quote)).all())
