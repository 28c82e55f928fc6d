"""Columns of a Parquet file of which one cell can make DuckDB give the whole file up, read by Arrow instead.

These are times of day, points in time in milliseconds, which may be too far away, and JSON, which may be none. And
spans of time, which DuckDB takes for whole numbers, and decimals of many digits, which it takes for doubles. All else
is not read here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dpcore.datasets.arrow_cells import sound
from dpcore.datasets.decimal_texts import MOST_DIGITS
from dpcore.datasets.reading.bounds import check_text
from dpcore.datasets.span_columns import NOTE, spans

_AT_ONCE, _TEXTS_AT_ONCE = 65_536, 1_024


def apart(file: str, leaves: Mapping[int, int]) -> dict[int, pa.ChunkedArray]:
    """By their place such columns of a file, of those by whose place ``leaves`` has that of their only leaf; a cell
    that is none of its kind is missing.

    Raises pa.ArrowException or OSError for a damaged file, UnreadableFile for too much text.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(file) as opened:
        kinds = {place: _kind(opened.schema.column(leaf)) for place, leaf in leaves.items()}
        units = {place: field.type for place, field in spans((opened.metadata.metadata or {}).get(NOTE, b"")).items()}
        small = {at: leaves[at] for at, kind in kinds.items() if kind == "small" or (kind == "number" and at in units)}
        texts = {place: leaves[place] for place, kind in kinds.items() if kind == "json"}
        return {**_read(opened, small, _AT_ONCE, units), **_read(opened, texts, _TEXTS_AT_ONCE, {})}


def _kind(column: Any) -> str:
    told: dict[str, Any] = json.loads(column.logical_type.to_json())
    if told["Type"] == "Time" or (told["Type"] == "Timestamp" and told["timeUnit"] == "milliseconds"):
        return "small"
    if told["Type"] == "Decimal" and told["precision"] > MOST_DIGITS:
        return "small"
    if told["Type"] == "None" and column.physical_type == "INT64":
        return "number"
    return "json" if told["Type"] == "JSON" else ""


def _read(
    opened: Any, places: Mapping[int, int], at_once: int, units: Mapping[int, pa.DataType]
) -> dict[int, pa.ChunkedArray]:
    """The columns at these places, which have these leaves; numbers that are spans of time are in their ``units``."""
    parts: dict[int, list[pa.Array]] = {place: [] for place in places}
    if not places:
        return {}
    total = 0
    groups = list(range(opened.num_row_groups))
    leaves = list(places.values())
    for batch in opened.reader.iter_batches(at_once, row_groups=groups, column_indices=leaves, use_threads=False):
        total += batch.nbytes
        if at_once == _TEXTS_AT_ONCE:
            check_text(total, 0)
        for place, column in zip(places, batch.columns, strict=True):
            parts[place] += sound(pa.table([_plain(column, units.get(place))], ["c"])).column(0).chunks
    return {place: pa.chunked_array(found) for place, found in parts.items()}


def _plain(cells: pa.Array, unit: pa.DataType | None) -> pa.Array:
    if unit is not None and pa.types.is_int64(cells.type):  # of a list of words, which Arrow itself takes for numbers
        return cells.view(unit)
    return cells.storage if isinstance(cells.type, pa.BaseExtensionType) else cells
