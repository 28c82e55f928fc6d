"""How many rows fall where, counted by the engine that has them: each row is read by itself, whatever the others hold.

So one row more moves one number by one and no other, however an engine compares texts, and no cell makes a question
fail: a column is only read as what its own type always fits, and there are never more groups than were declared.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from sqlalchemy import Double, Select, String, and_, case, cast, false, func, literal, literal_column, select, true
from sqlalchemy.sql import ColumnElement, FromClause

from dpcore.datasets.declaration import shown
from dpcore.datasets.in_place.tongue import FITS, Cell, Kind, Tongue
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument

MOST_OPTIONS = 1000
"""Options that one question about a table in place may have: each of them is part of what its engine is asked."""
_KEY = "epsilon-lab rows"  # public: which rows of a person stay need only be the same for everyone


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """An expression about one row, what each of its values means as a place from 0, and how many places there are.

    ``rest`` is the place of all other values, None where they count for none.
    """

    cell: Cell
    places: Mapping[Hashable, int]
    count: int
    rest: int | None = None

    def place(self, value: Any) -> int | None:
        """Where a row with this value counts."""
        known = value.isoformat()[:10] if isinstance(value, date) else value
        return self.places.get(known, self.rest)


def check(column: Column, kind: Kind, *, whose: bool) -> None:
    """Whether a column of this kind can be read as declared. ``whose``: it tells rows or people apart.

    Raises InvalidArgument.
    """
    name = shown(column.name)
    if kind not in FITS[column.type]:
        raise InvalidArgument("columns", f"cannot include “{name}” as declared: the source holds another type there")
    if whose and column.type != "text":
        raise InvalidArgument("columns", f"cannot include “{name}”: it tells rows apart, so that each counts one")


def by_option(column: Column, cell: Cell, kind: Kind, tongue: Tongue) -> Groups:
    """Declared options; no and yes. Raises InvalidArgument for a column without."""
    missing = {word.strip().lower() for word in column.missing_words}
    if column.type == "yes/no":
        rest = None if column.fill is None else int(str(column.fill).lower() in column.yes_words)
        return Groups(cell=_answer(column, cell, kind, missing), places={1: 1, 0: 0}, count=2, rest=rest)
    if column.type != "category" or not column.categories:
        raise InvalidArgument("column", "must have declared options")
    if len(column.categories) > MOST_OPTIONS:
        raise InvalidArgument(
            "columns",
            f"cannot include “{shown(column.name)}” of this source: it has more than {MOST_OPTIONS:,} options",
        )
    there = tuple(option for option in column.categories if option.strip().lower() not in missing)
    places: dict[Hashable, int] = {}
    for at, option in enumerate(there):
        places[option] = places[at] = column.categories.index(option)
    return Groups(
        cell=tongue.option(_trimmed(cell), there) if there else literal_column("-1"),
        places=places,
        count=len(column.categories),
        rest=None if column.fill is None else column.categories.index(str(column.fill)),
    )


def by_day(column: Column, cell: Cell, tongue: Tongue, first: date, days: int) -> Groups:
    """The days from ``first`` on; rows of other days count for none."""
    day = tongue.day(cell)
    if column.fill is not None:
        day = func.coalesce(day, literal(date.fromisoformat(str(column.fill))))
    last = first + timedelta(days=days - 1)
    return Groups(
        cell=case((and_(day >= literal(first), day <= literal(last)), day)),
        places={(first + timedelta(days=place)).isoformat(): place for place in range(days)},
        count=days,
    )


def by_unit(column: Column, cell: Cell, tongue: Tongue, unit: float) -> tuple[int, Cell]:
    """A number, and how many ``unit`` more each value is, moved to the nearer declared bound: to the nearest whole
    number, halves up. None for what is not finite. Raises InvalidArgument.
    """
    if column.low is None or column.high is None:
        raise InvalidArgument("column", "must have declared bounds")
    low, high = float(column.low), float(column.high)
    if column.type == "integer":
        low, high = float(math.ceil(low)), float(math.floor(high))
    base = math.floor(low / unit)
    # Written out, so that an engine compares in the column's own type first: no cell is too large for that.
    least, most, largest = (_number(bound) for bound in (low, high, sys.float_info.max))
    inside = case((cell < least, least), (cell > most, most), else_=cell)
    away = cast(inside, Double()) / literal(unit) - literal(float(base)) + literal(0.5)
    return base, case((and_(cell >= -largest, cell <= largest), tongue.whole(away)))


def _number(value: float) -> Cell:
    return literal_column(f"{value:.17e}")


def is_yes(column: Column, cell: Cell, kind: Kind) -> ColumnElement[bool]:
    """Whether a cell says yes."""
    answer = _answer(column, cell, kind, {word.strip().lower() for word in column.missing_words})
    filled = column.fill is not None and str(column.fill).lower() in column.yes_words
    return answer != literal_column("0") if filled else answer == literal_column("1")


def counted(source: FromClause, place: Cell, where: ColumnElement[bool] | None) -> Select[Any]:
    """Rows per group."""
    rows = select(place.label("place")).select_from(source)
    return _sizes(rows if where is None else rows.where(where))


def options_counted(
    source: FromClause, column: Column, cell: Cell, kind: Kind, tongue: Tongue, where: ColumnElement[bool] | None
) -> tuple[Groups, Select[Any]]:
    """Rows per declared option. Raises InvalidArgument for a column without.

    Where an engine tells texts apart letter by letter, equal ones are gathered first, which is quicker and the same.
    """
    if kind != "text" or not tongue.letter_by_letter:
        groups = by_option(column, cell, kind, tongue)
        return groups, counted(source, groups.cell, where)
    texts = select(cell.label("text"), func.count().label("size")).select_from(source).group_by(cell)
    found = (texts if where is None else texts.where(where)).subquery()
    groups = by_option(column, found.c.text, kind, tongue)
    placed = select(groups.cell.label("place"), found.c.size).subquery()
    return groups, select(placed.c.place, func.sum(placed.c.size)).group_by(placed.c.place)


def counted_of_each(
    source: FromClause,
    place: Cell,
    where: ColumnElement[bool] | None,
    *,
    person: Cell,
    there: ColumnElement[bool],
    most: int,
) -> Select[Any]:
    """Rows per group, at most ``most`` of each person, those of nobody (not ``there``) left out.

    Each row draws a number from its person, its group, whether it is counted and how many equal rows of that person
    came before it; the smallest stay. So what is kept of a person depends on that person's rows alone.
    """
    told = true() if where is None else where
    rows = (
        select(
            person.label("who"),
            place.label("place"),
            case((told, literal_column("1")), else_=literal_column("0")).label("told"),
        )
        .select_from(source)
        .where(there)
        .subquery()
    )
    before = func.row_number().over(partition_by=(rows.c.who, rows.c.place, rows.c.told), order_by=rows.c.who)
    numbered = select(rows, before.label("before")).subquery()
    parts = (numbered.c.who, numbered.c.place, numbered.c.told, numbered.c.before)
    text: Cell = literal(_KEY)
    for part in parts:
        text = text + "|" + func.coalesce(cast(part, String()), "")
    order = (func.md5(text), numbered.c.place, numbered.c.told)
    nth = func.row_number().over(partition_by=numbered.c.who, order_by=order)
    ranked = select(numbered.c.place, numbered.c.told, nth.label("nth")).subquery()
    return _sizes(select(ranked.c.place).where(ranked.c.nth <= most, ranked.c.told == 1))


def whose(column: Column, cell: Cell, kind: Kind, tongue: Tongue) -> tuple[Cell, ColumnElement[bool]]:
    """Who a row's person is, and whether it says so."""
    if kind != "text":
        return cell, cell.is_not(None)
    named = _trimmed(cell)
    missing = sorted({word.strip().lower() for word in column.missing_words} | {""})
    return tongue.exact(named), and_(named.is_not(None), func.lower(named).not_in(missing))


def _sizes(rows: Select[Any]) -> Select[Any]:
    found = rows.subquery()
    return select(found.c.place, func.count()).group_by(found.c.place)


def _answer(column: Column, cell: Cell, kind: Kind, missing: set[str]) -> Cell:
    """1 for yes, 0 for no, −1 for neither."""
    if kind == "yes/no":
        yes, no = cell.is_(true()), cell.is_(false())
    else:
        told = func.lower(_trimmed(cell))
        yes, no = (
            told.in_([word for word in (w.lower() for w in words) if word not in missing])
            for words in (column.yes_words, column.no_words)
        )
    return case((yes, literal_column("1")), (no, literal_column("0")), else_=literal_column("-1"))


def _trimmed(cell: Cell) -> Cell:
    return func.trim(cast(cell, String()))
