"""Of a view that is offered without its owner's word no value of any type, collation, length or nesting makes an answer
fail; and what fails by a cell all the same is told of in the log, whatever the engine calls it."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import sqlalchemy as sa

from benchmarks.private_postgresql import PORT, PrivateServer, private_server
from dpcore.datasets.in_place import open_database, views
from dpcore.errors import UnreadableFile

_DAYS = ("infinity", "-infinity", "5874897-12-31", "4713-01-01 BC")
_TIMES = ("infinity", "-infinity", "294276-12-31 23:59:59.999999", "4714-11-24 00:00:00 BC")
_WORDS = ("", "a", "A", "ß", "İ", "'", "\\", "\U0010ffff" * 9, "{1}", "infinity")
_LISTS = ("{}", "{1}", "{1,2}", "{{1,2},{3,4}}", "{NULL}", "[-2147483648:-2147483647]={1,2}")
HOSTILE: dict[str, tuple[str, ...]] = {
    "boolean": ("true", "false"),
    "smallint": ("-32768", "32767"),
    "integer": ("-2147483648", "2147483647", "-1", "0"),
    "bigint": ("-9223372036854775808", "9223372036854775807", "0"),
    "real": ("nan", "inf", "-inf", "3.4e38", "1e-45"),
    "double precision": ("nan", "inf", "-inf", "1.7e308", "5e-324"),
    "numeric": ("nan", "inf", "-inf", "1e131071", "1e-16383"),
    "money": ("-92233720368547758.08",),
    "text": _WORDS,
    "varchar(20)": _WORDS,
    "character(20)": _WORDS,
    "name": _WORDS,
    "bytea": ("", "\\x00ff"),
    "bit varying": ("", "1", "0"),
    "date": _DAYS,
    "timestamp": _TIMES,
    "timestamptz": ("infinity", "-infinity", "294276-12-31 23:59:59+00", "4714-11-24 00:00:00+00 BC"),
    "time": ("24:00", "00:00"),
    "timetz": ("24:00+15", "00:00-15"),
    "interval": ("178000000 years", "-178000000 years"),
    "uuid": ("00000000-0000-0000-0000-000000000000",),
    "inet": ("::/0", "0.0.0.0/0"),
    "cidr": ("::/0", "0.0.0.0/0"),
    "macaddr": ("00:00:00:00:00:00",),
    "jsonb": ("null", "{}", "[[[[1]]]]"),
    "json": ("{}", "[[[[1]]]]"),
    "point": ("1,1", "nan,inf"),
    "int4range": ("empty", "(,)", "[1,2147483647)"),
    "tsvector": ("", "a"),
    "kind": ("low", "high"),
    "pair": ("(1,{})", "(1,[])", "(,)"),
    "integer[]": _LISTS,
    "text[]": _LISTS,
    "json[]": ("{}", "{1}", "{1,2}"),
    "point[]": ("{}", '{"(1,1)"}'),
    "xml[]": ("{}", "{<a/>}"),
    "pair[]": ("{}", '{"(1,{})"}'),
}
"""Values of each type; ``x`` and ``y`` hold every two of them, and none."""
ASKED = {
    "compared": "SELECT x < y AS a, x <> y AS b FROM held",
    "told apart": "SELECT x IS DISTINCT FROM y AS a FROM held",
    "sorted": "SELECT x FROM held ORDER BY y",
    "one of each": "SELECT DISTINCT x FROM held",
    "put together": "SELECT x FROM held UNION SELECT y FROM held",
    "put together, then compared": "SELECT 1 FROM (SELECT x FROM held UNION ALL SELECT y FROM held) s WHERE x <= x",
    "joined": "SELECT a.x FROM held a JOIN held b ON a.x = b.y",
    "chosen": "SELECT 1 AS a FROM held ORDER BY coalesce(x, y), CASE WHEN x IS NULL THEN y ELSE x END",
    "listed": "SELECT ARRAY[x, y] AS a FROM held",
    "in a list": "SELECT 1 AS a FROM held WHERE x = ANY (ARRAY[y, x])",
    "in a list of lists": "SELECT 1 AS a FROM held WHERE 7 = ANY (ARRAY[x, y])",
    "in a list that is held": "SELECT 1 AS a FROM held WHERE 7 = ANY (x)",
    "lowered": "SELECT lower(btrim(x)) AS a, upper(y) AS b FROM held",
    "lowered together": "SELECT 1 AS a FROM held WHERE lower(coalesce(x, y)) IS NULL",
    "widened": "SELECT x::bigint AS a, x::float8 AS b, x::numeric AS c FROM held",
    "so many": "SELECT 1 AS a FROM held h, LATERAL (SELECT 1 LIMIT h.x) s",
    "after so many": "SELECT 1 AS a FROM held h, LATERAL (SELECT 1 OFFSET h.x) s",
}
_COLLATIONS = (("", ""), (' COLLATE "C"', ' COLLATE "POSIX"'))
WRONG = {
    ("integer[]", "in a list of lists"),
    ("integer", "so many"),
    ("bigint", "after so many"),
    ("json[]", "compared"),
    ("text, two collations", "compared"),
    ("text, two collations", "put together, then compared"),
    ("varchar(20), two collations", "lowered together"),
}
"""Some of what was offered, or would be by its parts alone, and fails."""


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


@pytest.fixture
def connection(server: PrivateServer) -> Iterator[psycopg.Connection[Any]]:
    database = server.new_database().split("@/")[1].split("?")[0]
    where: dict[str, Any] = {"host": str(server.folder), "port": PORT, "user": "ledger", "dbname": database}
    with psycopg.connect(**where, autocommit=True, prepare_threshold=None) as own:
        own.execute("CREATE TYPE kind AS ENUM ('low', 'high'); CREATE TYPE pair AS (n integer, made json)")
        yield own


def offered(own: psycopg.Connection[Any]) -> bool:
    try:
        views.check("postgresql", lambda sql: own.execute(sql.encode()).fetchall(), lambda name: f'"{name}"', "v")
    except UnreadableFile:
        return False
    return True


def tried(own: psycopg.Connection[Any]) -> Iterator[tuple[tuple[str, str], bool, bool]]:
    """Every type and way to ask of it that PostgreSQL makes a view of: whether it is offered, and whether it fails."""
    for kind, (first, second) in itertools.product(HOSTILE, _COLLATIONS):
        try:
            own.execute(f"CREATE TABLE held (x {kind}{first}, y {kind}{second})".encode())
        except psycopg.Error:
            continue  # a type without a collation
        cells = (None, *HOSTILE[kind])
        into = f"INSERT INTO held VALUES (%s::text::{kind}, %s::text::{kind})"  # noqa: S608 - this test's own
        own.cursor().executemany(into.encode(), list(itertools.product(cells, cells)))
        for way, select in ASKED.items():
            try:
                own.execute(f"CREATE VIEW v AS {select}".encode())
            except psycopg.Error:
                continue  # the type is not asked so
            try:
                own.execute("SELECT count(v::text) FROM v")
                fails = False
            except psycopg.Error:
                fails = True
            yield (f"{kind}, two collations" if first else kind, way), offered(own), fails
            own.execute("DROP VIEW v")
        own.execute("DROP TABLE held")


@pytest.mark.thorough
def test_no_cell_makes_a_view_fail_that_is_offered(connection: psycopg.Connection[Any]) -> None:
    found = list(tried(connection))
    assert [what for what, known, fails in found if known and fails] == []
    fine = {what for what, known, _ in found if known}
    assert {
        (kind, way) for kind in ("integer", "text", "date", "kind") for way in ("compared", "sorted", "joined")
    } <= fine
    assert {("varchar(20)", "lowered"), ("smallint", "widened"), ("integer[]", "in a list that is held")} <= fine


@pytest.mark.thorough
def test_a_look_at_parts_alone_offers_what_fails(
    connection: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So these tests can fail: as it was all operators of an order were known, and no more than parts was looked at."""
    texts = ", ".join(map(str, views._TEXTS.values()))
    monkeypatch.setattr(views, "_SCALARS", "")
    monkeypatch.setattr(
        views,
        "_TOTAL",
        views._TOTAL.split("WHERE o.oprleft")[0]
        + f"UNION SELECT unnest(ARRAY[{texts}])::bigint UNION"
        + views._TOTAL.rsplit("UNION", 1)[1],
    )
    monkeypatch.setattr(views, "_SAID", ())
    assert {what for what, known, fails in tried(connection) if known and fails} >= WRONG


@pytest.mark.parametrize(
    ("code", "told"),
    [
        *((code, True) for code in ("22012", "22P02", "2202E", "42P22", "42883", "42804", "54000", "XX000", "P0001")),
        *((code, False) for code in ("08006", "57014", "57P01", "42501", "42P01", "53200", "53100", "55P03", "40001")),
    ],
)
def test_every_error_that_a_cell_may_make_is_in_the_log(
    code: str, told: bool, server: PrivateServer, caplog: pytest.LogCaptureFixture
) -> None:
    """With the table's name and no word of what the server said; not what the connection, the clock, rights or memory
    made fail, or a table that is gone."""
    address = server.new_schema()
    with sa.create_engine(address, poolclass=sa.pool.NullPool).begin() as begun:
        begun.exec_driver_sql("CREATE TABLE visits (who text)")
    source = open_database(address, "visits")
    with pytest.raises(UnreadableFile):
        source.run(f"DO $$ BEGIN RAISE EXCEPTION 'unknown' USING ERRCODE = '{code}'; END $$")
    assert ("'visits' of a source failed by what a cell holds" in caplog.text) is told
    assert "unknown" not in caplog.text


@pytest.mark.parametrize("said", ["amount::int", "strptime(amount, '%Y')", "json_extract(amount, '$.a')"])
def test_the_log_tells_of_what_failed_in_duckdb_too(
    said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By whichever kind of error, and while rows are fetched; not of a statement that it cannot read."""
    file = tmp_path / "a.duckdb"
    with duckdb.connect(str(file)) as own:
        own.execute(
            "CREATE TABLE held AS SELECT CASE n WHEN 9999 THEN 'unknown' ELSE '1' END AS amount FROM range(10000) r(n)"
        )
        own.execute(f"CREATE VIEW v AS SELECT {said} AS n FROM held")  # noqa: S608 - this test's own
    source = open_database(f"duckdb:///{file}", "v", never_fail=("v",), row_by_row=("v",))
    with pytest.raises(UnreadableFile):
        source.run("SELECT nothing FROM v")
    assert "failed by what a cell holds" not in caplog.text
    length = sa.func.length(sa.literal_column("CAST(n AS VARCHAR)"))
    rows = sa.select(sa.func.coalesce(length, 0)).select_from(sa.text("v"))
    for ask in (lambda: source.select(rows), lambda: list(source.stream(rows, 1000))):
        caplog.clear()
        with pytest.raises(UnreadableFile):
            ask()
        assert caplog.text.count("'v' of a source failed by what a cell holds") == 1
        assert "unknown" not in caplog.text


def test_the_log_tells_of_a_cell_that_says_how_many_rows_there_are_in_sqlite(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as own, own:
        own.execute("CREATE TABLE held (amount text)")
        own.execute("CREATE VIEW v AS SELECT 1 AS n FROM held LIMIT (SELECT max(amount) FROM held)")
        own.execute("INSERT INTO held VALUES ('1')")
    source = open_database(f"sqlite:///{file}", "v", never_fail=("v",), row_by_row=("v",))
    assert source.run("SELECT n FROM v") == [(1,)]
    with closing(sqlite3.connect(file)) as own, own:
        own.execute("INSERT INTO held VALUES ('unknown')")
    with pytest.raises(UnreadableFile):
        source.run("SELECT n FROM v")
    assert caplog.text.count("'v' of a source failed by what a cell holds") == 1
