"""Points in time in milliseconds of Parquet files that DuckDB reads where they are: each cell by itself.

DuckDB makes microseconds of them while it reads, and gives the whole query up at one for which there are not enough.
Arrow hands the numbers out as they are. So a query that names such a column has it read by Arrow, and all others it
names by DuckDB as ever, file by file and row beside row. Which column is read so hangs on its type alone: what the
footers say of the smallest and the largest value is data.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dpcore.datasets.in_place.connection import in_memory
from dpcore.datasets.in_place.shape import Shape
from dpcore.datasets.temporary import private_folder

_ROWS = "rows_beside"
_AT_ONCE = 65_536
_PER_MILLISECOND = 1_000
_LATEST = (2**63 - 1) // _PER_MILLISECOND  # beyond it microseconds from 1970 are no number of 64 bits
_CHANGED = "a file has other rows than a moment ago"


class Beside:
    """Files of one shape as a view, made anew before a query that names other columns beside such points in time.

    What a query names is told from its text, in which names of columns are quoted.
    """

    def __init__(self, *, shape: Shape, reach: str, view: str) -> None:
        self._shape, self._reach, self._view = shape, reach, view
        self._kinds = {**shape.kinds, **dict.fromkeys(shape.texts.values(), "VARCHAR")}
        self._shown: tuple[str, ...] | None = None

    def show(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        """Raises duckdb.Error."""
        shown = self._named(sql)
        if shown == self._shown:
            return
        selection = self._shape.selection
        if shown:
            late = {name: zone for name, zone in self._shape.late.items() if name in shown}
            names = [name for name in shown if name not in late]
            rows = RowsBeside(ordered=self._ordered, files=self._shape.files, names=names, late=late)
            connection.register(_ROWS, rows)
            cells = (f"CAST({_identifier(name)} AS {self._kinds[name]}) AS {_identifier(name)}" for name in shown)
            selection = f"SELECT {', '.join(cells)} FROM {_ROWS}"  # noqa: S608 - names that are quoted
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {_identifier(self._view)} AS {selection}")
        self._shown = shown

    def _named(self, sql: str) -> tuple[str, ...]:
        """The columns to be read where points in milliseconds are among them, else none."""
        named = [name for name in self._kinds if "SELECT * " in sql or _identifier(name) in sql]
        if len(self._shape.late) == len(self._shape.kinds):
            named = named or [next(iter(self._shape.late))]  # for rows that are only counted
        return tuple(named) if any(name in self._shape.late for name in named) else ()

    @cached_property
    def _ordered(self) -> duckdb.DuckDBPyConnection:
        with ExitStack() as until_opened:
            overflow = until_opened.enter_context(private_folder())
            connection = in_memory(overflow, reach=self._reach, ordered=True)
            until_opened.callback(connection.close)
            weakref.finalize(self, until_opened.pop_all().close)
        return connection


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsBeside:
    """Rows of several files: a stream for DuckDB, begun anew each time one is asked for.

    ``files`` gives for each file the selection of its rows without points in milliseconds; ``ordered`` is a connection
    that keeps rows in order. ``names`` are what is selected of them, and ``late`` the points in milliseconds, each with
    its time zone. One beyond ``_LATEST`` is missing in its row.
    """

    ordered: duckdb.DuckDBPyConnection
    files: Mapping[str, str]
    names: Sequence[str]
    late: Mapping[str, str | None]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    @property
    def _schema(self) -> pa.Schema:
        late = [pa.field(name, pa.timestamp("us", zone)) for name, zone in self.late.items()]
        if not self.names:
            return pa.schema(late)
        with closing(self.ordered.cursor()) as cursor:
            plain = cursor.sql(self._selection(next(iter(self.files)))).to_arrow_reader(_AT_ONCE).schema
        return pa.schema([*plain, *late])

    def _selection(self, file: str) -> str:
        listed = ", ".join(map(_identifier, self.names))
        return f"SELECT {listed} FROM ({self.files[file]})"  # noqa: S608 - names that are quoted, the server's own folder

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self._schema
        for file in self.files:
            for cells, late in self._of_file(file):
                moments = [microseconds(late.column(name), zone) for name, zone in self.late.items()]
                yield pa.RecordBatch.from_arrays([*cells, *moments], schema=schema)

    def _of_file(self, file: str) -> Iterator[tuple[list[pa.Array], pa.RecordBatch]]:
        with parquet.ParquetFile(file) as opened, closing(self.ordered.cursor()) as cursor:
            late = opened.iter_batches(_AT_ONCE, columns=list(self.late), use_threads=False)
            if not self.names:
                yield from (([], batch) for batch in late)
                return
            plain = iter(cursor.sql(self._selection(file)).to_arrow_reader(_AT_ONCE))
            yield from ((one.columns, other) for one, other in side_by_side(plain, late))


def side_by_side(
    plain: Iterator[pa.RecordBatch], late: Iterator[pa.RecordBatch]
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """The same rows of two readers, however each of them divides them.

    Raises OSError if one has more rows than the other.
    """
    one, at = None, 0
    for batch in late:
        start = 0
        while start < batch.num_rows:
            while one is None or at == one.num_rows:
                one, at = next(plain, None), 0
                if one is None:
                    raise OSError(_CHANGED)
            size = min(batch.num_rows - start, one.num_rows - at)
            yield one.slice(at, size), batch.slice(start, size)
            start, at = start + size, at + size
    if (one is not None and at < one.num_rows) or any(rest.num_rows for rest in plain):
        raise OSError(_CHANGED)


def microseconds(cells: pa.Array, zone: str | None) -> pa.Array:
    """Points in time in milliseconds, or cells of no type at all, in microseconds; one too far away is missing."""
    if pa.types.is_null(cells.type):
        return pa.nulls(len(cells), pa.timestamp("us", zone))
    numbers = np.asarray(cells.view(pa.int64()).fill_null(0))
    near = (numbers >= -_LATEST) & (numbers <= _LATEST)
    missing = ~near | np.asarray(cells.is_null())
    return pa.array(np.where(near, numbers, 0) * _PER_MILLISECOND, pa.int64(), mask=missing).view(
        pa.timestamp("us", zone)
    )


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
