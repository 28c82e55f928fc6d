"""Where a FlatBuffer keeps what: the form of the headers in Arrow files (Arrow columnar format, Message.fbs).

Places are bytes from its start. Whoever asks has had it verified, or takes IndexError and struct.error.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator


def root(buffer: memoryview) -> int:
    """Where its outermost table is."""
    return follow(buffer, 0)


def follow(buffer: memoryview, at: int) -> int:
    """Where what is kept by its place is: a table, a vector or a text."""
    return int(at + struct.unpack_from("<I", buffer, at)[0])


def field(buffer: memoryview, table: int, number: int) -> int | None:
    """Where a table keeps one of its fields, or None."""
    layout = table - struct.unpack_from("<i", buffer, table)[0]
    size = struct.unpack_from("<H", buffer, layout)[0]
    if 4 + 2 * number + 2 > size:
        return None
    offset = struct.unpack_from("<H", buffer, layout + 4 + 2 * number)[0]
    return table + offset if offset else None


def tables(buffer: memoryview, table: int, number: int) -> Iterator[int]:
    """Where the tables are that one of a table's fields lists."""
    listed = field(buffer, table, number)
    if listed is None:
        return
    start = follow(buffer, listed)
    for place in range(struct.unpack_from("<I", buffer, start)[0]):
        yield follow(buffer, start + 4 + 4 * place)


def text(buffer: memoryview, table: int, number: int) -> tuple[int, bytes]:
    """Where the text in one of a table's fields begins, and what it is: "" at the table where there is none."""
    kept = field(buffer, table, number)
    if kept is None:
        return table, b""
    start = follow(buffer, kept)
    return start + 4, bytes(buffer[start + 4 : start + 4 + struct.unpack_from("<I", buffer, start)[0]])
