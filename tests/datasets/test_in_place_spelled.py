"""Who is spelled in two ways is two: a column in which the database itself takes several texts for one says of nobody
whose a row is, and everywhere else it is stated that nobody is, as receipts say."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import psycopg
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, PrivateSource, open_database
from dpcore.datasets.in_place.counting import check_spelled
from dpcore.errors import InvalidArgument, ReleaseRefused
from dpcore.ledger import Ledger
from dpcore.ledger.words import same_question
from dpcore.release import release, sentence
from dpcore.releases.selection import MostCommonOption

WARD = Column(name="ward", type="category", categories=("a", "b"))
NAMES = ("who", 'wh"o%s {x}')
SEVERAL = {
    "sqlite": ("TEXT COLLATE NOCASE", "COLLATE NOCASE", "INTEGER COLLATE NOCASE"),
    "duckdb": ("VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT", "VARCHAR COLLATE NOCASE.NOACCENT"),
    "postgresql": ("citext", 'text COLLATE "two_for_one"', 'varchar(20) COLLATE "two_for_one"'),
}
ONE = {
    "sqlite": ("TEXT", "", "TEXT COLLATE BINARY", "TEXT COLLATE RTRIM", "INTEGER", "BLOB", "DATE"),
    "duckdb": ("VARCHAR", "INTEGER", "UUID", "BLOB", "DATE", "ENUM('a', 'A')"),
    "postgresql": ("text", 'text COLLATE "C"', "varchar(20)", "char(5)", "int", "uuid", "bytea", "date"),
}
"""A blank behind a text is trimmed everywhere."""
CASES = [(engine, kind, kind in SEVERAL[engine]) for engine in ONE for kind in SEVERAL[engine] + ONE[engine]]


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def made(engine: str, kind: str, place: Path, server: Callable[[], PrivateServer], name: str = "who") -> str:
    """A database with a table of a column like this, and a view of it."""
    column = '"' + name.replace('"', '""') + '"'
    tables = (
        f'CREATE TABLE "t%s" (ward text, {column} {kind})',
        f'CREATE VIEW v AS SELECT {column}, ward FROM "t%s"',  # noqa: S608 - this test's own
    )
    if engine == "sqlite":
        with closing(sqlite3.connect(place / "a.db")) as connection, connection:
            for sql in tables:
                connection.execute(sql)
        return f"sqlite:///{place / 'a.db'}"
    if engine == "duckdb":
        with duckdb.connect(str(place / "a.duckdb")) as other:
            for sql in tables:
                other.execute(sql)
        return f"duckdb:///{place / 'a.duckdb'}"
    address = server().new_schema()
    with create_engine(address, poolclass=NullPool).begin() as begun:
        raw = begun.connection.driver_connection
        assert raw is not None
        with suppress(psycopg.errors.DuplicateObject), raw.transaction():
            raw.execute("CREATE EXTENSION citext SCHEMA pg_catalog")
        raw.execute("CREATE COLLATION two_for_one (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
        for sql in tables:
            raw.execute(sql)
    return address


def refused(stored: InPlace, name: str) -> bool:
    try:
        check_spelled(name, stored)
    except InvalidArgument as error:
        return "written in several ways" in str(error)
    return False


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("engine", "kind", "several"), CASES)
def test_a_column_in_which_several_texts_are_one_names_nobody(
    engine: str, kind: str, several: bool, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Of tables and views, by their schema: there is no row. The other columns are none of those."""
    address = made(engine, kind, tmp_path, lambda: request.getfixturevalue("server"), name)
    for table in ("t%s", "v"):
        stored = open_database(address, table, never_fail=("v",), row_by_row=("v",))  # of citext nobody knows that
        assert refused(stored, name) is several
        assert not refused(stored, "ward")
        assert not refused(replace(stored, tongue=replace(stored.tongue, letter_by_letter=True)), name), "as it was"


@pytest.mark.parametrize("engine", ONE)
def test_nothing_is_charged_where_one_is_asked(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = made(engine, SEVERAL[engine][0], tmp_path, lambda: request.getfixturevalue("server"))
    source = PrivateSource(lambda: open_database(address, "t%s"))
    declared = Declaration(columns=(Column(name="who", type="text"), WARD), id_column="who")
    asked = MostCommonOption.of(declared, "ward", epsilon=0.5)
    plain = MostCommonOption.of(replace(declared, id_column=None), "ward", epsilon=0.5)
    with Ledger.open("sqlite://") as ledger:
        ledger.open_budget("clinic", epsilon=1.0)
        with pytest.raises(ReleaseRefused, match="nothing was charged"):
            release(ledger, "one", "clinic", asked, source)
        assert ledger.budget("clinic").remaining.epsilon == 1.0
        told = release(ledger, "two", "clinic", plain, source)
    assert "spelled" not in told.what


def test_a_receipt_says_both_directions() -> None:
    """Of rows that are held here too. What was charged when it said one is the same question."""
    declared = Declaration(columns=(Column(name="who", type="text"), WARD), id_column="who", rows_per_person=3)
    now = sentence(MostCommonOption.of(declared, "ward", epsilon=0.5))
    told = "That each “who” is all of one person and never spelled in two ways was stated and not checked."
    assert told in now
    before = now.replace(" and never spelled in two ways", "")
    assert before != now
    assert same_question((before, "d"), (now, "d"))
