"""Questions that need counts alone, and models of rows read in batches, asked of sources: a database, files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet as pq

from dpcore.audit import questions
from dpcore.audit.files import File, Question, Row
from dpcore.audit.questions import EXTREME, NUMBER, QUESTIONS, WHO
from dpcore.datasets import Schema
from dpcore.datasets.in_place import Form, InPlace, PrivateSource, open_database, open_folder, open_lines
from dpcore.datasets.in_place.tongue import Kind
from dpcore.datasets.temporary import private_folder
from dpcore.validate import IntArray

_TABLE = "rows"
_SPELLED = 12  # people
_NOT_NUMBERS = 12  # rows without one, beside those of a table
_TEXT, _TYPES = "TEXT COLLATE NOCASE", {"date": "DATE", "number": "REAL", "integer": "INTEGER"}
_LARGEST = 2.0**62
_NAME, _LINES = ", in place", ", line by line"
_STATED: dict[str, Kind] = {"date": "date", "number": "number", "integer": "integer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How Arrow writes Parquet files in which a number that is missing is “not a number”: in how many ``files``, of
    which size, and whether their footers say between which values each column lies. They leave “not a number” out.
    """

    name: str
    files: int = 1
    single: bool = False
    footers: bool = True

    def write(self, table: pd.DataFrame, folder: Path) -> None:
        columns = {name: self._cells(cells) for name, cells in table.items()}
        whole = pa.table(columns)
        for part in range(self.files):
            share = whole.take(np.arange(part, len(table), self.files))
            pq.write_table(share, folder / f"{part}.parquet", write_statistics=self.footers)

    def _cells(self, cells: pd.Series) -> pa.Array:
        if cells.dtype.kind == "f":
            return pa.array(cells.to_numpy(np.float64), pa.float64()).cast(
                pa.float32() if self.single else pa.float64()
            )
        return pa.array(cells, from_pandas=True)


PARQUET: tuple[Written, ...] = (
    Written(name="not a number in one file"),
    Written(name="not a number in one file of singles", single=True),
    Written(name="not a number in several files", files=3),
    Written(name="not a number in several files of singles", files=3, single=True),
    Written(name="not a number in a file without footers of ranges", footers=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceQuestion(Question):
    """A question whose tables lie in a database of SQLite's; those ``from_bytes`` in a folder of Parquet files.

    The database compares texts without their case, as many do: what is counted must not hang on that. With ``lines``
    they lie in a CSV file, each row as one line, whatever its cells hold; with ``written`` always in Parquet files.
    With ``spelled`` whose a row is lies in a column that is declared as nothing, a number as one, and rows lie in an
    order that one row more changes, for no database keeps any.
    """

    lines: bool = False
    written: Written | None = None
    spelled: bool = False

    def file(self, rows: Sequence[Row], *, from_bytes: bool) -> File:
        """The source of these rows, gone once they are read."""
        frame = pd.DataFrame([self._read(row) for row in rows], columns=list(self.schema.names), dtype="str")
        if self.spelled:
            made = self._spelled
        else:
            made = self._lines if self.lines else self._parquet if self.written or from_bytes else self._database
        return File(frame=frame, private=Emptied(lambda folder: made(frame, folder)))

    def _lines(self, frame: pd.DataFrame, folder: Path) -> InPlace:
        return open_lines(folder, _lines(self.schema, frame, folder / "rows.csv"))

    def _parquet(self, frame: pd.DataFrame, folder: Path) -> InPlace:
        if self.written is None:
            typed(self.schema, frame).to_parquet(folder / "rows.parquet")
        else:
            self.written.write(typed(self.schema, frame), folder)
        return open_folder(folder)

    def _database(self, frame: pd.DataFrame, folder: Path) -> InPlace:
        return open_database(_database(self.schema, frame, folder / "rows.db"), _TABLE)

    def _spelled(self, frame: pd.DataFrame, folder: Path) -> InPlace:
        order = np.random.Generator(np.random.PCG64(len(frame))).permutation(len(frame))
        shuffled = frame.iloc[order].astype("object")
        shuffled[WHO.name] = [_as_number(cell) for cell in shuffled[WHO.name]]
        return open_database(_database(self.schema, shuffled, folder / "rows.db", anything=WHO.name), _TABLE)


class Emptied(PrivateSource):
    """A source that is made in a folder of its own when it is opened, and gone when it was read."""

    __slots__ = ()

    def __init__(self, make: Callable[[Path], InPlace]) -> None:
        def made() -> InPlace:
            with ExitStack() as stack:
                stored = make(stack.enter_context(private_folder()))
                kept = stack.pop_all()

            def select(asked: Any) -> Any:
                with kept:
                    return stored.select(asked)

            def stream(asked: Any, size: int) -> Iterator[IntArray]:
                with kept:
                    yield from stored.stream(asked, size)

            return replace(stored, select=select, stream=stream)

        super().__init__(made)


def typed(schema: Schema, frame: pd.DataFrame) -> pd.DataFrame:
    """The cells as a table with types holds them: days and numbers are that or nothing, all else is text."""
    read: dict[str, pd.Series] = {}
    for column in schema.columns:
        cells = frame[column.name]
        if column.type == "date":
            read[column.name] = cells.map(_day).astype("object")
        elif column.is_numeric:
            numbers = pd.to_numeric(cells, errors="coerce")
            whole = numbers.where(numbers.abs() < _LARGEST).round().astype("Int64")
            read[column.name] = numbers if column.type == "number" else whole
        else:
            read[column.name] = cells
    return pd.DataFrame(read)


def _day(cell: str) -> date | None:
    try:
        return date.fromisoformat(cell[:10])
    except ValueError:
        return None


def _as_number(cell: str) -> str | int | float:
    if cell.isdecimal():
        return int(cell)
    return float(cell) if cell.endswith(".0") else cell


def _database(schema: Schema, frame: pd.DataFrame, file: Any, *, anything: str = "") -> str:
    """The column ``anything`` is declared as nothing, and holds cells as they are given."""
    types = {column.name: _TYPES.get(column.type, _TEXT) for column in schema.columns} | {anything: ""}
    columns = ", ".join(f'"{name}" {types[name]}' for name in schema.names)
    marks = ", ".join("?" for _ in schema.columns)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f'CREATE TABLE "{_TABLE}" ({columns})')
        connection.executemany(f'INSERT INTO "{_TABLE}" VALUES ({marks})', frame.to_numpy().tolist())  # noqa: S608 - no value is part of it
    return f"sqlite:///{file}"


def _lines(schema: Schema, frame: pd.DataFrame, file: Path) -> Form:
    rows = [list(schema.names), *frame.to_numpy().tolist()]
    file.write_bytes("".join(",".join(row).replace("\n", "\r") + "\n" for row in rows).encode("utf-8", "surrogatepass"))
    return Form(columns=tuple((column.name, _STATED.get(column.type, "text")) for column in schema.columns))


def _source(found: Question, *, lines: bool = False) -> SourceQuestion:
    return SourceQuestion(
        name=f"{found.name}{_LINES if lines else _NAME}",
        lines=lines,
        schema=found.schema,
        ask=found.ask,
        tables=found.tables,
        extreme=found.extreme,
        hidden=found.hidden,
    )


def _not_numbers(found: Question, written: Written) -> SourceQuestion:
    """The question with many rows whose number is none, of which one infinite number more must not move any."""
    place = found.schema.names.index(NUMBER.name)

    def with_number(row: Row, cell: str) -> Row:
        return (*row[:place], cell, *row[place + 1 :])

    who = 0 if found.schema.id_column is None else 1
    none = [with_number(found.extreme[0], "nan") for _ in range(_NOT_NUMBERS)]
    rows = tuple((*(f"n{number}" for _ in range(who)), *row[who:]) for number, row in enumerate(none))
    infinite = tuple(with_number(found.extreme[0], cell) for cell in ("inf", "-inf"))
    return replace(
        _source(found),
        name=f"{found.name}, {written.name}",
        tables=tuple((*table, *rows) for table in found.tables),
        extreme=(*infinite, *found.extreme),
        written=written,
    )


def _spelled(found: Question) -> SourceQuestion:
    """The question with people whose number is written in two ways, each with more rows than count."""
    rows = tuple(
        (cell, *row) for person in range(_SPELLED) for cell in (f"{person}", f"{person}.0") for row in EXTREME[::2]
    )
    return replace(_source(found), name=f"{found.name}, ids in two ways", tables=(rows * 2,), spelled=True)


_COUNTED = ("most common", "alarm per", "median", "quartile", "best rule", "least cost", "how many")
_IN_BATCHES = "model on steps, "
_OF_NUMBERS = ("median", "best rule", "least cost")
SOURCES: tuple[SourceQuestion, ...] = (
    *(_source(found) for found in QUESTIONS if found.name.startswith((*_COUNTED, _IN_BATCHES)) and not found.program),
    *(
        _source(found, lines=True)
        for found in QUESTIONS
        if found.name.startswith(("most common", "how many")) and not found.program
    ),
    *(
        _spelled(found)
        for found in QUESTIONS
        if found.name in ("most common, two rows by who", "how many, two rows by who")
    ),
    *(
        _not_numbers(found, written)
        for found in QUESTIONS
        if found.name.endswith((", a row added", ", two rows by who"))
        for written in PARQUET
        if found.name.startswith(_OF_NUMBERS)
        or (found.name.startswith(f"{_IN_BATCHES}counted") and written is PARQUET[0])
    ),
)


def question(name: str) -> Question:
    """One of ``QUESTIONS`` or ``SOURCES``."""
    return next((one for one in SOURCES if one.name == name), None) or questions.question(name)
