"""How much a text can become at most, before anything of it is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from dpcore.datasets.reading.decoding import known

if TYPE_CHECKING:  # it loads DuckDB
    from dpcore.datasets.reading.choices import Choices

LITTLE = 1 << 20
FEW = 300_000
"""Bytes of text, and cells that it could fill up to, as many in each row as in the widest, up to which it is read in
the server's own process: sooner, and with some hundred megabytes at most."""
_STATED = re.compile(rb"sep=(.)", re.IGNORECASE | re.DOTALL)
_FIRST = 100
"""Bytes among which a first line such as "sep=;" begins."""
_ASCII = bytes(range(128))


def little(data: bytes, choices: Choices) -> bool:
    """Whether a text is so little, however its cells and lines end, that the server may read it itself."""
    return len(data) <= LITTLE and _is_plain(data, choices.encoding) and cells(data, choices) <= FEW


def cells(data: bytes, choices: Choices) -> int:
    """At most so many cells: as many in each line as in that which holds most signs that could end one.

    A lone return may end a line or stand in a cell: for how long lines are it is taken for the one, for how many there
    are for the other.
    """
    from dpcore.datasets.reading.dialect import SIGNS, Dialect

    stated = choices.delimiter or ""
    none = Dialect(delimiter="").separator  # in a text of one column
    said = [stated.encode() if len(stated) == 1 else b"", *_STATED.findall(data[:_FIRST])]
    signs = np.zeros(256, dtype=bool)
    signs[list(b"".join([*map(str.encode, (*SIGNS, none)), *said]))] = True
    letters = np.frombuffer(data, dtype=np.uint8)
    feeds = np.flatnonzero(letters == ord("\n"))
    before = np.searchsorted(np.flatnonzero(signs[letters]), np.concatenate([[0], feeds, [letters.size]]))
    widest = max(int(np.diff(before).max()) + 1, choices.columns or 0)
    return widest * (feeds.size + data.count(b"\r") - data.count(b"\r\n") + 1)


def _is_plain(data: bytes, encoding: str | None) -> bool:
    """Whether each byte of a sign or of a line's end is that sign wherever it stands: not in UTF-16, say."""
    if b"\0" in data:
        return False
    if encoding is None:
        return True
    try:
        return _ASCII.decode(known(encoding)) == _ASCII.decode("ascii")
    except ValueError:
        return False
