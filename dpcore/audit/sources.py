"""Questions that need counts alone, and models of rows read in batches, asked of sources: a database, files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.audit import files
from dpcore.audit.files import QUESTIONS, File, Question, Row
from dpcore.datasets import Schema
from dpcore.datasets.in_place import Form, InPlace, PrivateSource, open_database, open_folder, open_lines
from dpcore.datasets.in_place.tongue import Kind
from dpcore.datasets.temporary import private_folder
from dpcore.validate import IntArray

_TABLE = "rows"
_TEXT, _TYPES = "TEXT COLLATE NOCASE", {"date": "DATE", "number": "REAL", "integer": "INTEGER"}
_LARGEST = 2.0**62
_NAME, _LINES = ", in place", ", line by line"
_STATED: dict[str, Kind] = {"date": "date", "number": "number", "integer": "integer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceQuestion(Question):
    """A question whose tables lie in a database of SQLite's; those ``from_bytes`` in a folder of Parquet files.

    The database compares texts without their case, as many do: what is counted must not hang on that. With ``lines``
    they lie in a CSV file, each row as one line, whatever its cells hold.
    """

    lines: bool = False

    def file(self, rows: Sequence[Row], *, from_bytes: bool) -> File:
        """The source of these rows, gone once they are read."""
        frame = pd.DataFrame(rows, columns=list(self.schema.names), dtype="str")
        return File(frame=frame, private=Emptied(self.schema, frame, parquet=from_bytes, lines=self.lines))


class Emptied(PrivateSource):
    """A source that is made when it is opened, and gone when it was read."""

    __slots__ = ("_stack",)

    def __init__(self, schema: Schema, frame: pd.DataFrame, *, parquet: bool, lines: bool) -> None:
        def made() -> InPlace:
            with ExitStack() as stack:
                folder = stack.enter_context(private_folder())
                if lines:
                    stored = open_lines(folder, _lines(schema, frame, folder / "rows.csv"))
                elif parquet:
                    typed(schema, frame).to_parquet(folder / "rows.parquet")
                    stored = open_folder(folder)
                else:
                    stored = open_database(_database(schema, frame, folder / "rows.db"), _TABLE)
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


def _database(schema: Schema, frame: pd.DataFrame, file: Any) -> str:
    columns = ", ".join(f'"{column.name}" {_TYPES.get(column.type, _TEXT)}' for column in schema.columns)
    marks = ", ".join("?" for _ in schema.columns)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f'CREATE TABLE "{_TABLE}" ({columns})')
        connection.executemany(f'INSERT INTO "{_TABLE}" VALUES ({marks})', frame.to_numpy().tolist())  # noqa: S608
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


_COUNTED = ("most common", "alarm per", "median", "quartile", "best rule", "least cost", "how many")
_IN_BATCHES = "model on steps, "
SOURCES: tuple[SourceQuestion, ...] = (
    *(_source(found) for found in QUESTIONS if found.name.startswith((*_COUNTED, _IN_BATCHES))),
    *(_source(found, lines=True) for found in QUESTIONS if found.name.startswith(("most common", "how many"))),
)


def question(name: str) -> Question:
    """One of ``QUESTIONS`` or ``SOURCES``."""
    return next((one for one in SOURCES if one.name == name), None) or files.question(name)
