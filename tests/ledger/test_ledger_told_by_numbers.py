"""What a database says is told by its number. Its words quote rows, in which a name may say anything."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ResourceClosedError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as SQLTimeoutError

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, engine
from dpcore.ledger import store as stores
from dpcore.ledger.engine import SLOW, UNREACHABLE, Slow, explain, is_damage, is_full, is_lost, is_passing
from dpcore.ledger.store import refuse

WORDS = (
    "corrupt malformed checksum, not a database; could not decode; locked, busy, lock timeout; i/o error; unable to "
    "open, is a directory; readonly permission; connect, terminated and closed; disk is full"
)
"""All by which something was told once, as somebody might call their people."""
NOTHING = "of this the words say nothing"


def of_server(number: str | None, words: str = NOTHING, kind: type[psycopg.Error] = psycopg.OperationalError) -> Any:
    error = kind(words)
    error.sqlstate = number  # type: ignore[misc]
    return (IntegrityError if kind is psycopg.IntegrityError else OperationalError)("", {}, error)


def of_file(number: int | None, words: str = NOTHING) -> Any:
    error = sqlite3.OperationalError(words)
    if number is not None:
        error.sqlite_errorcode = number
    return OperationalError("", {}, error)


def asked(error: Exception) -> tuple[str, bool, bool, bool, bool]:
    return explain(error), is_damage(error), is_passing(error), is_lost(error), is_full(error)


NO_MORE = ("could not record this", False, False, False, False)
TOLD: dict[str, tuple[Exception, str, str]] = {
    "full": (of_file(sqlite3.SQLITE_FULL), "disk is full", "passing full"),
    "full, of a server": (of_server("53100"), "disk is full", "passing full"),
    "full, of the system": (OSError(errno.ENOSPC, NOTHING), "disk is full", "passing full"),
    "slow": (Slow(), SLOW, "passing"),
    "slow, of a server": (of_server("57014"), SLOW, "passing"),
    "slow between, of a server": (of_server("25P03"), SLOW, "passing"),
    "slow as a whole, of a server": (of_server("25P04"), SLOW, "passing"),
    "without memory": (of_file(sqlite3.SQLITE_NOMEM), "no memory left", "passing"),
    "without memory, of Python": (MemoryError(), "no memory left", "passing"),
    "without memory, of a server": (of_server("53200"), "no memory left", "passing"),
    "without memory, of the system": (OSError(errno.ENOMEM, NOTHING), "no memory left", "passing"),
    "held": (of_file(sqlite3.SQLITE_BUSY_SNAPSHOT), "held by another", "passing"),
    "held, of a server": (of_server("55P03"), "held by another", "passing"),
    "not read": (of_file(sqlite3.SQLITE_IOERR_READ), "disk could not be read", "passing"),
    "not read, of a server": (of_server("58030"), "disk could not be read", "passing"),
    "not read, of the system": (OSError(errno.EIO, NOTHING), "disk could not be read", "passing"),
    "damaged": (of_file(sqlite3.SQLITE_CORRUPT_INDEX), "is damaged", "damage"),
    "no database": (of_file(sqlite3.SQLITE_NOTADB), "is damaged", "damage"),
    "no text": (of_file(None), "is damaged", "damage"),
    "a page, of a server": (of_server("XX001"), "is damaged", "damage"),
    "an index, of a server": (of_server("XX002"), "is damaged", "damage"),
    "a file that is gone, of a server": (of_server("58P01"), "could not be read or written", "passing"),
    "not opened": (of_file(sqlite3.SQLITE_CANTOPEN_ISDIR), "cannot be opened", "passing"),
    "not opened, of the system": (OSError(errno.ENOENT, NOTHING), "cannot be opened", "passing"),
    "not written": (of_file(sqlite3.SQLITE_READONLY_DBMOVED), "cannot be written to", "passing"),
    "not written, of a server": (of_server("25006"), "cannot be written to", "passing"),
    "not written, of the system": (OSError(errno.EACCES, NOTHING), "cannot be written to", "passing"),
    "lost": (of_server("57P01"), UNREACHABLE, "passing lost"),
    "lost, by the driver": (of_server(None), UNREACHABLE, "passing lost"),
    "lost, by the system": (ConnectionResetError(errno.ECONNRESET, NOTHING), UNREACHABLE, "passing lost"),
    "closed": (ResourceClosedError(NOTHING), UNREACHABLE, "passing lost"),
    "none free": (SQLTimeoutError(NOTHING), UNREACHABLE, "passing lost"),
}


@pytest.mark.parametrize("which", TOLD)
def test_it_is_told_by_its_number(which: str) -> None:
    error, sentence, signs = TOLD[which]
    said, *found = asked(error)
    assert sentence in said
    assert [name for name, there in zip(("damage", "passing", "lost", "full"), found, strict=True) if there] == (
        signs.split()
    )


OF_ROWS: dict[str, Callable[[], Exception]] = {
    "a file": lambda: of_file(sqlite3.SQLITE_CONSTRAINT_CHECK, WORDS),
    "a server's row": lambda: of_server("23514", WORDS, psycopg.IntegrityError),
    "a server's value": lambda: of_server("22P02", WORDS, psycopg.DataError),
    "a server's function": lambda: of_server("P0001", WORDS, psycopg.DatabaseError),
    "a library": lambda: SQLAlchemyError(WORDS),
}


@pytest.mark.parametrize("which", OF_ROWS)
def test_words_say_nothing(which: str) -> None:
    sentence, *found = asked(OF_ROWS[which]())
    assert [NO_MORE[0] in sentence, *found] == [True, *NO_MORE[1:]]


def by_words(signs: engine._Signs, error: Exception) -> bool:
    return "corrupt" in str(error)


def test_words_would_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the test above can fail."""
    monkeypatch.setattr(engine._Signs, "are_of", by_words)
    assert all(is_damage(make()) for make in OF_ROWS.values())


def test_a_name_closes_no_ledger_of_a_server(server: PrivateServer, tmp_path: Any) -> None:
    """The server repeats a row that it refuses; nobody is told that the ledger is damaged, or away."""
    with Ledger.open(server.new_schema(), journal=tmp_path / "journal", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0, name=WORDS)
        with pytest.raises(LedgerError) as refused, ledger._store.writing() as connection:
            connection.execute(text("UPDATE lineages SET generation = 7"))
        assert type(refused.value) is LedgerError
        assert NO_MORE[0] in str(refused.value)
        assert ledger.verify().seq == 1
        with pytest.raises(DBAPIError, match="corrupt") as quoted, ledger._store.engine.begin() as connection:
            connection.execute(text("UPDATE lineages SET generation = 7"))
    assert type(refuse(quoted.value)) is LedgerError


def psycopg_s(number: str) -> psycopg.Error:
    error = psycopg.OperationalError(NOTHING)
    error.sqlstate = number  # type: ignore[misc]
    return error


FAULTS: dict[str, tuple[str, Exception, str]] = {
    "7": ("sqlite", MemoryError(), "no memory left"),
    "memory": ("postgresql", MemoryError(), "no memory left"),
    "53200": ("postgresql", psycopg_s("53200"), "no memory left"),
    "25P04": ("postgresql", psycopg_s("25P04"), SLOW),
}


@pytest.mark.parametrize(("new_place", "which"), [(FAULTS[one][0], one) for one in FAULTS], indirect=["new_place"])
def test_what_a_driver_raises_within_a_charge_is_told_and_charges_nothing(
    which: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whichever of its statements; PostgreSQL's 25P04 was told as something to verify, and of memory nothing was."""
    _, error, sentence = FAULTS[which]
    ledger.open_budget("people", epsilon=1.0)
    left = 0

    def fails(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise error

    event.listen(ledger._store.engine, "do_execute", fails)
    for at in range(1, 8):
        left = at
        with pytest.raises(LedgerError) as refused:
            ledger.charge("r", "people", Cost.pure(0.25), "?")
        assert sentence in str(refused.value), at
        left = 0
        assert ledger.remaining("people").epsilon == 1.0
    monkeypatch.setattr(stores, "TROUBLE", ())
    left = 3
    with pytest.raises(MemoryError if isinstance(error, MemoryError) else DBAPIError):  # so the test can fail
        ledger.charge("r", "people", Cost.pure(0.25), "?")
    monkeypatch.undo()
    ledger.charge("r", "people", Cost.pure(0.25), "?")
    ledger.verify()
