"""Each row of a view that is offered comes from one stored row: whoever comes or goes changes no row of anybody else.
Another one is offered only where its owner states that."""

from __future__ import annotations

import gc
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, configured_sources, definitions, open_database, rows_apart
from dpcore.datasets.in_place.rows_apart import HANGS_TOGETHER
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.ledger import Ledger
from dpcore.release import release
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption

PEOPLE = [("ann", "North", 1), ("bob", "North", 2), ("cem", "South", 3), ("dee", "North", 4), ("eli", "North", 5)]
LAST = ("zoe", "North", 6)
MADE = (
    "CREATE TABLE held (who varchar(20), ward varchar(20), n integer)",
    "CREATE TABLE wards (ward varchar(20) PRIMARY KEY, name varchar(20))",
    "INSERT INTO wards VALUES ('North', 'The north'), ('South', 'The south')",
    "CREATE INDEX by_ward ON held (ward)",
)
BELOW = (
    "CREATE VIEW apart AS SELECT who, ward, n FROM held WHERE n > 0",
    "CREATE VIEW together AS SELECT ward, count(*) AS n FROM held GROUP BY ward",
)
PLAIN = (
    "SELECT * FROM held",
    "SELECT who AS person, lower(ward) AS ward FROM held AS h WHERE h.n > 1 AND h.ward IN ('North', 'South', 'West')",
    "SELECT who, CASE WHEN n > 3 THEN 'much' ELSE 'little' END AS n FROM held WHERE NOT (ward IS NULL) ORDER BY n",
    "SELECT who, coalesce(ward, 'none') AS ward, n + 1 AS n FROM apart WHERE n BETWEEN 1 AND 9",
    "SELECT who, abs(n) AS n, substr(ward, 1, 2) AS w, ward || '!' AS x FROM held WHERE ward LIKE 'N%'",
    "SELECT who, CAST(n AS varchar(9)) AS n, upper(ward) AS ward, 'x' AS distinct_ FROM held",
)
APART = {
    "postgresql": (
        *PLAIN,
        "SELECT h.who, h.n FROM (SELECT who, n FROM apart WHERE n < 9) AS h",
        "SELECT who, CASE WHEN ward ~ '^[0-9]{1,9}$' THEN ward::int END AS n FROM held",
        'SELECT who, greatest(n, 2) AS n, ward COLLATE "C" AS ward, n::text::int AS m FROM held',
        "SELECT who, now()::date - '2024-01-31'::date AS n, (ARRAY[1, 2])[n] AS m FROM held WHERE who <> current_user",
        "SELECT who, n FROM years",
        "SELECT who, n FROM parent",
        "SELECT who, kind, kinds, grade FROM typed WHERE kind > 'low' AND kinds <> '{}' AND grade > 1",
        "SELECT who, 'low'::kind AS kind, greatest(kind, 'high') AS most FROM typed WHERE ROW(kind, who) > ('low', '')",
    ),
    "duckdb": (
        *PLAIN,
        "SELECT h.who, h.n FROM (SELECT who, n FROM apart WHERE n < 9) AS h",
        "SELECT who, try_cast(ward AS INTEGER) AS n, date_trunc('month', DATE '2024-01-31' + n) AS d FROM held",
        "SELECT who, greatest(n, 2) AS n, regexp_matches(ward, '^N') AS m FROM held WHERE now() > DATE '2024-01-31'",
        "SELECT who, g FROM worked",
    ),
    "sqlite": (
        *PLAIN,
        'SELECT "who", [n] FROM main."held" "h" WHERE `n` > 2 -- GROUP BY ward',
        "SELECT who, 'SELECT' AS a, max(n, 2) AS n, iif(n > 2, 1, 0) AS m /* LIMIT 1 */ FROM \"HELD\"",
        "SELECT who, json_extract('[1]', '$[0]') AS n, date('now') AS d FROM held WHERE n NOT IN (1, 2)",
        "SELECT id, who FROM kept WHERE id < 3",
        "SELECT id, who FROM kept WHERE _rowid_ < 3",
        "SELECT who, ROWID FROM kept_too WHERE \"RowId\" <> 'r' AND WHO > ''",
        "SELECT who, g FROM worked",
    ),
}
SEVERAL = (
    "SELECT ward, count(*) AS n FROM held GROUP BY ward HAVING count(*) >= 4",
    "SELECT who FROM held WHERE ward IN (SELECT ward FROM held GROUP BY ward HAVING count(*) >= 5)",
    "SELECT h.who FROM held h WHERE 5 <= (SELECT count(*) FROM held o WHERE o.ward = h.ward)",
    "SELECT h.who FROM held h WHERE EXISTS (SELECT 1 FROM held o WHERE o.ward = h.ward AND o.who > h.who)",
    "SELECT who FROM held ORDER BY n DESC LIMIT 3",
    "SELECT who FROM held ORDER BY n DESC LIMIT 99 OFFSET 2",
    "SELECT a.who FROM held a JOIN held b ON a.ward = b.ward",
    "SELECT a.who FROM held a, held b WHERE a.ward = b.ward",
    "SELECT a.who FROM held a LEFT JOIN held b ON a.n = b.n - 1 WHERE b.who IS NULL",
    "SELECT who, count(*) OVER (PARTITION BY ward) AS n FROM held",
    "SELECT who, rank() OVER (ORDER BY n DESC) AS n FROM held",
    "SELECT count(*) AS n FROM held",
    "SELECT max(n) AS n FROM held",
    "SELECT who FROM held EXCEPT SELECT 'ann' FROM held WHERE n = 6",
    "SELECT ward FROM held INTERSECT SELECT 'North' FROM held WHERE n = 6",
    "WITH few AS (SELECT ward, count(*) AS n FROM held GROUP BY ward) SELECT h.who FROM held h, few WHERE few.n > 4",
    "WITH RECURSIVE r(who, n) AS (SELECT who, n FROM held UNION SELECT who, n + 1 FROM r WHERE n < 9) SELECT n FROM r",
    "SELECT n FROM together",
    "SELECT who FROM (SELECT who, n FROM held ORDER BY n DESC LIMIT 3) AS h WHERE n > 0",
)
"""By each of these one person's row changes others, or what several make together."""
OWN_COMPARED = (
    "SELECT who FROM held WHERE n OPERATOR(>#) 0",
    "SELECT who FROM held WHERE ROW(n, n) OPERATOR(>#) ROW(0, 0)",
    "SELECT who FROM held WHERE ARRAY[ROW(n)::pair] > ARRAY[ROW(0)::pair]",
    "SELECT who, (greatest(ROW(n)::pair, ROW(3)::pair)).x AS n FROM held",
)
"""PostgreSQL: what is compared names an operator or a type alone, and the function that counts the table is theirs."""
TOGETHER = {
    "postgresql": (
        *SEVERAL,
        "SELECT DISTINCT ON (ward) who FROM held ORDER BY ward, n DESC",
        "SELECT who FROM held ORDER BY n DESC FETCH FIRST 3 ROWS ONLY",
        "SELECT who FROM held WHERE n > all_of_them() - 3",
        "SELECT h.who FROM wards w, LATERAL (SELECT who FROM held WHERE held.ward = w.ward ORDER BY n DESC LIMIT 1) h",
        "SELECT n FROM once",
        *OWN_COMPARED,
    ),
    "duckdb": (
        *SEVERAL,
        "SELECT DISTINCT ON (ward) who FROM held ORDER BY ward, n DESC",
        "SELECT who FROM held QUALIFY row_number() OVER (ORDER BY n DESC) < 3",
        "SELECT who FROM held ORDER BY n DESC LIMIT 60 PERCENT",
        "SELECT who FROM held h SEMI JOIN held o ON h.n < o.n",
        "SELECT who FROM held ANTI JOIN (SELECT max(n) AS n FROM held) o USING (n)",
        "SELECT who, largest() AS n FROM held",
    ),
    "sqlite": (
        *SEVERAL,
        "SELECT who, max(n) AS n FROM held",
        "SELECT who FROM held WHERE n IN few",
        "SELECT who FROM held WHERE ward = 'North' ORDER BY n DESC LIMIT -1 OFFSET 1",
        "SELECT a.who FROM held a CROSS JOIN held b",
    ),
}
NOT_KNOWN = {
    every: (
        "SELECT DISTINCT ward FROM held",
        "SELECT DISTINCT ward FROM held WHERE ward = 'North'",
        "SELECT ward FROM held GROUP BY ward",
        "SELECT who FROM held UNION SELECT ward FROM held",
        "SELECT who FROM held UNION ALL SELECT ward FROM held",
        "SELECT h.who, w.name FROM held h JOIN wards w ON h.ward = w.ward",
        "SELECT who FROM held WHERE random() < 0.5",
        "SELECT name FROM (VALUES (1), (2)) AS v(name)" if every != "sqlite" else "VALUES (1), (2)",
        *more,
    )
    for every, more in {
        "postgresql": (
            "SELECT who FROM held TABLESAMPLE BERNOULLI (50)",
            "SELECT who, ctid::text AS n FROM held",
            "SELECT who FROM held WHERE ctid < '(0,3)'::tid",
            "SELECT who, xmin::text AS n FROM held",
            "SELECT who, generate_series(1, n) AS n FROM held",
            "SELECT last_value AS n FROM numbers",
            "SELECT reltuples AS n FROM pg_catalog.pg_class",
            "SELECT n_live_tup AS n FROM pg_catalog.pg_stat_user_tables",
            "SELECT who FROM held WHERE own(ward)",
            "SELECT who FROM held WHERE pg_relation_size('held') > 8191",
            "SELECT who, n::few AS n FROM held",
            "SELECT who, ARRAY[n]::few[] AS n FROM held",
            "SELECT who, n::text::few AS n FROM held",
            "SELECT who FROM held WHERE held = held",
            "SELECT who FROM held WHERE ROW(n)::pair IS NOT NULL",
            "SELECT 1 AS n",
        ),
        "duckdb": (
            "SELECT who FROM held TABLESAMPLE 50%",
            "SELECT who, rowid AS n FROM held",
            "SELECT who FROM held WHERE rowid < 3",
            "SELECT who, stats(n) AS n FROM held",
            "SELECT who, vector_type(n) AS n FROM held",
            "SELECT who, json_serialize_plan('SELECT * FROM held', optimize := true) AS n FROM held",
            "SELECT who, unnest([1, 2]) AS n FROM held",
            "SELECT estimated_size AS n FROM duckdb_tables()",
            "SELECT 1 AS n",
        ),
        "sqlite": (
            "SELECT who, rowid AS n FROM held",
            "SELECT who FROM held WHERE _rowid_ < 3",
            "SELECT seq AS n FROM sqlite_sequence",
            "SELECT sql AS n FROM sqlite_master",
            "SELECT who FROM held WHERE n IN one",
            "SELECT who FROM held WHERE changes() = 0",
            "SELECT 1 AS n",
            "SELECT who, value AS n FROM held, json_each('[1, 2]')",
            "SELECT value AS n FROM json_each('[1, 2]')",
            "SELECT \ufeffDISTINCT ward FROM held",
            "SELECT words AS who FROM found",
        ),
    }.items()
}
"""What cannot be told from these, is of no table of people, or is refused with them."""
_COUNTS = "CASE WHEN (SELECT count(*) FROM held WHERE ward = 'North') >= 5 THEN 1 ELSE -1 END"
_SIGNS = (("lt", "<"), ("le", "<="), ("eq", "="), ("ge", ">="), ("gt", ">"))


def _compared(of: str, mark: str, default: str) -> tuple[str, ...]:
    """An order of somebody's own, by which every two cells compare as a count of the table says."""
    signs = tuple((name, f"{sign}{mark}", sign) for name, sign in _SIGNS)
    listed = ", ".join(f"OPERATOR {n} {sign}" for n, (_, sign, _) in enumerate(signs, 1))
    return (
        f"CREATE FUNCTION {of}_cmp({of}, {of}) RETURNS integer LANGUAGE sql STABLE RETURN {_COUNTS}",
        *(
            f"CREATE FUNCTION {of}_{name}({of}, {of}) RETURNS boolean LANGUAGE sql STABLE "
            f"RETURN {of}_cmp($1, $2) {plain} 0"
            for name, _, plain in signs
        ),
        *(
            f"CREATE OPERATOR {sign} (leftarg = {of}, rightarg = {of}, function = {of}_{name})"
            for name, sign, _ in signs
        ),
        f"CREATE OPERATOR CLASS own_{of} {default} FOR TYPE {of} USING btree AS {listed}, "
        f"FUNCTION 1 {of}_cmp({of}, {of})",
    )


MORE = {
    "postgresql": (
        "CREATE TYPE pair AS (x int)",
        "CREATE TYPE kind AS ENUM ('low', 'high')",
        "CREATE DOMAIN grade AS integer CHECK (VALUE > 0)",
        "CREATE TABLE typed (who text, kind kind, kinds kind[], grade grade)",
        *_compared("integer", "#", ""),
        *_compared("pair", "", "DEFAULT"),
        "CREATE FUNCTION few(integer) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT count(*) < 9 FROM held'",
        "CREATE DOMAIN few AS integer CHECK (few(VALUE))",
        "CREATE FUNCTION all_of_them() RETURNS bigint LANGUAGE sql IMMUTABLE RETURN (SELECT count(*) FROM held)",
        "CREATE FUNCTION own(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'",
        "CREATE SEQUENCE numbers",
        "CREATE MATERIALIZED VIEW once AS SELECT count(*) AS n FROM held",
        "CREATE TABLE years (who text, n int) PARTITION BY RANGE (n)",
        "CREATE TABLE one PARTITION OF years FOR VALUES FROM (1) TO (9)",
        "CREATE TABLE parent (who text, n int)",
        "CREATE TABLE child (m int) INHERITS (parent)",
    ),
    "duckdb": (
        "CREATE TABLE worked (who text, n INTEGER, g INTEGER GENERATED ALWAYS AS (n + 1))",
        "CREATE MACRO largest() AS (SELECT max(n) FROM held)",
    ),
    "sqlite": (
        "CREATE TABLE kept (id INTEGER PRIMARY KEY AUTOINCREMENT, who text)",
        "CREATE TABLE kept_too (who text, rowid text)",
        "CREATE TABLE worked (who text, n INTEGER, g INTEGER GENERATED ALWAYS AS (n + 1) VIRTUAL)",
        "CREATE VIEW few AS SELECT max(n) AS n FROM held",
        "CREATE TABLE one (n integer)",
        "CREATE VIRTUAL TABLE found USING fts5(words)",
    ),
}
ENGINES = tuple(APART)


@pytest.fixture(scope="module", autouse=True)
def _little_to_walk_over() -> None:
    """What earlier files left is held anyway: the collector, which each look at DuckDB's file wants, passes over it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


def run(engine: str, address: str, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last statement, where it has any."""
    found: list[tuple[object, ...]] = []
    if engine == "postgresql":
        with create_engine(address, poolclass=NullPool).begin() as begun:
            raw = begun.connection.driver_connection
            assert raw is not None
            for sql in statements:
                asked = raw.execute(sql)
                found = asked.fetchall() if asked.description else []
        return found
    file = address.partition(":///")[2]
    if engine == "duckdb":
        gc.collect()  # its file is open where what was opened is held
    with closing(sqlite3.connect(file) if engine == "sqlite" else duckdb.connect(file)) as connection:
        for sql in statements:
            found = list(connection.execute(sql).fetchall())
        if engine == "sqlite":
            connection.commit()
    return found


def placed(*rows: tuple[str, str, int]) -> str:
    return f"INSERT INTO held VALUES {', '.join(map(repr, rows))}"  # noqa: S608 - this test's own


def made(engine: str, place: Path, request: pytest.FixtureRequest) -> str:
    """A database with tables and views to select from."""
    address = (
        request.getfixturevalue("server").new_schema() if engine == "postgresql" else f"{engine}:///{place / 'a.db'}"
    )
    run(engine, address, *MADE, placed(*PEOPLE), *BELOW, *MORE[engine])
    return address


def opened(address: str) -> PrivateSource:
    return PrivateSource(lambda: open_database(address, "v", never_fail=("v",)))


def refused(address: str, table: str = "v", **stated: tuple[str, ...]) -> str:
    """What is said of a table or view that no cell makes fail, and "" where it is opened."""
    try:
        open_database(address, table, never_fail=(table,), **stated)
    except UnreadableFile as error:
        return str(error)
    return ""


def rows(engine: str, address: str) -> Counter[tuple[object, ...]]:
    return Counter(run(engine, address, "SELECT * FROM v"))


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
def test_a_view_whose_rows_are_each_of_one_row_is_opened(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Without a word of its owner's; whoever comes brings their own row at most, and changes none."""
    address = made(engine, tmp_path, request)
    for select in APART[engine]:
        run(engine, address, "DROP VIEW IF EXISTS v", f"CREATE VIEW v AS {select}")
        assert refused(address) == "", select
        if engine == "postgresql":  # how it is written to says nothing of what it holds
            run(engine, address, "CREATE RULE writes AS ON INSERT TO v DO INSTEAD SELECT count(*) FROM held")
            assert refused(address) == "", select
        before = rows(engine, address)
        run(engine, address, placed(LAST))
        after = rows(engine, address)
        run(engine, address, "DELETE FROM held WHERE who = 'zoe'")
        assert (before - after, (after - before).total() <= 1) == (Counter(), True), select


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ENGINES)
def test_a_view_by_which_one_row_moves_others_is_refused(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each shows why: with one person more rows of others come, go or change. What its owner states of it stands."""
    address = made(engine, tmp_path, request)
    for select in TOGETHER[engine]:
        run(engine, address, "DROP VIEW IF EXISTS v", f"CREATE VIEW v AS {select}")
        assert refused(address) == HANGS_TOGETHER, select
        assert refused(address, row_by_row=("v",)) == "", select
        before = rows(engine, address)
        run(engine, address, placed(LAST), *(["REFRESH MATERIALIZED VIEW once"] if " once" in select else []))
        after = rows(engine, address)
        run(engine, address, "DELETE FROM held WHERE who = 'zoe'")
        assert before - after or not all("zoe" in row for row in after - before), select


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_known_to_be_of_one_row_is_refused(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """As a join with a list of wards, which changes no row of anybody's where the list is nobody's: its owner knows."""
    address = made(engine, tmp_path, request)
    for select in NOT_KNOWN[engine]:
        run(engine, address, "DROP VIEW IF EXISTS v", f"CREATE VIEW v AS {select}")
        assert refused(address) == HANGS_TOGETHER, select


@pytest.mark.parametrize("engine", ENGINES)
def test_a_look_that_passes_over_what_it_does_not_know_is_caught(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule that decides in every engine, by some of what it alone refuses."""
    address = made(engine, tmp_path, request)
    for module in (rows_apart, definitions):
        monkeypatch.setattr(module, "all_known", lambda met, known: True)
    for select in {
        "postgresql": (
            *("SELECT who FROM held WHERE n > all_of_them() - 3", SEVERAL[0], SEVERAL[4]),
            *OWN_COMPARED,
        ),
        "duckdb": (SEVERAL[0], SEVERAL[4], SEVERAL[9], "SELECT who, stats(n) AS n FROM held"),
        "sqlite": (
            "SELECT who FROM held WHERE n IN one",
            "SELECT who, rowid AS n FROM held",
            "SELECT who FROM kept_too WHERE _rowid_ % 2 = 0",
        ),
    }[engine]:
        run(engine, address, "DROP VIEW IF EXISTS v", f"CREATE VIEW v AS {select}")
        assert refused(address) == "", select


@pytest.mark.parametrize("engine", ENGINES)
def test_one_person_moved_a_count_by_five_and_was_charged_for_one(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wards of fewer than five are hidden, the ward's rows come with the fifth: it is refused before the charge."""
    address = made(engine, tmp_path, request)
    hidden = "SELECT who, ward FROM held WHERE ward IN (SELECT ward FROM held GROUP BY ward HAVING count(*) >= 5)"
    run(engine, address, f"CREATE VIEW v AS {hidden}")
    wards = Declaration(columns=(Column(name="ward", type="category", categories=("North", "South")),))
    asked = MostCommonOption.of(wards, "ward", epsilon=0.1)
    with monkeypatch.context() as unlooked:
        unlooked.setattr(rows_apart, "check", lambda *_, **__: None)
        before = asked.read(opened(address))
        run(engine, address, placed(LAST))
        assert (asked.read(opened(address)) - before).tolist() == [5, 0]
    with Ledger.open("sqlite://") as ledger:
        ledger.open_budget("clinic", epsilon=1.0)
        spent = ledger.budget("clinic").remaining
        with pytest.raises(UnreadableFile, match=HANGS_TOGETHER):
            release(ledger, "one", "clinic", asked, opened(address))
        assert ledger.budget("clinic").remaining == spent


@pytest.mark.parametrize("named", ["rowid text", "RowId text", "ROWID text", '"rowid" text, oid text'])
@pytest.mark.parametrize("place", ["_rowid_", "h._RowID_", "oid"])
def test_a_place_is_no_column_that_is_called_so(
    named: str, place: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one name for both: every second row by its place, of which one person's row moves those behind it."""
    address = f"sqlite:///{tmp_path / 'a.db'}"
    columns = named.count(",") + 1
    of_place = place != "oid" or columns == 1
    people = [(f"p{n}", "North" if n % 2 else "South", *"r" * columns) for n in range(9)]
    run("sqlite", address, f"CREATE VIEW v AS SELECT who, ward FROM named h WHERE {place} % 2 = 0")  # noqa: S608
    seen = []
    for held in (people, people[1:]):
        run("sqlite", address, f"CREATE TABLE named (who text, ward text, {named})")
        run("sqlite", address, f"INSERT INTO named VALUES {', '.join(map(repr, held))}")  # noqa: S608
        assert refused(address, "named") == ""
        assert refused(address) == (HANGS_TOGETHER if of_place else "")
        assert refused(address, row_by_row=("v",)) == ""
        seen.append(rows("sqlite", address))
        run("sqlite", address, "DROP TABLE named")
    assert ((seen[0] - seen[1]).total() + (seen[1] - seen[0]).total() > 1) == of_place


def test_a_built_in_type_that_is_compared_as_somebody_says_is_refused(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Which has no order of its own: every part of such a view is built in, and what compares it is not."""
    address = made("postgresql", tmp_path, request)
    select = "SELECT who FROM held WHERE ARRAY[point(n, n)] > ARRAY[point(0, 0)]"
    run("postgresql", address, f"CREATE VIEW v AS {select}")
    assert refused(address) == ""
    run("postgresql", address, *_compared("point", "#", "DEFAULT"))
    try:
        assert refused(address) == HANGS_TOGETHER
        before = rows("postgresql", address)
        run("postgresql", address, placed(LAST))
        assert (rows("postgresql", address) - before).total() > 1
    finally:  # there is one for the whole database
        run("postgresql", address, "DROP OPERATOR FAMILY own_point USING btree CASCADE")


def test_a_policy_that_looks_at_other_rows_is_refused(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = made("postgresql", tmp_path, request)
    run("postgresql", address, "CREATE VIEW v AS SELECT who FROM held", "ALTER TABLE held ENABLE ROW LEVEL SECURITY")
    own = "CREATE POLICY p ON held USING (ward = current_setting('server_version') OR who <> current_user)"
    run("postgresql", address, own)
    for table in ("held", "v"):
        assert refused(address, table) == ""
    run(
        "postgresql", address, "CREATE POLICY q ON held USING (EXISTS (SELECT 1 FROM wards w WHERE w.ward = held.ward))"
    )
    for table in ("held", "v"):
        assert refused(address, table) == HANGS_TOGETHER


def test_a_table_of_another_server_may_be_made_of_anything(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = made("postgresql", tmp_path, request)
    run(
        "postgresql",
        address,
        "CREATE EXTENSION IF NOT EXISTS file_fdw SCHEMA pg_catalog",
        "DROP SERVER IF EXISTS others CASCADE",
        "CREATE SERVER others FOREIGN DATA WRAPPER file_fdw",
        "CREATE FOREIGN TABLE two PARTITION OF years FOR VALUES FROM (9) TO (19) SERVER others "
        "OPTIONS (filename '/nowhere')",
    )
    assert refused(address, "years") == HANGS_TOGETHER


def test_of_nothing_nothing_is_known() -> None:
    """As where a table is gone, or hidden, between two statements."""

    def quoted(name: str) -> str:
        return f'"{name}"'

    nothing = '{"error": false, "plans": []}'
    for engine, said in (("postgresql", []), ("duckdb", [(nothing,)]), ("sqlite", []), ("another", [])):
        with pytest.raises(UnreadableFile):
            rows_apart.check(engine, lambda _, said=said: said, quoted, "v", compiled=lambda _: [])  # type: ignore[misc]


def test_the_list_of_sources_states_it_and_receipts_say_so(tmp_path: Path) -> None:
    """Of a view that brings in the name of a ward, which is nobody's."""
    address = f"sqlite:///{tmp_path / 'a.db'}"
    named = "SELECT h.who, w.name FROM held h JOIN wards w ON h.ward = w.ward"
    run("sqlite", address, *MADE, placed(*PEOPLE), f"CREATE VIEW v AS {named}")
    listed = f'[clinic]\naddress = "{address}"\nepsilon = 1.0\nrows_per_person = 1\n'
    file = tmp_path / "sources.toml"
    found = []
    for more in ("", 'row_by_row = ["v"]\n'):
        file.write_text(listed + more)
        file.chmod(0o600)
        found.extend(configured_sources(file))
    with pytest.raises(UnreadableFile, match=HANGS_TOGETHER):
        found[0].open("v")
    for table, told in (("v", True), ("held", False)):
        name = Column(name="who", type="text")
        asked = NoisyCount.of(Declaration(columns=(name,), form=found[1].open(table).form), epsilon=0.1)
        assert ("its definition was not looked at for it" in asked.promise) == told
        assert not any("had seen the file" in one for one in asked.notes)
    file.write_text(listed + 'row_by_row = "v"\n')
    with pytest.raises(InvalidArgument, match="list of texts as its row_by_row"):
        configured_sources(file)
