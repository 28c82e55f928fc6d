"""No value of any type a database has makes an answer fail, whatever its column may be declared as, nor as whose row it
is: the largest, the smallest, what is none, and what lies beyond what Python or another type holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import String, cast, create_engine
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, PrivateSource, open_database
from dpcore.datasets.in_place.tongue import TONGUES
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import BestRule, MostCommonOption, QuantileValue
from tests.datasets.test_in_place_hostile_cells import HOSTILE

_FAR = ("infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC) 00:00:00")
DUCKDB: dict[str, tuple[str, ...]] = {
    "TINYINT": ("-128", "127"),
    "BIGINT": ("-9223372036854775808", "9223372036854775807"),
    "UBIGINT": ("18446744073709551615",),
    "HUGEINT": ("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
    "UHUGEINT": ("340282366920938463463374607431768211455",),
    "FLOAT": ("nan", "-nan", "inf", "-inf", "3.4e38", "1e-45"),
    "DOUBLE": ("nan", "-nan", "inf", "-inf", "1.7e308", "5e-324", "9.3e18", "-9223372036854775808", "-0.0"),
    "DECIMAL(38,0)": ("9" * 38, "-" + "9" * 38),
    "DECIMAL(38,10)": (f"{'9' * 28}.{'9' * 10}", f"-{'9' * 28}.{'9' * 10}"),
    "DECIMAL(4,4)": ("0.9999", "-0.9999"),
    "DATE": ("infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"),
    "TIMESTAMP": (*_FAR, "294247-01-10 04:00:54.775806"),
    "TIMESTAMP_S": _FAR,
    "TIMESTAMP_MS": _FAR,
    "TIMESTAMP_NS": ("infinity", "-infinity", "2262-04-11 23:47:16.854775806", "1677-09-22 00:00:00"),
    "TIMESTAMPTZ": ("infinity", "-infinity", "294247-01-10 04:00:54.775806+00", "290309-12-22 (BC) 00:00:00+00"),
    "TIME": ("00:00:00", "24:00:00"),
    "TIMETZ": ("00:00:00+15:59:59", "24:00:00-15:59:59"),
    "UUID": ("00000000-0000-0000-0000-000000000000",),
    "BLOB": ("", "\\x00\\xff"),
    "BOOLEAN": ("true", "false"),
    "VARCHAR": ("", "a\0b", "\U0010ffff" * 9, "1e-05"),
    "ENUM('a', '1.0', '1e5')": ("a", "1.0", "1e5"),
}
SQLITE = (
    *("1", "-9223372036854775808", "9223372036854775807", "1e999", "-1e999", "1e-320", "9.3e18", "5373484.5"),
    *("''", "x''", "x'00ff'", "'now'", "'a' || char(0) || 'b'", "cast(x'eda080' as text)", "'1e-05'", "'nan'"),
    *("'9999-12-31 24:00:00'", "'-4713-11-24'", "'9999-12-31 23:59:59-14:00'", "'0x10'", "zeroblob(70000)"),
)
# made for views there, or unknown to SQLAlchemy: a column of these may not be declared
_OWN_OR_UNKNOWN = ("kind", "pair", "pair[]", "point", "point[]", "xml[]")
KNOWN = {kind: cells for kind, cells in HOSTILE.items() if kind not in _OWN_OR_UNKNOWN}


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def each_alone(cells: list[tuple[str, str]]) -> str:
    """Rows of a table whose columns are c0, c1, …: in each one cell, of that column."""
    return "; ".join(f"INSERT INTO t ({name}) VALUES ({cell})" for name, cell in cells)  # noqa: S608 - this test's own


def in_postgresql(_: Path, request: pytest.FixtureRequest) -> InPlace:
    address = request.getfixturevalue("server").new_schema()
    kinds = list(KNOWN)
    cells = [(f"c{at}", f"'{cell}'") for at, kind in enumerate(kinds) for cell in map(quoted, KNOWN[kind])]
    with create_engine(address, poolclass=NullPool).begin() as connection:
        raw: Any = connection.connection.driver_connection
        raw.execute(f"CREATE TABLE t ({', '.join(f'c{at} {kind}' for at, kind in enumerate(kinds))})")
        raw.execute(each_alone(cells))
    return open_database(address, "t")


def in_duckdb(place: Path, _: pytest.FixtureRequest) -> InPlace:
    cells = [(f"c{at}", kind, cell) for at, kind in enumerate(DUCKDB) for cell in DUCKDB[kind]]
    with duckdb.connect(str(place / "a.duckdb")) as made:
        made.execute(f"CREATE TABLE t ({', '.join(f'c{at} {kind}' for at, kind in enumerate(DUCKDB))})")
        for name, kind, cell in cells:
            made.execute(f"INSERT INTO t ({name}) VALUES (CAST(? AS {kind}))", [cell])  # noqa: S608 - this test's own
        moments = f"c{list(DUCKDB).index('TIMESTAMP')}"
        made.execute(f"INSERT INTO t ({moments}) VALUES (make_timestamp(-9223372036854775806))")  # noqa: S608 - this test's own
    return open_database(f"duckdb:///{place / 'a.duckdb'}", "t")


def in_sqlite(place: Path, _: pytest.FixtureRequest) -> InPlace:
    kinds = ("INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB", "", "DATE", "BOOLEAN", "VARCHAR(20)")
    with closing(sqlite3.connect(place / "a.db")) as made:
        made.execute(f"CREATE TABLE t ({', '.join(f'c{at} {kind}' for at, kind in enumerate(kinds))})")
        made.executescript(each_alone([(f"c{at}", cell) for at in range(len(kinds)) for cell in SQLITE]))
    return open_database(f"sqlite:///{place / 'a.db'}", "t")


def quoted(cell: str) -> str:
    return cell.replace("'", "''")


def asked(name: str) -> Iterator[Any]:
    """All kinds of questions about a column, as all that it may be declared as, and of people that it names."""
    options = Column(name=name, type="category", categories=("1", "0.00001", "2024-01-01", "1 days"))
    answer = Column(name=name, type="yes/no")
    for column in (options, answer):
        yield MostCommonOption.of(Declaration(columns=(column,)), name, epsilon=1.0)
    if name != "c0":
        rule = Declaration(columns=(replace(options, name="c0"), answer))
        yield BestRule.of(rule, ["c0"], target=name, epsilon=1.0)
    for numbers in (
        Column(name=name, type="integer", low=-10, high=10),
        Column(name=name, type="number", low=-10, high=10),
    ):
        yield QuantileValue.of(Declaration(columns=(numbers,)), name, epsilon=1.0)
    for first, last in ((date(1, 1, 1), date(1, 1, 9)), (date(9999, 12, 20), date(9999, 12, 31))):
        days = Column(name=name, type="date", earliest=first, latest=last)
        yield AlarmRun.of(Declaration(columns=(days,)), name, threshold=9, epsilon=1.0)
    for missing in (("",), ("", "1e-05", "nan")):
        person = Declaration(columns=(Column(name=name, type="text", missing_words=missing),), id_column=name)
        yield NoisyCount.of(person, epsilon=1.0)


def failed(stored: InPlace) -> tuple[int, list[tuple[str, str]]]:
    """How many questions were answered, and which were not though they may be asked."""
    source, answered, found = PrivateSource(lambda: stored), 0, []
    for name in stored.names:
        for one in asked(name):
            try:
                source.check(one.reads)
                one.read(source)
                answered += 1
            except InvalidArgument:
                continue
            except UnreadableFile:
                found.append((name, type(one).__name__))
    return answered, found


HOMES: dict[str, tuple[Callable[[Path, pytest.FixtureRequest], InPlace], str, Any]] = {
    "postgresql": (in_postgresql, "double", TONGUES["sqlite"].double),
    "duckdb": (in_duckdb, "named", lambda cell, *_: cast(cell, String())),
    "sqlite": (in_sqlite, "plain", lambda text: text.op("->>")("$.a")),
}
"""Where rows are, and what would fail there: a tiny number as a double, the first moment as a text, a text as JSON."""


@pytest.mark.thorough
@pytest.mark.parametrize("home", HOMES)
def test_no_value_of_any_type_makes_an_answer_fail(home: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make, part, broken = HOMES[home]
    stored = make(tmp_path, request)
    answered, found = failed(stored)
    assert found == []
    assert answered > 40
    assert failed(replace(stored, tongue=replace(stored.tongue, **{part: broken})))[1] != [], "or none would be found"
