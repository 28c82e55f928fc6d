"""A question of many options, words and cuts is written for an engine in as many parts as one of few.

Each part is made and written by Python, in which everybody else of the process waits: thousands of them took seconds.
So parts are counted, and the letters that stand for one option or cut; nothing is timed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Select, case, literal, literal_column, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql import visitors
from sqlalchemy.sql.compiler import SQLCompiler

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.in_place import InPlace, PrivateSource, counting, open_database
from dpcore.datasets.in_place.tongue import DUCKDB, PARQUET, TONGUES, Cell, DuckDB, Kind, Tongue
from dpcore.datasets.places import Places
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.selection import BestRule, MostCommonOption
from tests.datasets import test_in_place_blanks as blanks

FEW, MANY = 4, 200
LETTERS = 220
"""That may stand for one option, missing word, yes, no, cut and day more, their own included: a type of DuckDB's has
four for a sign, and a cut stands beside the name of what is compared with it."""
KINDS: dict[str, Kind] = {"who": "text", "word": "text", "said": "text", "age": "number", "day": "date"}
ENGINES: dict[str, tuple[Tongue, Any]] = {
    "parquet": (PARQUET, DuckDB()),
    "duckdb": (DUCKDB, DuckDB()),
    "sqlite": (TONGUES["sqlite"], sqlite.dialect()),
    "postgresql": (TONGUES["postgresql"], postgresql.dialect()),
}


class _Asked(Exception):
    """A question was written; nothing answers it."""


def declared(many: int, words: str) -> Declaration:
    listed = tuple(words.format(at) for at in range(many))
    return Declaration(
        columns=(
            Column(name="who", type="text", missing_words=listed),
            Column(name="word", type="category", categories=listed, missing_words=tuple(f"m{one}" for one in listed)),
            Column(name="said", type="yes/no", yes_words=listed, no_words=tuple(f"n{one}" for one in listed)),
            Column(name="age", type="number", low=0.0, high=100.0),
            Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2026, 1, 1)),
        )
    )


def written(engine: str, many: int, words: str, *, of_people: bool) -> list[tuple[int, int]]:
    """Parts and letters of every question about so many options, words and cuts."""
    tongue, dialect = ENGINES[engine]
    found: list[tuple[int, int]] = []

    def asked(query: Select[Any], *_: object) -> Any:
        text = query.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
        found.append((sum(1 for _ in visitors.iterate(query)) + len(text.params), len(str(text))))
        raise _Asked

    stored = InPlace(
        names=tuple(KINDS),
        kinds=KINDS,
        name="t",
        run=lambda sql: [(0,)],
        select=asked,
        stream=asked,
        quoted=str,
        tongue=tongue,
        key="",
    )
    source, table = PrivateSource(lambda: stored), declared(many, words)
    if of_people:
        table = replace(table, id_column="who")
    cuts = tuple(100.0 * (at + 1) / (many + 1) for at in range(many))
    days = tuple(19_723.5 + at for at in range(many))
    model = Places(target="said", parts=None, looks=(("word", None), ("age", cuts), ("day", days)))
    reads = table.reads_rows("said", "word", "age", "day", neighbours="add_remove")
    questions: tuple[Callable[[], object], ...] = (
        lambda: MostCommonOption.of(table, "word", epsilon=1.0).read(source),
        lambda: MostCommonOption.of(table, "said", epsilon=1.0).read(source),
        lambda: AlarmRun.of(table, "word", where="said", threshold=9, epsilon=1.0).read(source),
        lambda: BestRule.of(table, ["word", "age"], target="said", epsilon=1.0, cuts=many).read(source),
        lambda: list(source.row_batches(reads, model, 9)),
    )
    for question in questions:
        with pytest.raises(_Asked):
            question()
    assert len(found) == len(questions)
    return found


def grows(engine: str, words: str, *, of_people: bool) -> list[str]:
    """What of a question grows with how many options, words and cuts there are."""
    few, many = (written(engine, number, words, of_people=of_people) for number in (FEW, MANY))
    parts = ["parts"] if any(one[0] != other[0] for one, other in zip(few, many, strict=True)) else []
    most = LETTERS * (MANY - FEW)
    return parts + ["letters"] * any(other[1] - one[1] > most for one, other in zip(few, many, strict=True))


@pytest.mark.parametrize("of_people", [False, True])
@pytest.mark.parametrize("words", ["of {}é", "{}", "{}.0"])
@pytest.mark.parametrize("engine", ENGINES)
def test_no_part_of_a_question_is_there_for_each_option(engine: str, words: str, *, of_people: bool) -> None:
    assert grows(engine, words, of_people=of_people) == []


def _for_each(text: Cell, options: Sequence[str]) -> Cell:
    listed: list[tuple[Any, Cell]] = [(literal(word), literal_column(str(at))) for at, word in enumerate(options)]
    return case(*listed, value=text, else_=literal_column("-1"))


MUTANTS: dict[str, dict[str, Any]] = {
    "an option": {"option": _for_each},
    "a word": {"among": lambda text, words: text.in_(words)},
    "a cut": {"reached": lambda value, cuts: case(*((value < cut, at) for at, cut in enumerate(cuts)), else_=-1)},
}


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_these_tests_can_fail(engine: str, mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tongue, dialect = ENGINES[engine]
    monkeypatch.setitem(ENGINES, engine, (replace(tongue, **MUTANTS[mutant]), dialect))
    assert "parts" in grows(engine, "{}.0", of_people=True)


def test_it_is_seen_where_a_value_without_a_name_is_written_for_each_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """As DuckDB was asked of people: where nothing had named the value that is compared with all cuts."""
    monkeypatch.setattr(
        counting, "placed", lambda raw, looks: [look.place(look.raw).label(f"c{at}") for at, look in enumerate(looks)]
    )
    assert grows("duckdb", "of {}é", of_people=True) == ["letters"]


def test_what_was_bound_is_told_once_and_not_for_each_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLAlchemy makes all of it anew each time that it is asked for."""
    file = tmp_path / "a.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    stored, told = open_database(f"duckdb:///{file}", "t"), SQLCompiler.construct_params
    made: list[int] = []

    def counted(*args: Any, **named: Any) -> Any:
        made.append(1)
        return told(*args, **named)

    monkeypatch.setattr(SQLCompiler, "construct_params", counted)
    times = []
    for many in (FEW, MANY):
        made.clear()
        assert stored.select(select(*map(literal, range(many)))) == [tuple(range(many))]
        times.append(len(made))
    assert times[0] == times[1]
    assert times[0] > 0


NAMES = ("word", "value", "place", "listed", "told", "key", "r0", "c0", "who", "whose", "before", "nth", "anon_1")
"""By which a query calls what it makes of cells: a column of a source may be called so."""
WORDS = ("a", 'b"', "c\\", "d'", "e\n", "%s :f", "1.0", "2", "", "é", "NULL", "[1]")


def in_sqlite(place: Path, frame: pd.DataFrame) -> InPlace:
    with closing(sqlite3.connect(place / "a.db")) as made:
        frame.to_sql("t", made, index=False)
    return open_database(f"sqlite:///{place / 'a.db'}", "t")


def in_duckdb(place: Path, frame: pd.DataFrame) -> InPlace:
    with duckdb.connect(str(place / "a.duckdb")) as made:
        made.register("given", frame)
        made.execute("CREATE TABLE t AS SELECT * FROM given")
    return open_database(f"duckdb:///{place / 'a.duckdb'}", "t")


def held(names: Sequence[str]) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    cells = {name: [(*WORDS, " a ", "2.0", "A", "none")[at] for at in rng.integers(16, size=160)] for name in names}
    return pd.DataFrame({**cells, "person": [f"p{at % 60}" for at in range(160)]}, dtype="str")


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["folder", "sqlite", "duckdb", "postgresql"])
def test_options_of_any_letters_in_columns_of_any_name_count_as_in_memory(
    engine: str, tmp_path: Path, server: PrivateServer
) -> None:
    rows = held(NAMES)
    columns = tuple(Column(name=name, type="category", categories=tuple(filter(None, WORDS))) for name in NAMES)
    table = Declaration(columns=(*columns, Column(name="person", type="text")))
    memory = PrivateRows(rows)
    if engine == "postgresql":
        stored = blanks.in_postgresql(server.new_database(), rows)
    else:
        stored = {"folder": blanks.in_folder, "sqlite": in_sqlite, "duckdb": in_duckdb}[engine](tmp_path, rows)
    source = PrivateSource(lambda: stored)
    for asked in (table, replace(table, id_column="person", rows_per_person=3)):
        rule = BestRule.of(asked, NAMES[1:], target=NAMES[0], positive="é", epsilon=1.0)
        assert rule.read(source).tolist() == rule.read(memory).tolist()
        for name in NAMES:
            question = MostCommonOption.of(asked, name, epsilon=1.0)
            assert question.read(source).tolist() == question.read(memory).tolist()
