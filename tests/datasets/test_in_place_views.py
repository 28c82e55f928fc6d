"""No cell makes a question fail by what a view works out of it: such a view is offered only where its owner states that
it cannot. What failed takes every answer away, which would tell of that one cell for sure."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, configured_sources, definitions, open_database, views
from dpcore.errors import InvalidArgument, ReleaseRefused, UnreadableFile
from dpcore.ledger import Ledger
from dpcore.release import FAILED, release
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import QuantileValue

HELD = 'CREATE TABLE "he%ld" (who text, amount text, n integer, yes boolean)'
PLAIN = (
    'SELECT who, amount, n FROM "he%ld"',
    'SELECT * FROM "he%ld"',
    'SELECT who AS person, n FROM "he%ld" WHERE n IS NOT NULL',
)
"""What chooses rows and columns alone, in every engine."""
FINE = {
    "postgresql": (
        *PLAIN,
        "SELECT who, amount FROM \"he%ld\" WHERE n > 3 AND who <> 'x'",
        "SELECT lower(btrim(who)) AS who, upper(kind) AS kind FROM short WHERE kind < who",
        "SELECT who, n FROM \"he%ld\" WHERE n::numeric IN (1, 2.5) AND who IN ('a', 'b')",
        'SELECT who, n::bigint AS n FROM "he%ld" WHERE n IN (1, 2, 3)',
        "SELECT who, CASE WHEN n = 1 THEN 'a' ELSE amount END AS amount FROM \"he%ld\"",
        'SELECT a.who, b.amount FROM "he%ld" a JOIN "he%ld" b ON a.who = b.who',
        'SELECT who FROM "he%ld" UNION ALL SELECT amount FROM "he%ld"',
        "SELECT who, n FROM first",
        "SELECT who, kind FROM typed WHERE kind > 'low' ORDER BY kind",
        'SELECT h.who FROM "he%ld" h LEFT JOIN first f ON f.who = h.who WHERE f.who IS NULL',
    ),
    "duckdb": (
        *PLAIN,
        'SELECT who, try_cast(amount AS INTEGER) AS amount FROM "he%ld"',
        'SELECT who, try_cast(amount AS DATE) AS day FROM "he%ld" WHERE yes AND NOT (n IS NULL)',
        'SELECT who FROM "he%ld" GROUP BY who',
        "SELECT who, n FROM first",
        "SELECT who FROM FIRST",
        "SELECT who FROM worked",
    ),
    "sqlite": (
        *PLAIN,
        "SELECT who, CAST(amount AS INTEGER) AS amount FROM \"he%ld\" WHERE n > 3 AND who <> 'a b(' -- x(",
        'SELECT lower(who) AS who, n / 0 AS n FROM "he%ld" WHERE n IN (1, 2)',
        'SELECT iif(n, 1, 2) AS n, coalesce(who, amount) AS who, substr(amount, 2) AS a FROM "he%ld"',
        'SELECT count(*) AS n FROM "HE%LD"',
        'WITH abs(who) AS (SELECT who FROM "he%ld") SELECT who FROM abs',
        "SELECT who, n FROM first",
        "SELECT who, n FROM FIRST",
        "SELECT DISTINCT who FROM \"he%ld\" WHERE rowid <> 'x' AND n IN (SELECT n FROM first) ORDER BY amount LIMIT 5",
    ),
}
FAILS = {
    "postgresql": (
        'SELECT who, lower(amount) AS amount FROM "he%ld"',
        'SELECT who, btrim(amount) AS amount FROM "he%ld"',
        "SELECT upper(long) AS long FROM short",
        'SELECT h.who FROM "he%ld" h, LATERAL (SELECT 1 LIMIT h.n) s',
        'SELECT h.who FROM "he%ld" h, LATERAL (SELECT 1 OFFSET h.n) s',
        "SELECT who FROM odd WHERE 'flu' = ANY (ARRAY[came, went])",
        "SELECT who FROM \"he%ld\" WHERE 'flu' = ANY (ARRAY[who, amount])",
        "SELECT who FROM odd WHERE called <> born",
        "SELECT who FROM odd WHERE coalesce(called, born) <> 'x'",
        "SELECT who FROM (SELECT who, called AS x FROM odd UNION ALL SELECT who, born FROM odd) s ORDER BY x",
        "SELECT upper(code) AS code FROM (SELECT who, CASE WHEN who = 'a' THEN cc ELSE pc END AS code FROM odd) s",
        "SELECT who FROM odd WHERE loose = 'a'",
        "SELECT who FROM odd WHERE planned <> planned",
        "SELECT DISTINCT came FROM odd",
        "SELECT who FROM odd ORDER BY j",
        'SELECT who, amount::int AS n FROM "he%ld"',
        'SELECT who, 1 / n AS n FROM "he%ld"',
        'SELECT who, n::smallint AS n FROM "he%ld"',
        'SELECT who, n + 1 AS n FROM "he%ld"',
        "SELECT who, CASE WHEN amount ~ '^[0-9]{1,9}$' THEN amount::int END AS n FROM \"he%ld\"",
        'SELECT who, n FROM "he%ld" WHERE amount::date > now()',
        'SELECT who, (SELECT h.n FROM "he%ld" h WHERE h.who = o.who) AS n FROM "he%ld" o',
        "SELECT who, amount::json ->> 'a' AS amount FROM \"he%ld\"",
        'SELECT who, n FROM "he%ld" WHERE who LIKE amount',
        'SELECT who, own(amount) AS n FROM "he%ld"',
        "SELECT who FROM typed WHERE ARRAY[pair] > ARRAY[pair]",
        "SELECT who FROM typed WHERE pair > pair",
        "SELECT who, n FROM second",
        'SELECT who, n FROM "Äß""%d"',
        'SELECT h.who, c.relname FROM "he%ld" h JOIN pg_catalog.pg_class c ON c.relname = h.who',
        'SELECT h.who FROM "he%ld" h LEFT JOIN (SELECT who, amount FROM "he%ld") s ON s.who = h.who WHERE s IS NULL',
        'SELECT s.who FROM (SELECT DISTINCT who, amount FROM "he%ld") s WHERE s IS NOT NULL',
        'SELECT count(h) AS n FROM "he%ld" h',
        'SELECT who FROM "he%ld" WHERE (who, amount) IS NULL',
    ),
    "duckdb": (
        'SELECT who, amount::int AS n FROM "he%ld"',
        "SELECT who, n FROM \"he%ld\" WHERE amount > '3'",
        'SELECT who, abs(n) AS n FROM "he%ld"',
        'SELECT who, n + 1 AS n FROM "he%ld"',
        "SELECT who, strptime(amount, '%Y') AS n FROM \"he%ld\"",
        'SELECT who, (SELECT h.n FROM "he%ld" h WHERE h.who = o.who) AS n FROM "he%ld" o',
        "SELECT who, g FROM worked",
        "SELECT who, n FROM second",
        'SELECT who, n FROM "Äß""%d"',
        'SELECT who FROM "he%ld" WHERE amount',
        'SELECT who, (amount AND yes) AS n FROM "he%ld"',
        'SELECT who, NOT amount AS n FROM "he%ld"',
        'SELECT amount FROM "he%ld" GROUP BY amount HAVING amount',
        'SELECT who, amount COLLATE nocase AS n FROM "he%ld" ORDER BY n',
        "SELECT who, j.a AS n FROM odd",
        "SELECT who, v.a AS n FROM odd",
        "SELECT who, try_cast(b AS INTEGER) AS n FROM odd",
        "SELECT who, try_cast(ms AS TIMESTAMP_S) AS n FROM odd",
        'SELECT who, try_cast(n AS own) AS n FROM "he%ld"',
        "SELECT who, n FROM aside.second",
        "SELECT view_name AS who FROM duckdb_views()",
    ),
    "sqlite": (
        'SELECT who || amount AS who FROM "he%ld"',
        "SELECT who FROM \"he%ld\" WHERE who || amount <> ''",
        'SELECT who FROM "he%ld" LIMIT (SELECT amount FROM "he%ld")',
        'SELECT who FROM "he%ld" LIMIT 9 OFFSET (SELECT amount FROM "he%ld")',
        "SELECT who, json_extract(amount, '$.a') AS n FROM \"he%ld\"",
        "SELECT who, amount ->> '$.a' AS n FROM \"he%ld\"",
        'SELECT who, abs(n) AS n FROM "he%ld"',
        'SELECT who, "abs"(n) AS n FROM "he%ld"',
        'SELECT who, n FROM "he%ld" WHERE who LIKE amount',
        'SELECT who, sum(n) AS n FROM "he%ld" GROUP BY who',
        'WITH RECURSIVE r(who, n) AS (SELECT who, n FROM "he%ld" UNION ALL SELECT who, n FROM r) SELECT who, n FROM r',
        "SELECT who, g FROM worked",
        "SELECT who, n FROM second",
        'SELECT who, n FROM "Äß""%d"',
        'SELECT who, g FROM "Ü"',
        "SELECT count(*) AS n FROM WORKED",
        'SELECT h.who, j.value AS n FROM "he%ld" h JOIN json_each j ON j.json = h.amount',
        'SELECT h.who, t.value AS n FROM "he%ld" h, JSON_TREE AS t WHERE t.json = h.amount',
        'SELECT who, 1 AS n FROM "he%ld", json_each',
        'SELECT who, n FROM "he%ld" ORDER BY hex(zeroblob(n))',
        "SELECT words AS who FROM found",
        "SELECT name AS who FROM sqlite_master",
        'SELECT 1 AS who, like(amount, who) AS n FROM "he%ld"',
    ),
}
MORE = {
    "postgresql": (
        "CREATE FUNCTION own(text) RETURNS int LANGUAGE sql RETURN $1::int",
        "CREATE TYPE kind AS ENUM ('low', 'high')",
        "CREATE TYPE pair AS (x text)",
        "CREATE TABLE typed (who text, kind kind, pair pair)",
        "CREATE TABLE short (who varchar(20), kind varchar(9995), long varchar(9996))",
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        """CREATE TABLE odd (who text, came text[], went text[], called text COLLATE "C", born text COLLATE "POSIX",
          cc varchar(9) COLLATE "C", pc varchar(9) COLLATE "POSIX", loose text COLLATE loose, planned json[], j jsonb
          )""",
    ),
    "duckdb": (
        "CREATE TABLE worked (who text, g INTEGER GENERATED ALWAYS AS (CAST(who AS INTEGER)))",
        "CREATE TABLE odd (who text, j JSON, v VARIANT, b BIGNUM, ms TIMESTAMP_MS)",
        "CREATE TYPE own AS VARCHAR",
        "CREATE SCHEMA aside",
        'CREATE VIEW aside.second AS SELECT who, n + 1 AS n FROM "he%ld"',
        'CREATE VIEW aside.v AS SELECT who, n FROM "he%ld"',
    ),
    "sqlite": (
        "CREATE TABLE worked (who text, g TEXT GENERATED ALWAYS AS (json_extract(who, '$.a')) VIRTUAL)",
        "CREATE TABLE \"Ü\" (who text, g TEXT GENERATED ALWAYS AS (json_extract(who, '$.a')) VIRTUAL)",
        "CREATE VIRTUAL TABLE found USING fts5(words)",
    ),
}
WITH_FAILING = {
    "postgresql": "amount::int",
    "duckdb": "CAST(amount AS INTEGER)",
    "sqlite": "CAST(json_extract(amount, '$') AS INTEGER)",
}
CASES = [
    (engine, select, fine)
    for fine, some in ((True, FINE), (False, FAILS))
    for engine in some
    for select in some[engine]
]


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def run(engine: str, place: Path, address: str, *statements: str) -> str:
    if engine == "sqlite":
        with closing(sqlite3.connect(place / "a.db")) as connection, connection:
            for sql in statements:
                connection.execute(sql)
        return f"sqlite:///{place / 'a.db'}"
    if engine == "duckdb":
        with duckdb.connect(str(place / "a.duckdb")) as other:
            for sql in statements:
                other.execute(sql)
        return f"duckdb:///{place / 'a.duckdb'}"
    with create_engine(address, poolclass=NullPool).begin() as begun:
        raw = begun.connection.driver_connection
        assert raw is not None
        for sql in statements:
            raw.execute(sql)
    return address


def made(engine: str, place: Path, request: pytest.FixtureRequest, select: str) -> str:
    """A database with that view, and others below it."""
    address = request.getfixturevalue("server").new_schema() if engine == "postgresql" else ""
    below = (
        'CREATE VIEW first AS SELECT who, n FROM "he%ld"',
        *(
            f'CREATE VIEW {name} AS SELECT who, {WITH_FAILING[engine]} AS n FROM "he%ld"'  # noqa: S608 - this test's own
            for name in ("second", '"Äß""%d"')
        ),
    )
    return run(engine, place, address, HELD, *MORE[engine], *below, f"CREATE VIEW v AS {select}")


@pytest.mark.parametrize(("engine", "select", "fine"), CASES)
def test_a_view_that_might_fail_by_a_cell_is_not_opened(
    engine: str, select: str, fine: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """By its definition, of no row; the table below it is opened, and so is what its owner states to be sound. Whether
    its rows hang on others is another question (``rows_apart``)."""
    address = made(engine, tmp_path, request, select)
    open_database(address, "he%ld")
    open_database(address, "v", never_fail=("v",), row_by_row=("v",))
    if fine:
        assert open_database(address, "v", row_by_row=("v",)).names
        return
    with pytest.raises(UnreadableFile) as refused:
        open_database(address, "v", row_by_row=("v",))
    assert str(refused.value) == views.MAY_FAIL


@pytest.mark.parametrize(("engine", "select"), [(engine, select) for engine in FAILS for select in FAILS[engine]])
def test_a_look_that_passes_over_what_it_does_not_know_opens_them(
    engine: str, select: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So each of them is refused by that rule, and by nothing else."""
    address = made(engine, tmp_path, request, select)
    for module in (views, definitions):
        monkeypatch.setattr(module, "all_known", lambda met, known: True)
    assert open_database(address, "v", row_by_row=("v",)).names


@pytest.mark.parametrize("engine", ["postgresql", "duckdb", "sqlite"])
def test_a_name_is_compared_as_the_engine_does(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = made(engine, tmp_path, request, PLAIN[0])
    with pytest.raises(UnreadableFile) as refused:
        open_database(address, 'Äß"%d')
    assert str(refused.value) == views.MAY_FAIL


def test_what_is_not_found_is_refused() -> None:
    """As where a table is gone, or hidden, between two statements: of nothing nothing is known."""

    def quoted(name: str) -> str:
        return f'"{name}"'

    nothing = '{"error": false, "plans": []}'
    for engine, said in (("postgresql", []), ("duckdb", [(nothing,)]), ("sqlite", []), ("another", [])):
        with pytest.raises(UnreadableFile):
            views.check(engine, lambda _, said=said: said, quoted, "v", compiled=lambda _: [])  # type: ignore[misc]


@pytest.mark.parametrize(
    "cell",
    [
        *("'é'", "'1e999'", "''", "chr(0)", "repeat('9', 400)", "'infinity'", "'-infinity'", "'24:00:00'"),
        *("'294247-01-10 04:00:54.775807'", "'-290308-12-22 00:00:00'", "'290000-01-01 00:00:00+15:59'"),
        *("'nan'::DOUBLE", "'-inf'::FLOAT", "1.7e308::DOUBLE", "true", "18446744073709551615::UBIGINT"),
        *("'-170141183460469231731687303715884105728'::HUGEINT", "'340282366920938463463374607431768211455'::UHUGEINT"),
        *("repeat('9', 38)::DECIMAL(38, 0)", "'5881580-07-10'::DATE", "'infinity'::DATE", "'-5877641-06-25'::DATE"),
        *("'24:00:00'::TIME", "'infinity'::TIMESTAMP", "'294247-01-10 04:00:54.775806'::TIMESTAMP"),
        *("'1677-09-22'::TIMESTAMP_NS", "'2262-04-11'::TIMESTAMP_NS", "'zz'::ENUM('zz')", "'{'::VARCHAR"),
        "'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID",
    ],
)
def test_what_is_tried_of_a_cell_fails_by_none(cell: str) -> None:
    with duckdb.connect() as held:
        held.execute(f"CREATE TABLE one AS SELECT {cell} AS cell")
        for kind in sorted(views._TRIED):
            held.execute(f"SELECT count(made) FROM (SELECT try_cast(cell AS {kind}) AS made FROM one)").fetchall()  # noqa: S608


@pytest.mark.parametrize("said", ["json_extract(amount, '$.a')", "abs(n)"])
def test_the_log_tells_of_what_failed_in_sqlite_too(
    said: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """At the first row and at a later one; not of a statement that it cannot read."""
    view = f'CREATE VIEW v AS SELECT who, {said} AS n FROM "he%ld"'  # noqa: S608 - this test's own
    fine = "INSERT INTO \"he%ld\" VALUES ('a', '{}', 1, true)"
    address = run("sqlite", tmp_path, "", HELD, view, *[fine] * 8)
    source = open_database(address, "v", never_fail=("v",))
    n = sa.literal_column("n", sa.Integer)
    rows, added = sa.select(sa.func.length(n)).select_from(sa.text("v")), "SELECT count(n) FROM v"
    assert source.run(added)
    assert list(source.stream(rows.where(n > -1), 2)) is not None
    for sql in ("SELECT nothing FROM v", "SELECT n FROM w", "SELECT"):
        with pytest.raises(UnreadableFile):
            source.run(sql)
    assert "failed by what a cell holds" not in caplog.text
    run("sqlite", tmp_path, "", "INSERT INTO \"he%ld\" VALUES ('b', 'unknown', -9223372036854775808, true)")
    for ask in (
        lambda: source.run("SELECT n FROM v ORDER BY n"),
        lambda: source.select(rows.where(n != 5)),
        lambda: list(source.stream(rows.where(n != 5), 2)),
    ):
        caplog.clear()
        with pytest.raises(UnreadableFile):
            ask()
        assert caplog.text.count("failed by what a cell holds") == 1
        assert "unknown" not in caplog.text


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_table_that_works_a_column_out_as_it_is_read_is_none_of_those(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = made(engine, tmp_path, request, PLAIN[0])
    with pytest.raises(UnreadableFile):
        open_database(address, "worked")


def test_a_policy_is_looked_at_as_a_view_is(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = made("postgresql", tmp_path, request, PLAIN[0])
    run("postgresql", tmp_path, address, 'ALTER TABLE "he%ld" ENABLE ROW LEVEL SECURITY')
    run("postgresql", tmp_path, address, 'CREATE POLICY p ON "he%ld" USING (who = current_user)')
    open_database(address, "v")
    run("postgresql", tmp_path, address, 'CREATE POLICY q ON "he%ld" USING (amount::int > 3)')
    for table in ("he%ld", "v"):
        with pytest.raises(UnreadableFile):
            open_database(address, table)


def test_a_table_of_another_server_is_none_of_those(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Nor one of which it is a part: the text that it is made of may fit no type."""
    address = made("postgresql", tmp_path, request, PLAIN[0])
    foreign = "SERVER files OPTIONS (filename '/nowhere')"
    run(
        "postgresql",
        tmp_path,
        address,
        "CREATE EXTENSION IF NOT EXISTS file_fdw SCHEMA pg_catalog",
        "DROP SERVER IF EXISTS files CASCADE",
        "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
        "CREATE TABLE years (y int, n int) PARTITION BY RANGE (y)",
        "CREATE TABLE one PARTITION OF years FOR VALUES FROM (1) TO (2)",
    )
    assert open_database(address, "years").names
    run(
        "postgresql",
        tmp_path,
        address,
        f"CREATE FOREIGN TABLE two PARTITION OF years FOR VALUES FROM (2) TO (3) {foreign}",
    )
    for table in ("years", "two"):
        with pytest.raises(UnreadableFile) as refused:
            open_database(address, table, allowed=(table,))
        if table == "years":
            assert str(refused.value) == views.MAY_FAIL


@pytest.mark.parametrize("engine", ["postgresql", "duckdb"])
def test_a_failing_view_tells_of_one_cell_and_is_refused_before_the_charge(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """As it was (here by its owner's word): every answer that reads the column fails by one cell, and others do not.
    The sentence is that of every failure; the log says whose word was wrong, and no cell."""
    view = f'SELECT who, {WITH_FAILING[engine]} AS n FROM "he%ld"'  # noqa: S608 - this test's own
    address = made(engine, tmp_path, request, view)
    insert = 'INSERT INTO "he%ld" (who, amount, n) VALUES '
    run(engine, tmp_path, address, f"{insert} ('a', '1', 1), ('b', '2', 2)")
    number = Column(name="n", type="integer", low=0, high=9)
    asked = QuantileValue.of(Declaration(columns=(number,)), "n", epsilon=0.1)
    trusted = PrivateSource(lambda: open_database(address, "v", never_fail=("v",)))
    with Ledger.open("sqlite://") as ledger:
        ledger.open_budget("clinic", epsilon=1.0)
        assert release(ledger, "one", "clinic", asked, trusted).answer is not None
        run(engine, tmp_path, address, f"{insert} ('ann', 'unkn''own', 3)")
        caplog.clear()
        with pytest.raises(ReleaseRefused) as failed:
            release(ledger, "two", "clinic", asked, trusted)
        assert str(failed.value) == FAILED
        assert "failed by what a cell holds" in caplog.text
        assert "unkn" not in caplog.text
        other = NoisyCount.of(Declaration(columns=(Column(name="who", type="text"),)), epsilon=0.1)
        assert release(ledger, "three", "clinic", other, trusted).answer is not None
        spent = ledger.budget("clinic").remaining
        with pytest.raises(UnreadableFile):
            release(ledger, "four", "clinic", asked, PrivateSource(lambda: open_database(address, "v")))
        assert ledger.budget("clinic").remaining == spent


def test_the_list_of_sources_states_it(tmp_path: Path) -> None:
    address = run("sqlite", tmp_path, "", HELD, 'CREATE VIEW v AS SELECT who, abs(n) AS n FROM "he%ld"')
    listed = f'[clinic]\naddress = "{address}"\nepsilon = 1.0\nrows_per_person = 1\n'
    file = tmp_path / "sources.toml"
    opened: list[Callable[[], object]] = []
    for more in ("", 'never_fail = ["v"]\n'):
        file.write_text(listed + more)
        file.chmod(0o600)
        (found,) = configured_sources(file)
        opened.append(lambda found=found: found.open("v"))  # type: ignore[misc]
    with pytest.raises(UnreadableFile):
        opened[0]()
    assert opened[1]()
    file.write_text(listed + 'never_fail = "v"\n')
    with pytest.raises(InvalidArgument, match="list of texts as its never_fail"):
        configured_sources(file)
