"""How many rows of a file of SPSS, Stata or SAS to ask for at a time.

Their reader goes through a file from the beginning for each piece of it: few pieces take little time, and small ones
little memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpcore.datasets.reading import bounds
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

_CHUNK = 1_000_000  # cells at a time
_CHUNK_TEXT = 64 << 20  # characters at a time
_MOST_ROOM, _MOST_TIMES = 2 << 30, 64
"""Bytes that the words of a file may have room for, and how many times as many as it has itself."""
Pieces = Callable[[int, int], int]
"""Of how many rows and characters there were, how many rows to ask for next."""


def pieces(data: bytes, meta: Any) -> Pieces:
    """No piece fills the memory however long its words are, and no small file is read from its beginning many times.

    Raises UnreadableFile for more room than can be gone through.
    """
    row, cells = _words_within(meta), _most_rows(meta)
    most, stated = max(_MOST_ROOM, _MOST_TIMES * len(data)), meta.number_rows or 0

    def next_piece(rows: int, characters: int) -> int:
        if max(rows, stated) * row > most:
            raise UnreadableFile(
                "The columns of words in this file are far wider than what stands in them; make them narrower, or save "
                "the table as CSV."
            )
        room = max(_CHUNK_TEXT, bounds.MOST_TEXT - characters)  # what is more than that is refused
        return max(min(cells, room // max(row, 1)), 1)

    return next_piece


def pieces_by_words(apart: IntArray, meta: Any) -> Pieces:
    """By what each row holds, its words ``apart`` of it included; of the last piece one row more is asked for, so that
    its end is seen."""
    until, cells = np.cumsum(apart + _words_within(meta)), _most_rows(meta)

    def next_piece(rows: int, _: int) -> int:
        before = int(until[rows - 1]) if 0 < rows <= until.size else 0
        last = int(np.searchsorted(until, before + _CHUNK_TEXT, side="right"))
        return max(min(cells, last - rows + (last == until.size)), 1)

    return next_piece


def _words_within(meta: Any) -> int:
    """Bytes that the words of a row have room for."""
    widths = meta.variable_storage_width or {}
    texts = [name for name, type_ in (meta.readstat_variable_types or {}).items() if type_ == "string"]
    return sum(widths.get(name) or 0 for name in texts)


def _most_rows(meta: Any) -> int:
    return max(_CHUNK // len(meta.column_names), 1)
