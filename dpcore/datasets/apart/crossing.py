"""A table on its way from the process that read it: one Arrow stream, looked at where it lies and never copied.

Whoever reads it trusts neither side of it: the process that wrote it may have been led astray by the file. Arrow checks
every offset and every character, and what stands beside the cells, behind the stream, can be nothing but the report's
own classes, of a bounded size.
"""

from __future__ import annotations

import io
import struct
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import ipc

from dpcore.datasets.apart import beside
from dpcore.datasets.apart.beside import Beside
from dpcore.datasets.reading import bounds
from dpcore.datasets.reading.engine import text_frame
from dpcore.datasets.reading.tabulate import Tabulated

_TEXT, _NUMBER = pa.large_string(), pa.int64()
MOST_PIECES = 2_000
"""A file may hold each row in a piece of its own, and all that is done to a column is done to each piece."""
_LENGTH = struct.Struct("<Q")
"""At the very end: bytes of what stands before it, behind the stream."""


class Garbled(Exception):
    """What came back is no table."""


def write(table: Tabulated, file: IO[bytes]) -> None:
    """The table as an Arrow stream: its columns, the line of each row, and its place where rows were set aside.

    Raises UnreadableFile where the file says more beside its cells than whoever reads this takes.
    """
    frame = table.frame
    columns = [_text(frame.iloc[:, place]) for place in range(frame.shape[1])]
    numbers = [table.lines] if table.places is None else [table.lines, table.places]
    told = beside.written(
        Beside(
            names=tuple(str(name) for name in frame.columns),
            report=table.report,
            codebooks={str(name): tuple(map(str, words)) for name, words in table.codebooks.items()},
            about={str(name): str(about) for name, about in table.about.items()},
            records=table.records,
            from_rows=tuple(sorted(map(str, table.from_rows))),
        )
    )
    bounds.check_told(len(told))
    schema = pa.schema(
        [pa.field(f"c{place}", _TEXT) for place in range(len(columns))]
        + [pa.field(f"n{place}", _NUMBER) for place in range(len(numbers))]
    )
    whole = pa.Table.from_arrays([*columns, *(pa.array(each, _NUMBER) for each in numbers)], schema=schema)
    with ipc.new_stream(file, schema) as stream:
        stream.write_table(whole)
    file.write(told)
    file.write(_LENGTH.pack(len(told)))


def taken(file: IO[bytes]) -> bytes:
    """What stands in ``file`` beside the cells, taken off its end: its memory goes with it, and the cells alone are
    left. Raises Garbled.
    """
    end = file.seek(0, io.SEEK_END) - _LENGTH.size
    if end < 0:
        raise Garbled
    file.seek(end)
    (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
    if length > min(end, bounds.MOST_TOLD):
        raise Garbled
    file.seek(end - length)
    told = file.read(length)
    file.truncate(end - length)
    return told


def read(cells: Any, told: bytes) -> Tabulated:
    """The table whose ``cells`` lie in anything with Python's buffer protocol, and stay there; ``told`` is what was
    ``taken`` from behind them. Raises Garbled.
    """
    try:
        known = beside.read(told)
        whole = pa.py_buffer(cells)
        found = ipc.open_stream(whole).read_all()
        found.validate(full=True)
        width = len(known.names)
        if [field.type for field in found.schema] != [_TEXT] * width + [_NUMBER] * (found.num_columns - width):
            raise Garbled
        if any(column.num_chunks > MOST_PIECES for column in found.columns):
            raise Garbled
        lines, *places = (np.asarray(found.column(place)) for place in range(width, found.num_columns))
        if known.report.rows != found.num_rows or len(places) > 1:
            raise Garbled
    except (pa.ArrowException, ValueError, TypeError, LookupError, OSError):
        raise Garbled from None
    return Tabulated(
        frame=text_frame(found.columns[:width], list(known.names)),
        lines=lines,
        report=known.report,
        codebooks=known.codebooks,
        about=known.about,
        places=places[0] if places else None,
        records=known.records,
        kept=whole.size,
        from_rows=frozenset(known.from_rows),
    )


def _text(column: pd.Series[Any]) -> Any:
    words = pa.array(column.array, _TEXT)
    many = isinstance(words, pa.ChunkedArray) and words.num_chunks > MOST_PIECES
    return words.combine_chunks() if many else words
