"""A ledger that holds much: read in portions, with patience, and without anybody waiting for whoever reads it all."""

from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError, OperationalError, PendingRollbackError

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Known, Ledger, engine, history, recovery, verify, watch
from dpcore.ledger import journal as journals
from dpcore.ledger import store as stores
from dpcore.ledger.checks import Checks
from dpcore.ledger.engine import SLOW, UNREACHABLE, explain, is_full
from dpcore.ledger.files import beside
from dpcore.ledger.records import Record
from dpcore.ledger.verify import Replay, stored_records
from tests.ledger.conftest import Place, unguarded
from tests.ledger.test_ledger_soundness import edit

LONG = 60.0  # seconds: what nobody would wait
SIZES = (10, 900, 900, 5000, 10, 10, 900, 100_000, 10)
"""Characters of answers."""


def filled(ledger: Ledger) -> Ledger:
    ledger.open_budget("people", epsilon=10.0)
    for number, size in enumerate(SIZES):
        ledger.charge(f"r{number}", "people", Cost.pure(0.1), "?")
        ledger.store_answer(f"r{number}", "x" * size)
    return ledger


def portions(ledger: Ledger) -> list[int]:
    """How many bytes of records each statement brings while all of them are read."""
    found: list[int] = []

    with ledger._store.snapshot() as connection:
        read: Any = connection.execute

        def execute(*args: Any) -> Any:
            result = read(*args)
            if "body" not in set(result.keys()):
                return result
            rows = result.mappings().all()
            found.append(sum(len(row["body"]) for row in rows))
            return type("", (), {"mappings": lambda _: type("", (), {"all": lambda _: rows})()})()

        connection.execute = execute  # type: ignore[method-assign]
        records = list(stored_records(connection))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    return found


def test_records_are_read_in_portions_of_bytes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 large answers at once were more than a server answers in the time that it has."""
    monkeypatch.setattr(verify, "_BYTES", 8000)
    with place.open() as ledger:
        filled(ledger)
        read = portions(ledger)
        assert sorted(read)[-2] <= 8000, "one that is larger is read alone"
        assert len(read) > 3
        monkeypatch.setattr(verify, "_upto", lambda sizes: sizes[-1][0])
        assert max(portions(ledger)) > 100_000, "or nothing was tested"


def test_a_long_answer_of_a_list_is_read_by_itself(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with place.open() as ledger:
        filled(ledger)
        asked: list[int] = []

        def count(*_: Any) -> None:
            asked.append(1)

        event.listen(ledger._store.engine, "after_cursor_execute", count)
        answers = [len(receipt.answer) for receipt in ledger.history("people")]
        many = len(asked)
        assert answers == list(SIZES)
        listed = ledger.history("people", answers=False)
        assert [(one.answer, one.state) for one in listed] == [(None, "answered")] * len(SIZES)
        assert len(asked) - many == many - 1, "no further statement where no answers are asked for"
        del asked[many:]
        monkeypatch.setattr(history, "_CHARGES", {place.url.split(":")[0].split("+")[0]: unbounded()})
        assert [len(receipt.answer) for receipt in ledger.history("people")] == list(SIZES)
        assert len(asked) - many == many - 1, "one statement more for the one that is long"


def parsed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long each answer is that a new charge reads, where its person knows of all but the last."""
    found: list[int] = []
    contents = Record.content

    def content(record: Record) -> Any:
        if record.kind == "answer":
            found.append(len(record.body))
        return contents.__get__(record)

    for number in range(3):
        ledger.charge(f"q{number}", "people", Cost.pure(0.1), "?", question="q")
        ledger.store_answer(f"q{number}", "x" * 30_000)
    with monkeypatch.context() as patch:
        patch.setattr(Record, "content", property(content))
        told = ledger.charge("new", "people", Cost.pure(0.1), "?", question="q", known=Known(answers=2))
    assert (told.request_id, told.answer) == ("q2", "x" * 30_000)
    return found


def test_a_charge_reads_no_answer_but_the_one_it_gives(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """All others of the question would be read while nobody else can write."""
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=10.0)
        assert len(parsed(ledger, monkeypatch)) == 1


def test_that_can_fail(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(connection: Any, questions: Any, *asked: Any) -> list[str]:
        found = (history.receipts(connection, *asked, history.about(connection, one)) for one in questions)
        return [one.request_id for some in found for one in some]

    monkeypatch.setattr(history, "ids_about", read)
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=10.0)
        assert len(parsed(ledger, monkeypatch)) > 1


def unbounded() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "_LONG", 1 << 40)
        return history._charges("sqlite")


def test_a_journal_is_written_in_portions(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However long a chain is, little of it is in memory twice; what is written is the same."""
    with place.open() as ledger:
        records = filled(ledger).records()
    written: list[int] = []
    write = journals._write_all
    monkeypatch.setattr(journals, "_write_all", lambda handle, data: (written.append(len(data)), write(handle, data)))
    journals.write_anew(tmp_path / "whole", records)
    assert len(written) == 1
    monkeypatch.setattr(journals, "_PORTION", 8000)
    journals.write_anew(tmp_path / "portions", records)
    assert sorted(written[1:])[-2] < 16_000
    assert (tmp_path / "portions").read_bytes() == (tmp_path / "whole").read_bytes()


# -- a server that takes its time --------------------------------------------------------------------------------------


def slowly(connection: Connection) -> bool:
    connection.execute(text("SELECT pg_sleep(1.2)"))
    return True


def test_whoever_looks_at_a_whole_ledger_has_patience(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening, checking, backups and restoring: a ledger that had grown could not be opened any more."""
    place = Place(url=server.new_schema(), journal=tmp_path / "journal", database=None)
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
    monkeypatch.setattr(watch, "ANSWER", 0.3)
    monkeypatch.setattr(verify, "_guard", slowly)
    with place.open() as ledger:
        ledger.verify()
        assert ledger.backup(tmp_path / "backup") == 1
        with ledger._store.snapshot() as connection:
            assert connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == "0"
            assert connection.execute(text("SHOW transaction_isolation")).scalar() == "repeatable read"
        with ledger._store.reading() as connection:
            assert connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == "10s"
            assert connection.execute(text("SHOW transaction_isolation")).scalar() == "read committed"
    place.journal.unlink()
    with pytest.raises(LedgerUnsound):
        place.open()
    assert recovery.restore(place.url, journal=place.journal, source=tmp_path / "backup", new_journal=True)
    monkeypatch.setattr(stores, "snapshot", engine.reading)
    with pytest.raises(LedgerError, match=SLOW):
        place.open()


def idly(connection: Connection) -> None:
    connection.execute(text("SET LOCAL idle_in_transaction_session_timeout TO '50ms'"))
    threading.Event().wait(0.5)
    connection.execute(text("SELECT 1"))


def asks(ledger: Ledger) -> str:
    """What a slow statement is told as, and nothing else of the ledger."""
    with pytest.raises(LedgerError) as told, ledger._store.reading() as connection:
        slowly(connection)
    return str(told.value)


def test_one_slow_answer_is_no_lost_server(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person's large question once kept everybody out for five seconds, and was told as a full disk."""
    place = Place(url=server.new_schema(), journal=tmp_path / "journal", database=None)
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        monkeypatch.setattr(watch, "ANSWER", 0.3)
        assert asks(ledger) == SLOW
        with pytest.raises(LedgerError, match=SLOW), ledger._store.writing() as connection:
            slowly(connection)
        assert ledger._store._lost is None
        monkeypatch.setattr(watch, "ANSWER", 2.5)
        ledger.charge("r", "people", Cost.pure(0.25), "?")
        with pytest.raises(LedgerError, match=SLOW), ledger._store.reading() as connection:
            idly(connection)
        assert ledger._store._lost is None
        monkeypatch.setattr(watch, "ANSWER", 0.3)
        monkeypatch.setattr(watch.Watched, "gave_up", property(lambda _: False, lambda *_: None), raising=False)
        monkeypatch.setattr(stores.Store, "_answers", lambda _: False)
        assert asks(ledger) == UNREACHABLE
        with pytest.raises(LedgerError, match=UNREACHABLE):
            ledger.budgets()


def ended(connection: Connection, ledger: Ledger) -> None:
    """By somebody who may."""
    number = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    with ledger._store.engine.connect() as another:
        another.execute(text("SELECT pg_terminate_backend(:number, 5000)"), {"number": number})
    connection.execute(text("SELECT 1"))


@pytest.mark.parametrize("asked", [True, False])
def test_one_connection_that_ends_closes_the_ledger_to_nobody(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    """By whomever it was ended: where no new one was tried, everybody was refused for five seconds."""
    if not asked:
        monkeypatch.setattr(stores.Store, "_answers", lambda _: False)
    place = Place(url=server.new_schema(), journal=tmp_path / "journal", database=None)
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        for look in (ledger._store.reading, ledger._store.writing):
            with pytest.raises(LedgerError, match=UNREACHABLE), look() as connection:
                ended(connection, ledger)
            assert (ledger._store._lost is None) == asked
            if asked:
                assert len(ledger.budgets()) == 1
            else:
                with pytest.raises(LedgerError, match=UNREACHABLE):
                    ledger.budgets()
            ledger._store._lost = None


def full_disk() -> Exception:
    """What SQLite itself says."""
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as raised:
        connection.executescript("CREATE TABLE a (b); INSERT INTO a VALUES (zeroblob(100000));")
    connection.close()
    return raised.value


def wrapped(error: BaseException) -> DBAPIError:
    return OperationalError("", {}, error)


FULL: dict[str, Callable[[], Exception]] = {
    "the system": lambda: OSError(errno.ENOSPC, "No space left on device"),
    "SQLite": lambda: wrapped(full_disk()),
    "SQLite's words": lambda: wrapped(sqlite3.OperationalError("database or disk is full")),
    "PostgreSQL": lambda: wrapped(psycopg.errors.DiskFull("could not extend file")),
}
OTHERS: dict[str, Callable[[], Exception]] = {
    "a transaction": lambda: PendingRollbackError("Can't reconnect. Please rollback() fully before proceeding"),
    "a name": lambda: wrapped(psycopg.errors.UndefinedTable('relation "full" does not exist, no space')),
    "SQLite's other words": lambda: wrapped(sqlite3.OperationalError("no such table: full")),
    "the system": lambda: OSError(errno.EACCES, "Permission denied: '/full'"),
}


@pytest.mark.parametrize("which", FULL)
def test_a_full_disk_is_told_by_its_number(which: str) -> None:
    assert is_full(FULL[which]())
    assert "disk is full" in explain(FULL[which]())


@pytest.mark.parametrize("which", OTHERS)
def test_what_has_the_letters_of_a_full_disk_is_none(which: str) -> None:
    assert not is_full(OTHERS[which]())
    assert "disk is full" not in explain(OTHERS[which]())


# -- a check while others go on ----------------------------------------------------------------------------------------


def test_nobody_waits_for_a_check(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is charged meanwhile is no alarm, on the journal's side neither."""
    checked = stores.verify_database
    with Ledger.open(place.url, journal=place.journal, patience=0.2) as ledger:
        ledger.open_budget("people", epsilon=10.0)
        charges = 0

        def charging(connection: Connection) -> Replay:
            nonlocal charges
            found, refused = checked(connection), list[Exception]()

            def charge() -> None:
                try:
                    ledger.charge(f"r{charges}", "people", Cost.pure(0.1), "?")
                except LedgerError as error:
                    refused.append(error)

            asker = threading.Thread(target=charge)
            asker.start()
            asker.join(LONG)
            if refused:
                raise AssertionError("a charge waited")
            charges += 1
            return found

        monkeypatch.setattr(stores, "verify_database", charging)
        assert ledger.verify().charges == 0, "of the moment when it began"
        assert ledger.verify().charges == 1
        ledger.backup(place.journal.with_name("backup"))
        assert charges == 3
        monkeypatch.setattr(stores.Store, "snapshot", stores.Store.writing)
        with pytest.raises(AssertionError, match="a charge waited"):
            ledger.verify()


def test_what_only_a_look_without_the_lock_finds_is_looked_at_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An alarm closes a ledger, so that it is raised by a look while nobody writes alone."""
    checked, looks = stores.verify_database, list[str]()

    def torn(connection: Connection) -> Replay:
        looks.append("a look")
        if len(looks) == 1:
            raise LedgerUnsound(verify.BROKEN_CHAIN)
        return checked(connection)

    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        monkeypatch.setattr(stores, "verify_database", torn)
        assert ledger.verify().seq == 1
        assert len(looks) == 2
        for wrong in (Replay(seq=1, hash="f" * 64), Replay(seq=9, hash="f" * 64)):  # of another database
            monkeypatch.setattr(
                stores, "verify_database", lambda connection, w=[wrong]: w.pop() if w else checked(connection)
            )
            assert ledger.verify().hash != wrong.hash
        monkeypatch.setattr(stores.Store, "_is_beginning", lambda *_: True)
        monkeypatch.setattr(stores, "verify_database", lambda _: wrong)
        assert ledger.verify() is wrong, "or nothing was looked at again"


DAMAGES = {
    "a sum": "UPDATE accounts SET spent_epsilon = 1",
    "a record": "UPDATE records SET body = replace(body, 'people', 'others') WHERE seq = 1",
    "the journal": "",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damage_is_found_by_a_check_of_a_running_ledger(place: Place, what: str) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.1), "?")
        ledger.verify()
        if what == "the journal":
            place.journal.write_bytes(place.journal.read_bytes().replace(b"people", b"others"))
        else:
            edit(place, lambda connection: unguarded(connection, DAMAGES[what]))
        with pytest.raises(LedgerUnsound):
            ledger.verify()
        with pytest.raises(LedgerUnsound):
            ledger.charge("s", "people", Cost.pure(0.1), "?")


def test_those_who_check_at_once_share_one_check() -> None:
    """Begun after each of them asked; and nothing is kept of it when nobody waits."""
    checks, ran, found = Checks(), list[int](), list[int]()
    go, begun = threading.Event(), threading.Event()

    def check() -> Replay:
        ran.append(1)
        begun.set()
        assert go.wait(LONG)
        return Replay(seq=len(ran))

    def ask() -> None:
        found.append(checks.shared(check).seq)

    first = threading.Thread(target=ask)
    first.start()
    assert begun.wait(LONG)
    others = [threading.Thread(target=ask) for _ in range(5)]
    for one in others:
        one.start()
    while checks._waiting < 6:
        threading.Event().wait(0.01)
    go.set()
    for one in (first, *others):
        one.join(LONG)
    assert sorted(found) == [1, 2, 2, 2, 2, 2]
    assert (len(ran), checks._last) == (2, None)
    assert checks.shared(check).seq == 3, "later it is another"


@pytest.mark.parametrize("when", ["before", "at the name itself"])
def test_a_link_that_somebody_plants_is_not_written_through(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that others may write to the whole ledger once went into a file of theirs."""
    theirs, place = tmp_path / "theirs", tmp_path / "backup"
    theirs.write_text("before")
    for guessed in ("partial", "0.partial"):
        beside(place, guessed).symlink_to(theirs)
    if when == "at the name itself":
        monkeypatch.setattr("secrets.token_hex", lambda length: "0")
    with nullcontext() if when == "before" else pytest.raises(FileExistsError):
        journals.write_anew(place, [])
    assert beside(place, "0.partial").is_symlink()
    assert theirs.read_text() == "before"
    assert place.exists() == (when == "before")
    assert not place.is_symlink()
