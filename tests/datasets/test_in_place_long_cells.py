"""A text of any length in a source costs no answer: what is too long is told by its length, and not looked at."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from sqlalchemy import column, quoted_name
from sqlalchemy.dialects import postgresql, sqlite

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.in_place import InPlace, PrivateSource, aggregates, connection, open_database, open_folder, tongue
from dpcore.datasets.in_place.tongue import PARQUET, TONGUES, DuckDB, Kind, Tongue
from dpcore.datasets.schema import LONGEST, LONGEST_PERSON
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, LeastCost, MostCommonOption, QuantileValue
from tests.datasets.test_in_place_blanks import in_duckdb, in_folder, in_lines, in_postgresql, in_sqlite

WHO = Column(name="who", type="text")
WARD = Column(name="ward", type="category", categories=("North", "Süd"))
ILL = Column(name="ill", type="yes/no")
EVERY = Declaration(columns=(WHO, WARD, ILL))
NAMED = replace(EVERY, id_column="who", rows_per_person=9)
FEW = 9
"""Bytes, in place of ``LONGEST``: among the rows are texts just as long, and one byte longer."""
ROWS = pd.DataFrame(
    [
        ("anna", "North", "yes"),
        ("a" * FEW, "North    ", "no       "),
        ("a" * FEW, "North     ", "no        "),
        ("ä" * 4 + "b", "Süd     ", "     yes"),
        ("ä" * 5, "Süd      ", "       yes"),
        (" " * FEW + "anna", "North", "no"),
    ],
    columns=["who", "ward", "ill"],
    dtype="str",
)


def answers(rows: PrivateRows) -> list[Any]:
    return [
        int(NoisyCount.of(NAMED, epsilon=1.0).read(rows)),
        *(
            MostCommonOption.of(declared, name, epsilon=1.0).read(rows).tolist()
            for declared in (EVERY, NAMED)
            for name in ("ward", "ill")
        ),
        BestRule.of(EVERY, ["ward"], target="ill", epsilon=1.0).read(rows).tolist(),
        BestRule.of(NAMED, ["ward"], target="ill", epsilon=1.0).read(rows).tolist(),
    ]


def as_empty(stored: InPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too long counts as what nobody declared, and as nobody's; all else as in memory."""
    source = PrivateSource(lambda: stored)
    assert answers(source) == answers(PrivateRows(ROWS))
    monkeypatch.setattr(tongue, "LONGEST", FEW)
    monkeypatch.setattr(tongue, "LONGEST_PERSON", FEW)
    short = ROWS.where(ROWS.map(lambda cell: len(cell.encode()) <= FEW), "")
    assert answers(source) == answers(PrivateRows(short)) != answers(PrivateRows(ROWS))


@pytest.mark.thorough
@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite, in_duckdb])
def test_a_text_that_is_too_long_counts_as_no_option_and_as_nobody(
    make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_empty(make(tmp_path, ROWS), monkeypatch)


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


@pytest.mark.thorough
def test_a_text_of_postgresql_that_is_too_long(server: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    as_empty(in_postgresql(server.new_schema(), ROWS), monkeypatch)


def test_sqlite_holds_texts_where_it_says_numbers_and_zeros_within_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as made, made:
        made.execute("CREATE TABLE t (who INTEGER, ward TEXT, ill)")
        cells = [(1, "North", "no"), ("b" * 10, "North", "no"), ("b\0" + "b" * 8, "North", "no\0" + "x" * 9)]
        made.executemany("INSERT INTO t VALUES (?, ?, ?)", cells)
    stored = PrivateSource(lambda: open_database(f"sqlite:///{tmp_path / 'a.db'}", "t"))
    asked = MostCommonOption.of(NAMED, "ward", epsilon=1.0)
    assert asked.read(stored).tolist() == [3, 0]
    monkeypatch.setattr(tongue, "LONGEST_PERSON", FEW)
    assert asked.read(stored).tolist() == [1, 0]


def long_names() -> pd.DataFrame:
    """Of the people named here one is named by as many bytes as a name may have, and the others by one more."""
    names = ["a" * LONGEST_PERSON, "a" * (LONGEST_PERSON + 1), "ä" * (LONGEST_PERSON // 2), "b" + "ä" * 500]
    padded = [" " * (LONGEST_PERSON - 4) + "anna", " " * (LONGEST_PERSON - 3) + "anna", "anna"]
    rows = [(name, ward, "yes") for name in (*names, *padded) for ward in ("North", "North", "Süd")]
    return pd.DataFrame(rows, columns=["who", "ward", "ill"], dtype="str")


def nobody_s_by_its_length(stored: InPlace) -> None:
    held = PrivateRows(long_names())
    for most, count in ((9, 12), (1, 3)):
        few = replace(NAMED, rows_per_person=most)
        for rows in (PrivateSource(lambda: stored), held):
            assert int(NoisyCount.of(few, epsilon=1.0).read(rows)) == count
            assert MostCommonOption.of(few, "ward", epsilon=1.0).read(rows).sum() == count
    assert answers(PrivateSource(lambda: stored)) == answers(held)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite, in_duckdb])
def test_a_long_text_says_of_nobody_whose_row_it_is_here_and_in_memory(
    make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path
) -> None:
    nobody_s_by_its_length(make(tmp_path, long_names()))


@pytest.mark.thorough
def test_a_long_text_of_postgresql_says_of_nobody_whose_row_it_is(server: PrivateServer) -> None:
    nobody_s_by_its_length(in_postgresql(server.new_schema(), long_names()))


@pytest.mark.thorough
@pytest.mark.parametrize(("bytes_of", "rows", "theirs"), [(LONGEST_PERSON, 80_000, 1), (60_000, 20_000, 0)])
def test_however_many_rows_one_person_has_and_however_they_are_named_there_is_an_answer(
    bytes_of: int, rows: int, theirs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_MEMORY", "70MB")
    with duckdb.connect() as made:
        person = f"SELECT repeat('x', {bytes_of}) AS who, 'Süd' AS ward FROM range({rows})"  # noqa: S608 - this test's own
        rest = "SELECT 'q' || i AS who, 'North' AS ward FROM range(1000) t(i)"
        made.execute("SET threads = 1")
        made.execute(f"COPY ({person} UNION ALL {rest}) TO '{tmp_path / 'a.parquet'}'")
    stored = open_folder(tmp_path)
    once = replace(NAMED, rows_per_person=1)
    assert NoisyCount.of(once, epsilon=1.0).read(PrivateSource(lambda: stored)) == 1000 + theirs
    assert MostCommonOption.of(once, "ward", epsilon=1.0).read(PrivateSource(lambda: stored)).tolist() == [1000, theirs]


@pytest.mark.parametrize("make", [in_folder, in_sqlite, in_duckdb])
def test_a_text_as_long_as_is_looked_at_and_one_byte_longer_here_and_in_memory(
    make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path
) -> None:
    padded = [word + " " * (size - len(word.encode())) for word in ("Süd", "yes") for size in (LONGEST, LONGEST + 1)]
    rows = pd.DataFrame({"who": ["a", "b"], "ward": padded[:2], "ill": padded[2:]}, dtype="str")
    found = answers(PrivateRows(rows))
    assert found[:3] == [2, [0, 1], [0, 1]]
    stored = make(tmp_path, rows)
    assert answers(PrivateSource(lambda: stored)) == found


class _Asked(Exception):
    """A question was written; nothing answers it."""


COLUMNS = (
    Column(name="the who", type="text"),
    Column(name="the ward", type="category", categories=("a", "b")),
    Column(name="the word", type="yes/no"),
    Column(name="the day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 9)),
    *(Column(name=name, type="number", low=0, high=9) for name in ("the age", "the share")),
)
KINDS: dict[str, Kind] = dict(
    zip((each.name for each in COLUMNS), ("text", "text", "text", "date", "number", "number"), strict=True)
)


def looked_at(engine: Tongue, dialect: Any, own: Kind) -> list[str]:
    """The columns of texts that any question uses but by what ``bounded`` makes of them."""
    kinds, texts = {**KINDS, "the who": own}, []

    def asked(query: Any, *_: object) -> Any:
        texts.append(str(query.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})))
        raise _Asked

    stored = InPlace(
        names=tuple(kinds),
        kinds=kinds,
        name="t",
        run=lambda sql: [(0,)],  # how a column compares texts, by its schema
        select=asked,
        stream=asked,
        quoted=str,
        tongue=engine,
        key="",
    )
    source, open_ = PrivateSource(lambda: stored), Declaration(columns=COLUMNS)
    for declared in (open_, replace(open_, id_column="the who")):
        model = ScaledModel.of(
            declared, target="the word", columns=["the ward", "the day", "the age"], epsilon=1.0, delta=1e-6
        )
        for one in (
            MostCommonOption.of(declared, "the ward", epsilon=1.0),
            MostCommonOption.of(declared, "the word", epsilon=1.0),
            AlarmRun.of(declared, "the ward", where="the word", threshold=9, epsilon=1.0),
            AlarmRun.of(declared, "the day", where="the word", threshold=9, epsilon=1.0),
            QuantileValue.of(declared, "the age", epsilon=1.0),
            BestRule.of(declared, ["the ward", "the age"], target="the word", epsilon=1.0),
            LeastCost.of(declared, ["the age", "the share"], epsilon=1.0),
            NoisyCount.of(declared, epsilon=1.0),
            model,
        ):
            before = len(texts)
            with pytest.raises(_Asked):
                one.read(source)
            with pytest.raises(_Asked):
                source.check(one.reads)
            assert len(texts) == before + 2
    used = []
    for name, kind in kinds.items():
        cell = column(quoted_name(name, quote=True))
        size = engine.size(cell, kind)
        if size is None:
            assert kind not in ("text", "bytes")
            continue
        left = texts
        for person in {False, name == "the who"}:
            bounded = tongue.bounded(cell, kind, engine, person=person)
            whole = str(bounded.compile(dialect=dialect, compile_kwargs={"render_postcompile": True}))
            left = [text.replace(whole, "") for text in left]
        used += [name] if any(f'"{name}"' in text for text in left) else []
    return used


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("engine", "dialect"),
    [
        (PARQUET, DuckDB()),
        (tongue.DUCKDB, DuckDB()),
        (TONGUES["sqlite"], sqlite.dialect()),
        (TONGUES["postgresql"], postgresql.dialect()),
    ],
)
def test_no_question_looks_at_a_text_but_by_its_length_first(
    engine: Tongue, dialect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looked_at(engine, dialect, "text") == []
    assert looked_at(engine, dialect, "bytes") == []
    monkeypatch.setattr(aggregates, "bounded", lambda cell, *_, **__: cell)
    assert looked_at(engine, dialect, "text")[:3] == ["the who", "the ward", "the word"]


def test_whose_a_row_is_must_be_of_a_type_whose_length_is_told(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as made:
        made.execute("CREATE TABLE t (who BLOB, many VARCHAR[], one UUID, ward VARCHAR)")
        made.execute("INSERT INTO t VALUES ('ab', ['x'], uuid(), 'North'), ('ab', ['y'], uuid(), 'North')")
    stored = PrivateSource(lambda: open_database(f"duckdb:///{tmp_path / 'a.duckdb'}", "t"))
    found = []
    for name in ("who", "one", "many"):
        named = Declaration(columns=(WARD, replace(WHO, name=name)), id_column=name)
        asked = MostCommonOption.of(named, "ward", epsilon=1.0)
        if name == "many":
            with pytest.raises(InvalidArgument, match="cannot be “many”"):
                stored.check(asked.reads)
        else:
            stored.check(asked.reads)
            found.append(asked.read(stored).tolist())
    assert found == [[1, 0], [2, 0]]
