"""Text with nothing in records that would take others along: a line of which a person said that it is a row, and on
which a quotation mark stays open or has text behind it, and a record of more cells than are read."""

from __future__ import annotations

import csv
from collections.abc import Mapping

import numpy as np

from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.survey import Survey, ends
from dpcore.datasets.reading.whole_lines import pieces
from dpcore.validate import IntArray


def lines_apart(data: bytes, dialect: Dialect, first_line: int) -> tuple[bytes, IntArray]:
    """``data`` with nothing on the lines on which a mark stays open, or has text behind it where it closes, and the
    numbers of these lines, in order.

    Each line is looked at by itself; it keeps its place.
    """
    mark = dialect.quote.encode()
    found: list[bytes] = []
    opened: list[int] = []
    line_number = first_line
    for piece in pieces(data):
        if mark in piece:
            lines = piece.split(b"\n")
            here = [place for place, line in enumerate(lines) if mark in line and not _can_be_read(line, dialect)]
            for place in here:
                lines[place] = mark * 2 + b"\r" * lines[place].endswith(b"\r")
            opened += [line_number + place for place in here]
            piece = b"\n".join(lines)
        found.append(piece)
        line_number += piece.count(b"\n") + 1
    return b"\n".join(found), np.array(opened, dtype=np.int64)


def narrowed(data: bytes, dialect: Dialect, seen: Survey, first_line: int) -> bytes:
    """``data`` with one empty cell in each record with cells that are not read; its lines keep their places."""
    empty: dict[int, bytes] = {}
    last = ends(seen, data, first_line)
    for place in seen.beyond:
        first, mark = int(seen.lines[place]), dialect.quote.encode()
        lines = last[place] - first + 1
        empty |= dict.fromkeys(range(first, first + lines), b"") | (
            {first: b" "} if lines == 1 else {first: mark, first + lines - 1: mark}
        )
    return _replaced(data, empty, first_line)


def _replaced(data: bytes, lines: Mapping[int, bytes], first_line: int) -> bytes:
    """With these lines in place of those of their numbers."""
    found: list[bytes] = []
    numbers = np.array(sorted(lines), dtype=np.int64)
    for piece in pieces(data):
        count = piece.count(b"\n") + 1
        here = numbers[np.searchsorted(numbers, first_line) : np.searchsorted(numbers, first_line + count)]
        if here.size:
            parts = piece.split(b"\n")
            for number in here.tolist():
                parts[number - first_line] = lines[number] + b"\r" * parts[number - first_line].endswith(b"\r")
            piece = b"\n".join(parts)
        found.append(piece)
        first_line += count
    return b"\n".join(found)


def _can_be_read(line: bytes, dialect: Dialect) -> bool:
    """Whether each quotation mark that opens a cell of this line ends it."""
    try:
        next(dialect.reader([line.decode("utf-8", "replace").rstrip("\r")], strict=True), None)
    except csv.Error:
        return False
    return True
