"""Rows of a source as places among declared options and cuts, row by row, for what must see rows more than once.

As in ``counting`` each row is read by itself, by its own cells and what was declared, whatever the others hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Integer, Select, cast, false, func, literal_column, select
from sqlalchemy.sql import FromClause

from dpcore.datasets.declaration import shown
from dpcore.datasets.fills import fill_day, fill_number
from dpcore.datasets.in_place.counting import Groups, Look, placed, raws
from dpcore.datasets.in_place.together import Placed, Whose, as_groups, parts_of
from dpcore.datasets.in_place.tongue import Cell
from dpcore.datasets.places import Places
from dpcore.datasets.range_parts import range_parts
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument
from dpcore.validate import IntArray

if TYPE_CHECKING:
    from dpcore.datasets.in_place.aggregates import InPlace

_FIRST_DAY = date(1970, 1, 1)
_NONE: Cell = literal_column("-1")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Read(Look):
    """A whole number about one row, and the place that each stands for; −1 is none of them, in both."""

    places: Callable[[IntArray], IntArray]


def read_as(stored: InPlace, column: Callable[[str], Column], asked: Places) -> tuple[Read, ...]:
    """How the target and every look are read. Raises InvalidArgument."""
    target = column(asked.target)
    first = _listed(as_groups(stored, target, None)) if asked.parts is None else _part(stored, target, asked.parts)
    return (first, *(_look(stored, column(name), cuts) for name, cuts in asked.looks))


def placed_rows(stored: InPlace, looks: Sequence[Look], whose: Whose | None, *, of_none: bool) -> Select[Any]:
    """``looks`` at the rows that count, with ``whose`` at most so many of each person; ``of_none`` of no row."""
    table: FromClause = stored.table
    if of_none:
        table = select(literal_column("*")).select_from(table).where(false()).subquery()
    if whose is not None:
        return whose.kept(table, looks, stored.tongue)
    return select(*placed(raws(table, looks).subquery(), looks))


def _look(stored: InPlace, column: Column, cuts: tuple[float, ...] | None) -> Read:
    if cuts is None:
        return _listed(as_groups(stored, column, None))
    if column.type == "date":
        return _listed(_by_day(stored, column, cuts))
    return _listed(as_groups(stored, column, np.array(cuts)))


def _by_day(stored: InPlace, column: Column, cuts: tuple[float, ...]) -> Placed:
    """How many cuts, in days since 1970, a day reaches; one outside its declared range is where the range ends."""
    if column.earliest is None or column.latest is None:
        raise InvalidArgument("columns", f"cannot include “{shown(column.name)}” until its days are declared")
    days = [_FIRST_DAY + timedelta(days=math.ceil(cut)) for cut in cuts]
    rest = None
    if (filled := fill_day(column)) is not None:
        rest = int(np.searchsorted(cuts, (filled - _FIRST_DAY).days, side="right"))
    day = stored.tongue.day(stored.cell(column.name))
    places: dict[Any, int] = {at: at for at in range(len(cuts) + 1)}
    groups = Groups(cell=stored.tongue.reached(day, days), places=places, count=len(cuts) + 1, rest=rest)
    return Placed(groups=groups, raw=day, place=lambda raw: stored.tongue.reached(raw, days))


def _part(stored: InPlace, column: Column, parts: int) -> Read:
    """In which part of its declared range a number is."""
    cell = parts_of(column, stored.number_cell(column), stored.tongue, parts, none=-1)
    rest = -1
    if column.fill is not None:
        low, high = float(column.low or 0.0), float(column.high or 0.0)
        rest = int(range_parts(np.array([fill_number(column)]), low, high, parts)[0])
    return Read(raw=_whole(cell), places=lambda found: np.where(found < 0, rest, found))


def _listed(column: Placed) -> Read:
    """The place of each value that its groups know."""
    groups = column.groups
    known = {int(value): place for value, place in groups.places.items()}  # type: ignore[call-overload] # of what this lists they are whole numbers
    table = np.full(max(known, default=-1) + 2, -1 if groups.rest is None else groups.rest, dtype=np.int64)
    for value, place in known.items():
        table[value] = place
    # of −1 the last is found
    return Read(raw=column.raw, place=lambda raw: _whole(column.place(raw)), places=lambda found: table[found])


def _whole(cell: Cell) -> Cell:
    return func.coalesce(cast(cell, Integer()), _NONE)
