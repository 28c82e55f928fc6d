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
    lines = [line.split() for line in data.split(b"\n", _LINES + 1)[:_LINES] if line.strip()]
    if len(lines) < 3:
        return None
    head, body = lines[0], lines[1:]
    width = len(body[0])
    named = len(head) == width - 1 and not any(_NUMBER.fullmatch(word) for word in head)
    if width < 2 or any(len(words) != width for words in body) or not (named or len(head) == width):
        return None
    cells = [word for words in body for word in words]
    if sum(_NUMBER.fullmatch(word) is not None for word in cells) < 0.5 * len(cells):
        return None
    return BLANKS_NAMED if named else BLANKS


def could_be(data: bytes) -> str | None:
    """In which of the two ways most lines of a table of one column are written: one row keeps no others from it."""
    lines = [line.split() for line in data.split(b"\n", _LINES + 1)[:_LINES] if line.strip()]
    width = Counter(len(words) for words in lines[1:]).most_common(1)[0][0] if len(lines) > 1 else 0
    body = [words for words in lines[1:] if len(words) == width]
    numbers = sum(_NUMBER.fullmatch(word) is not None for words in body for word in words)
    if width < 2 or 2 * len(body) < len(lines) - 1 or numbers < 0.4 * width * len(body):
        return None
    return BLANKS_NAMED if len(lines[0]) == width - 1 else BLANKS


def tabbed(data: bytes, way: str) -> tuple[bytes, list[Notice]]:
    """The same table with its cells ended by tabs; a column of rows' names is called "row"."""
    text = b"\n".join(_BLANKS.sub(b"\t", line.strip()) for line in data.split(b"\n"))
    notices = [Notice(what="noticed", sentence="Cells stand apart by blanks.")]
    if way == BLANKS_NAMED:
        text = b"row\t" + text.lstrip(b"\n")
        notices.append(Notice(what="repaired", sentence="The rows are named; the column of their names is called row."))
    return text, notices
