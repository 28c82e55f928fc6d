"""The columns of a person's own file as typed values, converted one by one and kept for one session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from dashboard import all_held
from dashboard.background import places
from dashboard.case import LARGE_ROWS
from dashboard.people import visitors
from dpcore.datasets import Account, Applied, Column, Schema, Size, Table, completed_from
from dpcore.datasets.different import counted

if TYPE_CHECKING:
    from dpcore.datasets import Reading
    from dpcore.validate import IntArray

Say = Callable[[float, str], None]
_NAMED, _MOST_COUNTED = 8, 32 << 20
"""Rows of a kind that are named, and bytes of a column that is counted while its page is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """How many cells there are of a kind, and the rows of the first few."""

    number: int
    rows: tuple[int, ...]

    @classmethod
    def at(cls, rows: IntArray) -> Self:
        return cls(number=int(rows.size), rows=tuple(map(int, rows[:_NAMED])))


@dataclass(frozen=True, slots=True, kw_only=True)
class InShort:
    """An account of a column that holds no place of every cell."""

    rows: int
    taken: int
    missing: Cells
    unparsable: Cells
    unlisted: Cells
    outside: Cells

    @classmethod
    def of(cls, account: Account) -> Self:
        return cls(
            rows=account.rows,
            taken=account.taken,
            missing=Cells.at(account.missing),
            unparsable=Cells.at(account.unparsable),
            unlisted=Cells.at(account.unlisted),
            outside=Cells.at(account.outside),
        )


@dataclass(slots=True, kw_only=True, eq=False)
class TypedColumns:
    """The columns of one reading as typed values, each converted once for each declaration of it.

    Values are kept of those alone that a table was asked for; ``counted`` counts them.
    """

    reading: Reading
    counted: all_held.Waiting | None = None
    _done: dict[Column, tuple[pd.Series, Column]] = field(default_factory=dict)
    _accounts: dict[Column, InShort] = field(default_factory=dict)
    _completed: dict[Column, Column] = field(default_factory=dict)
    _even: dict[str, bool] = field(default_factory=dict)

    def even(self, name: str) -> bool:
        """Whether every word of a column stands in equally many rows, as where a table was laid out so: no word of it
        is then the most common."""
        if name not in self._even:
            distinct = self.reading.column(name).distinct
            # few columns pass the first test, so few are counted
            may = distinct > 1 and self.reading.rows % distinct == 0
            may = may and Size.of(self.reading.frame[[name]]).bytes <= _MOST_COUNTED
            self._even[name] = may and bool(np.ptp(counted(self.reading.frame[name])[1]) == 0)
        return self._even[name]

    def account(self, column: Column) -> InShort:
        """What becomes of the cells of one column. Raises InvalidArgument."""
        if column not in self._accounts:
            self._apply(column)
        return self._accounts[column]

    def turn(self, column: Column) -> AbstractContextManager[None]:
        """Around what a page works out of a column: a turn with something large, where it is and is not known yet.
        Raises NoRoom."""
        little = column in self._accounts or self.reading.rows < LARGE_ROWS
        return nullcontext() if little else places.large(visitors.address())

    def takes(self, column: Column) -> int:
        """Bytes that ``account`` takes meanwhile."""
        return 0 if column in self._accounts else all_held.beside(self.reading.frame[[column.name]])

    def _apply(self, column: Column) -> Applied:
        applied = self.reading.apply(Schema(columns=(column,)))
        self._accounts[column] = InShort.of(applied.accounts[0])
        return applied

    def _values(self, column: Column) -> tuple[pd.Series, Column]:
        """One column as typed values, and as it was declared by then."""
        if column not in self._done:
            applied = self._apply(column)
            self._done[column] = applied.frame[column.name], applied.schema.columns[0]
        return self._done[column]

    def completed(self, column: Column) -> Column:
        """The column with what was not declared read from the file, and marked so."""
        if column.bounded or column.type == "text":
            return column
        done = self._completed.get(column)
        if done is None:
            frame = self.reading.frame[[column.name]]
            done = self._completed[column] = completed_from(Schema(columns=(column,)), frame).columns[0]
        return done

    def table(self, schema: Schema, *, complete: bool, say: Say | None = None) -> Table:
        """All columns of ``schema`` together; ``complete`` fills in from the file what was not declared."""
        typed: dict[str, pd.Series] = {}
        columns = []
        for place, declared in enumerate(schema.columns):
            if say is not None:
                say(place / len(schema.columns), "Preparing the columns")
            column = self.completed(declared) if complete else declared
            typed[column.name], read = self._values(column)
            columns.append(read)
        whole = replace(schema, columns=tuple(columns))
        digest = hashlib.sha256(repr(whole).encode()).hexdigest()
        frame = pd.DataFrame(typed, copy=False)  # the values are here once
        return Table(frame=frame, schema=whole, fingerprint=f"{self.reading.key}:{digest}", lineage="")

    def forget_all_but(self, columns: tuple[Column, ...]) -> None:
        """Keep memory for the columns as they are now, drop the rest."""
        kept = set(columns) | {self._completed[column] for column in columns if column in self._completed}
        self._done = {column: done for column, done in self._done.items() if column in kept}
        self._accounts = {column: account for column, account in self._accounts.items() if column in kept}
        self._completed = {column: done for column, done in self._completed.items() if column in kept}
