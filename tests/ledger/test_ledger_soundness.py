"""A ledger that was edited, copied, truncated or damaged stays closed and says what to do; nothing is refunded."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError

from benchmarks.private_postgresql import PrivateServer
from dpcore.accounting import Cost
from dpcore.ledger import Ledger, LedgerError, LedgerUnsound, key, migrations, safeguards, verify
from dpcore.ledger.engine import make_engine, migrate, reading
from dpcore.ledger.lock import exclusive
from dpcore.ledger.recovery import restore
from dpcore.ledger.schema import metadata
from tests.ledger.conftest import Place, unguarded


def filled(place: Place, charges: int = 3) -> Ledger:
    ledger = place.open()
    ledger.open_budget("people", epsilon=1.0)
    for number in range(charges):
        ledger.charge(f"r{number}", "people", Cost.pure(0.1), "?")
    ledger.store_answer("r0", {"winner": 1})
    return ledger


def edit(place: Place, change: Callable[[Connection], object]) -> None:
    engine = create_engine(place.url)
    try:
        with engine.begin() as connection:
            change(connection)
    finally:
        engine.dispose()


def are_there(connection: Connection) -> bool:
    return safeguards.missing(connection) == ([], [])


def refused(place: Place, statement: str) -> bool:
    try:
        edit(place, lambda connection: connection.execute(text(statement)))
    except DBAPIError:
        return True
    return False


REFUSED = [
    "DELETE FROM records",
    "DELETE FROM accounts",
    "DELETE FROM lineages",
    "DELETE FROM head",
    "UPDATE records SET body = '{}'",
    "UPDATE records SET hash = hash",
    "UPDATE accounts SET spent_epsilon = 0",
    "UPDATE accounts SET spent_epsilon = spent_epsilon - 1",
    "UPDATE accounts SET cap_epsilon = 2000000000",
    "UPDATE accounts SET spent_epsilon = cap_epsilon + 1",
    "UPDATE accounts SET spent_epsilon = -1",
    "UPDATE accounts SET kind = 'approximate'",
    "UPDATE lineages SET practice = 1",
    "UPDATE lineages SET generation = 2",
    "UPDATE head SET seq = seq - 1",
    "INSERT INTO records SELECT seq + 100, kind, lineage, request_id, time, body, previous, hash FROM records",
    "INSERT INTO records VALUES (99, 'charge', 'people', 'r0', '', '{}', '', '')",
]


def test_the_tables_themselves_refuse_to_go_back(place: Place) -> None:
    """One after the other, so that one ledger is enough: what is refused leaves it as it was."""
    filled(place).close()
    assert [statement for statement in REFUSED if not refused(place, statement)] == []
    ledger = place.open()
    ledger.verify()
    ledger.close()


def test_sqlite_replace_and_wrong_types_are_refused(sqlite_place: Place) -> None:
    """REPLACE deletes without firing triggers unless told to; STRICT keeps text and fractions out of sums."""
    ledger = filled(sqlite_place)
    engine = ledger._store.engine
    for statement in (
        "INSERT OR REPLACE INTO head VALUES (1, 'x', 0, 'x')",
        "UPDATE accounts SET spent_epsilon = 'much'",
        "UPDATE accounts SET spent_epsilon = 400000000.5",
    ):
        with pytest.raises(DBAPIError), engine.begin() as connection:
            connection.exec_driver_sql(statement)
    ledger.verify()
    ledger.close()


EDITS = {
    "a sum": "UPDATE accounts SET spent_epsilon = 100000000",
    "a cap": "UPDATE accounts SET cap_epsilon = 5000000000",
    "a record": "UPDATE records SET body = replace(body, '100000000', '1') WHERE kind = 'charge'",
    "the last record": "DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)",
    "the head": "UPDATE head SET seq = seq + 1",
    "practice": "UPDATE lineages SET practice = 1",
    "a lineage": "UPDATE lineages SET name = 'other'",
    "an answer": "UPDATE records SET body = '{\"answer\":2}' WHERE kind = 'answer'",
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_ledger_stays_closed(new_place: Callable[[], Place], what: str) -> None:
    """Someone with full rights switches the safeguards off, edits, and switches them on again."""
    place = new_place()
    filled(place).close()

    edit(place, lambda connection: unguarded(connection, EDITS[what]))
    with pytest.raises(LedgerUnsound, match="epsilon-lab ledger restore"):
        place.open()


def test_a_ledger_without_its_safeguards_stays_closed(new_place: Callable[[], Place]) -> None:
    place = new_place()
    filled(place).close()
    target = "accounts_grows" if place.database else "accounts_grows ON accounts"
    edit(place, lambda connection: connection.execute(text(f"DROP TRIGGER {target}")))
    with pytest.raises(LedgerUnsound, match="safeguards"):
        place.open()


def test_a_servers_safeguard_that_does_nothing_is_noticed(server: PrivateServer, tmp_path: Path) -> None:
    place = Place(url=server.new_schema(), journal=tmp_path / "journal", database=None)
    filled(place).close()
    harmless = (
        "CREATE OR REPLACE FUNCTION ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
    )
    edit(place, lambda connection: connection.exec_driver_sql(harmless))
    with pytest.raises(LedgerUnsound, match="safeguards"):
        place.open()


WEAKER = {
    "a trigger that never fires": "DROP TRIGGER accounts_grows ON accounts; CREATE TRIGGER accounts_grows BEFORE "
    "UPDATE ON accounts FOR EACH ROW WHEN (false) EXECUTE FUNCTION ledger_only_grows()",
    "one that fires too late": "DROP TRIGGER head_stays ON head; CREATE TRIGGER head_stays AFTER DELETE ON head "
    "FOR EACH ROW EXECUTE FUNCTION ledger_only_grows()",
    "one of a column alone": "DROP TRIGGER records_grows ON records; CREATE TRIGGER records_grows BEFORE UPDATE "
    "OF time ON records FOR EACH ROW WHEN (1 = 1) EXECUTE FUNCTION ledger_only_grows()",
    "one that is off": "ALTER TABLE lineages DISABLE TRIGGER lineages_kept",
    "one that calls another's function": "CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN OLD; END'; DROP TRIGGER head_stays ON head; CREATE TRIGGER head_stays BEFORE DELETE ON head "
    "FOR EACH ROW EXECUTE FUNCTION other()",
    "a check that is always true": "ALTER TABLE accounts DROP CONSTRAINT accounts_check6; "
    "ALTER TABLE accounts ADD CONSTRAINT accounts_check6 CHECK (true)",
    "one that holds for more": "ALTER TABLE accounts DROP CONSTRAINT accounts_spent_epsilon_check1; "
    "ALTER TABLE accounts ADD CONSTRAINT accounts_spent_epsilon_check1 CHECK (spent_epsilon >= 0 OR lineage <> '')",
    "one that rows from before need not keep": "ALTER TABLE head DROP CONSTRAINT head_seq_check; "
    "ALTER TABLE head ADD CONSTRAINT head_seq_check CHECK (seq >= 0) NOT VALID",
    "no unique index": "DROP INDEX one_charge_per_request",
    "one of fewer rows": "DROP INDEX one_answer_per_request; CREATE UNIQUE INDEX one_answer_per_request "
    "ON records (request_id) WHERE kind = 'answer' AND seq < 0",
    "one that is not unique": "DROP INDEX one_draw_per_request; CREATE INDEX one_draw_per_request "
    "ON records (request_id) WHERE kind = 'draw'",
    "one that waits for the end of a transaction": "ALTER TABLE records DROP CONSTRAINT records_hash_key1; "
    "ALTER TABLE records ADD CONSTRAINT records_hash_key1 UNIQUE (hash) DEFERRABLE INITIALLY DEFERRED",
    "a trigger that no replica's session fires": "ALTER TABLE accounts ENABLE TRIGGER accounts_grows",
    "one that fires there alone": "ALTER TABLE accounts ENABLE REPLICA TRIGGER accounts_grows",
    "one whose function has settings": "ALTER FUNCTION ledger_only_grows() SET client_min_messages = error",
    "a check by another's operator": "CREATE FUNCTION other(text, varchar) RETURNS boolean LANGUAGE sql IMMUTABLE AS "
    "'SELECT true'; CREATE OPERATOR <> (LEFTARG = text, RIGHTARG = varchar, FUNCTION = other); "
    "ALTER TABLE lineages DROP CONSTRAINT lineages_lineage_check; "
    "ALTER TABLE lineages ADD CONSTRAINT lineages_lineage_check CHECK (lineage <> ''::varchar)",
    "no reference": "ALTER TABLE accounts DROP CONSTRAINT accounts_lineage_fkey1",
    "a reference that is off": "ALTER TABLE accounts DISABLE TRIGGER ALL; ALTER TABLE accounts ENABLE ALWAYS TRIGGER "
    "accounts_stays; ALTER TABLE accounts ENABLE ALWAYS TRIGGER accounts_kept; "
    "ALTER TABLE accounts ENABLE ALWAYS TRIGGER accounts_grows",
}


CHANGES = (
    "CREATE FUNCTION sets_back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.spent_epsilon := 0; RETURN NEW; END';"
)
CALLED = "CREATE FUNCTION called(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';"
BESIDE = {
    "a trigger that changes a row once the others have looked": f"{CHANGES} CREATE TRIGGER zzz BEFORE UPDATE "
    "ON accounts FOR EACH ROW EXECUTE FUNCTION sets_back()",
    "one that is off for now": f"{CHANGES} CREATE TRIGGER zzz BEFORE UPDATE ON accounts FOR EACH ROW "
    "EXECUTE FUNCTION sets_back(); ALTER TABLE accounts DISABLE TRIGGER zzz",
    "one that leaves rows out": "CREATE FUNCTION leaves_out() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN NULL; END'; CREATE TRIGGER aaa BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION leaves_out()",
    "one of the same function at another moment": "CREATE TRIGGER zzz AFTER UPDATE ON head FOR EACH ROW "
    "EXECUTE FUNCTION ledger_only_grows()",
    "a table that inherits": "CREATE TABLE accounts_more () INHERITS (accounts)",
    "a table that inherits records": "CREATE TABLE records_more () INHERITS (records)",
    "a table of which one inherits": 'CREATE TABLE above (lineage text COLLATE "C" NOT NULL); '
    "ALTER TABLE fingerprints INHERIT above",
    "a rule": "CREATE RULE nothing AS ON INSERT TO records DO INSTEAD NOTHING",
    "row security": "ALTER TABLE lineages ENABLE ROW LEVEL SECURITY",
    "row security for the owner": "ALTER TABLE lineages FORCE ROW LEVEL SECURITY",
    "rows that are lost with the power": "ALTER TABLE fingerprints SET UNLOGGED",
    "a number as a text": "ALTER TABLE records DROP CONSTRAINT records_seq_check1; "
    "ALTER TABLE records ALTER COLUMN seq TYPE text; ALTER TABLE records ADD CHECK (seq >= '1')",
    "a shorter text": "ALTER TABLE fingerprints ALTER COLUMN sketch TYPE varchar(9) USING ''",
    "a type of its own": "CREATE DOMAIN bounded AS text; ALTER TABLE fingerprints ALTER COLUMN sketch TYPE bounded",
    "another order of letters": 'ALTER TABLE fingerprints ALTER COLUMN sketch TYPE text COLLATE "default"',
    "a column more": "ALTER TABLE records ADD COLUMN more text NOT NULL DEFAULT ''",
    "a column that may be missing": "ALTER TABLE records ALTER COLUMN body DROP NOT NULL",
    "a default": "ALTER TABLE accounts ALTER COLUMN spent_epsilon SET DEFAULT 0",
    "a check": "ALTER TABLE head ADD CHECK (seq < 1000000)",
    "a check that calls a function": f"{CALLED} ALTER TABLE records ADD CHECK (called(request_id))",
    "a unique index that calls one": f"{CALLED} CREATE UNIQUE INDEX more ON records (seq, called(request_id))",
    "an index that calls one": f"{CALLED} CREATE INDEX more ON records (seq, called(request_id))",
    "an index of the rows that one chooses": f"{CALLED} CREATE INDEX more ON records (seq) WHERE called(request_id)",
    "an index": "CREATE INDEX quick ON records (time)",
    "one of another kind": "CREATE INDEX quick ON records USING hash (time)",
    "rows that exclude others": "ALTER TABLE records ADD EXCLUDE USING btree (time WITH =)",
    "statistics that call a function": f"{CALLED} CREATE STATISTICS more ON (called(request_id)), time FROM records",
    "a policy that is off": "CREATE POLICY more ON records USING (true)",
    "a reference from elsewhere": "CREATE TABLE elsewhere (lineage text REFERENCES lineages ON UPDATE CASCADE)",
    "one from another schema": "CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.records (lineage text REFERENCES "
    "lineages ON UPDATE CASCADE)",
    "one to elsewhere": "CREATE TABLE elsewhere (seq bigint PRIMARY KEY); INSERT INTO elsewhere SELECT seq FROM head; "
    "ALTER TABLE head ADD FOREIGN KEY (seq) REFERENCES elsewhere",
    "a trigger where the form is written": f"{CHANGES} CREATE TRIGGER zzz BEFORE UPDATE ON alembic_version "
    "FOR EACH ROW EXECUTE FUNCTION sets_back()",
}


@pytest.fixture(scope="module")
def kept_on_server(server: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(url=server.new_schema(), journal=tmp_path_factory.mktemp("kept") / "journal", database=None)
    filled(place).close()
    return place


@pytest.mark.parametrize("what", WEAKER)
def test_a_servers_safeguard_that_keeps_less_is_noticed(kept_on_server: Place, what: str) -> None:
    """Of the same name: a sum that was set back by plain SQL let a running server charge beyond the cap."""
    engine = create_engine(kept_on_server.url)
    with engine.connect() as connection:
        assert are_there(connection)
        connection.exec_driver_sql(WEAKER[what])
        assert not are_there(connection)
        with pytest.raises(LedgerUnsound, match="safeguards"):
            verify.verify_database(connection)
        connection.rollback()
    engine.dispose()


def whatever_else(connection: Connection) -> bool:
    """As it was compared before: all triggers, checks and unique indexes that are wanted, whatever is beside them."""
    kinds = ("stays", "grows", "kept", "check", "unique")
    return {one for one in safeguards.WANTED if one.split()[1] in kinds} <= safeguards.found(connection)


@pytest.mark.parametrize("what", BESIDE)
def test_what_undoes_a_servers_safeguards_beside_them_is_noticed(kept_on_server: Place, what: str) -> None:
    """All were there, word by word, and sums were set back, and answers charged twice, by plain SQL."""
    engine = create_engine(kept_on_server.url)
    with engine.connect() as connection:
        assert are_there(connection)
        connection.exec_driver_sql(BESIDE[what])
        assert whatever_else(connection), "else this would show nothing"
        assert not are_there(connection)
        with pytest.raises(LedgerUnsound, match="safeguards"):
            verify.verify_database(connection)
        connection.rollback()
    engine.dispose()


def test_what_is_beside_them_is_named(kept_on_server: Place) -> None:
    engine = create_engine(kept_on_server.url)
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE INDEX quick ON records (time)")
        with pytest.raises(LedgerUnsound, match=r"more than their safeguards.*records index \( time \).*drop it"):
            verify.verify_database(connection)
        connection.rollback()
    engine.dispose()


def test_an_index_that_is_just_built_anew_is_none_beside_them(kept_on_server: Place) -> None:
    """As REINDEX CONCURRENTLY does, which leaves it so where it is stopped."""
    engine = create_engine(kept_on_server.url)
    for more, wanted in (("(lineage, kind, seq)", True), ("(lineage)", False)):
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE INDEX quick ON records {more}")
            unready = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'quick'::regclass"
            connection.exec_driver_sql(unready)
            assert are_there(connection) is wanted
            connection.rollback()
    engine.dispose()


def test_a_servers_triggers_fire_in_every_session(kept_on_server: Place) -> None:
    engine = create_engine(kept_on_server.url)
    for also, fires in (("", True), ("ALTER TABLE accounts ENABLE TRIGGER accounts_grows", False)):
        with engine.connect() as connection:
            connection.exec_driver_sql(f"SET session_replication_role = replica; {also}")
            change = "UPDATE accounts SET spent_epsilon = 0"
            if fires:
                with pytest.raises(DBAPIError, match="only grows"):
                    connection.exec_driver_sql(change)
            else:
                connection.exec_driver_sql(change)
            connection.rollback()
    engine.dispose()


@pytest.mark.parametrize(
    "other",
    [
        "CHECK (((kind = 'approximate') OR (cap_rho >= (-1))))",
        "CHECK (((kind = 'approximate'::character varying) OR (cap_rho >= '-1'::integer)))",
        "CHECK (((\"kind\" = 'approximate'::text)  OR (cap_rho >= -1)))",
    ],
)
def test_a_safeguard_is_the_same_however_a_server_writes_it_down(other: str) -> None:
    here = safeguards.words("CHECK (((kind = 'approximate'::text) OR (cap_rho >= '-1'::integer)))")
    assert safeguards.words(other) == here
    assert safeguards.words(other.replace("OR", "AND")) != here
    assert safeguards.words(other.replace("1", "2")) != here


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_migrations_make_the_tables_that_queries_see(new_place: Callable[[], Place]) -> None:
    place = new_place()
    place.open().close()
    engine = create_engine(place.url)
    with engine.connect() as connection:
        found = [
            change
            for change in compare_metadata(
                MigrationContext.configure(connection, opts={"compare_type": False}), metadata
            )
            if change[0] not in ("remove_index", "remove_constraint", "remove_fk", "remove_table_comment")
        ]
        if place.database is None:
            assert safeguards.found(connection) == safeguards.WANTED
    engine.dispose()
    assert found == []


def test_the_newest_step_is_known_by_name() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == migrations.NEWEST


def test_a_ledger_of_a_newer_version_is_left_alone(new_place: Callable[[], Place]) -> None:
    place = new_place()
    filled(place).close()
    edit(place, lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(LedgerUnsound, match="newer version"):
        place.open()


class TestJournal:
    def test_it_is_there_and_only_grows(self, place: Place) -> None:
        ledger = filled(place)
        first = place.journal.read_bytes()
        ledger.charge("more", "people", Cost.pure(0.1), "?")
        second = place.journal.read_bytes()
        assert second.startswith(first)
        assert second.count(b"\n") == first.count(b"\n") + 1
        ledger.close()

    def test_a_missing_journal_closes_the_ledger(self, place: Place) -> None:
        ledger = filled(place)
        place.journal.unlink()
        with pytest.raises(LedgerUnsound, match="journal is missing"):
            ledger.charge("r9", "people", Cost.pure(0.1), "?")
        with pytest.raises(LedgerUnsound, match="journal is missing"):
            place.open()
        ledger.close()

    def test_an_unfinished_line_is_completed(self, place: Place) -> None:
        """A process that died while writing leaves half a line; the database has the record, so nothing is lost."""
        filled(place).close()
        whole = place.journal.read_bytes()
        place.journal.write_bytes(whole[:-40])
        place.open().close()
        assert place.journal.read_bytes() == whole

    @pytest.mark.parametrize("held", [0, 30], ids=["the first", "the last"])
    @pytest.mark.parametrize("left", [b"", b"\0" * 70_000], ids=["plain", "with room that was taken"])
    def test_so_is_whatever_a_process_left_of_it(self, place: Place, held: int, left: bytes) -> None:
        """How much of the line, and whether it died while it asked the disk for room, or its machine with it."""
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0)
            for number in range(held):
                ledger.charge(f"r{number}", "people", Cost.pure(0.01), "?")
        whole = place.journal.read_bytes()
        last = whole.rstrip(b"\n").rfind(b"\n") + 1
        for cut in (last + (1 if held else 10), (last + len(whole)) // 2, len(whole) - 1):
            place.journal.write_bytes(whole[:cut] + left)
            place.open().close()
            assert place.journal.read_bytes() == whole
        place.journal.write_bytes(whole + left)
        with place.open() as ledger:
            ledger.charge("more", "people", Cost.pure(0.01), "?")
            assert place.journal.read_bytes().startswith(whole)
            assert ledger.verify().charges == held + 1

    @pytest.mark.parametrize("held", [0, 3])
    def test_an_unfinished_line_of_anything_else_closes_the_ledger(self, place: Place, held: int) -> None:
        """It is no beginning of the record that the database has next, or the database has none: it is older."""
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0)
            for number in range(held):
                ledger.charge(f"r{number}", "people", Cost.pure(0.01), "?")
        whole = place.journal.read_bytes()
        last = whole.rstrip(b"\n").rfind(b"\n") + 1
        for found in (whole + b'{"body"', whole[: last + 20] + b"x", whole[:-1] + b"\0x", whole[:-1] + b" "):
            place.journal.write_bytes(found)
            with pytest.raises(LedgerUnsound, match="journal is damaged" if held else "is damaged|holds no record"):
                place.open()
            assert place.journal.read_bytes() == found
        assert any("set aside" in said for said in restore(place.url, journal=place.journal, new_journal=True))
        assert [kept.read_bytes() for kept in place.journal.parent.glob("*.damaged-*")] == [found]
        place.open().close()

    @pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
    def test_a_changed_byte_closes_the_ledger_and_a_new_journal_opens_it(self, place: Place, where: float) -> None:
        filled(place).close()
        data = bytearray(place.journal.read_bytes())
        data[int(len(data) * where)] ^= 1
        place.journal.write_bytes(data)
        with pytest.raises(LedgerUnsound, match="journal is damaged"):
            place.open()
        with pytest.raises(LedgerUnsound, match="journal is damaged"):
            restore(place.url, journal=place.journal)
        said = restore(place.url, journal=place.journal, new_journal=True)
        assert any("set aside" in sentence for sentence in said)
        ledger = place.open()
        assert ledger.remaining("people").epsilon == pytest.approx(0.7)
        assert ledger.receipt("r0").answer == {"winner": 1}
        ledger.close()

    def test_two_processes_keep_one_journal(self, place: Place) -> None:
        """Two independent ledgers on one database, taking turns, see each other's records."""
        one, two = filled(place), place.open()
        for number in range(4):
            (one, two)[number % 2].charge(f"turn{number}", "people", Cost.pure(0.01), "?")
        one.verify()
        two.verify()
        assert len(two.history("people")) == 7
        one.close()
        two.close()


class TestOlderCopies:
    def test_an_older_backup_is_noticed_and_brought_up_to_date(self, sqlite_place: Place, tmp_path: Path) -> None:
        ledger = filled(sqlite_place)
        ledger.backup(tmp_path / "backup.sqlite3")
        ledger.charge("later", "people", Cost.pure(0.5), "?")
        ledger.close()
        for ending in ("", "-wal", "-shm"):
            sqlite_place.database.with_name(sqlite_place.database.name + ending).unlink(missing_ok=True)
        shutil.copy(tmp_path / "backup.sqlite3", sqlite_place.database)
        with pytest.raises(LedgerUnsound, match="older than its journal"):
            sqlite_place.open()
        assert "1 were brought back" in restore(sqlite_place.url)[0]
        ledger = sqlite_place.open()
        assert ledger.remaining("people").epsilon == pytest.approx(0.2)
        ledger.close()

    def test_it_is_noticed_while_running_too(self, sqlite_place: Place, tmp_path: Path) -> None:
        ledger = filled(sqlite_place)
        ledger.backup(tmp_path / "backup.sqlite3")
        ledger.charge("later", "people", Cost.pure(0.5), "?")
        with sqlite3.connect(tmp_path / "backup.sqlite3") as old, sqlite3.connect(sqlite_place.database) as now:
            old.backup(now)
        old.close()
        now.close()
        with pytest.raises(LedgerUnsound, match="older than its journal"):
            ledger.charge("again", "people", Cost.pure(0.5), "?")
        with pytest.raises(LedgerUnsound, match="older than its journal"):
            ledger.remaining("people")
        ledger.close()

    def test_a_server_restored_to_an_older_state_is_noticed(self, server: PrivateServer, tmp_path: Path) -> None:
        url = server.new_database()
        place = Place(url=url, journal=tmp_path / "journal", database=None)
        ledger = filled(place)
        ledger.close()
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        name = engine.url.database
        engine.dispose()
        admin = create_engine(server.url("postgres"), isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}_old" TEMPLATE "{name}"'))
        admin.dispose()
        ledger = place.open()
        ledger.charge("later", "people", Cost.pure(0.5), "?")
        ledger.close()
        older = Place(url=server.url(f"{name}_old"), journal=place.journal, database=None)
        with pytest.raises(LedgerUnsound, match="older than its journal"):
            older.open()
        restore(older.url, journal=older.journal)
        ledger = older.open()
        assert ledger.remaining("people").epsilon == pytest.approx(0.2)
        ledger.close()

    def test_a_database_without_its_wal_is_noticed(self, sqlite_place: Place, tmp_path: Path) -> None:
        """Copying only the .db while it runs loses what is still in the write-ahead log."""
        ledger = sqlite_place.open()
        ledger.open_budget("people", epsilon=1.0)
        copy = tmp_path / "copy"
        copy.mkdir()
        shutil.copy(sqlite_place.database, copy / "ledger.sqlite3")
        ledger.charge("r", "people", Cost.pure(0.9), "?")
        shutil.copy(sqlite_place.database, copy / "late.sqlite3")
        ledger.close()
        for name in ("ledger.sqlite3", "late.sqlite3"):
            shutil.copy(sqlite_place.journal, copy / f"{name}.journal")
            with pytest.raises(LedgerUnsound, match="epsilon-lab ledger restore"):
                Ledger.open(copy / name)
            assert restore(copy / name)
            again = Ledger.open(copy / name)
            assert again.remaining("people").epsilon == pytest.approx(0.1)
            again.close()

    def test_a_copy_without_journal_stays_closed(self, sqlite_place: Place, tmp_path: Path) -> None:
        ledger = filled(sqlite_place)
        ledger.backup(tmp_path / "copy.sqlite3")
        ledger.close()
        with pytest.raises(LedgerUnsound, match="journal is missing"):
            Ledger.open(tmp_path / "copy.sqlite3")

    def test_histories_that_disagree_are_not_mixed(self, sqlite_place: Place, tmp_path: Path) -> None:
        """A backup charged elsewhere in the meantime: neither history contains the other."""
        ledger = filled(sqlite_place)
        ledger.backup(tmp_path / "other.sqlite3")
        shutil.copy(sqlite_place.journal, tmp_path / "other.sqlite3.journal")
        ledger.charge("here", "people", Cost.pure(0.1), "?")
        ledger.close()
        other = Ledger.open(tmp_path / "other.sqlite3")
        other.charge("there", "people", Cost.pure(0.1), "?")
        other.close()
        with pytest.raises(LedgerUnsound, match="different histories"):
            restore(sqlite_place.url, source=tmp_path / "other.sqlite3")
        sqlite_place.open().close()


def test_a_damaged_database_is_rebuilt_from_journal_and_backup(sqlite_place: Place, tmp_path: Path) -> None:
    ledger = filled(sqlite_place)
    ledger.backup(tmp_path / "backup.sqlite3")
    ledger.charge("later", "people", Cost.pure(0.2), "?")
    ledger.close()
    data = bytearray(sqlite_place.database.read_bytes())
    data[4096:8192] = os.urandom(4096)
    sqlite_place.database.write_bytes(data)
    with pytest.raises(LedgerUnsound, match="epsilon-lab ledger restore"):
        sqlite_place.open()
    said = restore(sqlite_place.url, source=tmp_path / "backup.sqlite3")
    assert "set aside" in said[0]
    ledger = sqlite_place.open()
    assert ledger.remaining("people").epsilon == pytest.approx(0.5)
    assert ledger.receipt("r0").answer == {"winner": 1}
    ledger.close()


def test_a_lost_database_is_noticed_and_rebuilt(sqlite_place: Place) -> None:
    filled(sqlite_place).close()
    for ending in ("", "-wal", "-shm"):
        sqlite_place.database.with_name(sqlite_place.database.name + ending).unlink(missing_ok=True)
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        sqlite_place.open()
    restore(sqlite_place.url)
    ledger = sqlite_place.open()
    assert ledger.remaining("people").epsilon == pytest.approx(0.7)
    ledger.close()


def test_the_servers_durability_is_asked_for(server: PrivateServer) -> None:
    engine = make_engine(create_engine(server.new_schema()).url)
    migrate(engine, key.fresh())
    with reading(engine) as connection:
        assert connection.execute(text("SELECT current_setting('fsync')")).scalar() == "on"
        assert connection.execute(text("SELECT current_setting('synchronous_commit')")).scalar() == "on"
    engine.dispose()


def test_a_server_that_is_away_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger.open(f"postgresql+psycopg://nobody@/none?host={tmp_path}", journal=tmp_path / "j")


def test_a_place_that_cannot_hold_a_ledger_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "ledger.sqlite3"):
        with pytest.raises(LedgerError, match="cannot be opened"):
            Ledger.open(place)
    (tmp_path / "notes.txt").write_text("not a ledger at all, but some text that is long enough to be read as a page")
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger.open(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text().startswith("not a ledger")


@pytest.mark.parametrize("location", ["mysql://x", "sqlite+aiosqlite:///x", "://", "oracle://a/b"])
def test_other_databases_are_refused(location: str) -> None:
    with pytest.raises(ValueError, match="location must"):
        Ledger.open(location)


def test_the_usual_place_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EPSILON_LAB_LEDGER", raising=False)
    Ledger.open().close()
    assert (tmp_path / "home" / "epsilon-lab" / "ledger.sqlite3").is_file()
    assert (tmp_path / "home" / "epsilon-lab" / "ledger.sqlite3").stat().st_mode & 0o077 == 0
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{tmp_path}/elsewhere.db")
    with pytest.raises(LedgerUnsound, match="no ledger at the place where it should be"):
        Ledger.open()
    assert not (tmp_path / "elsewhere.db").exists()
    Ledger.open(create=True).close()
    assert (tmp_path / "elsewhere.db").is_file()
    Ledger.open().close()


def test_a_lock_that_is_never_let_go_gets_a_sentence(sqlite_place: Place) -> None:
    """Another program holds the lock (and hangs): refused in time, and all well once it lets go."""
    ledger = filled(sqlite_place)
    ledger._store.patience = 0.05
    with exclusive(sqlite_place.database.with_name("ledger.sqlite3.lock")), pytest.raises(LedgerError, match="held by"):
        ledger.charge("r9", "people", Cost.pure(0.1), "?")
    ledger._store.patience = 30.0
    ledger.charge("r9", "people", Cost.pure(0.1), "?")
    ledger.close()


@pytest.mark.thorough
def test_a_server_that_does_not_wait_for_its_disk_is_refused(server: PrivateServer, tmp_path: Path) -> None:
    place = Place(url=server.new_schema(), journal=tmp_path / "journal", database=None)
    filled(place).close()
    server.kill()
    server.start_again(settings=("fsync=off",))
    try:
        with pytest.raises(LedgerUnsound, match="fsync off"):
            place.open()
    finally:
        server.kill()
        server.start_again()
    place.open().close()


def test_a_servers_journal_is_in_the_persons_folder(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    url = server.new_schema()
    with Ledger.open(url) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        assert ledger.journal_path is not None
        assert ledger.journal_path.parent == tmp_path / "epsilon-lab" / "journals"
        assert ledger.journal_path.read_bytes().count(b"\n") == 1
    with Ledger.open(url) as again:
        assert again.remaining("people").epsilon == 1.0
