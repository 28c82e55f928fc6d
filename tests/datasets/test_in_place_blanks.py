"""Blanks around a text are the same ones everywhere: they decide whose a row is, and how many rows of whom count."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from sqlalchemy import create_engine, func
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.in_place import Form, InPlace, PrivateSource, open_database, open_folder, open_lines
from dpcore.datasets.in_place.tongue import BLANKS, TONGUES, Cell, Kind
from dpcore.errors import UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption

ENGLISH = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
IN_A_LINE = "".join(sign for sign in BLANKS if sign not in "\n\r")
ONE = Declaration(
    columns=(
        Column(name="who", type="text"),
        Column(name="ward", type="category", categories=("North", "So uth")),
        Column(name="ill", type="yes/no"),
    ),
    id_column="who",
)
EVERY = replace(ONE, id_column=None)


def rows_of_one_person(blanks: str) -> pd.DataFrame:
    """One person's, each with another blank around it or behind it, and one of nobody for each blank."""
    around = [sign + "{}" + sign + sign for sign in blanks] + ["{}" + blanks]
    cells = {"who": ("An n", " n/a"), "ward": ("North", "So uth"), "ill": ("yes", "no")}
    return pd.DataFrame(
        {name: [each.format(word) for word in words for each in around] for name, words in cells.items()}, dtype="str"
    )


def in_folder(place: Path, frame: pd.DataFrame) -> InPlace:
    frame.to_parquet(place / "a.parquet")
    return open_folder(place)


def in_lines(place: Path, frame: pd.DataFrame, ill: Any = "text") -> InPlace:
    text = "".join(",".join(row) + "\n" for row in [frame.columns, *frame.to_numpy()])
    (place / "a.csv").write_bytes(text.encode())
    return open_lines(place, Form(columns=(("who", "text"), ("ward", "text"), ("ill", ill))))


def in_sqlite(place: Path, frame: pd.DataFrame) -> InPlace:
    with closing(sqlite3.connect(place / "a.db")) as made:
        frame.to_sql("t", made, index=False)
    return open_database(f"sqlite:///{place / 'a.db'}", "t", never_fail=("t",))


def in_duckdb(place: Path, frame: pd.DataFrame) -> InPlace:
    with duckdb.connect(str(place / "a.duckdb")) as made:
        made.register("given", frame)
        made.execute("CREATE TABLE t AS SELECT * FROM given")
    return open_database(f"duckdb:///{place / 'a.duckdb'}", "t")


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def in_postgresql(address: str, frame: pd.DataFrame) -> InPlace:
    engine = create_engine(address, poolclass=NullPool)
    frame.to_sql("t", engine, index=False)
    return open_database(address, "t")


def answers(rows: PrivateRows) -> list[Any]:
    """How many rows count of whom, and of each option."""
    asked = (
        NoisyCount.of(ONE, epsilon=1.0),
        *(MostCommonOption.of(EVERY, name, epsilon=1.0) for name in ("ward", "ill")),
    )
    of_one = MostCommonOption.of(replace(ONE, rows_per_person=100), "ward", epsilon=1.0)
    return [int(asked[0].read(rows)), *(one.read(rows).tolist() for one in (*asked[1:], of_one))]


def alike(stored: InPlace, blanks: str = BLANKS) -> None:
    """As in memory; and with the engine's own idea of what is blank it would not be."""
    half = len(blanks) + 1
    in_memory = answers(PrivateRows(rows_of_one_person(blanks)))
    assert in_memory == [1, [half, half], [half, half], [half, 0]]
    assert answers(PrivateSource(lambda: stored)) == in_memory
    own = replace(stored, tongue=replace(stored.tongue, trimmed=func.trim))
    assert answers(PrivateSource(lambda: own)) != in_memory


@pytest.mark.parametrize("make", [in_folder, in_sqlite, in_duckdb])
def test_blanks_are_those_of_memory(make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path) -> None:
    alike(make(tmp_path, rows_of_one_person(BLANKS)))


def _untrimmed(cell: Cell, kind: Kind, trimmed: Callable[[Cell], Cell]) -> Cell:
    return trimmed(cell) if kind == "text" else cell


CAPITALS = (
    "weiß nicht",
    "WEIẞ NICHT",
    "Über",
    "ÜBER",
    "ДА",
    "NÃO",
    "SÍ",
    "\N{KELVIN SIGN}a",
    "Nİ",
    "ΟΔΟΣ",
    "I",
    "ö",
    "Ö",
)


def said(rows: PrivateRows) -> list[Any]:
    """Who is missing, and what says yes, by words that are declared with letters of other alphabets."""
    who = replace(ONE.columns[0], missing_words=CAPITALS[::2])
    ill = replace(ONE.columns[2], yes_words=CAPITALS[1::3], no_words=CAPITALS[::3])
    named = replace(ONE, columns=(who, *ONE.columns[1:]), rows_per_person=100)
    yes = replace(EVERY, columns=(*ONE.columns[:2], ill))
    return [
        int(NoisyCount.of(named, epsilon=1.0).read(rows)),
        MostCommonOption.of(yes, "ill", epsilon=1.0).read(rows).tolist(),
        MostCommonOption.of(EVERY, "ill", epsilon=1.0).read(rows).tolist(),
    ]


def rows_of_capitals() -> pd.DataFrame:
    cells = [form for word in CAPITALS for form in (word, word.lower(), word.upper(), word.title())]
    return pd.DataFrame({"who": cells, "ward": "North", "ill": cells}, dtype="str")


@pytest.mark.parametrize("make", [in_folder, in_sqlite, in_duckdb])
def test_capital_letters_are_those_of_memory(make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path) -> None:
    capitals_alike(make(tmp_path, rows_of_capitals()))


@pytest.mark.thorough
def test_capital_letters_of_postgresql_are_those_of_memory(server: PrivateServer) -> None:
    capitals_alike(in_postgresql(server.new_schema(), rows_of_capitals()))


def capitals_alike(stored: InPlace) -> None:
    """As in memory, where an engine may know the small letters of English alone."""
    in_memory = said(PrivateRows(rows_of_capitals()))
    assert said(PrivateSource(lambda: stored)) == in_memory
    english = replace(stored.tongue, small=lambda text, words: func.translate(text, ENGLISH, ENGLISH.lower()))
    if stored.tongue.small is TONGUES["sqlite"].small:
        english = replace(stored.tongue, small=lambda text, words: func.lower(text))
    assert said(PrivateSource(lambda: replace(stored, tongue=english))) != in_memory


DECLARED = ("VARCHAR(9) COLLATE NOCASE", "STRING", "", "INTEGER", "REAL", "NUMERIC", "BLOB", "DATE", "BOOLEAN", "JSON")


def declared_as(place: Path, kind: str, cells: pd.DataFrame | list[Any], *, view: str = "who") -> InPlace:
    """A table whose column of people is declared so, and a view of it that says them by an expression."""
    frame = cells if isinstance(cells, pd.DataFrame) else pd.DataFrame({"who": cells, "ward": "North", "ill": "yes"})
    with closing(sqlite3.connect(place / "a.db")) as made, made:
        made.execute(f"CREATE TABLE held (who {kind}, ward TEXT, ill TEXT)")
        made.executemany("INSERT INTO held VALUES (?, ?, ?)", frame.astype(object).to_numpy().tolist())
        made.execute(f"CREATE VIEW t AS SELECT {view} AS who, ward, ill FROM held")  # noqa: S608 - this test's own
    return open_database(f"sqlite:///{place / 'a.db'}", "t", never_fail=("t",))


@pytest.mark.parametrize(
    ("kind", "view"), [*((kind, "who") for kind in DECLARED), ("TEXT", "coalesce(who, '')"), ("TEXT", "who || ''")]
)
def test_whose_row_it_is_is_a_text_in_sqlite_whatever_is_declared(kind: str, view: str, tmp_path: Path) -> None:
    """A column may hold any cell there: blanks and missing words are those of memory in each."""
    stored = declared_as(tmp_path, kind, rows_of_one_person(BLANKS), view=view)
    alike(stored)
    as_it_stands = replace(stored, tongue=replace(stored.tongue, named=_untrimmed))
    found = answers(PrivateSource(lambda: as_it_stands)) != answers(PrivateSource(lambda: stored))
    assert found == (stored.kinds["who"] != "text"), "as it was before"


@pytest.mark.parametrize("kind", ["", "BLOB"])
def test_what_is_no_text_in_sqlite_says_whose_row_it_is(kind: str, tmp_path: Path) -> None:
    """A whole number is one however it is held; no two numbers, or bytes, are taken for one that are two."""
    people: list[tuple[Any, ...]] = [
        (7, 7.0, "7", " 7\t", b"7"),
        (0.1, 0.1),
        (0.1 + 2**-56,),
        (2**53, float(2**53), str(2**53)),
        (2**53 + 1,),
        (9.5e18, 9.5e18),
        (float(2**63),),
        (2**63 - 1,),
        (float("inf"),),
        *((bytes([0, 0, 0, sign]),) for sign in (9, 10, 13, 32)),
        ("Ann", "Ann\u3000", b"Ann"),
        ("ann",),
    ]
    nobody = [None, "", " ", "NA", " n/a\n", "-", b"", b"NA"]
    cells = [*(cell for each in people for cell in each), *nobody]
    stored = declared_as(tmp_path, kind, cells)
    source = PrivateSource(lambda: stored)
    assert NoisyCount.of(ONE, epsilon=1.0).read(source) == len(people)
    every = NoisyCount.of(replace(ONE, rows_per_person=100), epsilon=1.0)
    assert every.read(source) == len(cells) - len(nobody)


def test_blanks_of_lines_are_those_of_memory(tmp_path: Path) -> None:
    frame = rows_of_one_person(IN_A_LINE)
    alike(in_lines(tmp_path, frame), IN_A_LINE)
    typed = PrivateSource(lambda: in_lines(tmp_path, frame, "yes/no"))
    asked = MostCommonOption.of(EVERY, "ill", epsilon=1.0)
    assert asked.read(typed).tolist() == asked.read(PrivateRows(frame)).tolist()


def test_blanks_of_postgresql_are_those_of_memory(server: PrivateServer) -> None:
    alike(in_postgresql(server.new_schema(), rows_of_one_person(BLANKS)))


def test_a_database_that_does_not_know_every_sign_is_refused(server: PrivateServer) -> None:
    """A question that names a blank, or an option, of another alphabet would fail there once it is charged."""
    engine = create_engine(server.url("postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "CREATE DATABASE in_latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
    with pytest.raises(UnreadableFile, match="UTF-8"):
        in_postgresql(server.url("in_latin"), rows_of_one_person(" "))


@pytest.mark.thorough
def test_a_table_in_memory_trims_white_space_alone() -> None:
    """The list itself: of every sign there is what a table in memory trims."""
    signs = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    trimmed = pd.Series(["a" + sign for sign in signs], dtype="str").str.strip() == "a"
    assert "".join(pd.Series(signs)[trimmed]) == BLANKS


@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite])
def test_blanks_within_an_option_are_letters_of_it_and_some_are_spaces_in_a_file(
    make: Callable[[Path, pd.DataFrame], InPlace], tmp_path: Path
) -> None:
    """Each as another letter in a source, as docs/sources.md says."""
    rows = pd.DataFrame({"who": "a", "ward": [f"So{sign}uth" for sign in IN_A_LINE], "ill": "no"}, dtype="str")
    stored, asked = make(tmp_path, rows), MostCommonOption.of(EVERY, "ward", epsilon=1.0)
    assert asked.read(PrivateSource(lambda: stored)).tolist() == [0, 1]
    spaces = sum(
        sign in " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}\N{FIGURE SPACE}" for sign in IN_A_LINE
    )
    assert asked.read(PrivateRows(rows)).tolist() == [0, spaces] == [0, 5]
