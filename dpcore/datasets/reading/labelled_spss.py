"""An SPSS file in UTF-8 as ReadStat can read it byte by byte, zero bytes within its words included.

SPSS fills a long word with zeros where a letter would be cut between two of its parts. ReadStat passes them over in
UTF-8 alone, which one cell that is none ends, and takes the first for the end of a word else. So each is marked here.
Layout after https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpcore.errors import UnreadableFile

ZERO = b"\xff"
"""What stands for a zero byte; a byte that was this one is another that is in no letter of UTF-8 either."""
_MARKED = bytes.maketrans(b"\0\xff", ZERO + b"\xfe")
_MOST = 1 << 29
"""Bytes that a packed file may unfold to: as many numbers and letters as may be unpacked, with what is between them."""
_COMMANDS, _BLOCKS = 1, 2
_PADDING, _END, _AS_IT_IS = 0, 252, 253
_FIRST, _LAST, _VARIABLE, _LABELS, _LABELLED, _NOTES, _MORE = 176, 999, 2, 3, 4, 6, 7
_OF_LETTERS = (3, 20)
"""Which of the further records say how words are written: by a number, and by a name."""
_NUMBERS = 0x050802  # of eight digits, two of them decimals
_WRONG = (struct.error, ValueError, IndexError, TypeError, zlib.error)
_DAMAGED = "This SPSS file is damaged; save it again or as CSV."


def with_zeros_marked(data: bytes) -> bytes | bytearray:
    """Raises UnreadableFile for a damaged file and for one that unpacks to too much."""
    try:
        order = _order(data)
        words, at = _dictionary(data, order)
        if not any(words):
            return data
        (packing,) = struct.unpack_from(f"{order}i", data, 72)
        found = _unpacked(data, order, at) if packing == _BLOCKS else bytearray(data)
        if packing:
            _mark_in_commands(found, at, words)
        else:
            _mark_in_rows(found, at, words)
        return found
    except _WRONG:
        raise UnreadableFile(_DAMAGED) from None


def without_zeros(cell: Any) -> Any:
    """A cell of a file whose zero bytes are marked, without them."""
    return cell.replace(ZERO, b"") if isinstance(cell, bytes) else cell


def stating_alone(data: bytes) -> bytes:
    """A file of one column and no row that states what this one does of how its words are written.

    ReadStat knows the names and numbers of encodings, and gives a file up for one label before it says which it is.
    Raises UnreadableFile for a damaged file.
    """
    try:
        order = _order(data)
        stated = b"".join(
            data[begin:end]
            for record, begin, end in _records(data, order)
            if record == _MORE and struct.unpack_from(f"{order}i", data, begin + 4)[0] in _OF_LETTERS
        )
        column = struct.pack(f"{order}6i8s", _VARIABLE, 0, 0, 0, _NUMBERS, _NUMBERS, b"A".ljust(8))
        return data[:_FIRST] + column + stated + struct.pack(f"{order}2i", _LAST, 0)
    except _WRONG:
        raise UnreadableFile(_DAMAGED) from None


def _order(data: bytes) -> str:
    return "<" if struct.unpack_from("<i", data, 64)[0] in (2, 3) else ">"


def _dictionary(data: bytes, order: str) -> tuple[list[bool], int]:
    """Of each eight bytes of a row whether they are of a word, and where the rows begin."""
    records = list(_records(data, order))
    words = [
        struct.unpack_from(f"{order}i", data, begin + 4)[0] != 0 for record, begin, _ in records if record == _VARIABLE
    ]
    return words, records[-1][2]


def _records(data: bytes, order: str) -> Iterator[tuple[int, int, int]]:
    """What each record before the rows is, where it begins and where it ends."""
    begin = at = _FIRST
    while True:
        (record,) = struct.unpack_from(f"{order}i", data, at)
        if record == _LAST:
            yield record, begin, at + 8
            return
        first, second, third = struct.unpack_from(f"{order}3i", data, at + 4)
        at += 4
        if record == _VARIABLE:
            at += 28
            if second:
                at += 4 + _whole(struct.unpack_from(f"{order}i", data, at)[0], 4)
            at += 8 * abs(third)
        elif record == _LABELS:
            at += 4
            for _ in range(first):
                at += 8 + _whole(1 + data[at + 8], 8)
        elif record == _LABELLED:
            at += 4 + 4 * first
        elif record == _NOTES:
            at += 4 + 80 * first
        elif record == _MORE:
            at += 12 + second * third
        else:
            raise ValueError(at)
        if at <= begin:
            raise ValueError(at)
        yield record, begin, at
        begin = at


def _whole(size: int, part: int) -> int:
    return -(-size // part) * part


def _mark_in_rows(found: bytearray, at: int, words: list[bool]) -> None:
    size = 8 * len(words)
    rows = max(len(found) - at, 0) // size
    cells = np.ndarray((rows, len(words), 8), np.uint8, found, at)
    marked = np.frombuffer(_MARKED, dtype=np.uint8)
    for place in np.flatnonzero(words):
        cells[:, place] = marked[cells[:, place]]


def _mark_in_commands(found: bytearray, at: int, words: list[bool]) -> None:
    """Of eight commands each, what they say of eight bytes; and behind them the bytes that are as they are."""
    place = 0
    while at < len(found):
        commands = found[at : at + 8]
        at += 8
        if _AS_IT_IS not in commands and _END not in commands:
            place += len(commands) - commands.count(_PADDING)
            continue
        for command in commands:
            if command == _END:
                return
            if command == _AS_IT_IS:
                if words[place % len(words)]:
                    found[at : at + 8] = found[at : at + 8].translate(_MARKED)
                at += 8
            place += command != _PADDING


def _unpacked(data: bytes, order: str, at: int) -> bytearray:
    """The file with its rows as commands that are in no blocks.

    Where these began it says where the table of them is: after 16 bytes their size and number, and of each where it
    was, where it is, and how long it was and is.
    """
    found = bytearray(b"$FL2" + data[4:72] + struct.pack(f"{order}i", _COMMANDS) + data[76:at])
    view, most, gone_through = memoryview(data), _MOST + at, 0
    (table,) = struct.unpack_from(f"{order}q", data, at + 8)
    (blocks,) = struct.unpack_from(f"{order}i", data, table + 20)
    for block in range(blocks):
        _, begin, _, size = struct.unpack_from(f"{order}2q2i", data, table + 24 * (block + 1))
        found += zlib.decompressobj().decompress(view[begin : begin + size], most + 1 - len(found))
        gone_through += size
        if len(found) > most or not 0 <= size <= gone_through <= len(data):
            raise UnreadableFile("This SPSS file unpacks to more than can be read; keep fewer rows or columns.")
    return found
