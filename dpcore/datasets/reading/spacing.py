"""Tables whose cells stand apart by runs of blanks, as statistics programs print and older files keep them."""

from __future__ import annotations

import re

from dpcore.datasets.reading.whole_lines import beginning, pieces
from dpcore.datasets.report import BLANKS, BLANKS_NAMED, Notice

_LINES = 2000
_BLANKS = re.compile(rb"[ \t]+")
_NUMBER = re.compile(rb"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?|NA|\.|\?")


def found(data: bytes) -> str | None:
    """In which of the two ways a table of one column seems to be written, None where blanks do not clearly end cells.

    Every line has as many words, at least two, and most words below the first line are numbers. One name too few means
    that the rows are named, as R writes them.
    """
    every = [line.split() for line in beginning(data).split(b"\n", _LINES + 1)[:_LINES] if line.strip()]
    if len(every) < 3:
        return None
    head, below = every[0], every[1:]
    width = len(below[0])
    named = len(head) == width - 1 and not any(_NUMBER.fullmatch(word) for word in head)
    if width < 2 or not (named or len(head) == width) or any(len(each) != width for each in below):
        return None
    words = [word for each in below for word in each]
    if sum(_NUMBER.fullmatch(word) is not None for word in words) < len(words) / 2:
        return None
    return BLANKS_NAMED if named else BLANKS


def tabbed(data: bytes, way: str) -> tuple[bytes, list[Notice]]:
    """The same table with its cells ended by tabs; a column of rows' names is called "row"."""
    text = b"\n".join(
        b"\n".join(_BLANKS.sub(b"\t", line.strip()) for line in piece.split(b"\n")) for piece in pieces(data)
    )
    notices = [Notice(what="noticed", sentence="Cells stand apart by blanks.")]
    if way == BLANKS_NAMED:
        text = b"row\t" + text.lstrip(b"\n")
        notices.append(Notice(what="repaired", sentence="The rows are named; the column of their names is called row."))
    return text, notices
