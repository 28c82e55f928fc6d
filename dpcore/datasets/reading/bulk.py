"""The cells of a plain, even file, which Arrow's reader splits several times faster than DuckDB.

Plain is what ``scanning`` found out by itself: every quotation mark stands at the border of its cell or doubled inside
it, and every record has as many cells. There is one way to split such a file, and Arrow, which refuses a record with
another number of cells, is the second reader to say so. Whatever it does not take is left to DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from dpcore.datasets.at_once import at_once, waited
from dpcore.datasets.reading.bounds import MOST_UNPACKED_CELLS
from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.engine import Cells, text_frame
from dpcore.datasets.reading.survey import WIDEST, Survey

_PIECE = 4 << 20
_POOL = pa.system_memory_pool()  # which gives large pieces back to the system when a session ends
_MARK = b"\xef\xbb\xbf"  # Arrow drops it at the start of what it reads


class Ahead:
    """Reads the cells of a file while the survey still goes over it: kept only if all of it proves plain and even.

    It is told by the survey how far records are known to be whole. ``cells`` gives what was read, and the rest with it.
    """

    def __init__(self, data: bytes, dialect: Dialect) -> None:
        self._data = data
        self._whole = pa.py_buffer(data)
        self._dialect = dialect
        self._quote = dialect.quote if dialect.quote and dialect.quote.encode() in data else False
        self._begun: list[tuple[int, Future[pa.Table]]] = []  # where each piece ends
        self._as: tuple[int, bool] | None = None
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def whole_until(self, cut: int, width: int, records: int, spanning: bool) -> None:
        """Records before ``cut`` are whole, so many, and of ``width`` cells if the file is even."""
        start = self._begun[-1][0] if self._begun else 0
        if cut - start < _PIECE or not 1 < width <= WIDEST or width * records > MOST_UNPACKED_CELLS:
            return
        if self._as is None:
            self._as = width, spanning
            self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="cells")
        if self._as == (width, spanning) and self._threads is not None:
            self._begun.append((cut, self._threads.submit(self._read, width, spanning, (start, cut))))

    def cells(self, seen: Survey, width: int, say: Callable[[float], None]) -> Cells | None:
        """All records of a file that ``seen`` found plain and even, ``width`` cells each; None where Arrow disagrees.

        ``say`` is called with the share done, every so often, and may raise.
        """
        if seen.cuts is None:
            return None
        begun = self._begun if self._as == (width, seen.spanning) else []
        known = begun[-1][0] if begun else 0
        rest = _pieces(self._data, tuple(cut for cut in seen.cuts if cut > known), known)
        if any(self._data.startswith(_MARK, start) for start in (0, *(cut for cut, _ in begun), *dict(rest))):
            return None
        tables: list[pa.Table] = []
        number = len(begun) + len(rest)
        try:
            for table in chain(
                waited((piece for _, piece in begun), lambda: say(len(tables) / number)),
                at_once(partial(self._read, width, seen.spanning), rest, lambda: say(len(tables) / number)),
            ):
                tables.append(table)
                say(len(tables) / number)
        except pa.ArrowInvalid:
            return None
        table = pa.concat_tables(tables)
        if table.num_rows != seen.counts.size or table.num_columns != width:
            return None
        counts = np.full(len(table), width, dtype=np.int64)
        return Cells(frame=text_frame(table.columns, list(range(width))), counts=counts)

    def _read(self, width: int, spanning: bool, piece: tuple[int, int]) -> pa.Table:
        """Raises pa.ArrowInvalid where a record is of another width."""
        start, end = piece
        names = [str(place) for place in range(width)]
        return arrow_csv.read_csv(
            pa.BufferReader(self._whole.slice(start, end - start)),
            read_options=arrow_csv.ReadOptions(use_threads=False, column_names=names, block_size=end - start + 1),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self._dialect.separator,
                quote_char=self._quote,
                double_quote=True,
                escape_char=False,
                newlines_in_values=spanning,
                ignore_empty_lines=False,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                check_utf8=False,  # the whole file was decoded before
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
            memory_pool=_POOL,
        )


def _pieces(data: bytes, cuts: tuple[int, ...], start: int) -> list[tuple[int, int]]:
    """Beginnings and ends of pieces of the file behind ``start``, about so large, that end with records."""
    found = []
    for cut in cuts:
        if cut - start >= _PIECE:
            found.append((start, cut))
            start = cut
    return [*found, (start, len(data))] if start < len(data) else found
