"""Cells of Arrow columns that are none of their column's kind: missing in their row, and no other with them.

What holds a column together (how long its cells are, which word of its list each one is) is checked first, whatever its
cells say: a table in which that is damaged is none at all.

Where one row makes all of its column what DuckDB does not read, or not as it is, the cells are given as texts: bytes,
which pandas writes of texts among which is one of bytes, and decimals of many digits; halves of a single as singles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.decimal_texts import of_arrow

_DAY = 86_400
_IN_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LARGEST = 2**63 - 1
_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
_TEXTS = {of_bytes: text for text, of_bytes in _BYTES.items()}
_FIRST = -9_223_372_022_400_000_000
"""Microseconds from 1970 to the first day that DuckDB writes as a text, 290309-12-22 (BC)."""


def sound(table: pa.Table) -> pa.Table:
    """A table of flat columns without the cells that cannot be read. Raises pa.ArrowException for a damaged one."""
    columns = [pa.chunked_array([_sound(part) for part in _parts(column)]) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names, metadata=table.schema.metadata)


def _parts(column: pa.ChunkedArray) -> list[pa.Array]:
    """One at least, which tells of what kind the cells are."""
    return column.chunks or [pa.array([], column.type)]


def is_read(kind: pa.DataType) -> bool:
    """Whether cells of a kind are read, as texts, numbers, days …: lists, records and the like are not, wherever they
    are kept, nor are bytes, so many to a cell, that are no UUID."""
    if isinstance(kind, pa.BaseExtensionType):
        return isinstance(kind, pa.UuidType) or is_read(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_read(kind.value_type)
    return not (pa.types.is_nested(kind) or pa.types.is_fixed_size_binary(kind))


def _sound(cells: pa.Array) -> pa.Array:
    kind = cells.type
    if isinstance(kind, pa.BaseExtensionType):
        held = _sound(cells.storage)
        return pa.ExtensionArray.from_storage(kind, held) if held.type == kind.storage_type else held
    if pa.types.is_dictionary(kind):
        words = _sound(cells.dictionary)
        found = pa.DictionaryArray.from_arrays(cells.indices, words, ordered=kind.ordered, safe=False)
        found.validate(full=True)
        return found
    if pa.types.is_run_end_encoded(kind):
        return _sound_runs(cells)
    if kind in _TEXTS:
        return _sound(cells.view(_TEXTS[kind]))
    raw = _raw(kind)
    if raw is None:
        cells.validate(full=True)
        return cells.cast(pa.float32()) if pa.types.is_float16(kind) else cells
    held = pa.Array.from_buffers(raw, len(cells), cells.buffers(), offset=cells.offset)
    held.validate(full=True)
    if len(cells) and pa.types.is_temporal(kind):
        found = _within(cells, raw, _reach(kind))
        return _whole_days(found) if pa.types.is_date64(kind) else found
    valid = _each_valid(cells)
    return of_arrow(valid) if pa.types.is_decimal256(kind) else valid


def _sound_runs(cells: pa.Array) -> pa.Array:
    ends, values = cells.run_ends, cells.values
    ends.validate(full=True)
    found = pa.RunEndEncodedArray.from_arrays(ends, _sound(values)).slice(cells.offset, len(cells))
    found.validate(full=True)
    if len(found) != len(cells):
        raise pa.ArrowInvalid("the runs end before the rows do")
    return found


def _raw(kind: pa.DataType) -> pa.DataType | None:
    """What cells of a kind are kept as, where not everything that can be kept so is of that kind."""
    if pa.types.is_decimal(kind):
        return pa.binary(kind.byte_width)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    return _BYTES.get(kind)


def _reach(kind: pa.DataType) -> tuple[int, int]:
    """The first and the last number of a kind of time that stands for a time which DuckDB can write."""
    if pa.types.is_date32(kind):
        return -(2**31), 2**31 - 1
    if pa.types.is_date64(kind):
        return -(2**31) * _DAY * 1000, 2**31 * _DAY * 1000 - 1
    parts = _IN_A_SECOND[kind.unit]
    if pa.types.is_time(kind):
        return 0, _DAY * parts
    is_span = pa.types.is_duration(kind)
    if kind.unit == "ns" or (is_span and kind.unit == "us"):
        return -_LARGEST - 1, _LARGEST
    each = 10**6 // parts  # microseconds, which DuckDB counts in
    return -((_LARGEST if is_span else -_FIRST) // each), _LARGEST // each


def _within(cells: pa.Array, raw: pa.DataType, reach: tuple[int, int]) -> pa.Array:
    """DuckDB may look at the number of a missing cell too, which can be any."""
    low, high = reach
    numbers = pa.Array.from_buffers(raw, len(cells), [None, cells.buffers()[1]], offset=cells.offset)
    found = pc.min_max(numbers).as_py()
    if low <= found["min"] <= found["max"] <= high:
        return cells
    held = numbers.to_numpy()
    within = (held >= low) & (held <= high)
    missing = ~within | np.asarray(cells.is_null())
    return pa.array(np.where(within, held, 0), raw, mask=missing).view(cells.type)


def _whole_days(cells: pa.Array) -> pa.Array:
    """Cut as DuckDB does: in a list of words, or in runs, Arrow refuses all for one that is none."""
    days = pc.divide(cells.view(pa.int64()), _DAY * 1000)
    return pc.multiply(days, _DAY * 1000).view(cells.type)


def _each_valid(cells: pa.Array) -> pa.Array:
    if _is_valid(cells):
        return cells
    valid = np.zeros(cells.offset + len(cells), dtype=bool)
    valid[cells.offset :] = np.asarray(cells.is_valid())
    valid[[cells.offset + place for place in _invalid(cells, 0)]] = False
    present = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(cells.type, len(cells), [present, *cells.buffers()[1:]], offset=cells.offset)


def _invalid(cells: pa.Array, start: int) -> Iterator[int]:
    """The places of cells that are none, narrowed down by halves: so that a few of them cost next to nothing."""
    if _is_valid(cells):
        return
    if len(cells) == 1:
        yield start
        return
    half = len(cells) // 2
    yield from _invalid(cells.slice(0, half), start)
    yield from _invalid(cells.slice(half), start + half)


def _is_valid(cells: Any) -> bool:
    try:
        cells.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
