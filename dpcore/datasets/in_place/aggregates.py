"""Counts, sums, histograms and group sizes of a table that is never held as a whole.

What is asked privately is counted row by row (``counting``, ``private``). What is only for looking (``words``,
``days``, ``group_sizes``) groups raw values, and what those mean is decided here by the rules of a table in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import (
    CompoundSelect,
    Select,
    and_,
    case,
    column,
    false,
    literal_column,
    quoted_name,
    select,
    table,
    true,
)
from sqlalchemy.sql import FromClause

from dpcore.datasets.conversion import apply
from dpcore.datasets.declaration import Stated
from dpcore.datasets.different import by_value
from dpcore.datasets.guessing import each_row, read_columns
from dpcore.datasets.in_place.counting import Groups, options_counted, whole_number
from dpcore.datasets.in_place.tongue import Cell, Kind, Tongue, bounded, literal_text, number
from dpcore.datasets.report import ReadColumn
from dpcore.datasets.schema import Column, Schema
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.validate import IntArray, whole

MOST_GROUPS = 1_000_000
"""Different values that one question may have; a column of names or ids has more."""
_MOST_BINS = 1_000_000
_PREVIEWED = 1000
_LARGEST_WHOLE = 2.0**63
Rows = list[tuple[object, ...]]
Query = Select[Any] | CompoundSelect[Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InPlace:
    """A table in a database or a folder of files.

    ``names`` are its columns and ``kinds`` what its own schema says they hold; ``keys`` are those by which the schema
    tells rows apart. ``run(sql)`` gives the rows of a query, ``select`` those of an SQLAlchemy one, and ``stream(query,
    size)`` those of one of whole numbers alone, as arrays of at most ``size`` rows and all of one state of the table.
    ``quoted(name)`` is a name as that engine writes it, ``tongue`` what else it has its own way to write. ``key`` tells
    a folder's states apart, but only names a table of a database, which does not say when it changes: keep nothing by
    it for long. ``texts`` are columns of the same cells as texts, by name, where a number is not all that a cell says.
    ``empty`` leaves all its rows out of ``table``. ``form`` is what a folder says of the text files it was made of, and
    what was stated of a view; ``kinds_stated`` whether ``kinds`` are the word of a person or of a database, so that no
    row decides them, as one can in files of Parquet. ``schema`` is where the table is, in an engine that might find
    another one of its name; it is written before each.
    """

    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    name: str
    run: Callable[[str], Rows]
    select: Callable[[Query], Rows]
    stream: Callable[[Query, int], Iterator[IntArray]]
    quoted: Callable[[str], str]
    tongue: Tongue
    key: str
    keys: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)
    empty: bool = False
    form: tuple[Stated, ...] = ()
    kinds_stated: bool = True
    schema: str | None = None

    @property
    def source(self) -> str:
        """It, in a query."""
        return ".".join(self.quoted(name) for name in (self.schema, self.name) if name is not None)

    @property
    def table(self) -> FromClause:
        """It, in an SQLAlchemy query; its columns are ``cell``."""
        whole = table(
            quoted_name(self.name, quote=True),
            schema=None if self.schema is None else quoted_name(self.schema, quote=True),
        )
        if not self.empty:
            return whole
        return select(literal_column("*")).select_from(whole).where(false()).subquery()

    def of_no_row(self) -> InPlace:
        """The same table without its rows: what is asked of it is written, and answered of none."""
        return replace(self, empty=True)

    def cell(self, name: str) -> Cell:
        """A column in a query, with nothing in place of what is too long to be looked at. Raises InvalidArgument."""
        self._named(name)
        return self._bounded(name, self.kinds[name])

    def declared(self, column: Column) -> tuple[Cell, Kind]:
        """The cells of a declared column, as ``cell``, and their kind: as they are told apart where they name an option
        or somebody, as numbers where they are numbers."""
        text = None if column.is_numeric else self.texts.get(column.name)
        if text is None:
            return self.cell(column.name), self.kinds[column.name]
        return self._bounded(text, "text"), "text"

    def person(self, column: Column) -> tuple[Cell, Kind]:
        """The cells of the column that says whose a row is, with nothing in place of what is too long for that."""
        text = self.texts.get(column.name)
        name, kind = (column.name, self.kinds[column.name]) if text is None else (text, "text")
        return self._bounded(name, kind, person=True), kind

    def takes_several_for_one(self, name: str) -> bool:
        """Whether the schema says of a column that texts which are written otherwise are the same. Looks at no row.

        Raises InvalidArgument, UnreadableFile.
        """
        self._named(name)
        tongue = self.tongue
        if tongue.letter_by_letter or (self.kinds[name] != "text" and not tongue.any_cell):
            return False
        names = {"table": self.source, "column": self.quoted(name)}
        texts = {f"{part}_text": literal_text(written) for part, written in names.items()}
        return self.run(tongue.alike.format(**names, **texts)) != [(0,)]

    def _bounded(self, name: str, kind: Kind, *, person: bool = False) -> Cell:
        return bounded(column(quoted_name(name, quote=True)), kind, self.tongue, person=person)

    def number_cell(self, column: Column) -> Cell:
        """``cell`` of a column of numbers, or 1 and 0 of one of yes and no, with nothing in place of what is no whole
        number where it was declared so.

        Raises InvalidArgument.
        """
        cell = self.cell(column.name)
        if self.kinds[column.name] == "yes/no":
            return case((cell.is_(true()), number(1.0)), (cell.is_(false()), number(0.0)))
        if column.type != "integer" or self.kinds[column.name] != "number":
            return cell
        within = and_(cell >= number(-_LARGEST_WHOLE), cell < number(_LARGEST_WHOLE))
        return case((and_(within, self.tongue.integral(cell)), cell))

    def probe(self, names: Iterable[str]) -> None:
        """Read no row of these columns, or of the table: whether that is allowed.

        Raises UnreadableFile, InvalidArgument.
        """
        cells: list[Cell] = [self.cell(name) for name in names]
        self.select(select(*(cells or [literal_column("1")])).select_from(self.table).where(false()))

    def sizes(self, asked: Select[Any], groups: Groups) -> IntArray:
        """What ``counting`` asks for, shape (groups,)."""
        found = np.zeros(groups.count, dtype=np.int64)
        for value, size in self.select(asked):
            place = groups.place(value)
            if place is not None:
                found[place] += whole_number(size)
        return found

    def rows(self) -> int:
        return whole_number(self.run(f"SELECT count(*) FROM {self.source}")[0][0])  # noqa: S608 - no value is part of it

    def preview(self, rows: int = _PREVIEWED) -> pd.DataFrame:
        """The first rows as text, for looking at; which ones these are is up to the engine."""
        whole(1, 10_000, rows=rows)
        columns = ", ".join(self.quoted(name) for name in self.names)
        found = self.run(f"SELECT {columns} FROM {self.source} LIMIT {rows}")  # noqa: S608 - no value is part of it
        if not found:
            raise UnreadableFile("The table has column names but no rows.")
        text = pd.StringDtype(na_value=np.nan)
        cells = ([_text(row[place]) for row in found] for place in range(len(self.names)))
        return pd.DataFrame({name: pd.Series(part, dtype=text) for name, part in zip(self.names, cells, strict=True)})

    def suggested(self) -> tuple[Schema, tuple[ReadColumn, ...]]:
        """Types suggested from the first rows, for the person to check: a start for declaring."""
        frame = self.preview()
        lines = np.arange(1, len(frame) + 1, dtype=np.int64)
        columns = read_columns(frame, lines, decimal=None, order=None, say=lambda _: None)
        schema = Schema(columns=tuple(column.suggestion for column in columns), each_row=each_row(frame, columns))
        return schema, columns

    def counts(self, column: Column) -> IntArray:
        """Rows in each declared option (no, yes for a yes/no column), shape (k,), zeros included.

        Raises InvalidArgument for a column without options, UnreadableFile.
        """
        cell, kind = self.declared(column)
        groups, asked = options_counted(self.table, column, cell, kind, self.tongue, None)
        return self.sizes(asked, groups)

    def words(self, name: str) -> list[tuple[str, int]]:
        """The different words of a column and how often each occurs, most frequent first: for looking at."""
        found = self._groups((name,))
        return sorted(((_text(row[0]), whole_number(row[1])) for row in found), key=lambda pair: (-pair[1], pair[0]))

    def histogram(self, column: Column, bins: int) -> IntArray:
        """Rows per equal part of the declared bounds, shape (bins,); values outside count in the part at their side.

        The upper bound itself belongs to the last part. Raises InvalidArgument.
        """
        whole(1, _MOST_BINS, bins=bins)
        low, high = _bounds(column)
        share = f"({self._clipped(column)} - {low!r}) * {bins / (high - low)!r}"
        part = self.tongue.floor.format(share)
        query = f"SELECT {part} AS part, count(*) FROM {self.source} WHERE {self._present(column)} GROUP BY 1"  # noqa: S608 - no value is part of it
        counts = np.zeros(bins, dtype=np.int64)
        for place, size in self.run(query):
            counts[min(whole_number(place), bins - 1)] += whole_number(size)
        return counts

    def total(self, column: Column) -> tuple[float, int]:
        """The sum of the values, each moved to the nearest declared bound, and how many there are."""
        _bounds(column)
        query = f"SELECT sum({self._clipped(column)}), count(*) FROM {self.source} WHERE {self._present(column)}"  # noqa: S608 - no value is part of it
        total, size = self.run(query)[0]
        return float(str(total or 0.0)), whole_number(size)

    def days(self, column: Column) -> pd.Series:
        """Rows per day, by day: an integer series over the days that occur."""
        if column.type != "date":
            raise InvalidArgument("column", "must hold dates")
        found = self._groups((column.name,))
        read = _typed(column, [_text(row[0]) for row in found])
        places, days = by_value(pd.DatetimeIndex(read).floor("D").to_numpy())
        sizes = np.zeros(days.size + 1, dtype=np.int64)  # the last is for what is no day
        np.add.at(sizes, places, np.array([whole_number(row[1]) for row in found], dtype=np.int64))
        return pd.Series(sizes[:-1], index=pd.DatetimeIndex(days))

    def group_sizes(self, name: str) -> IntArray:
        """How many groups (people, say) have one row, two rows, …: shape (largest + 1,), entry 0 is 0.

        For looking only: the largest size is read from the data. Raises UnreadableFile for a group of too many rows.
        """
        value = self._named(name)
        inner = f"SELECT count(*) AS n FROM {self.source} WHERE {value} IS NOT NULL GROUP BY {value}"  # noqa: S608 - no value is part of it
        found = self.run(f"SELECT n, count(*) FROM ({inner}) AS sizes GROUP BY n ORDER BY n")  # noqa: S608 - no value is part of it
        if found and whole_number(found[-1][0]) > MOST_GROUPS * 100:
            raise UnreadableFile("One group has too many rows to be a person.")
        sizes = np.zeros(whole_number(found[-1][0]) + 1 if found else 1, dtype=np.int64)
        for size, groups in found:
            sizes[whole_number(size)] = whole_number(groups)
        return sizes

    def _groups(self, names: tuple[str, ...]) -> Rows:
        columns = ", ".join(self._named(name) for name in names)
        found = self.run(f"SELECT {columns}, count(*) FROM {self.source} GROUP BY {columns} LIMIT {MOST_GROUPS + 1}")  # noqa: S608 - no value is part of it
        if len(found) > MOST_GROUPS:
            raise UnreadableFile(f"A column has more than {MOST_GROUPS:,} different values; choose one with options.")
        return found

    def _named(self, name: str) -> str:
        if name not in self.names:
            raise InvalidArgument("column", "must be one of the table's columns")
        return self.quoted(name)

    def _clipped(self, column: Column) -> str:
        low, high = _bounds(column)
        value = self._named(column.name)
        return self.tongue.clip.format(value=value, low=f"{low:.17e}", high=f"{high:.17e}")

    def _present(self, column: Column) -> str:
        """Finite values: not a number counts as larger than all where it is known."""
        largest = sys.float_info.max
        return f"{self._named(column.name)} BETWEEN {-largest!r} AND {largest!r}"


def _typed(column: Column, words: list[str]) -> pd.Series:
    frame = pd.DataFrame({column.name: pd.Series(words, dtype=pd.StringDtype(na_value=np.nan))})
    plain = column if column.type != "date" else replace(column, earliest=None, latest=None)
    return apply(Schema(columns=(plain,)), frame).frame[column.name]


def _bounds(column: Column) -> tuple[float, float]:
    if not column.is_numeric or column.low is None or column.high is None:
        raise InvalidArgument("column", "must hold numbers with declared bounds")
    return float(column.low), float(column.high)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)
