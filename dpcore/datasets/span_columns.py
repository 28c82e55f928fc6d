"""Which columns of a Parquet file are spans of time.

Parquet has no kind for them: they are whole numbers there, in a unit that one row can decide for all. Only the note
that Arrow makes of its own types, in the file's metadata, says what they are.
"""

from __future__ import annotations

import base64

import pyarrow as pa
from pyarrow import ipc

from dpcore.datasets.extension_types import as_stored

NOTE = b"ARROW:schema"
"""Under which the metadata hold it."""


def spans(note: bytes) -> dict[int, pa.Field]:
    """By their place the columns that such a note calls spans of time, each with its unit. A note that none can read
    says nothing."""
    try:
        noted = ipc.read_schema(as_stored(pa.py_buffer(base64.b64decode(note))))
    except (pa.ArrowException, OSError, EOFError, ValueError):
        return {}
    told = {place: field.with_type(_of_each(field.type)) for place, field in enumerate(noted)}
    return {place: field for place, field in told.items() if pa.types.is_duration(field.type)}


def _of_each(kind: pa.DataType) -> pa.DataType:
    """The kind of a cell, where a column is kept as a list of words."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
