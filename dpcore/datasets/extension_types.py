"""Extension types of Arrow files, as periods and intervals of pandas: their cells are read as what is stored of them.

Arrow hands such a column to whoever registered a type of that name in this process, as pandas does once something made
it write a file; and that fails, or takes the cells for others, where the column is a list of words. Arrow's own types
(UUIDs, JSON) are as they are, but of a list of words, of which Arrow itself makes none and gives the file up. A type
that nobody knows is read as it is stored, so all others are read like that.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyarrow import ipc

from dpcore.datasets.flat_buffers import field, follow, root, tables, text

_NAME = b"ARROW:extension:name"
_OWN = b"arrow."
_NO_NAME = ord("-")
_CONTINUED = b"\xff\xff\xff\xff"
_HEADER, _FIELDS, _WORDS, _CHILDREN, _NOTES = 2, 1, 4, 5, 6  # in Message.fbs and Schema.fbs


def as_stored(stream: pa.Buffer) -> pa.Buffer:
    """An Arrow stream, or the schema that begins one, which says nothing of extension types but Arrow's own.

    Raises pa.ArrowException, OSError or EOFError where it begins with no message.
    """
    message = ipc.read_message(stream)
    header = memoryview(message.metadata)  # which Arrow has verified
    names = list(_names(header)) if message.type == "schema" else []
    if not names:
        return stream
    start = 8 if stream.slice(0, 4).to_pybytes() == _CONTINUED else 4
    changed = bytearray(stream)
    for place in names:
        changed[start + place] = _NO_NAME
    return pa.py_buffer(changed)


def _names(header: memoryview) -> Iterator[int]:
    """Where the notes are that name an extension type."""
    kept = field(header, root(header), _HEADER)
    if kept is not None:
        yield from _named(header, follow(header, kept), _FIELDS)


def _named(header: memoryview, table: int, number: int) -> Iterator[int]:
    for column in tables(header, table, number):
        for note in tables(header, column, _NOTES):
            place, key = text(header, note, 0)
            own = text(header, note, 1)[1].startswith(_OWN) and field(header, column, _WORDS) is None
            if key == _NAME and not own:
                yield place
        yield from _named(header, column, _CHILDREN)
