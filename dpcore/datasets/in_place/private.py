"""Rows of a configured source behind the door of ``PrivateRows``: counted where they are, and never handed out.

Only questions that need counts alone are answered, and models that rows are read for in batches, as public places;
``dpcore.release`` asks which it is before anything is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd
from sqlalchemy import func, select

from dpcore.datasets.declaration import Declaration, Reads
from dpcore.datasets.fills import fill_number
from dpcore.datasets.in_place.counting import (
    Groups,
    by_day,
    by_option,
    by_unit,
    check,
    check_person,
    check_size,
    check_spelled,
    counted,
    counted_of_each,
    is_yes,
    options_counted,
    rows_of_each,
    whole_number,
    whose,
)
from dpcore.datasets.in_place.row_batches import placed_rows, read_as
from dpcore.datasets.in_place.together import Whose, crossed, range_totals
from dpcore.datasets.places import Places
from dpcore.datasets.private_rows import OpenRows, PrivateRows
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from sqlalchemy import Select
    from sqlalchemy.sql import ColumnElement

    from dpcore.datasets.in_place.aggregates import InPlace
    from dpcore.datasets.in_place.tongue import Cell

NOT_HERE = "can be asked of rows that are held here only, not of a source that is counted where it is"
CHANGED = "The columns of this source are no longer what they were; choose it anew on the Data page."


class PrivateSource(PrivateRows):
    """A table or view of a configured source; ``open`` reaches it, anew for each answer. Holds no row itself."""

    __slots__ = ("_open",)
    in_place = True

    def __init__(self, open: Callable[[], InPlace]) -> None:
        self._open = open

    def __repr__(self) -> str:
        return "PrivateSource()"

    def has(self, names: Iterable[str]) -> bool:
        """Whether the source has all these columns. Raises UnreadableFile where it cannot be reached."""
        return set(names) <= set(self._open().names)

    def check(self, reads: Reads, *, cuts: Mapping[str, int] | None = None) -> None:
        """Whether the source is there, lets this server read, and holds what was declared, and the question is no
        larger than an engine can be asked: before the charge.

        Looks at no row, so that what it raises is the same whatever they hold. Raises UnreadableFile, InvalidArgument.
        """
        check_size(reads.columns, cuts or {})
        stored = self._open()
        if not set(reads.names) <= set(stored.names):
            raise UnreadableFile(CHANGED)
        OpenSource(stored, reads)
        if reads.person is not None:
            check_spelled(reads.person.name, stored)
        stored.probe(reads.names)

    def of_no_row(self) -> PrivateSource:
        """This source without its rows: what is asked of it fails as it would of them, and costs nothing."""
        return PrivateSource(lambda: self._open().of_no_row())

    def public_size(self, declaration: Declaration) -> int:
        """Of a table of records that others keep, the number is private. Raises InvalidArgument."""
        raise InvalidArgument("rows", "are private in number: state about how many there are")

    def public_names(self, declaration: Declaration, column: str) -> tuple[str, ...]:
        """Raises InvalidArgument: every row is a record."""
        raise InvalidArgument("rows", "are private in a table with one record in each row")

    def public_options(self, declaration: Declaration, column: str) -> tuple[str, ...]:
        """Raises InvalidArgument: every row is a record."""
        return self.public_names(declaration, column)

    def said_of_entries(self, declaration: Declaration, named: str | None) -> Declaration:
        """``declaration``: no row of a source is left out."""
        return declaration

    def row_batches(self, reads: Reads, asked: Places, size: int) -> Iterator[IntArray]:
        return self.opened(reads).row_batches(asked, size)

    def probe(self, reads: Reads, asked: Places) -> None:
        """``check``, and that the source takes the very query of ``row_batches``, of which it is given no row.

        Raises UnreadableFile, InvalidArgument.
        """
        self.check(reads, cuts={name: len(cuts) for name, cuts in asked.looks if cuts is not None})
        for _ in self.opened(reads).row_batches(asked, 1, of_none=True):
            raise UnreadableFile(CHANGED)

    def opened(self, reads: Reads) -> OpenSource:
        return OpenSource(self._open(), reads)


class OpenSource(OpenRows):
    """As ``OpenRows`` for what needs counts alone; nothing is read row by row. Raises InvalidArgument, UnreadableFile.

    With ``reads.person`` at most ``reads.most`` rows of each person are counted, by a rule as in ``OpenRows``.
    """

    __slots__ = ("_stored",)

    def __init__(self, stored: InPlace, reads: Reads) -> None:
        if reads.steps:
            raise InvalidArgument("each_row", f"must be a record: steps {NOT_HERE}")
        self._reads, self._stored, person = reads, stored, reads.person
        for column in reads.columns:
            identifies = column.name in stored.keys or (person is not None and column.name == person.name)
            check(column, stored.kinds.get(column.name, "other"), whose=identifies)
        if person is not None:
            check_person(person, stored.kinds.get(person.name, "other"))

    @property
    def rows(self) -> int:
        """How many rows count. A row of a source is one, even if all its cells are empty."""
        stored, found = self._stored, self._whose
        if found is None:
            asked = select(func.count()).select_from(stored.table)
        else:
            asked = rows_of_each(
                stored.table, person=found.person, there=found.there, most=found.most, tongue=stored.tongue
            )
        total = stored.select(asked)[0][0]
        return 0 if total is None else whole_number(total)

    def typed(self, name: str, *, as_declared: Column | None = None) -> pd.Series:
        _refuse()

    def numbers(self, name: str) -> FloatArray:
        _refuse()

    def codes(self, name: str) -> IntArray:
        _refuse()

    def days(self, name: str, column: Column) -> IntArray:
        _refuse()

    def counts(self, name: str, *, where: str | None = None) -> IntArray:
        column, stored = self._reads.column(name), self._stored
        cell, kind = stored.declared(column)
        if self._reads.person is not None:
            return self._sizes(by_option(column, cell, kind, stored.tongue), where)
        groups, asked = options_counted(stored.table, column, cell, kind, stored.tongue, self._only(where))
        return stored.sizes(asked, groups)

    def day_counts(self, name: str, first: date, days: int, *, where: str | None = None) -> IntArray:
        cell = self._stored.cell(name)
        return self._sizes(by_day(self._reads.column(name), cell, self._stored.tongue, first, days), where)

    def number_counts(self, name: str, *, unit: float) -> tuple[FloatArray, IntArray]:
        column, stored = self._reads.column(name), self._stored
        base, units = by_unit(column, stored.number_cell(column), stored.tongue, unit)
        fill = fill_number(column)
        groups = stored.select(self._asked(units, None))
        values = np.array([fill if place is None else (base + whole_number(place)) * unit for place, _ in groups])
        sizes = np.array([whole_number(size) for _, size in groups], dtype=np.int64)
        order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # what is not a number comes last
        return values[order], sizes[order]

    def crossed(self, target: str, looks: Mapping[str, FloatArray | None]) -> list[IntArray]:
        reads = self._reads
        columns = [(reads.column(name), cuts) for name, cuts in looks.items()]
        return crossed(self._stored, reads.column(target), columns, self._whose)

    def range_totals(self, names: Iterable[str], *, parts: int) -> IntArray:
        columns = [self._reads.column(name) for name in names]
        return range_totals(self._stored, columns, parts, self._whose)

    def row_batches(self, asked: Places, size: int, *, of_none: bool = False) -> Iterator[IntArray]:
        """Of every row that counts what is ``asked``, shape (rows, width), at most ``size`` rows at a time.

        They are the rows of one query, so of one state of the source. With ``of_none`` they are those of no row.
        """
        reads, stored = self._reads, self._stored
        read = read_as(stored, reads.column, asked)
        query = placed_rows(stored, read, self._whose, of_none=of_none)
        for rows in stored.stream(query, size):
            yield np.column_stack([one.places(rows[:, at]) for at, one in enumerate(read)])

    def _sizes(self, groups: Groups, where: str | None) -> IntArray:
        return self._stored.sizes(self._asked(groups.cell, where), groups)

    def _only(self, where: str | None) -> ColumnElement[bool] | None:
        if where is None:
            return None
        column, stored = self._reads.column(where), self._stored
        return is_yes(column, *stored.declared(column), stored.tongue)

    @property
    def _whose(self) -> Whose | None:
        stored, reads = self._stored, self._reads
        if reads.person is None:
            return None
        person, there = whose(reads.person, *stored.person(reads.person), stored.tongue)
        return Whose(person=person, there=there, most=reads.most)

    def _asked(self, place: Cell, where: str | None) -> Select[Any]:
        table, only, found = self._stored.table, self._only(where), self._whose
        if found is None:
            return counted(table, place, only)
        tongue = self._stored.tongue
        return counted_of_each(
            table, place, only, person=found.person, there=found.there, most=found.most, tongue=tongue
        )


def _refuse() -> NoReturn:
    raise InvalidArgument("question", NOT_HERE)
