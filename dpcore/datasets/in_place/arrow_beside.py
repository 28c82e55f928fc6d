"""Columns of Parquet files that Arrow reads beside DuckDB, where they are: each cell by itself.

DuckDB makes microseconds of points in time in milliseconds while it reads, and gives the whole query up at one for
which there are not enough; and doubles of decimals of many digits, which are not rounded to the nearest. Arrow hands
both out as they are. So a query that names such a column has it read by Arrow, in those files that hold it so, and all
else it names by DuckDB as ever, file by file and row beside row. Which column is read so hangs on its type alone: what
the footers say of the smallest and the largest value is data.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dpcore.datasets.arrow_cells import sound
from dpcore.datasets.in_place.connection import in_memory
from dpcore.datasets.in_place.file_types import MOMENTS, identifier, moment_text
from dpcore.datasets.in_place.shape import Shape
from dpcore.datasets.temporary import private_folder

_ROWS = "rows_beside"
_AT_ONCE = 65_536
_PER_MILLISECOND = 1_000
_LATEST = (2**63 - 1) // _PER_MILLISECOND  # beyond it microseconds from 1970 are no number of 64 bits
_CHANGED = "a file has other rows than a moment ago"


class Beside:
    """Files of one shape as a view, made anew before a query that names a column which Arrow reads.

    What a query names is told from its text, in which names of columns are quoted.
    """

    def __init__(self, *, shape: Shape, reach: str, view: str) -> None:
        self._shape, self._reach, self._view = shape, reach, view
        self._late = shape.late | {shape.texts[name] for name in shape.late if name in shape.texts}
        self._shown: tuple[str, ...] | None = None

    def show(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        """Raises duckdb.Error."""
        shown = self._named(sql)
        if shown == self._shown:
            return
        selection = self._shape.selection
        if shown:
            rows = RowsBeside(ordered=self._ordered, shape=self._shape, names=shown)
            connection.register(_ROWS, rows)
            cells = {**{name: identifier(name) for name in shown}, **self._moments(shown)}
            kinds = {**self._shape.kinds, **dict.fromkeys(self._shape.texts.values(), "VARCHAR")}
            listed = ", ".join(f"CAST({cell} AS {kinds[name]}) AS {identifier(name)}" for name, cell in cells.items())
            selection = f"SELECT {listed} FROM {_ROWS}"  # noqa: S608 - names that are quoted
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {identifier(self._view)} AS {selection}")
        self._shown = shown

    def _named(self, sql: str) -> tuple[str, ...]:
        """The columns to be read where one that Arrow reads is among them, else none."""
        shape = self._shape
        named = [
            name
            for name in (*shape.kinds, *shape.texts.values())
            if "SELECT * " in sql or identifier(name) in sql or identifier(shape.texts.get(name, name)) in sql
        ]
        return tuple(named) if any(name in self._late for name in named) else ()

    def _moments(self, shown: Sequence[str]) -> dict[str, str]:
        """What points in time name by their texts: those that Arrow reads by their microseconds."""
        shape = self._shape
        return {
            text: f"coalesce({identifier(text)}, {moment_text(name, shape.kinds[name])})"
            for name, text in shape.texts.items()
            if text in shown and name in shape.late and shape.kinds[name] in MOMENTS.values()
        }

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
    """Rows of several files, of the columns ``names``: a stream for DuckDB, begun anew each time one is asked for.

    ``ordered`` is a connection that keeps rows in order. A point in time beyond ``_LATEST`` is missing in its row.
    """

    ordered: duckdb.DuckDBPyConnection
    shape: Shape
    names: Sequence[str]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    @property
    def _schema(self) -> pa.Schema:
        with closing(self.ordered.cursor()) as cursor:
            return cursor.sql(self._selection(next(iter(self.shape.files)))).to_arrow_reader(_AT_ONCE).schema

    def _selection(self, file: str) -> str:
        listed = ", ".join(map(identifier, self.names))
        return f"SELECT {listed} FROM ({self.shape.files[file]})"  # noqa: S608 - names that are quoted, the server's own folder

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema = self._schema
        for file in self.shape.files:
            for plain, late in self._of_file(file):
                cells = {name: late.column(name) for name in late.schema.names}
                found = dict(zip(self.names, plain.columns, strict=True))
                for name, column in cells.items():
                    found.update(self._read(name, column))
                yield pa.RecordBatch.from_arrays([found[name] for name in self.names], schema=schema)

    def _of_file(self, file: str) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        with parquet.ParquetFile(file) as opened, closing(self.ordered.cursor()) as cursor:
            leaves = self.shape.by_arrow[file]
            named = sorted((name for name in self.names if name in leaves), key=leaves.__getitem__)
            plain = iter(cursor.sql(self._selection(file)).to_arrow_reader(_AT_ONCE))
            if not named:
                yield from ((batch, batch.select([])) for batch in plain)
                return
            late = opened.reader.iter_batches(
                _AT_ONCE,
                row_groups=list(range(opened.num_row_groups)),
                column_indices=[leaves[name] for name in named],
                use_threads=False,
            )
            yield from side_by_side(plain, (batch.rename_columns(named) for batch in late))

    def _read(self, name: str, cells: pa.Array) -> dict[str, pa.Array]:
        """A column that Arrow reads, as DuckDB would if it could; and of a decimal the text."""
        kind = self.shape.kinds[name]
        if kind in MOMENTS.values():
            return {name: microseconds(cells, None if kind == MOMENTS["moment"] else "UTC")}
        (texts,) = sound(pa.table([cells], ["c"])).column(0).cast(pa.string()).chunks
        return {name: texts.cast(pa.float64()), self.shape.texts[name]: texts}


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
    """Points in time in milliseconds in microseconds; one too far away is missing."""
    numbers = np.asarray(cells.view(pa.int64()).fill_null(0))
    near = (numbers >= -_LATEST) & (numbers <= _LATEST)
    missing = ~near | np.asarray(cells.is_null())
    return pa.array(np.where(near, numbers, 0) * _PER_MILLISECOND, pa.int64(), mask=missing).view(
        pa.timestamp("us", zone)
    )
