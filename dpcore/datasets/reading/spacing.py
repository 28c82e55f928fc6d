"""Tables whose cells stand apart by runs of blanks, as statistics programs print and older files keep them."""

from __future__ import annotations

import re
from collections import Counter

from dpcore.datasets.report import BLANKS, BLANKS_NAMED, Notice

_LINES = 2000
_BLANKS = re.compile(rb"[ \t]+")
_NUMBER = re.compile(rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|NA|\.|\?")


def found(data: bytes) -> str | None:
    """In which of the two ways a table of one column seems to be written, None where blanks do not clearly end cells.

    Every line has as many words, at least two, and most words below the first line are numbers. One name too few means
    that the rows are named, as R writes them.
    """
    return _way(data, lines=1.0, numbers=0.5)


def could_be(data: bytes) -> str | None:
    """In which of them it could be written, were it not for a few lines: one row keeps no others from it."""
    return _way(data, lines=0.5, numbers=0.4)


def _way(data: bytes, *, lines: float, numbers: float) -> str | None:
    """The way in which so many of the lines below the first are written, of whose words so many are numbers."""
    every = [line.split() for line in data.split(b"\n", _LINES + 1)[:_LINES] if line.strip()]
    if len(every) < 3:
        return None
    head, below = every[0], every[1:]
    width = Counter(map(len, below)).most_common(1)[0][0]
    named = len(head) == width - 1 and not any(_NUMBER.fullmatch(word) for word in head)
    if width < 2 or not (named or len(head) == width):
        return None
    words = [word for each in below if len(each) == width for word in each]
    if len(words) < lines * width * len(below):
        return None
    if sum(_NUMBER.fullmatch(word) is not None for word in words) < numbers * len(words):
        return None
    return BLANKS_NAMED if named else BLANKS


def tabbed(data: bytes, way: str) -> tuple[bytes, list[Notice]]:
    """The same table with its cells ended by tabs; a column of rows' names is called "row"."""
    text = b"\n".join(_BLANKS.sub(b"\t", line.strip()) for line in data.split(b"\n"))
    notices = [Notice(what="noticed", sentence="Cells stand apart by blanks.")]
    if way == BLANKS_NAMED:
        text = b"row\t" + text.lstrip(b"\n")
        notices.append(Notice(what="repaired", sentence="The rows are named; the column of their names is called row."))
    return text, notices
