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

_PART = 1 << 20  # so much at a time stays in a core's own memory
_NEWLINE = 10
Say = Callable[[float], None]
WholeUntil = Callable[[int, int, int, bool], None]
"""Called with a place before which records are whole, the cells of the first one, how many there are, and whether one
spans lines."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """Cells per record and lines before each, shape (records,), blank lines left out; the outermost records' text.

    Records begin at each of the ``cuts``, places in the file some way apart. ``spanning`` says that a quoted cell holds
    a line end.
    """

    counts: IntArray
    lines: IntArray
    blank: IntArray
    head: bytes
    tail: bytes
    cuts: tuple[int, ...]
    spanning: bool


def scan(
    data: bytes, dialect: Dialect, outer: tuple[int, int], say: Say, whole_until: WholeUntil | None = None
) -> Scan | None:
    """None where the file is not plain. ``outer`` is how many records are wanted from its two ends."""
    if dialect.escape == "\\" or not data:
        return None
    quote = dialect.quote.encode()
    return _Scanner(data, dialect, quote if quote and quote in data else b"", outer).run(say, whole_until)


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
        self._cuts: list[int] = []
        self._spanning = False
        self._records = self._width = 0  # so far, and the cells of the first

    def run(self, say: Say, whole_until: WholeUntil | None) -> Scan | None:
        size = len(self._data)
        for start in range(0, size, _PART):
            if not self._part(start, min(start + _PART, size)):
                return None
            if whole_until is not None and self._cuts:
                whole_until(self._cuts[-1], self._width, self._records, self._spanning)
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
            cuts=tuple(self._cuts),
            spanning=self._spanning,
        )

    def _part(self, start: int, end: int) -> bool:
        """Look at one part of the file; False where it is not plain."""
        part = self._bytes[start:end]
        told = (part == _NEWLINE) | (part == self._separator)
        if self._quote is not None:
            told |= part == self._quote
        places = np.flatnonzero(told)
        signs = part[places]
        hidden = np.zeros(0, dtype=np.int64)  # line ends inside quotation marks
        if self._quote is not None:
            marks = np.flatnonzero(signs == self._quote)
            if not self._at_borders(places[marks] + start):
                return False
            inner = self._inside(marks, signs.size)
            hidden = places[inner[signs[inner] == _NEWLINE]]
            outside = np.ones(signs.size, dtype=bool)
            outside[marks] = outside[inner] = False
            places, signs = places[outside], signs[outside]
            self._within = (self._within + marks.size) & 1
        closing = np.flatnonzero(signs == _NEWLINE)
        ends = places[closing]
        if ends.size:
            longest = int(np.diff(ends, prepend=self._begin - start).max())
            if longest > LONGEST_CELL:
                return False
            cells = np.diff(closing, prepend=-1) - 1
            cells[0] += self._cells
            following = self._breaks + np.arange(1, ends.size + 1)
            if hidden.size:
                following += np.searchsorted(hidden, ends)
            self._close(ends + start, cells, np.concatenate([[self._line], following[:-1]]))
            self._begin, self._line = int(ends[-1]) + start + 1, int(following[-1])
            self._cells = signs.size - int(closing[-1]) - 1
            self._cuts.append(self._begin)
        else:
            self._cells += signs.size
        self._breaks += ends.size + hidden.size
        self._spanning = self._spanning or hidden.size > 0
        return end - self._begin <= LONGEST_CELL + _PART

    def _inside(self, marks: IntArray, size: int) -> IntArray:
        """Which of ``size`` signs stand between an opening and a closing quotation mark, those at ``marks``."""
        opening, closing = marks[self._within :: 2] + 1, marks[1 - self._within :: 2]
        if self._within:
            opening = np.concatenate([[0], opening])
        if opening.size > closing.size:
            closing = np.concatenate([closing, [size]])
        wide = closing > opening
        opening, lengths = opening[wide], (closing - opening)[wide]
        before = np.cumsum(lengths) - lengths
        return np.asarray(np.repeat(opening - before, lengths) + np.arange(int(lengths.sum())), dtype=np.int64)

    def _close(self, ends: IntArray, cells: IntArray, lines: IntArray) -> None:
        """Note records that end at ``ends``: with ``cells`` delimiters and begun on ``lines``; blank lines are none."""
        begins = np.concatenate([[self._begin], ends[:-1] + 1])
        full = ends > begins
        self._counts.append((cells[full] + 1).astype(np.int32))
        self._width = self._width or int(self._counts[-1][0]) if full.any() else self._width
        self._records += self._counts[-1].size
        self._lines.append(lines[full].astype(np.int64))
        self._blank.append(lines[~full].astype(np.int64))
        self._note(begins[full], ends[full])

    def _note(self, begins: IntArray, ends: IntArray) -> None:
        """Keep the borders of the outermost records."""
        self._first += [int(end) for end in ends[: max(self._outer[0] - len(self._first), 0)]]
        self._last = [*self._last, *(int(begin) for begin in begins[-self._outer[1] :])][-self._outer[1] :]

    def _at_borders(self, places: IntArray) -> bool:
        """Whether every opening mark follows a border or a mark, and every closing one is followed by such."""
        whole, size = self._bytes, len(self._bytes)
        before, after = places[self._within :: 2] - 1, places[1 - self._within :: 2] + 1
        return self._borders(whole[before[before >= 0]]) and self._borders(whole[after[after < size]])

    def _borders(self, signs: np.ndarray) -> bool:
        return bool(((signs == self._separator) | (signs == _NEWLINE) | (signs == self._quote)).all())
