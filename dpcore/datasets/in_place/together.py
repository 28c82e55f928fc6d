"""What a question asks of several columns of the same rows, in one query: how often they fall together, and sums.

As in ``counting`` each row is read by itself; one row more moves each table by one in one place, each sum by its own
parts, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Double, Select, and_, case, cast, func, literal_column, select, tuple_, union_all
from sqlalchemy.sql import ColumnElement, FromClause

from dpcore.datasets.declaration import shown
from dpcore.datasets.fills import fill_number
from dpcore.datasets.in_place.counting import (
    MOST_OPTIONS,
    Groups,
    Look,
    bounds_of,
    by_options,
    finite,
    inside,
    kept,
    whole_number,
)
from dpcore.datasets.in_place.tongue import Cell, Tongue, number
from dpcore.datasets.range_parts import range_parts
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from dpcore.datasets.in_place.aggregates import InPlace


_AT_ONCE = 30  # columns that are looked at in one reading of a table: an engine numbers its groupings by bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Whose a row is, whether it says so, and how many rows of one person count."""

    person: Cell
    there: ColumnElement[bool]
    most: int

    def kept(self, table: FromClause, looks: Sequence[Look], tongue: Tongue) -> Select[Any]:
        """``looks`` at the rows that count: see ``counting.kept``."""
        return kept(table, looks, person=self.person, there=self.there, most=self.most, tongue=tongue)


def crossed(
    stored: InPlace, target: Column, looks: Sequence[tuple[Column, FloatArray | None]], whose: Whose | None
) -> list[IntArray]:
    """Of each column that is looked at, how many rows of each option of ``target`` fall where: see
    ``OpenRows.crossed``. Raises InvalidArgument, UnreadableFile.
    """
    every = [as_groups(stored, target, None), *(as_groups(stored, column, cuts) for column, cuts in looks)]
    found = [np.zeros((each.groups.count + 1, every[0].groups.count), dtype=np.int64) for each in every[1:]]
    if whose is None and stored.tongue.several_groupings:
        parts = [
            _at_once(stored.table, every[first : first + _AT_ONCE], every[0], first - 1)
            for first in range(1, len(every), _AT_ONCE)
        ]
    else:
        if whose is None:
            pairs = [_gathered(stored.table, each, every[0]) for each in every[1:]]
        else:
            rows = whose.kept(stored.table, every, stored.tongue).cte("kept_rows")
            pairs = [_sizes(rows.c[f"c{at}"], rows.c.c0, rows) for at in range(1, len(every))]
        parts = [select(literal_column(str(at)).label("part"), *pair.subquery().c) for at, pair in enumerate(pairs)]
    for at, place, answer, size in stored.select(parts[0] if len(parts) == 1 else union_all(*parts)):
        told = every[0].groups.place(answer)
        if told is not None:
            groups = every[whole_number(at) + 1].groups
            where = groups.place(place)
            found[whole_number(at)][groups.count if where is None else where, told] += whole_number(size)
    return found


def range_totals(stored: InPlace, columns: Sequence[Column], parts: int, whose: Whose | None) -> IntArray:
    """Sums of the values' parts of their declared ranges: see ``OpenRows.range_totals``. Raises InvalidArgument."""
    cells = [
        parts_of(column, stored.number_cell(column), stored.tongue, parts, none=_filled(column, parts))
        for column in columns
    ]
    if whose is None:
        named = (cell.label(f"c{number}") for number, cell in enumerate(cells))
        rows = select(*named).select_from(stored.table).subquery()
    else:
        rows = whose.kept(stored.table, [Look(raw=cell) for cell in cells], stored.tongue).subquery()
    found = stored.select(select(*(func.sum(cell) for cell in rows.c)))
    return np.array([0 if total is None else whole_number(total) for total in found[0]], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Look):
    """A column as groups. An engine works out a step of its own once for each row, or with ``gather`` once for each
    different ``raw``, which is quicker.
    """

    groups: Groups
    gather: bool = False


def as_groups(stored: InPlace, column: Column, cuts: FloatArray | None) -> Placed:
    (cell, kind), tongue = stored.declared(column), stored.tongue
    if cuts is not None:
        cell = stored.number_cell(column)
        low, high = bounds_of(column)
        # Between cuts that lie within the bounds a value beyond them falls where the bound does.
        as_is = cuts.size > 0 and low < cuts[0] and cuts[-1] <= high
        value = case((finite(cell), tongue.double(cell) if as_is else inside(column, cell, tongue)))
        groups = _by_cut(column, value, cuts, tongue)
        return Placed(groups=groups, raw=value, place=lambda raw: tongue.reached(raw, cuts.tolist()))
    read, gather = by_options(column, kind, tongue), kind == "text" and tongue.letter_by_letter
    return Placed(groups=read(cell), raw=cell, place=lambda raw: read(raw).cell, gather=gather)


def _at_once(table: FromClause, looks: Sequence[Placed], target: Placed, first: int) -> Select[Any]:
    """As ``_gathered`` of each look, numbered from ``first`` on, by one reading of the table for all of them."""
    raws = select(target.raw.label("answer"), *(look.raw.label(f"c{at}") for at, look in enumerate(looks)))
    raw = raws.select_from(table).subquery()
    cells = [raw.c[f"c{at}"] if look.gather else look.place(raw.c[f"c{at}"]) for at, look in enumerate(looks)]
    answer = raw.c.answer if target.gather else target.place(raw.c.answer)
    rows = select(answer.label("answer"), *(cell.label(f"c{at}") for at, cell in enumerate(cells))).subquery()
    named = [rows.c[f"c{at}"] for at in range(len(looks))]
    groupings = func.grouping_sets(*(tuple_(rows.c.answer, cell) for cell in named))
    which = func.grouping(*named).label("which")  # a bit for each look, 0 of the one that is grouped by
    found = select(which, *rows.c, func.count().label("size")).group_by(groupings).subquery()
    bits = [2 ** len(looks) - 1 - 2 ** (len(looks) - 1 - at) for at in range(len(looks))]
    read = [look.place(found.c[f"c{at}"]) if look.gather else found.c[f"c{at}"] for at, look in enumerate(looks)]
    here = [found.c.which == literal_column(str(bit)) for bit in bits]
    placed = select(
        case(*((one, literal_column(str(first + at))) for at, one in enumerate(here))).label("part"),
        case(*zip(here, read, strict=True)).label("place"),
        (target.place(found.c.answer) if target.gather else found.c.answer).label("answer"),
        found.c.size,
    ).subquery()
    keys = (placed.c.part, placed.c.place, placed.c.answer)
    return select(*keys, func.sum(placed.c.size).label("size")).group_by(*keys)


def _gathered(table: FromClause, look: Placed, target: Placed) -> Select[Any]:
    raw = select(look.raw.label("place"), target.raw.label("answer")).select_from(table).subquery()
    place = raw.c.place if look.gather else look.place(raw.c.place)
    answer = raw.c.answer if target.gather else target.place(raw.c.answer)
    rows = select(place.label("place"), answer.label("answer")).subquery()
    sizes = _sizes(rows.c.place, rows.c.answer, rows)
    if not look.gather and not target.gather:
        return sizes
    found = sizes.subquery()
    place = look.place(found.c.place) if look.gather else found.c.place
    answer = target.place(found.c.answer) if target.gather else found.c.answer
    placed = select(place.label("place"), answer.label("answer"), found.c.size).subquery()
    named: tuple[Cell, ...] = (placed.c.place, placed.c.answer, func.sum(placed.c.size).label("size"))
    return select(*named).group_by(placed.c.place, placed.c.answer)


def _sizes(place: Cell, answer: Cell, rows: FromClause) -> Select[Any]:
    named: tuple[Cell, ...] = (place.label("place"), answer.label("answer"), func.count().label("size"))
    return select(*named).select_from(rows).group_by(place, answer)


def _by_cut(column: Column, value: Cell, cuts: FloatArray, tongue: Tongue) -> Groups:
    """How many of the ascending ``cuts`` (k,) a number reaches, 0 to k; what is not finite is none."""
    if cuts.size > MOST_OPTIONS:
        raise InvalidArgument(
            "columns", f"cannot include “{shown(column.name)}” of this source: it has more than {MOST_OPTIONS:,} cuts"
        )
    filled = None if column.fill is None else int(np.searchsorted(cuts, fill_number(column), side="right"))
    places: dict[Any, int] = {at: at for at in range(cuts.size + 1)}
    return Groups(cell=tongue.reached(value, cuts.tolist()), places=places, count=cuts.size + 1, rest=filled)


def parts_of(column: Column, cell: Cell, tongue: Tongue, parts: int, *, none: int) -> Cell:
    """``range_parts`` in the engine's own arithmetic, step by step the same doubles; ``none`` for no finite number."""
    bounds_of(column)
    low, high = float(column.low or 0.0), float(column.high or 0.0)
    share = tongue.quotient(inside(column, cell, tongue) - number(low), high - low)
    clipped = case((share < number(0.0), number(0.0)), (share > number(1.0), number(1.0)), else_=share)
    exact: Cell = cast(clipped, Double()) * number(float(parts))
    floor = tongue.whole(exact)
    half, over = number(0.5), exact - floor  # the difference of a double and its floor is exact
    up = case((over > half, 1), (and_(over == half, floor % 2 == 1), 1), else_=0)
    return case((finite(cell), floor + up), else_=literal_column(str(none)))


def _filled(column: Column, parts: int) -> int:
    bounds_of(column)
    low, high = float(column.low or 0.0), float(column.high or 0.0)
    return int(range_parts(np.array([fill_number(column)]), low, high, parts)[0])
