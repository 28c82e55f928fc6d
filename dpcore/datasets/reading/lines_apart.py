"""Text of which a person said that each line is a row: a quotation mark that stays open takes no other line along."""

from __future__ import annotations

import csv

import numpy as np

from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.whole_lines import pieces
from dpcore.validate import IntArray


def lines_apart(data: bytes, dialect: Dialect, first_line: int) -> tuple[bytes, IntArray]:
    """``data`` with nothing on the lines on which a mark stays open, and the numbers of these lines, in order.

    Each line is looked at by itself; it keeps its place.
    """
    mark = dialect.quote.encode()
    found: list[bytes] = []
    opened: list[int] = []
    line_number = first_line
    for piece in pieces(data):
        if mark in piece:
            lines = piece.split(b"\n")
            here = [place for place, line in enumerate(lines) if mark in line and _stays_open(line, dialect)]
            for place in here:
                lines[place] = mark * 2 + b"\r" * lines[place].endswith(b"\r")
            opened += [line_number + place for place in here]
            piece = b"\n".join(lines)
        found.append(piece)
        line_number += piece.count(b"\n") + 1
    return b"\n".join(found), np.array(opened, dtype=np.int64)


def _stays_open(line: bytes, dialect: Dialect) -> bool:
    """Whether a quotation mark is open at the end of a line."""
    try:
        next(dialect.reader([line.decode("utf-8", "replace").rstrip("\r")], strict=True), None)
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False
