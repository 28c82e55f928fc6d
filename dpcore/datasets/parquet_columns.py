"""The columns of a Parquet file, among the elements of its footer; and what DuckDB calls columns of these names."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa


def columns(inside: Sequence[int | None]) -> list[tuple[int, int]]:
    """Of each column the place of its element, and that of the first of the leaves that Parquet keeps its cells in.

    ``inside`` says of each element, the root first, how many of the next ones are inside of it.
    """
    found: list[tuple[int, int]] = []
    open_, leaf = [1], 0
    for element, many in enumerate(inside):
        while not open_[-1]:
            open_.pop()
        open_[-1] -= 1
        if len(open_) == 2:
            found.append((element, leaf))
        leaf += not many
        open_.append(many or 0)
    return found


def duckdb_names(connection: duckdb.DuckDBPyConnection, names: Sequence[str], unnamed: str = "C") -> list[str]:
    """It takes none twice, in capitals or not, and none that is empty: such a column is called by its place."""
    none = pa.array([], pa.int64())
    called = [name or f"{unnamed}{place}" for place, name in enumerate(names)]
    return list(connection.from_arrow(pa.Table.from_arrays([none] * len(called), called)).columns)
