"""Text with nothing in records that would take others along: a line of which a person said that it is a row, and whose
cells both readers would not tell alike, and a record of more cells than are read."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.survey import Survey, ends
from dpcore.datasets.reading.whole_lines import pieces
from dpcore.validate import IntArray


def lines_apart(data: bytes, dialect: Dialect, first_line: int) -> tuple[bytes, IntArray]:
    """``data`` with nothing on the lines on which a mark stays open, or has text behind it where it closes, or on which
    a backslash that means more than itself stands before what ends a cell, and the numbers of these lines, in order.

    Each line is looked at by itself; it keeps its place.
    """
    signs, told = {dialect.quote.encode(), dialect.escape.encode()}, _Line(dialect).told
    nothing = dialect.quote.encode() * 2
    found: list[bytes] = []
    opened: list[int] = []
    line_number = first_line
    for piece in pieces(data):
        if any(sign in piece for sign in signs):
            lines = piece.split(b"\n")
            for place, line in enumerate(lines):
                if any(sign in line for sign in signs):
                    own = told(line)
                    lines[place] = nothing if own is None else own
                    opened += [line_number + place] * (own is None)
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


class _Line:
    """Lines by themselves, as both readers tell their cells."""

    def __init__(self, dialect: Dialect) -> None:
        doubled = replace(dialect, escape=dialect.quote)
        self._doubled, self._stated = (doubled, _whole(doubled)), (dialect, _whole(dialect))
        mark, end = re.escape(dialect.quote), re.escape(dialect.separator)
        self._in_marks = re.compile(
            f"((?:^|{end}) *{mark})((?:[^{mark}]|{mark}{mark})*+)(?={mark}(?:{end}|$))".encode()
        )
        self._twice, self._inside = dialect.quote.encode() * 2, f"{dialect.escape}{dialect.quote}".encode()

    def told(self, line: bytes) -> bytes | None:
        """The line, or None where they would not.

        Where a backslash stands before marks a line without one is read as if they were doubled: nobody is asked which
        it is of a file in which no line has a backslash.
        """
        doubled = b"\\" not in line
        dialect, whole = self._doubled if doubled else self._stated
        try:
            next(dialect.reader([line.decode("utf-8", "replace")], strict=True), None)
        except csv.Error:
            return None
        if not whole.fullmatch(line):
            return None
        return self._in_marks.sub(self._as_stated, line) if doubled and self._twice in line else line

    def _as_stated(self, cell: re.Match[bytes]) -> bytes:
        return cell[1] + cell[2].replace(self._twice, self._inside)


def _whole(dialect: Dialect) -> re.Pattern[bytes]:
    """Lines in which a mark opens a cell at its beginning, or behind one blank, and a backslash outside of marks stands
    before nothing that ends a cell. Behind several blanks a mark opens it for Python alone, so what is in it ends none.
    """
    mark, end = re.escape(dialect.quote), re.escape(dialect.separator)

    def within(other: str) -> str:
        if dialect.escape == "\\":
            return rf"{mark}(?:[^{mark}\\{other}]|\\[^{other}])*+{mark}"
        return f"{mark}(?:[^{mark}{other}]|{mark}{mark})*+{mark}"

    plain = rf"(?:[^{end}\\]|\\[^{end}])*+" if dialect.escape == "\\" else f"[^{end}]*+"
    if dialect.separator == " ":
        cell = rf"(?:{within(chr(10))}|(?!{mark}){plain})"
    else:
        cell = rf"(?: ?{within(chr(10))}|  +{within(end)}|(?! *{mark}){plain})"
    return re.compile(f"{cell}(?:{end}{cell})*+".encode())
