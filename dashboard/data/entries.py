"""How far one person moves the entries of a column, and of what that was said.

Nobody can check such a statement, so it counts for exactly what it was said of: these cells, read and worked on like
this, whose rows are what they are and protect whom they do. It is kept beside all of that, and whatever else reaches a
table with one (a declaration, another sheet, a step taken back) says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpcore.datasets import Column, Schema
from dpcore.datasets.schema import Decimal, EachRow, unmoved
from dpcore.datasets.steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The entries of a table: its ``fingerprint``, or the name of a source's; the ``choices`` by which it was read
    beside those that columns state, and the ``steps`` done since."""

    fingerprint: str
    choices: frozenset[tuple[str, Any]]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one person said: that one ``unit`` moves an entry of ``column`` by at most ``sensitivity``, and whether each
    is counted in plain numbers."""

    column: str
    sensitivity: float | None
    counts: bool
    decimal: Decimal
    type: str
    each_row: EachRow
    unit: str
    entries: Entries


def says(column: Column) -> bool:
    """Whether a column states how far one moves its entries, or that they count people."""
    return column.sensitivity is not None or column.counts


def reach(column: Column, schema: Schema, entries: Entries) -> Reach:
    """What ``column`` states, of a table with this schema and these entries."""
    return Reach(
        column=column.name,
        sensitivity=column.sensitivity,
        counts=column.counts,
        decimal=column.decimal,
        type=column.type,
        each_row=schema.each_row,
        unit=schema.unit,
        entries=entries,
    )


def told(schema: Schema, said: Iterable[Reach], entries: Entries) -> tuple[Column, ...]:
    """The columns, where each states how far one moves its entries if that was ``said`` of them as they are."""
    known = frozenset(said)
    return tuple(
        column if not says(column) or reach(column, schema, entries) in known else unmoved((column,))[0]
        for column in schema.columns
    )
