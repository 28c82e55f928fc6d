"""Text of which a person said that each line is a row: a quotation mark that stays open takes no other line along."""

from __future__ import annotations

import csv

import numpy as np

from dpcore.datasets.reading.dialect import Dialect
from dpcore.validate import IntArray


def lines_apart(data: bytes, dialect: Dialect, first_line: int) -> tuple[bytes, IntArray]:
    """``data`` with nothing on the lines on which a mark stays open, and the numbers of these lines, in order.

    Each line is looked at by itself; it keeps its place.
    """
    mark = dialect.quote.encode()
    lines = data.split(b"\n")
    opened = [place for place, line in enumerate(lines) if mark in line and _stays_open(line, dialect)]
    for place in opened:
        lines[place] = mark * 2 + b"\r" * lines[place].endswith(b"\r")
    return b"\n".join(lines), np.array(opened, dtype=np.int64) + first_line


def _stays_open(line: bytes, dialect: Dialect) -> bool:
    """Whether a quotation mark is open at the end of a line."""
    try:
        next(dialect.reader([line.decode("utf-8", "replace").rstrip("\r")], strict=True), None)
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False
