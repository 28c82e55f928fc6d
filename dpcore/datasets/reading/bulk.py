"""The cells of a plain, even file, which Arrow's reader splits several times faster than DuckDB.

Plain is what ``scanning`` found out by itself: every quotation mark stands at the border of its cell or doubled inside
it, and every record has as many cells. There is one way to split such a file, and Arrow, which refuses a record with
another number of cells, is the second reader to say so. Whatever it does not take is left to DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from dpcore.datasets.at_once import at_once
from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.engine import Cells, text_frame
from dpcore.datasets.reading.survey import Survey

_PIECE = 4 << 20
_POOL = pa.system_memory_pool()  # which gives large pieces back to the system when a session ends
_MARK = b"\xef\xbb\xbf"  # Arrow drops it at the start of what it reads


def cells(data: bytes, dialect: Dialect, width: int, seen: Survey, say: Callable[[float], None]) -> Cells | None:
    """All records of a file that ``seen`` found plain and even, ``width`` cells each; None where Arrow disagrees.

    ``say`` is called with the share done, every so often, and may raise.
    """
    if seen.cuts is None:
        return None
    pieces = _pieces(data, seen.cuts)
    if any(data.startswith(_MARK, start) for start, _ in pieces):
        return None
    names = [str(place) for place in range(width)]
    quote = dialect.quote if dialect.quote and dialect.quote.encode() in data else False
    parsing = arrow_csv.ParseOptions(
        delimiter=dialect.separator,
        quote_char=quote,
        double_quote=True,
        escape_char=False,
        newlines_in_values=seen.spanning,
        ignore_empty_lines=False,
    )
    converting = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()),
        check_utf8=False,  # the whole file was decoded before
        strings_can_be_null=False,
        quoted_strings_can_be_null=False,
    )
    whole = pa.py_buffer(data)

    def read(piece: tuple[int, int]) -> pa.Table:
        start, end = piece
        reading = arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=end - start + 1)
        source = pa.BufferReader(whole.slice(start, end - start))
        return arrow_csv.read_csv(
            source, read_options=reading, parse_options=parsing, convert_options=converting, memory_pool=_POOL
        )

    tables: list[pa.Table] = []
    try:
        for table in at_once(read, pieces, lambda: say(len(tables) / len(pieces))):
            tables.append(table)
            say(len(tables) / len(pieces))
    except pa.ArrowInvalid:
        return None
    table = pa.concat_tables(tables)
    if table.num_rows != seen.counts.size or table.num_columns != width:
        return None
    return Cells(frame=text_frame(table.columns, list(range(width))), counts=np.full(len(table), width, dtype=np.int64))


def _pieces(data: bytes, cuts: tuple[int, ...]) -> list[tuple[int, int]]:
    """Beginnings and ends of pieces of the file, about so large, none of which ends within a record."""
    found, start = [], 0
    for cut in cuts:
        if cut - start >= _PIECE:
            found.append((start, cut))
            start = cut
    return [*found, (start, len(data))] if start < len(data) else found
