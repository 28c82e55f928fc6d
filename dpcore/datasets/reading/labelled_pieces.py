"""How many rows of a file of SPSS, Stata or SAS to ask for at a time.

Its reader goes through a file, or through all words that it keeps apart, from the beginning for each piece of it: few
pieces take little time, and small ones little memory.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcore.datasets.reading import bounds
from dpcore.datasets.reading.bounds import check_text
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

_CHUNK = 1_000_000  # cells at a time
_CHUNK_TEXT = 64 << 20  # characters at a time
_MOST_ROOM, _MOST_TIMES = 2 << 30, 64
"""Bytes that the words of a file may have room for, and how many times as many as it has itself."""
_PART = 1 << 24
_STRL = 32768
_WIDTHS = {_STRL: 8, 65526: 8, 65527: 4, 65528: 4, 65529: 2, 65530: 1}
Pieces = Callable[[int, int], int]
"""Of how many rows and characters there were, how many rows to ask for next."""


def pieces(data: bytes, kind: str, meta: Any) -> Pieces:
    """No piece fills the memory however long its words are, and no small file is read from its beginning many times.

    Raises UnreadableFile for a word too long for a cell, and for more room than can be gone through.
    """
    widths = meta.variable_storage_width or {}
    texts = [name for name, type_ in (meta.readstat_variable_types or {}).items() if type_ == "string"]
    row = sum(widths.get(name) or 0 for name in texts)
    cells = max(_CHUNK // len(meta.column_names), 1)
    if kind == "stata" and data.startswith(b"<stata_dta>"):
        try:
            return _by_words(_words_apart(data, meta.number_rows, len(meta.column_names)) + row, cells)
        except (struct.error, ValueError, IndexError, TypeError):
            raise UnreadableFile("This Stata file is damaged; save it again or as CSV.") from None
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


def _by_words(lengths: IntArray, cells: int) -> Pieces:
    """By what each row holds; of the last piece one row more is asked for, so that its end is seen."""
    until = np.cumsum(lengths)

    def next_piece(rows: int, _: int) -> int:
        before = int(until[rows - 1]) if 0 < rows <= until.size else 0
        last = int(np.searchsorted(until, before + _CHUNK_TEXT, side="right"))
        return max(min(cells, last - rows + (last == until.size)), 1)

    return next_piece


def _words_apart(data: bytes, rows: int, columns: int) -> IntArray:
    """Of each row of a Stata file the bytes of its words that stand apart, where any number of rows can point to one.

    Layout after https://www.stata.com/help.cgi?dta, as ReadStat follows it. Raises UnreadableFile for a word too long
    for a cell, ValueError, IndexError, TypeError and struct.error where the file is damaged.
    """
    version, order = int(data[28:31]), ">" if data[52:55] == b"MSF" else "<"
    at = data.index(b"<label>") + len(b"<label>")
    at += 1 + data[at] if version == 117 else 2 + struct.unpack_from(f"{order}H", data, at)[0]
    at += len(b"</label><timestamp>")
    at += 1 + data[at] + len(b"</timestamp></header><map>")
    begin = struct.unpack_from(f"{order}14Q", data, at)[9] + len(b"<data>")
    at += 14 * 8 + len(b"</map><variable_types>")
    kinds = struct.unpack_from(f"{order}{columns}H", data, at)
    places = np.cumsum([0, *(_WIDTHS.get(kind, kind) for kind in kinds)])
    found = np.zeros(rows, dtype=np.int64)
    if _STRL not in kinds or not rows:
        return found
    keys, lengths = _lengths_apart(data, version, order)
    check_text(0, int(lengths.max(initial=0)))
    for kind, place in zip(kinds, places, strict=False):
        if kind == _STRL and keys.size:
            cells = np.ndarray(rows, f"{order}u8", data, begin + int(place), (int(places[-1]),)).astype(np.uint64)
            spots = np.searchsorted(keys, cells, side="right") - 1
            found += np.where((spots >= 0) & (keys[spots] == cells), lengths[spots], 0)
    return found


def _lengths_apart(data: bytes, version: int, order: str) -> tuple[Any, IntArray]:
    """What a row points to each word by, in order, and how many bytes it has.

    Each begins with GSO, two numbers, its type and its length. The same letters within a text can only make more.
    """
    held = np.frombuffer(data, dtype=np.uint8)
    before, number = (9 + 3, "u4") if version == 117 else (13 + 3, "u8")
    found = []
    for start in range(0, held.size, _PART):
        part = held[start : start + _PART + 2]
        found.append(start + np.flatnonzero((part[:-2] == 71) & (part[1:-1] == 83) & (part[2:] == 79)))
    at = np.concatenate(found)
    at = at[at + before + 4 <= held.size]
    at = at[(held[at + before - 1] >= 129) & (held[at + before - 1] <= 130)]

    def numbers(offset: int, kind: str) -> Any:
        width = int(kind[1:])
        return held[at[:, None] + offset + np.arange(width)].view(f"{order}{kind}")[:, 0].astype(np.uint64)

    first, second, lengths = numbers(3, "u4"), numbers(7, number), numbers(before, "u4").astype(np.int64)
    high = {117: 32, 118: 16}.get(version, 24)
    keys = first | (second << np.uint64(high)) if order == "<" else (first << np.uint64(64 - high)) | second
    fits = at + before + 4 + lengths <= held.size
    keys, lengths = keys[fits], lengths[fits]
    sort = np.lexsort((lengths, keys))
    return keys[sort], lengths[sort]
