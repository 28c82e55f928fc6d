"""The columns of a person's own file as typed values, converted one by one and kept for one session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.datasets import Account, Applied, Column, Schema, Table, completed_from
from dpcore.datasets.different import counted

if TYPE_CHECKING:
    from dpcore.datasets import Reading

Say = Callable[[float, str], None]


@dataclass(slots=True, kw_only=True, eq=False)
class TypedColumns:
    """The columns of one reading as typed values, each converted once for each declaration of it."""

    reading: Reading
    _done: dict[Column, Applied] = field(default_factory=dict)
    _completed: dict[Column, Column] = field(default_factory=dict)
    _even: dict[str, bool] = field(default_factory=dict)

    def even(self, name: str) -> bool:
        """Whether every word of a column stands in equally many rows, as where a table was laid out so: no word of it
        is then the most common."""
        if name not in self._even:
            distinct = self.reading.column(name).distinct
            # few columns pass the first test, so few are counted
            may = distinct > 1 and self.reading.rows % distinct == 0
            self._even[name] = may and bool(np.ptp(counted(self.reading.frame[name])[1]) == 0)
        return self._even[name]

    def applied(self, column: Column) -> Applied:
        """One column with the account of its cells. Raises InvalidArgument."""
        done = self._done.get(column)
        if done is None:
            done = self._done[column] = self.reading.apply(Schema(columns=(column,)))
        return done

    def account(self, column: Column) -> Account:
        return self.applied(column).accounts[0]

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
            applied = self.applied(column)
            typed[column.name] = applied.frame[column.name]
            columns.append(applied.schema.columns[0])
        whole = replace(schema, columns=tuple(columns))
        digest = hashlib.sha256(repr(whole).encode()).hexdigest()
        applied = Applied(frame=pd.DataFrame(typed), schema=whole, accounts=())
        return applied.table(fingerprint=f"{self.reading.key}:{digest}", lineage="")

    def forget_all_but(self, columns: tuple[Column, ...]) -> None:
        """Keep memory for the columns as they are now, drop the rest."""
        kept = set(columns) | {self._completed[column] for column in columns if column in self._completed}
        self._done = {column: done for column, done in self._done.items() if column in kept}
        self._completed = {column: done for column, done in self._completed.items() if column in kept}
