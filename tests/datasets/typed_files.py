"""Arrow tables as bytes of the kinds of files that have types."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.feather as ft
import pyarrow.parquet as pq


def as_parquet(table: pa.Table, **how: Any) -> bytes:
    made = io.BytesIO()
    pq.write_table(table, made, **how)
    return made.getvalue()


def as_feather(table: pa.Table, **how: Any) -> bytes:
    made = io.BytesIO()
    ft.write_feather(table, made, **how)
    return made.getvalue()


def as_stream(table: pa.Table) -> bytes:
    made = io.BytesIO()
    with pa.ipc.new_stream(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()
