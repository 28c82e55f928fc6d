"""What cannot be read now is not damaged: nothing is set aside for it, and nothing that only it knows is forgotten."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, aside, chains, engine, keyed, recovery
from dpcore.ledger.engine import is_passing, make_engine
from dpcore.ledger.recovery import restore

SPENT = 0.6


@pytest.fixture
def known_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a sound ledger that lost its journal, and a back-up of its first charge."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    folder = tmp_path / "known"
    folder.mkdir()
    with Ledger.open(folder / "l.db", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        for number in range(6):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "How many?")
            if number == 0:
                ledger.backup(folder / "backup")
    (folder / "l.db.journal").unlink()
    return folder


def as_it_was(folder: Path) -> None:
    """Sound."""


def without_a_safeguard(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "l.db")) as connection:
        connection.execute("DROP TRIGGER head_grows")


def set_aside(folder: Path) -> None:
    (folder / "l.db").rename(folder / "l.db.damaged-20260101T000000000000")


STATES: list[Callable[[Path], None]] = [as_it_was, without_a_safeguard, set_aside]


def brought_back(folder: Path) -> list[str]:
    return restore(folder / "l.db", source=folder / "backup", new_journal=True)


def spent(folder: Path) -> float:
    with Ledger.open(folder / "l.db", create=False) as ledger:
        ledger.verify()
        return 1.0 - ledger.remaining("people").epsilon


def held(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if not one.name.endswith((".lock", "-shm", "-wal"))}


@contextmanager
def another_program(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE", "COMMIT"):
            connection.execute(statement)
        yield


def as_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (chains, keyed, recovery):
        monkeypatch.setattr(place, "must_be_of_rows", lambda error: None)


@pytest.mark.parametrize("state", [as_it_was, without_a_safeguard])
def test_a_database_that_is_held_is_not_set_aside(
    state: Callable[[Path], None], known_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state(known_once)
    monkeypatch.setattr(engine, "_BUSY_SECONDS", 0.1)
    before = held(known_once)
    with another_program(known_once / "l.db"):
        with pytest.raises(LedgerError, match="held by another program"):
            brought_back(known_once)
        assert held(known_once) == before
    brought_back(known_once)
    assert spent(known_once) == pytest.approx(SPENT)


def test_what_is_taken_for_damage_is_forgotten(known_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_damage(monkeypatch)
    monkeypatch.setattr(engine, "_BUSY_SECONDS", 0.1)
    with another_program(known_once / "l.db"):
        assert "set aside" in brought_back(known_once)[0]
    assert spent(known_once) == pytest.approx(0.1)


def trouble(code: int, words: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(words)
    error.sqlite_errorcode = code
    return error


TROUBLES = {
    "held": trouble(sqlite3.SQLITE_BUSY, "database is locked"),
    "a disk that fails": trouble(sqlite3.SQLITE_IOERR_READ, "disk I/O error"),
    "no room": trouble(sqlite3.SQLITE_FULL, "database or disk is full"),
    "not to be opened": trouble(sqlite3.SQLITE_CANTOPEN, "unable to open database file"),
}


def interrupted(folder: Path, after: int, error: sqlite3.Error) -> tuple[bool, str]:
    """Bring it back where each statement after so many fails so: whether any did, and what was said."""
    count = 0

    def counted(*_: Any) -> None:
        nonlocal count
        count += 1
        if count > after:
            raise error

    event.listen(Engine, "do_execute", counted)
    event.listen(Engine, "do_execute_no_params", counted)
    try:
        return False, " ".join(brought_back(folder))
    except LedgerError as refused:
        return count > after, str(refused)
    finally:
        event.remove(Engine, "do_execute", counted)
        event.remove(Engine, "do_execute_no_params", counted)


@pytest.mark.thorough
@pytest.mark.parametrize("state", STATES)
def test_whatever_fails_before_it_is_brought_back_changes_nothing(
    state: Callable[[Path], None], known_once: Path
) -> None:
    """Of the database, of what was set aside, or of the back-up: each time another trouble."""
    state(known_once)
    before, after, troubles = held(known_once), 0, list(TROUBLES.values())
    while True:
        failed, said = interrupted(known_once, after, troubles[after % len(troubles)])
        if not failed or "The database now has all 7 records" in said:
            break
        assert held(known_once) == before, after
        after += 1
    assert after > 40
    brought_back(known_once)
    assert spent(known_once) == pytest.approx(SPENT)


def no_room(patch: pytest.MonkeyPatch) -> None:
    def fails(kept: Path, folder: Path) -> Path:
        if kept.name.startswith("l.db.damaged-"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return true(kept, folder)

    true = aside.copied
    patch.setattr(aside, "copied", fails)


def no_room_beside(patch: pytest.MonkeyPatch) -> None:
    """The copy had some, and what SQLite has beside it has none."""

    def but_of_copies(true: Callable[..., Any]) -> Callable[..., Any]:
        def call(engine: Engine, *more: Any) -> Any:
            if engine.url.database in copies:
                raise TROUBLES["a disk that fails"]
            return true(engine, *more)

        return call

    def copied(kept: Path, folder: Path) -> Path:
        made = truly(kept, folder)
        if kept.name.startswith("l.db.damaged-"):
            copies.add(str(made))
        return made

    copies, truly = set[str](), aside.copied
    patch.setattr(aside, "copied", copied)
    patch.setattr(chains, "migrate", but_of_copies(chains.migrate))
    patch.setattr(chains, "snapshot", but_of_copies(chains.snapshot))


def test_one_that_was_set_aside_and_cannot_be_read_is_named(known_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was passed over, as one that holds nothing."""
    set_aside(known_once)
    before = held(known_once)
    for failing in (no_room, no_room_beside):
        with monkeypatch.context() as patch:
            failing(patch)
            with pytest.raises(LedgerError, match=r"l\.db\.damaged-20260101T000000000000, .*TMPDIR"):
                brought_back(known_once)
        assert held(known_once) == before
    forgotten = known_once.with_name("forgotten")
    shutil.copytree(known_once, forgotten)
    with monkeypatch.context() as patch:
        no_room_beside(patch)
        as_damage(patch)
        brought_back(forgotten)
    assert spent(forgotten) == pytest.approx(0.1)
    brought_back(known_once)
    assert spent(known_once) == pytest.approx(SPENT)


def test_a_backup_that_cannot_be_read_now_is_not_damaged(known_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = held(known_once)

    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for place, name in ((shutil, "copyfile"), (tempfile, "mkdtemp")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, no_room)
            with pytest.raises(LedgerError, match=r"backup cannot be read now, .*TMPDIR"):
                brought_back(known_once)
        assert held(known_once) == before


def said_of(file: Path, *statements: str) -> Exception:
    """What a database raises, as the ledger sees it."""
    made = make_engine(engine.ledger_url(file))
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements[:-1]:
            connection.execute(statement)
        connection.commit()
    with pytest.raises(DBAPIError) as refused, made.connect() as connected:
        connected.exec_driver_sql(statements[-1])
    made.dispose()
    return refused.value


def test_damage_is_still_damage(tmp_path: Path) -> None:
    """A ledger whose file is broken, or lacks a table, comes back as before."""
    (tmp_path / "text").write_text("no database\n" * 500)
    assert not is_passing(said_of(tmp_path / "text", "SELECT 1"))
    lost = said_of(tmp_path / "lost", "SELECT seq FROM records")
    kept = said_of(tmp_path / "kept", "CREATE TABLE one (a INTEGER PRIMARY KEY)", *["INSERT INTO one VALUES (1)"] * 2)
    assert not is_passing(lost)
    assert not is_passing(kept)
    assert not is_passing(LedgerUnsound("the chain is broken"))
    assert not is_passing(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"))
    assert not is_passing(trouble(sqlite3.SQLITE_CORRUPT, "database disk image is malformed"))
    assert not is_passing(trouble(sqlite3.SQLITE_CORRUPT_INDEX, "database disk image is malformed"))


def with_a_backup(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """The address of a ledger of this test's own, with one budget, and its back-up."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    url = server.new_schema()
    with Ledger.open(url, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.backup(backup := tmp_path / "backup")
    return url, backup


def test_a_server_s_tables_that_are_held_are_not_damaged(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever then made an empty database, as was said, had two ledgers."""
    url, backup = with_a_backup(server, tmp_path, monkeypatch)
    other = create_engine(engine.ledger_url(url))
    with other.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE records IN ACCESS EXCLUSIVE MODE")
        for source in (None, backup):
            with pytest.raises(LedgerError, match="held by another program"):
                restore(url, source=source)
    other.dispose()
    restore(url)
    with Ledger.open(url) as ledger:
        assert ledger.verify().seq == 1


@pytest.mark.parametrize(
    ("number", "passes"),
    [("55P03", True), ("57P01", True), ("53100", True), ("08006", True), ("42P01", False), ("XX001", False)],
)
def test_what_a_server_says_by_a_number(number: str, passes: bool) -> None:
    error = psycopg.Error("said")
    error.sqlstate = number  # type: ignore[misc]
    assert is_passing(DBAPIError("SELECT", {}, error)) is passes


@pytest.mark.parametrize("state", [as_it_was, set_aside])
@pytest.mark.parametrize("known", [True, False], ids=["told apart", "as it was"])
def test_a_ledger_of_a_newer_version_is_no_damaged_one(
    known_once: Path, state: Callable[[Path], None], *, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older program at it would have put it aside for the little that it reads of it."""
    with closing(sqlite3.connect(known_once / "l.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    state(known_once)
    before = held(known_once)
    if not known:
        monkeypatch.setattr(engine, "WrittenLater", LedgerUnsound)
    if known:
        with pytest.raises(LedgerUnsound, match="newer version"):
            brought_back(known_once)
        assert held(known_once) == before
    else:
        assert brought_back(known_once), "it is taken for a damaged one"


NUMBERS = {"42P01": False, "42703": False, "22P02": False, "XX002": False, "26000": True, "XX000": True, "0A000": True}
"""What a server may say while its tables are read, and whether that says nothing of what they hold."""


def saying(number: str, url: str, source: Path) -> str:
    """What is told of a server that says so of its records."""

    def refuses(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if "FROM records" in statement:
            error = psycopg.Error("said")
            error.sqlstate = number  # type: ignore[misc]
            raise DBAPIError("SELECT", {}, error)

    event.listen(Engine, "before_cursor_execute", refuses)
    try:
        with pytest.raises(LedgerError) as refused:
            restore(url, source=source)
    finally:
        event.remove(Engine, "before_cursor_execute", refuses)
    return str(refused.value)


def test_a_number_that_says_nothing_of_tables_is_no_damage(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever then made an empty database, as was said, had two ledgers."""
    url, backup = with_a_backup(server, tmp_path, monkeypatch)
    told = {number: saying(number, url, backup) for number in NUMBERS}
    for number, nothing in NUMBERS.items():
        assert (told[number] == engine.UNKNOWN.format(number)) is nothing, told[number]
        assert ("tables are damaged" in told[number]) is not nothing, told[number]
    restore(url)
    for place in (chains, keyed, recovery):
        monkeypatch.setattr(place, "must_be_of_rows", as_it_was)
    assert all("tables are damaged" in saying(number, url, backup) for number in NUMBERS), "the test can fail"


def as_it_was(error: Exception) -> None:
    if is_passing(error):
        raise error
