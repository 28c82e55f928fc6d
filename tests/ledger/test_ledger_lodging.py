"""In its schema of a server a ledger is alone: nobody else may put there what its statements would call."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from psycopg import sql
from sqlalchemy import Connection, Engine, create_engine, insert, text
from sqlalchemy.exc import DBAPIError

from benchmarks.private_postgresql import PrivateServer
from dpcore.accounting import Cost
from dpcore.ledger import Ledger, LedgerError, LedgerUnsound, ended, engine, key, lodging, migrations, verify
from dpcore.ledger import schema as schema_of
from dpcore.ledger.__main__ import main
from dpcore.ledger.ended import Ended, EndedLogins
from dpcore.ledger.records import Record, next_record
from dpcore.ledger.recovery import restore
from dpcore.ledger.roles import PEOPLE
from tests.ledger.conftest import Place

FEW = "few"
"""A role that has nothing but what is said."""
OPERATOR = """
CREATE FUNCTION {schema}.eq(text, varchar) RETURNS boolean LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''another one was called''; END';
CREATE OPERATOR {schema}.= (LEFTARG = text, RIGHTARG = varchar, FUNCTION = {schema}.eq)
"""
"""It fits better than PostgreSQL's own how the library compares texts."""
LOG_OUT = Ended("provider", "person", "login", 1, 10**12)


@pytest.fixture(autouse=True)
def another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All addresses here are alike; each test comes to its ledger for the first time."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "ledger.key"))


@pytest.fixture(scope="module")
def own(server: PrivateServer) -> Iterator[Engine]:
    """As the one who set the server up, who is a superuser; and two roles that are none."""
    made = create_engine(server.url("postgres"), isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        for role in ("app", FEW, '"50% Other"'):
            connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN", execution_options={"no_parameters": True})
    yield made
    made.dispose()


def run(own: Engine, *statements: str) -> None:
    with own.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement, execution_options={"no_parameters": True})  # a role has a “%”


def role_s(server: PrivateServer, own: Engine, tmp_path: Path, schema: str) -> Place:
    """Where a role without any other right has a ledger."""
    quoted = sql.Identifier(schema).as_string(None)
    run(own, f"CREATE SCHEMA {quoted} AUTHORIZATION app")
    run(own, f"ALTER ROLE app IN DATABASE postgres SET search_path = {quoted}")
    url = server.url("postgres").replace("//ledger@", "//app@")
    return Place(url=url, journal=tmp_path / "journal", database=None)


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return f"of_{abs(hash(tmp_path))}"


@pytest.fixture
def place(server: PrivateServer, own: Engine, tmp_path: Path, schema: str) -> Place:
    return role_s(server, own, tmp_path, schema)


def filled(place: Place) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.25), "?")
        EndedLogins(ledger).put([LOG_OUT], before=0)


OTHERS = {
    "everybody may make things there": "GRANT CREATE ON SCHEMA {schema} TO PUBLIC",
    "one role may": f"GRANT ALL ON SCHEMA {{schema}} TO {FEW}",
    "a role of whatever name may": 'GRANT CREATE ON SCHEMA {schema} TO "50% Other"',
    "it may put triggers on a table": f"GRANT TRIGGER ON {{schema}}.accounts TO {FEW}",
    "it may put one on the table of log-outs": f"GRANT TRIGGER ON {{schema}}.ended_logins TO {FEW}",
    "it may make references to one": f"GRANT REFERENCES ON {{schema}}.head TO {FEW}",
    "it may make them to a column": f"GRANT REFERENCES (seq, hash) ON {{schema}}.head TO {FEW}",
    "it may add rows": f"GRANT INSERT ON {{schema}}.records TO {FEW}",
    "it may change them": f"GRANT UPDATE ON {{schema}}.accounts TO {FEW}",
    "it may take them away": f"GRANT DELETE, TRUNCATE ON {{schema}}.ended_logins TO {FEW}",
    "it may add rows of some columns": f"GRANT INSERT (seq, hash), UPDATE (hash) ON {{schema}}.head TO {FEW}",
    "it may write, by the usual recipe": "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} "
    f"TO {FEW}",
    "everybody may": "GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO PUBLIC",
    "it may set the numbers of log-outs": f"GRANT UPDATE ON SEQUENCE {{schema}}.ended_logins_seq_seq TO {FEW}",
    "it may use all sequences": f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {{schema}} TO {FEW}",
    "everybody may use them": "GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO PUBLIC",
    "the schema is another's": f"ALTER SCHEMA {{schema}} OWNER TO {FEW}; GRANT USAGE ON SCHEMA {{schema}} TO app",
    "one table is": f"ALTER TABLE {{schema}}.lineages OWNER TO {FEW}",
    "the triggers' function is": f"ALTER FUNCTION {{schema}}.ledger_only_grows() OWNER TO {FEW}",
    "an operator was left there": f"{OPERATOR}; ALTER OPERATOR {{schema}}.= (text, varchar) OWNER TO {FEW}",
    "or one of the ledger's own role": f"{OPERATOR}; ALTER OPERATOR {{schema}}.= (text, varchar) OWNER TO app",
    "a function of PostgreSQL's name": "CREATE FUNCTION {schema}.length(varchar) RETURNS integer LANGUAGE sql AS "
    f"'SELECT 64'; ALTER FUNCTION {{schema}}.length(varchar) OWNER TO {FEW}",
    "a sum": "CREATE FUNCTION {schema}.larger(varchar, varchar) RETURNS varchar LANGUAGE sql AS 'SELECT $1'; "
    "CREATE AGGREGATE {schema}.max(varchar) (SFUNC = {schema}.larger, STYPE = varchar); "
    f"ALTER AGGREGATE {{schema}}.max(varchar) OWNER TO {FEW}",
}


def test_all_that_the_ledger_s_account_writes_to_is_looked_at(place: Place, own: Engine, schema: str) -> None:
    """Whatever others may change there is found, and that nothing else is there to be changed."""
    filled(place)
    query = "SELECT relname, relkind FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind <> 'i'"
    with own.connect() as connection:
        kinds = {name: str(kind) for name, kind in connection.exec_driver_sql(query, (schema,)).all()}
    assert {name for name, kind in kinds.items() if kind != "S"} == set(lodging.TABLES)
    for name, kind in kinds.items():
        what = f"UPDATE ON {'SEQUENCE ' * (kind == 'S')}{schema}.{name}"
        run(own, f"GRANT {what} TO {FEW}")
        with pytest.raises(LedgerUnsound, match=f"few may {what}, so|few may {what};"):
            place.open()
        run(own, f"REVOKE {what} FROM {FEW}")


@pytest.mark.parametrize("mutant", [None, 0, 1])
def test_rights_that_others_have_by_default_close_no_ledger_at_the_first_log_out(
    place: Place, own: Engine, schema: str, monkeypatch: pytest.MonkeyPatch, mutant: int | None
) -> None:
    """Its table is made long after the others, whose rights were taken back by then; it may be read as they may."""
    if mutant is not None:
        monkeypatch.setattr(ended, "_TAKE", [take for number, take in enumerate(ended._TAKE) if number != mutant])
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
    rights = f"ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA {schema}"
    run(own, *(f'{rights} GRANT ALL ON {of} TO {FEW}, "50% Other"' for of in OF_ALL))
    try:
        with place.open() as ledger:
            EndedLogins(ledger).put([LOG_OUT], before=0)
            if mutant is not None:
                with pytest.raises(LedgerUnsound, match=f"few may {LEFT_TO_THEM[mutant]}"):
                    ledger.verify()
                return
            ledger.verify()
        with place.open() as again:
            assert EndedLogins(again).last() == 1
        with own.connect() as connection:
            asked = f"SELECT has_table_privilege('{FEW}', '{schema}.ended_logins', %s)"
            may = [name for name in RIGHTS if connection.exec_driver_sql(asked, (name,)).scalar()]
            asked = f"SELECT has_sequence_privilege('{FEW}', '{schema}.ended_logins_seq_seq', %s)"
            may += [
                name for name in ("SELECT", "USAGE", "UPDATE") if connection.exec_driver_sql(asked, (name,)).scalar()
            ]
        assert may == ["SELECT", "SELECT"]
    finally:
        run(own, *(f'{rights} REVOKE ALL ON {of} FROM {FEW}, "50% Other"' for of in OF_ALL))


OF_ALL = ("TABLES", "SEQUENCES")
LEFT_TO_THEM = (r".*REFERENCES, TRIGGER.* ON \w+\.ended_logins", r"UPDATE ON SEQUENCE \w+\.ended_logins_seq_seq")
"""What they keep of rights by default that are not taken back."""
RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
FUNCTION = "CREATE FUNCTION elsewhere_{schema}.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
LEFT = {
    "a trigger": f"{FUNCTION}; CREATE TRIGGER t BEFORE INSERT ON {{schema}}.ended_logins FOR EACH ROW "
    "EXECUTE FUNCTION elsewhere_{schema}.f()",
    "a reference": "CREATE TABLE elsewhere_{schema}.own (seq bigint REFERENCES {schema}.ended_logins (seq))",
    "a rule": "CREATE RULE r AS ON INSERT TO {schema}.ended_logins DO ALSO SELECT 1",
    "a default": "ALTER TABLE {schema}.ended_logins ALTER since SET DEFAULT abs(-1)",
    "a check": "ALTER TABLE {schema}.ended_logins ADD CHECK (abs(since) >= 0)",
    "an index": "CREATE INDEX ON {schema}.ended_logins (abs(since))",
    "a column": "ALTER TABLE {schema}.ended_logins ADD more text DEFAULT lower('A')",
    "a table that inherits": "CREATE TABLE elsewhere_{schema}.own () INHERITS ({schema}.ended_logins)",
    "another in its place": "DROP TABLE {schema}.ended_logins; CREATE VIEW {schema}.ended_logins AS SELECT 1 AS seq; "
    "ALTER VIEW {schema}.ended_logins OWNER TO app",
}


@pytest.mark.parametrize("what", LEFT)
def test_what_was_left_at_the_table_of_log_outs_is_found(place: Place, own: Engine, schema: str, what: str) -> None:
    """By whoever had the right once: it would be called as the ledger's account at the next log-out."""
    filled(place)
    run(own, f"CREATE SCHEMA elsewhere_{schema}", LEFT[what].format(schema=schema))
    with pytest.raises(LedgerUnsound, match=r"more than their safeguards.*ended_logins"):
        place.open()


@pytest.mark.thorough
@pytest.mark.parametrize("what", OTHERS)
def test_where_others_may_put_what_it_calls_it_stays_closed_and_says_what_to_run(
    place: Place, own: Engine, schema: str, what: str
) -> None:
    """The very statements that the sentence tells open it again, and nothing else is lost by them."""
    filled(place)
    with place.open() as ledger:
        run(own, OTHERS[what].format(schema=schema))
        with pytest.raises(LedgerUnsound, match=f"schema “{schema}” of the database “postgres” is not its own"):
            ledger.verify()
    with pytest.raises(LedgerUnsound, match="is not its own") as told:
        place.open()
    with pytest.raises(LedgerUnsound, match="is not its own"):
        restore(place.url, journal=place.journal)
    mend = re.search(r" run (.*)\.$", str(told.value))
    assert mend is not None
    run(own, *mend[1].split("; "))
    with place.open() as ledger:
        assert ledger.verify().charges == 1


def by_hand(own: Engine, schema: str) -> None:
    """Few makes itself an owner, with rights to write rows alone: whoever has read a record knows how it is sealed."""
    run(own, f"GRANT USAGE ON SCHEMA {schema} TO {FEW}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {FEW}")
    run(own, f"GRANT INSERT ON {schema}.records TO {FEW}; GRANT UPDATE ON {schema}.head TO {FEW}")
    with own.connect() as connection:
        connection.exec_driver_sql(f"SET ROLE {FEW}")
        connection.exec_driver_sql(f"SET search_path TO {schema}")
        seq, last = connection.exec_driver_sql("SELECT seq, hash FROM head").one()
        added = next_record(seq + 1, last, "role", lineage=f"{PEOPLE}few", body={"roles": ["owner"]}, last_time="")
        connection.execute(insert(schema_of.records), {name: getattr(added, name) for name in Record.__slots__})
        connection.exec_driver_sql("UPDATE head SET seq = %s, hash = %s", (added.seq, added.hash))
        connection.exec_driver_sql("RESET ROLE; RESET search_path")


@pytest.mark.parametrize("mutant", [False, True])
def test_whoever_may_write_rows_makes_nobody_an_owner(
    place: Place, own: Engine, schema: str, monkeypatch: pytest.MonkeyPatch, mutant: bool
) -> None:
    """Chain, sums and safeguards all fit."""
    filled(place)
    if mutant:
        monkeypatch.setattr(lodging, "_STRANGE", lodging._STRANGE.replace("'INSERT', 'UPDATE'", "'none'"))
    by_hand(own, schema)
    if mutant:
        with place.open() as ledger:
            ledger.verify()
            assert ledger.roles() == {"few": {"owner"}}
        return
    with pytest.raises(LedgerUnsound, match=r"few may INSERT ON \w+\.records, few may UPDATE ON \w+\.head"):
        place.open()


HARMLESS = {
    "who looks at sequences": f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {{schema}} TO {FEW}",
    "who reads": f"GRANT USAGE ON SCHEMA {{schema}} TO {FEW}; GRANT SELECT ON ALL TABLES IN SCHEMA {{schema}} TO {FEW}",
    "who sets the server up": "GRANT ALL ON SCHEMA {schema} TO ledger, pg_database_owner",
    "whose the database is": "ALTER SCHEMA {schema} OWNER TO pg_database_owner; GRANT USAGE ON SCHEMA {schema} TO app",
    "a function of another name": f"CREATE FUNCTION {{schema}}.of_ours() RETURNS integer LANGUAGE sql AS 'SELECT 1'; "
    f"ALTER FUNCTION {{schema}}.of_ours() OWNER TO {FEW}",
    "the triggers' name with an argument": "CREATE FUNCTION {schema}.ledger_only_grows(integer) RETURNS integer "
    f"LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION {{schema}}.ledger_only_grows(integer) OWNER TO {FEW}",
}


@pytest.mark.parametrize("what", HARMLESS)
def test_what_changes_nothing_that_it_calls_may_be_there(place: Place, own: Engine, schema: str, what: str) -> None:
    filled(place)
    run(own, HARMLESS[what].format(schema=schema))
    with place.open() as ledger:
        assert ledger.verify().charges == 1


def test_a_reference_that_is_held_open_keeps_no_writer_waiting(
    place: Place, own: Engine, schema: str, request: pytest.FixtureRequest
) -> None:
    """Whoever may refer to the ledger's one row of its head had all charges refused for as long as they liked."""
    filled(place)
    with place.open() as ledger:
        run(own, f"CREATE SCHEMA of_few; CREATE TABLE of_few.mine (id integer REFERENCES {schema}.head (id))")
        request.addfinalizer(lambda: run(own, "DROP SCHEMA of_few CASCADE"))
        with own.begin() as held:
            held.exec_driver_sql("INSERT INTO of_few.mine VALUES (1)")
            ledger.charge("r2", "people", Cost.pure(0.25), "?")
            assert ledger.budget("people").remaining.epsilon == 0.5
        with pytest.raises(LedgerUnsound, match="REFERENCES head"):
            ledger.verify()


def test_none_is_made_there_either(place: Place, own: Engine, schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(own, f"GRANT CREATE ON SCHEMA {schema} TO PUBLIC")
    asked = ["--ledger", place.url, "--journal", str(place.journal), "init"]
    assert main(asked) == 1
    assert f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC" in capsys.readouterr().err
    with own.connect() as connection:
        assert connection.execute(text("SELECT to_regclass(:name)"), {"name": f"{schema}.records"}).scalar() is None
    run(own, f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC")
    assert main(asked) == 0


def test_a_session_sees_no_other_schema(
    place: Place, own: Engine, schema: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Beside its own the address or the account may name one that everybody puts things into."""
    common = "common"
    run(own, f"CREATE SCHEMA {common}; GRANT ALL ON SCHEMA {common} TO PUBLIC", OPERATOR.format(schema=common))
    request.addfinalizer(lambda: run(own, f"DROP SCHEMA {common} CASCADE"))
    run(own, f"ALTER ROLE app IN DATABASE postgres SET search_path = {schema}, {common}, pg_catalog")
    filled(place)
    with place.open() as ledger:
        ledger.rename("people", "Patients")
        with ledger._store.reading() as connection:
            connection.exec_driver_sql("CREATE TEMP TABLE records (seq bigint)")
            assert connection.exec_driver_sql("SELECT count(*) FROM records").scalar() == 3
            found = connection.exec_driver_sql("SHOW search_path").scalar()
    assert found == f'"{schema}", pg_temp'
    monkeypatch.setattr(lodging.Lodging, "settle", lambda self, cursor: None)
    monkeypatch.setattr(lodging.Lodging, "tell", lambda self, connection: None)
    with pytest.raises(LedgerError), place.open() as ledger:
        ledger.rename("people", "Patients of 2026")


def test_a_schema_of_the_account_s_name_does_not_come_before_its_own(
    place: Place, own: Engine, schema: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Whoever may make schemas may make that one, which a usual path puts first, and fill it as they like."""
    run(own, f'ALTER ROLE app IN DATABASE postgres SET search_path = "$user", {schema}')
    filled(place)
    request.addfinalizer(lambda: run(own, "DROP SCHEMA app CASCADE"))
    with place.open() as ledger:
        run(own, f"CREATE SCHEMA app AUTHORIZATION {FEW}; GRANT USAGE ON SCHEMA app TO PUBLIC")
        run(own, OPERATOR.format(schema="app"), "CREATE TABLE app.records (seq bigint)")
        run(own, f"ALTER TABLE app.records OWNER TO {FEW}")
        ledger._store.engine.dispose()  # another connection
        ledger.rename("people", "Patients")
        ledger.verify()
    with place.open() as ledger:
        assert ledger.verify().charges == 1
    monkeypatch.setattr(lodging, "_chosen", lambda path, having: path[0])
    with pytest.raises(LedgerError):
        place.open()


AS_THE_ACCOUNT_IS_SET = (
    "SET synchronous_commit TO off", "SET client_encoding TO 'LATIN1'", "SET lock_timeout TO 0",
    "SET idle_in_transaction_session_timeout TO 0", "SET quote_all_identifiers TO on",
    "SET standard_conforming_strings TO off",
)  # fmt: skip
HOLDS = {
    "synchronous_commit": "on", "client_encoding": "UTF8", "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "10s", "session_replication_role": "origin", "quote_all_identifiers": "off",
    "standard_conforming_strings": "on",
}  # fmt: skip


def test_whatever_session_a_pooler_gives_a_transaction_it_is_told_what_must_hold(
    place: Place, own: Engine, schema: str, tmp_path: Path, pooled: Callable[..., None], request: pytest.FixtureRequest
) -> None:
    """Of a transaction in each of the ways there are; and no other schema's operator is called in any."""
    run(own, f'ALTER ROLE app IN DATABASE postgres SET search_path = "$user", {schema}')
    filled(place)
    request.addfinalizer(lambda: run(own, "DROP SCHEMA app CASCADE"))
    run(own, f"CREATE SCHEMA app AUTHORIZATION {FEW}; GRANT USAGE ON SCHEMA app TO PUBLIC")
    run(own, OPERATOR.format(schema="app"), "CREATE TABLE app.records (seq bigint)")
    run(own, f"ALTER TABLE app.records OWNER TO {FEW}")
    pooled(*AS_THE_ACCOUNT_IS_SET)
    holds = HOLDS | {"search_path": f'"{schema}", pg_temp'}
    with place.open() as ledger:
        store = ledger._store
        for look in (store.reading, store.writing, store.snapshot):
            with look() as connection:
                found = {name: connection.exec_driver_sql(f"SHOW {name}").scalar() for name in holds}
            kept = {"idle_in_transaction_session_timeout": "0"} if look == store.snapshot else {}
            assert found == holds | kept
        with store.reading() as connection:
            for number in range(12):  # more often than it takes a statement to be prepared
                asked = connection.execute(text("SELECT CAST(:number AS integer)"), {"number": number})
                assert asked.scalar() == number
        for number in range(12):
            ledger.charge(f"Σ{number}", "people", Cost.pure(0.01), "Σ?")
            ledger.store_answer(f"Σ{number}", {"winner": "Σ 人"})
        assert ledger.receipt("Σ3").answer == {"winner": "Σ 人"}
        assert ledger.verify().charges == 13
        engine.rewrite_files(store.engine)
        assert ledger.backup(tmp_path / "backup") == 26
    assert main(["--ledger", place.url, "--journal", str(place.journal), "restore", str(tmp_path / "backup")]) == 0


WRITTEN = ("quote_all_identifiers", "standard_conforming_strings")
"""By which a server writes down what a ledger's safeguards are, and reads what it is asked."""


@pytest.mark.parametrize("told", [True, False], ids=["told", "as it was"])
@pytest.mark.parametrize(("setting", "value"), [*zip(WRITTEN, ("on", "off"), strict=True)])
def test_an_account_that_is_set_to_write_otherwise_loses_no_safeguards(
    place: Place, own: Engine, setting: str, value: str, *, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place)
    if not told:
        monkeypatch.delitem(engine._TOLD, setting)
    run(own, f"ALTER ROLE app SET {setting} = {value}")
    try:
        with nullcontext() if told else pytest.raises(LedgerUnsound, match="lost some of their safeguards"):
            place.open().close()
    finally:
        run(own, f"ALTER ROLE app RESET {setting}")


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], object]] = {
    "is told": lambda patch: patch.setattr(lodging.Lodging, "tell", lambda self, connection: None),
    "is told its disk": lambda patch: patch.setattr(engine, "_TOLD", {}),
    "is told how it is written": lambda patch: [patch.delitem(engine._TOLD, one) for one in WRITTEN],
    "has its own statements": lambda patch: patch.setattr(engine, "OF_NO_SESSION", {}),
}


@pytest.mark.parametrize("what", MUTANTS)
def test_what_only_a_session_is_told_is_found_out(
    place: Place, own: Engine, schema: str, tmp_path: Path, pooled: Callable[..., None], request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch, what: str,
) -> None:  # fmt: skip
    MUTANTS[what](monkeypatch)
    with pytest.raises((AssertionError, LedgerError)):
        test_whatever_session_a_pooler_gives_a_transaction_it_is_told_what_must_hold(
            place, own, schema, tmp_path, pooled, request
        )


def test_no_transaction_is_of_a_session_that_keeps_no_references(
    server: PrivateServer, tmp_path: Path, pooled: Callable[..., None]
) -> None:
    """Also where a pooler makes one after the ledger was opened."""
    with Ledger.open(server.new_schema(), journal=tmp_path / "journal", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        pooled("SET session_replication_role TO replica")
        with pytest.raises(LedgerUnsound, match="session_replication_role"):
            ledger.charge("r", "people", Cost.pure(0.25), "?")


def test_none_is_made_in_a_schema_of_another_s(
    place: Place, own: Engine, schema: str, request: pytest.FixtureRequest
) -> None:
    run(own, f'ALTER ROLE app IN DATABASE postgres SET search_path = "$user", {schema}')
    request.addfinalizer(lambda: run(own, "DROP SCHEMA app CASCADE"))
    run(own, f"CREATE SCHEMA app AUTHORIZATION {FEW}; GRANT ALL ON SCHEMA app TO PUBLIC")
    with pytest.raises(LedgerUnsound, match="is not its own"):
        place.open()


@pytest.mark.parametrize("name", ["Ledger", "lab-app", 'a "name", of two', "50 %s:of (two)", "select", "ä"])
def test_its_schema_may_have_any_name(server: PrivateServer, own: Engine, tmp_path: Path, name: str) -> None:
    """One with a capital letter was looked for by another name."""
    place = role_s(server, own, tmp_path, name)
    filled(place)
    with Ledger.open(place.url, journal=place.journal, create=False) as ledger:
        ledger.charge("s", "people", Cost.pure(0.25), "?")
        assert ledger.verify().charges == 2
        assert ledger.backup(tmp_path / "backup") == 3


def test_an_account_without_a_schema_is_told(
    server: PrivateServer, place: Place, own: Engine, schema: str, tmp_path: Path
) -> None:
    url = server.url("postgres") + "&options=-csearch_path%3Dnowhere_at_all"
    with pytest.raises(LedgerError, match=r"no schema .* that its account may use.*CREATE SCHEMA"):
        Ledger.open(url, journal=tmp_path / "other", create=True)
    filled(place)
    run(own, f"ALTER SCHEMA {schema} OWNER TO {FEW}")
    with pytest.raises(LedgerError, match=r"no schema .* that its account may use"):
        place.open()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_does_not_keep_every_letter_is_refused(
    server: PrivateServer, own: Engine, tmp_path: Path, encoding: str
) -> None:
    """One pasted letter had the whole ledger called damaged there."""
    name = f"in_{encoding.lower()}"
    run(own, f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(LedgerError, match=f"keeps letters as {encoding}.*ENCODING 'UTF8'"):
        Ledger.open(server.url(name), journal=tmp_path / "journal", create=True)


def test_letters_are_the_same_whatever_a_session_is_set_to(place: Place, own: Engine) -> None:
    run(own, "ALTER ROLE app SET client_encoding = 'LATIN1'")
    try:
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0, name="Σ 人")
            assert ledger.receipt("Σ") is None
            assert ledger.budget("people").name == "Σ 人"
            ledger.verify()
    finally:
        run(own, "ALTER ROLE app RESET client_encoding")


def test_a_session_that_keeps_no_references_is_refused(place: Place, own: Engine) -> None:
    filled(place)
    told = "session_replication_role is “{}”.*ALTER ROLE app RESET session_replication_role"
    with place.open() as ledger, ledger._store.snapshot() as connection:
        verify.verify_database(connection)
    run(own, "ALTER ROLE app SET session_replication_role = replica")
    with pytest.raises(LedgerUnsound, match=told.format("replica")):
        place.open()
    run(own, "ALTER ROLE app SET session_replication_role = local")
    with pytest.raises(LedgerUnsound, match=told.format("local")):
        place.open()
    run(own, "ALTER ROLE app RESET session_replication_role")
    with place.open() as ledger:
        assert ledger.verify().charges == 1


def test_a_session_that_became_a_replica_s_is_noticed_when_it_is_checked(server: PrivateServer) -> None:
    made = engine.make_engine(engine.ledger_url(server.new_schema()))
    engine.migrate(made, key.fresh())
    with engine.reading(made) as connection:
        lodging.be_alone(connection)
        connection.exec_driver_sql("SET LOCAL session_replication_role TO replica")
        with pytest.raises(LedgerUnsound, match="session_replication_role"):
            lodging.be_alone(connection)
        connection.rollback()
    made.dispose()


def test_nobody_who_may_only_connect_keeps_it_from_being_made(place: Place, own: Engine) -> None:
    """An advisory lock of a known number, which anybody may hold, did."""
    few = create_engine(place.url.replace("//app@", f"//{FEW}@"))
    with few.connect() as other:
        other.exec_driver_sql("SELECT pg_advisory_lock(4091337201)")
        began = time.monotonic()
        filled(place)
    few.dispose()
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("before", [None, "0006"])
def test_of_those_who_make_or_renew_its_tables_at_once_one_does(
    server: PrivateServer, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    url = engine.ledger_url(server.new_schema())
    engines = [engine.make_engine(url) for _ in range(4)]
    if before is not None:
        with monkeypatch.context() as then:
            then.setattr(engine, "NEWEST", before)
            engine.migrate(engines[0], key.fresh())
    begin = threading.Barrier(4)
    checked: list[object] = []

    def make(one: Engine) -> bool:
        begin.wait(30)
        return engine.migrate(one, key.fresh(), checked.append)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, engines))
    assert sorted(made) == [False, False, False, before is None]
    assert len(checked) == (before is not None)
    assert {engine.form(one) for one in engines} == {migrations.NEWEST}
    for one in engines:
        one.dispose()


def test_who_comes_while_another_computer_makes_its_tables_waits_and_has_them(server: PrivateServer) -> None:
    url = engine.ledger_url(server.new_schema())
    here, there = engine.make_engine(url), engine.make_engine(url)
    with ThreadPoolExecutor(1) as pool:
        with engine.writing(there) as connection:
            assert engine._brought_forward(connection, key.fresh(), lambda connection: None)
            waiting = pool.submit(engine.migrate, here, key.fresh())
            time.sleep(1)
            assert not waiting.done()
        assert waiting.result(60) is False
    assert engine.form(here) == migrations.NEWEST
    for one in (here, there):
        one.dispose()


def always(connection: Connection) -> set[str]:
    query = "SELECT tgenabled::text FROM pg_trigger WHERE NOT tgisinternal AND pg_table_is_visible(tgrelid)"
    return set(connection.exec_driver_sql(query).scalars())


def test_a_ledger_from_before_is_brought_forward(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its triggers fire in every session from then on; its records are as they were."""
    place = Place(url=server.new_schema(), journal=tmp_path / "journal", database=None)
    with monkeypatch.context() as then:
        for module in (engine, migrations):
            then.setattr(module, "NEWEST", "0006")
        then.setattr(verify, "_guard", lambda connection: None)
        with place.open() as older:
            older.open_budget("people", epsilon=1.0)
            kept = older.charge("r", "people", Cost.pure(0.25), "?").to_json()
            with older._store.reading() as connection:
                assert always(connection) == {"O"}
            before = older.records()
    with place.open() as now:
        assert now.records() == before
        assert now.confirms(kept)
        with now._store.reading() as connection:
            assert always(connection) == {"A"}
            with pytest.raises(DBAPIError, match="only grows"):
                connection.exec_driver_sql("SET LOCAL session_replication_role = replica; DELETE FROM records")
            connection.rollback()
        assert now.verify().charges == 1
