"""Which of many words a text is, and how many of many cuts a value reaches, as one part of a query.

A part for each would take seconds to be written, in which everybody else in this process waits, and SQLite longer than
that to read. So words are given as one value, or as a type, and cuts as one array, or as the text of one expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from sqlalchemy import Integer, String, any_, cast, func, literal, literal_column, select, try_cast
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

Cell = ColumnElement[Any]
Cuts = Sequence[float] | Sequence[date]


def option_in_duckdb(text: Cell, options: tuple[str, ...]) -> Cell:
    """Of none of them −1 as well, for by what a cell says is drawn which rows of a person stay."""
    return func.coalesce(func.enum_code(try_cast(text, _Words(options))), literal_column("-1"))


def among_in_duckdb(text: Cell, words: tuple[str, ...]) -> ColumnElement[bool]:
    return try_cast(text, _Words(words)).is_not(None)


def option_in_postgresql(text: Cell, options: tuple[str, ...]) -> Cell:
    """By one value that holds them all, of which the server looks one up without comparing all."""
    held = literal({option: place for place, option in enumerate(options)}, JSONB())
    return func.coalesce(cast(held.op("->>", return_type=String())(text), Integer()), literal_column("-1"))


def among_in_postgresql(text: Cell, words: tuple[str, ...]) -> ColumnElement[bool]:
    return text.collate("C") == any_(literal(list(words), ARRAY(String())))


def reached_in_postgresql(value: Cell, cuts: Cuts) -> Cell:
    return func.width_bucket(value, literal(list(cuts), ARRAY(value.type)))


def _listed(words: tuple[str, ...]) -> Cell:
    """As one value: SQLite takes time by the square of how many there are in a statement."""
    return literal(json.dumps(words, ensure_ascii=False))


def among_in_sqlite(text: Cell, words: tuple[str, ...]) -> ColumnElement[bool]:
    return text.in_(select(func.json_each(_listed(words)).table_valued("value").c.value))


def option_in_sqlite(text: Cell, options: tuple[str, ...]) -> Cell:
    return _OptionInSqlite(text, _listed(options))


class _OptionInSqlite(FunctionElement[int]):
    """The place of a text among words that stand in one value, which SQLite puts in a table with an index once. The
    text has a name of its own there: a column of the source may be called as a column of that table."""

    inherit_cache = False
    type = Integer()


@compiles(_OptionInSqlite)
def _write_option(element: _OptionInSqlite, compiler: SQLCompiler, **how: Any) -> str:
    text, words = (compiler.process(each, **how) for each in element.clauses)
    return (
        f"coalesce((WITH listed(word, place) AS MATERIALIZED (SELECT value, key FROM json_each({words})) "  # noqa: S608 - words are bound
        f"SELECT listed.place FROM (SELECT {text} AS word) AS told, listed WHERE listed.word = told.word), -1)"
    )


class Reached(FunctionElement[int]):
    """How many cuts a value reaches, by as few comparisons as there can be: one part of a query, however many there
    are. What the value is called stands there for each, so it should have a name."""

    inherit_cache = False
    type = Integer()

    def __init__(self, value: Cell, cuts: Cuts) -> None:
        super().__init__(value)
        self.cuts = [f"'{cut.isoformat()}'" if isinstance(cut, date) else f"{cut:.17e}" for cut in cuts]

    def of(self, value: str) -> str:
        """By the name of a value."""

        def halving(first: int, last: int) -> str:
            if first == last:
                return str(first)
            middle = (first + last) // 2
            below, above = halving(first, middle), halving(middle + 1, last)
            return f"CASE WHEN {value} < {self.cuts[middle]} THEN {below} ELSE {above} END"

        return f"CASE WHEN {value} IS NOT NULL THEN {halving(0, len(self.cuts))} END"


class ReachedInSqlite(Reached):
    """SQLite would write what a name stands for in its place."""

    inherit_cache = False


@compiles(Reached)
def _write_reached(element: Reached, compiler: SQLCompiler, **how: Any) -> str:
    return element.of(*(compiler.process(each, **how) for each in element.clauses))


@compiles(ReachedInSqlite)
def _write_reached_in_sqlite(element: ReachedInSqlite, compiler: SQLCompiler, **how: Any) -> str:
    (value,) = (compiler.process(each, **how) for each in element.clauses)
    return f"(SELECT {element.of('told.value')} FROM (SELECT {value} AS value) AS told)"  # noqa: S608 - see ``of``


class _Words(UserDefinedType[str]):
    """A DuckDB type of these words: a cast to it is one look-up, however many there are."""

    cache_ok = True

    def __init__(self, options: tuple[str, ...]) -> None:
        self.options = options

    def get_col_spec(self, **_: Any) -> str:
        return "ENUM(" + ", ".join("E'" + _SIGNS.sub(_escaped, option) + "'" for option in self.options) + ")"


_SIGNS = re.compile(r"[^0-9A-Za-z\x80-\U0010ffff]")


def _escaped(sign: re.Match[str]) -> str:
    """A sign by its number: as it stands it may be part of what SQLAlchemy looks for in a query it has written."""
    return f"\\x{ord(sign[0]):02x}"
