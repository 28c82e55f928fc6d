"""Whose a row is: cells that an engine takes for equal are one person and one text, however they are written.

Which rows of a person stay is drawn from that text. Of one person with two of them rows would be numbered as an engine
happens to sort all rows, so that one more row of anybody could change what stays of everybody.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import String, cast, create_engine, func, select
from sqlalchemy.pool import NullPool
from sqlalchemy.sql import ColumnElement

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, PrivateSource, open_database, open_folder
from dpcore.datasets.in_place.counting import whose
from dpcore.datasets.in_place.tongue import Cell
from dpcore.errors import InvalidArgument
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption
from tests.datasets import test_in_place_blanks as blanks

WHO = Column(name="who", type="text", missing_words=())
WARD = Column(name="ward", type="category", categories=("a", "b"))
ONE = Declaration(columns=(WHO, WARD), id_column="who")
COUNT, WHICH = NoisyCount.of(ONE, epsilon=1.0), MostCommonOption.of(ONE, "ward", epsilon=1.0)
Groups = Sequence[Sequence[str]]  # literals of an engine: those of one person together
NUMBERS: Groups = (("'7.0'", "'7.00'", "'7'"), ("'-0.0'", "'0.0'"), ("'70'", "'70.0'"), ("'0.5'", "'0.50'"))
DOUBLES: Groups = (
    *NUMBERS,
    ("'1.5e20'", "'150000000000000000000'"),
    ("'1.5e2'", "'150'"),
    ("'nan'",),
    ("'infinity'",),
    ("'9007199254740991'",),
    ("'9007199254740992'",),
)
ANY: dict[str, Groups] = {
    "text": (("'Ann'", "' Ann '"), ("'ann'",), ("'7.0'", "'7'"), ("'7.5'",), ("'7.50'",)),
    "boolean": (("true",), ("false",)),
    "bigint": (("7",), ("70",), ("-7",)),
    "decimal(9, 3)": NUMBERS,
    "double precision": DOUBLES,
    "real": (*NUMBERS, ("'16777215'",), ("'16777214'",)),
    "date": (("'2024-01-01'",), ("'2024-01-02'",)),
    "timestamp": (("'2024-01-01'", "'2024-01-01 00:00:00.0'"), ("'2024-01-01 00:00:01'",)),
    "timestamptz": (("'2024-01-01 00:00:00+00'", "'2024-01-01 01:00:00+01'"), ("'2024-01-01 00:00:01+00'",)),
    "time": (("'12:00:00'", "'12:00:00.0'"), ("'12:00:01'",)),
    "uuid": (
        ("'12345678-1234-1234-1234-123456789abc'", "'12345678-1234-1234-1234-123456789ABC'"),
        ("'12345678-1234-1234-1234-123456789abd'",),
    ),
}
IN_DUCKDB: dict[str, Groups] = {
    **ANY,
    "timetz": (("'12:00:00+00'",), ("'13:00:00+01'",)),
    "timestamp_s": (("'2024-01-01'", "'2024-01-01 00:00:00'"), ("'infinity'",), ("'-infinity'",)),
    "timestamp_ms": (("'2024-01-01'",), ("'2024-01-01 00:00:00.001'",), ("'-infinity'",)),
    "timestamp_ns": (("'2024-01-01'",), ("'2024-01-01 00:00:00.000000001'",), ("'-infinity'",)),
    "hugeint": (("7",), ("170141183460469231731687303715884105727",)),
    "blob": (("'A'",), ("' A'",), (r"'\x09A'",), (r"'\x5CxAA'",), (r"'\xAA'",)),
    "double": (*DOUBLES[:-4], ("-(CAST('nan' AS DOUBLE))", "'nan'")),
}
IN_POSTGRESQL: dict[str, Groups] = {
    **ANY,
    "numeric": (*DOUBLES, ("'1e-30'",), ("'1.0000000000000000000000000000001'",)),
    "timetz": (("'12:00:00+00'",), ("'13:00:00+01'",)),
    "bytea": ((r"'\x41'",), (r"'\x2041'",), (r"'\x5c78'",)),
    "char(9)": (("'Ann'", "'Ann  '"), ("'ann'",)),
    "inet": (("'10.0.0.1'", "'10.0.0.1/32'"), ("'10.0.0.1/24'",)),
    "macaddr": (("'08:00:2b:01:02:03'", "'08-00-2b-01-02-03'"), ("'08:00:2b:01:02:04'",)),
}
IN_SQLITE: dict[str, Groups] = {
    **dict.fromkeys(
        ("", "blob"),
        (
            ("7", "7.0", "'7'", "'7.0'", "' 7 '", "x'37'"),
            ("0", "-0.0", "0.0"),
            ("0.1",),
            ("0.1 + 1e-17",),
            ("9e999",),
            ("1e19",),
        ),
    ),
    "real": (("7", "7.0", "'7.00'"), ("0", "-0.0"), ("0.5", "'0.50'"), ("'Ann'", "' Ann '")),
    "numeric": (("7", "7.0", "'7.00'"), ("0", "-0.0"), ("0.5", "'0.50'"), ("'Ann'", "' Ann '")),
}


def in_sqlite(place: Path, kind: str, groups: Groups) -> InPlace:
    with closing(sqlite3.connect(place / "a.db")) as made, made:
        for sql in _written(kind, groups):
            made.execute(sql)
    return open_database(f"sqlite:///{place / 'a.db'}", "t")


def in_duckdb(place: Path, kind: str, groups: Groups) -> InPlace:
    with duckdb.connect(str(place / "a.duckdb")) as made:
        for sql in _written(kind, groups):
            made.execute(sql)
    return open_database(f"duckdb:///{place / 'a.duckdb'}", "t")


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def in_postgresql(address: str, kind: str, groups: Groups) -> InPlace:
    with create_engine(address, poolclass=NullPool).begin() as made:
        for sql in _written(kind, groups):
            made.exec_driver_sql(sql)
    return open_database(address, "t")


def _written(kind: str, groups: Groups) -> Iterator[str]:
    yield "DROP TABLE IF EXISTS t"
    yield f"CREATE TABLE t (who {kind}, ward text)"
    rows = [f"({cell}, '{ward}')" for group in groups for cell in group for ward in "aab"]
    yield "INSERT INTO t VALUES " + ", ".join([*rows, "(NULL, 'a')"])  # noqa: S608 - this test's own


PEOPLE = pd.DataFrame(
    [
        (name, "ab"[(at + place) % 2], "yes")
        for at, name in enumerate(("ann", "Søs ", "7.0", "x" * 900))
        for place in range(9)
    ]
    * 12,
    columns=["who", "ward", "ill"],
    dtype="str",
)
PEOPLE["who"] = [f"{name}{at // 9}" if len(name) < 9 else name for at, name in enumerate(PEOPLE["who"])]


def of(stored: InPlace) -> PrivateSource:
    return PrivateSource(lambda: stored)


def told_apart(stored: InPlace, person: Cell, there: ColumnElement[bool]) -> tuple[int, int]:
    """How many people an engine puts rows together by, and how many texts it numbers these rows by."""
    rows = select(person.label("who"), cast(person, String()).label("text")).select_from(stored.table).where(there)
    found = rows.subquery()
    people, texts = stored.select(select(func.count(found.c.who.distinct()), func.count(found.c.text.distinct())))[0]
    return int(str(people)), int(str(texts))


def one_text_each(stored: InPlace, groups: Groups) -> None:
    person, there = whose(WHO, stored.cell("who"), stored.kinds["who"], stored.tongue)
    assert told_apart(stored, person, there) == (len(groups), len(groups))
    source = PrivateSource(lambda: stored)
    assert COUNT.read(source) == len(groups)
    assert WHICH.read(source).sum() == len(groups)


@pytest.mark.parametrize("kind", IN_SQLITE)
def test_one_person_is_one_text_in_sqlite(kind: str, tmp_path: Path) -> None:
    one_text_each(in_sqlite(tmp_path, kind, IN_SQLITE[kind]), IN_SQLITE[kind])


@pytest.mark.parametrize("kind", IN_DUCKDB)
def test_one_person_is_one_text_in_duckdb(kind: str, tmp_path: Path) -> None:
    one_text_each(in_duckdb(tmp_path, kind, IN_DUCKDB[kind]), IN_DUCKDB[kind])


@pytest.mark.thorough
def test_one_person_is_one_text_in_postgresql(server: PrivateServer) -> None:
    address = server.new_schema()
    for kind, groups in IN_POSTGRESQL.items():
        one_text_each(in_postgresql(address, kind, groups), groups)
    short = address.replace("&options=", "&options=-cextra_float_digits%3D-9%20")
    one_text_each(in_postgresql(short, "double precision", DOUBLES), DOUBLES)


@pytest.mark.parametrize("make", [in_duckdb, in_postgresql])
def test_spans_of_time_say_of_nobody_whose_a_row_is(
    make: Callable[..., InPlace], server: PrivateServer, tmp_path: Path
) -> None:
    """A month is as long as thirty days to an engine, and no text says both."""
    at = server.new_schema() if make is in_postgresql else tmp_path
    stored = make(at, "interval", (("'1 month'", "'30 days'", "'720 hours'"),))
    with pytest.raises(InvalidArgument, match="another type"):
        COUNT.read(PrivateSource(lambda: stored))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "kind"), [(in_sqlite, ""), (in_duckdb, "double"), (in_postgresql, "numeric"), (in_postgresql, "real")]
)
def test_people_by_the_engines_own_equality_are_found_out(
    make: Callable[..., InPlace], kind: str, server: PrivateServer, tmp_path: Path
) -> None:
    at = server.new_schema() if make is in_postgresql else tmp_path
    groups = {in_sqlite: IN_SQLITE, in_duckdb: IN_DUCKDB, in_postgresql: IN_POSTGRESQL}[make][kind]
    stored = make(at, kind, groups)
    cell = stored.cell("who")
    people, texts = told_apart(stored, cell, cell.is_not(None))
    assert people != texts


def test_which_rows_of_a_person_stay_is_the_same_in_every_engine(tmp_path: Path) -> None:
    few = replace(ONE, rows_per_person=3)
    found = {}
    for make in (blanks.in_folder, blanks.in_lines, blanks.in_sqlite, blanks.in_duckdb):
        (at := tmp_path / make.__name__).mkdir()
        stored = make(at, PEOPLE)
        found[make.__name__] = MostCommonOption.of(few, "ward", epsilon=1.0).read(of(stored)).tolist()
    assert len({tuple(each) for each in found.values()}) == 1, found
    assert sum(found["in_sqlite"]) == 3 * PEOPLE["who"].str.strip().nunique()


@pytest.mark.thorough
def test_which_rows_of_a_person_stay_is_the_same_in_postgresql(server: PrivateServer, tmp_path: Path) -> None:
    few = MostCommonOption.of(replace(ONE, rows_per_person=3), "ward", epsilon=1.0)
    there, here = blanks.in_postgresql(server.new_schema(), PEOPLE), blanks.in_sqlite(tmp_path, PEOPLE)
    assert few.read(PrivateSource(lambda: there)).tolist() == few.read(PrivateSource(lambda: here)).tolist()


FIRST = -9_223_372_022_400_000_000
"""The first point in time that DuckDB can write as a text, in microseconds."""


@pytest.mark.parametrize("unit", ["us", "s"])
def test_a_point_in_time_of_any_year_ends_no_answer(unit: str, tmp_path: Path) -> None:
    """Whether DuckDB can write it or not: in years before 290,309 B.C., say, which any file of Parquet can hold."""
    ends, far = [-(2**63) + 1, 2**63 - 1], [-(2**63), -(2**63) + 2, FIRST - 1, FIRST, FIRST + 1, 2**63 - 2]
    moments = [0, 1, None, *ends, *far]
    cells = pa.array([moment for moment in moments for _ in range(2)], pa.int64()).view(pa.timestamp(unit))
    with duckdb.connect(str(tmp_path / "a.duckdb")) as made:
        made.register("cells", pa.table({"who": cells, "ward": ["a"] * len(cells)}))
        made.execute("CREATE TABLE t AS SELECT * FROM cells")
    source = PrivateSource(lambda: open_database(f"duckdb:///{tmp_path / 'a.duckdb'}", "t"))
    # of seconds DuckDB cannot even tell which year these are: they name nobody
    people = len(moments) - 1 - (len(far) if unit == "s" else 0)
    assert COUNT.read(source) == people
    assert WHICH.read(source).tolist() == [people, 0]
    if unit == "us":
        pq.write_table(pa.table({"who": cells, "ward": ["a"] * len(cells)}), tmp_path / "a.parquet")
        assert COUNT.read(PrivateSource(lambda: open_folder(tmp_path))) == people


def test_a_time_of_no_day_ends_no_answer(tmp_path: Path) -> None:
    """As a table of DuckDB's can hold one that was made from Arrow."""
    day = 24 * 60 * 60 * 10**6
    times = [0, 1, day, None, -1, day + 1, 2**63 - 1, -(2**63)]
    cells = pa.array([time for time in times for _ in range(2)], pa.int64()).view(pa.time64("us"))
    with duckdb.connect(str(tmp_path / "a.duckdb")) as made:
        made.register("cells", pa.table({"who": cells, "ward": ["a"] * len(cells)}))
        made.execute("CREATE TABLE t AS SELECT * FROM cells")
    source = of(open_database(f"duckdb:///{tmp_path / 'a.duckdb'}", "t"))
    assert COUNT.read(source) == len(times) - 1
    assert WHICH.read(source).tolist() == [len(times) - 1, 0]
