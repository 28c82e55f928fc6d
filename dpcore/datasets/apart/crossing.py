"""A table on its way from the process that read it: its cells as Arrow holds them, looked at where they lie.

One column after the other: where each of its cells ends, and all their letters; behind them the line of each row, and
its place. Each part begins at a multiple of eight bytes. Nothing is packed, referred to or said to be of a size, and
whoever reads it makes nothing as large as a table but views.

Whoever reads it trusts neither side of it: the process that wrote it may have been led astray by the file. It is held
against the bounds of reading once more before anything is made of it, every cell's end and every character are checked,
and what stands beside the cells, at the end, can be nothing but the report's own classes, of a bounded size, in
sentences of the program's own words.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa

from dpcore.datasets.apart import beside
from dpcore.datasets.apart.beside import Beside
from dpcore.datasets.apart.own import own
from dpcore.datasets.reading import bounds
from dpcore.datasets.reading.decoding import ENCODINGS
from dpcore.datasets.reading.engine import text_frame
from dpcore.datasets.reading.tabulate import Tabulated
from dpcore.datasets.report import BLANKS, BLANKS_NAMED, Breaks, Escape, Merged, Objects, Returns
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXT = pa.large_string()
_NUMBER = np.dtype(np.int64)
_MOST_PIECES = 2_000
"""A file may hold each row in a piece of its own; more of a column are put together before they are written."""
_AT_ONCE = 1 << 20
"""Cells whose lengths are worked out together."""
_WAYS: dict[str, tuple[str, ...]] = {
    "escape": get_args(Escape),
    "returns": get_args(Returns),
    "breaks": get_args(Breaks),
    "merged": get_args(Merged),
    "objects": get_args(Objects),
    "keep_footer": ("True", "False"),
}
_DIGITS = 12
_LENGTH = struct.Struct("<Q")
"""At the very end: bytes of what stands before it, behind the cells."""


class Garbled(Exception):
    """What came back is no table."""


def write(table: Tabulated, file: IO[bytes]) -> None:
    """Its cells, the line of each row, its place where rows were set aside, and what stands beside them.

    Raises UnreadableFile where there is more than whoever reads this takes.
    """
    frame = table.frame
    names = tuple(str(name) for name in frame.columns)
    told = beside.written(
        Beside(
            names=names,
            report=table.report,
            codebooks={str(name): tuple(map(str, words)) for name, words in table.codebooks.items()},
            about={str(name): str(about) for name, about in table.about.items()},
            records=table.records,
            from_rows=tuple(sorted(map(str, table.from_rows))),
        )
    )
    bounds.check_said(told)
    bounds.check_cells(len(frame), names)
    text = 0
    for place in range(frame.shape[1]):
        text += _write_text(_pieces(frame.iloc[:, place]), file)
        bounds.check_bytes(text, 0)
    for numbers in (table.lines,) if table.places is None else (table.lines, table.places):
        file.write(np.ascontiguousarray(numbers, dtype=_NUMBER).data)
    file.write(told)
    file.write(_LENGTH.pack(len(told)))


def taken(file: IO[bytes]) -> bytes:
    """What stands in ``file`` beside the cells, taken off its end: its memory goes with it, and the cells alone are
    left. Raises Garbled.
    """
    end = file.seek(0, io.SEEK_END) - _LENGTH.size
    if end < 0:
        raise Garbled
    file.seek(end)
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    if length > min(end, bounds.MOST_TOLD):
        raise Garbled
    file.seek(end - length)
    told = file.read(length)
    file.truncate(end - length)
    return told


def read(cells: Any, told: bytes) -> Tabulated:
    """The table whose ``cells`` lie in anything with Python's buffer protocol, and stay there; ``told`` is what was
    ``taken`` from behind them. Raises Garbled.
    """
    try:
        known = beside.read(told)
        rows = known.report.rows
        bounds.check_cells(rows, known.names)
        _check_said(known)
        parts = _Parts(cells)
        texts = list(parts.texts(rows, len(known.names)))
        lines = parts.numbers(rows)
        places = parts.numbers(rows) if parts.left else None
        if parts.left:
            raise Garbled
        _check_rows(rows, known.records, lines, places)
    except (pa.ArrowException, ValueError, TypeError, LookupError, OSError, UnreadableFile):
        raise Garbled from None
    return Tabulated(
        frame=text_frame(texts, list(known.names)),
        lines=lines,
        report=known.report,
        codebooks=known.codebooks,
        about=known.about,
        places=places,
        records=known.records,
        kept=parts.size,
        from_rows=frozenset(known.from_rows),
    )


class _Parts:
    """What lies one behind the other, as far as it is taken."""

    def __init__(self, cells: Any) -> None:
        self._whole = pa.py_buffer(cells)
        self._at = 0

    @property
    def size(self) -> int:
        found: int = self._whole.size
        return found

    @property
    def left(self) -> int:
        return self.size - self._at

    def texts(self, rows: int, width: int) -> Iterator[pa.ChunkedArray]:
        """Each column. Raises Garbled, UnreadableFile, pa.ArrowException."""
        text = 0
        for _ in range(width):
            where = self._part((rows + 1) * _NUMBER.itemsize)
            ends = np.frombuffer(where, dtype=_NUMBER)
            if ends[0] != 0:
                raise Garbled
            shortest, longest = _lengths(ends)
            text += int(ends[-1])
            if shortest < 0:
                raise Garbled
            bounds.check_bytes(text, longest)
            found = pa.LargeStringArray.from_buffers(rows, where, self._part(int(ends[-1])))
            found.validate(full=True)
            yield pa.chunked_array([found])

    def numbers(self, rows: int) -> IntArray:
        """One of each row. Raises Garbled."""
        return np.frombuffer(self._part(rows * _NUMBER.itemsize), dtype=_NUMBER)

    def _part(self, size: int) -> pa.Buffer:
        if not 0 <= size <= self.left:
            raise Garbled
        found = self._whole.slice(self._at, size)
        self._at = min(self._at + size + _padding(size), self.size)
        return found


def _check_said(known: Beside) -> None:
    """Raises Garbled for names that are none, and what nobody of ours says."""
    names, report = set(known.names), known.report
    if not names or len(names) != len(known.names) or not names.issuperset(known.from_rows):
        raise Garbled
    if not all(own().says(notice.sentence) for notice in report.notices):
        raise Garbled
    ways = [(way.argument, way.value) for way in report.alternatives]
    form = [(name, getattr(report, name)) for name in ("delimiter", "encoding", "quote")]
    if not all(_is_way(name, value) for name, value in (*form, *ways)):
        raise Garbled


def _is_way(name: str, value: str) -> bool:
    """Whether this is one of the program's own ways to read a file; a part of it has a name of the file's."""
    match name:
        case "delimiter":
            return len(value) <= 1 or value in (BLANKS, BLANKS_NAMED)
        case "quote":
            return len(value) <= 1
        case "encoding":
            return value in ENCODINGS
        case "columns" | "header_line":
            return value.isascii() and value.isdigit() and len(value) <= _DIGITS
        case "part":
            return True
    return value in _WAYS.get(name, ())


def _check_rows(rows: int, records: int | None, lines: IntArray, places: IntArray | None) -> None:
    """Raises Garbled where rows are on no line, or at no place of the file's records."""
    if records is None:
        records = rows
    if not rows <= records or not ((lines >= 0) & (lines <= bounds.MOST_LINES)).all():
        raise Garbled
    if places is not None and not (((places >= 0) & (places < records)).all() and (np.diff(places) > 0).all()):
        raise Garbled


def _pieces(column: pd.Series[Any]) -> list[Any]:
    words = pa.array(column.array, _TEXT)
    if not isinstance(words, pa.ChunkedArray):
        words = pa.chunked_array([words])
    if words.null_count:
        words = words.fill_null("")
    found = words.chunks if words.num_chunks <= _MOST_PIECES else [words.combine_chunks()]
    return [piece for piece in found if len(piece)]


def _write_text(pieces: list[Any], file: IO[bytes]) -> int:
    """How many bytes its text has. Raises UnreadableFile for a cell that is too long."""
    ends = [_ends(piece) for piece in pieces]
    file.write(bytes(_NUMBER.itemsize))
    text = 0
    for each in ends:
        bounds.check_bytes(0, _lengths(each)[1])
        for at in range(1, each.size, _AT_ONCE):
            file.write((each[at : at + _AT_ONCE] + (text - each[0])).data)
        text += int(each[-1] - each[0])
    for piece, each in zip(pieces, ends, strict=True):
        if each[-1] > each[0]:
            file.write(piece.buffers()[2].slice(int(each[0]), int(each[-1] - each[0])))
    file.write(bytes(_padding(text)))
    return text


def _ends(piece: Any) -> NDArray[np.int64]:
    """Where the first cell of a piece begins, and where each ends."""
    return np.frombuffer(piece.buffers()[1], dtype=_NUMBER)[piece.offset : piece.offset + len(piece) + 1]


def _lengths(ends: NDArray[np.int64]) -> tuple[int, int]:
    """Of the shortest and the longest cell, 0 where there is none."""
    shortest = longest = int(np.diff(ends[:2]).sum())
    for at in range(0, ends.size - 1, _AT_ONCE):
        each = np.diff(ends[at : at + _AT_ONCE + 1])
        shortest, longest = min(shortest, int(each.min())), max(longest, int(each.max()))
    return shortest, longest


def _padding(size: int) -> int:
    return -size % _NUMBER.itemsize
