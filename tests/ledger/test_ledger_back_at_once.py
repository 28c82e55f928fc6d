"""A ledger that is brought back is there as a whole or not at all, at whatever moment somebody else starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Connection, Engine, event

from benchmarks.private_postgresql import PORT, PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, engine, recovery
from dpcore.ledger.engine import MEANWHILE
from dpcore.ledger.key import Key
from dpcore.ledger.records import Record
from dpcore.ledger.recovery import restore
from dpcore.ledger.store import put


@pytest.fixture
def backup(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a ledger whose database was lost, with its key file and its journal at this computer."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    url = server.new_schema()
    with Ledger.open(url, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        for number in range(5):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "How many?")
        ledger.backup(tmp_path / "backup")
    with psycopg.connect(host=str(server.folder), port=PORT, user="ledger", dbname="postgres") as db:
        db.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(url.rpartition("%3D")[2])))
    return tmp_path / "backup"


def seen(server: PrivateServer, url: str, backup: Path) -> set[int | None]:
    """How many records another program finds at each statement of a restore there; None where there are no tables."""
    schema, found = url.rpartition("%3D")[2], set()
    other = psycopg.connect(host=str(server.folder), port=PORT, user="ledger", dbname="postgres", autocommit=True)

    def look(*_: Any) -> None:
        (there,) = other.execute("SELECT to_regclass(%s)", [f'"{schema}".records']).fetchone() or (None,)
        count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, "records"))
        found.add(None if there is None else int((other.execute(count).fetchone() or (0,))[0]))

    event.listen(Engine, "before_cursor_execute", look)
    try:
        restore(url, source=backup)
    finally:
        event.remove(Engine, "before_cursor_execute", look)
        other.close()
    return found


def test_nobody_finds_tables_without_what_was_spent(server: PrivateServer, backup: Path) -> None:
    """They took them for a ledger in which nothing was: every budget was whole once more."""
    url = server.new_schema()
    assert seen(server, url, backup) == {None, 7}
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify().charges == 5


def test_tables_that_are_made_before_are_found_out(
    server: PrivateServer, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the test above can fail."""

    def before(connection: Connection, key: Key) -> None:
        engine.migrate(connection.engine, key)

    monkeypatch.setattr(recovery, "make_tables", before)
    assert 0 in seen(server, server.new_schema(), backup)


def test_one_that_ended_early_is_given_again(
    server: PrivateServer, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.new_schema()

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as then:
        then.setattr(recovery, "verify_database", dies)
        with pytest.raises(KeyboardInterrupt):
            restore(url, source=backup)
    with pytest.raises(LedgerUnsound, match="no ledger"):
        Ledger.open(url, create=False)
    restore(url, source=backup)
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify().charges == 5


def asked(server: PrivateServer, tmp_path: Path, charges: int) -> int:
    """Statements by which a ledger with so many charges is brought back."""
    with Ledger.open(server.new_database(), create=True) as ledger:
        ledger.open_budget("people", epsilon=10.0)
        for number in range(charges):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "How many?")
        ledger.backup(tmp_path / f"backup {charges}")
    found: list[object] = []

    def count(*said: Any) -> None:
        found.append(said)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        restore(server.new_database(), source=tmp_path / f"backup {charges}")
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    return len(found)


@pytest.mark.thorough
def test_a_long_ledger_takes_no_statement_for_each_record(
    server: PrivateServer, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By each the server's head moved, past all that it was before."""
    assert asked(server, tmp_path, 1) == asked(server, tmp_path, 9)

    def each(connection: Connection, records: Sequence[Record], *, at_once: bool) -> None:
        for record in records:
            put(connection, record)

    monkeypatch.setattr(recovery, "_put_all", each)
    assert asked(server, tmp_path, 10) - asked(server, tmp_path, 8) == 4, "as it was"


@contextmanager
def beside(server: PrivateServer, url: str, backup: Path, when: str) -> Iterator[None]:
    """Another program brings the same back once this one has seen that there is nothing: before its transaction looks
    again, when that has, or when it makes its first table."""
    brought, patch, under_way = server.new_schema(), pytest.MonkeyPatch(), []
    restore(brought, source=backup)
    here, there = (sql.Identifier(one.rpartition("%3D")[2]) for one in (url, brought))
    rename = sql.SQL("DROP SCHEMA {here}; ALTER SCHEMA {there} RENAME TO {here}").format(here=here, there=there)

    def comes() -> None:
        if not under_way:
            under_way.append(rename)
            with psycopg.connect(host=str(server.folder), port=PORT, user="ledger", dbname="postgres") as other:
                other.execute(rename)

    def made(connection: Connection, key: Key, true: Any = recovery.make_tables) -> bool:
        comes()
        return bool(true(connection, key))

    def form(connection: Connection, true: Any = engine._form) -> Any:
        found = true(connection)
        if connection.get_execution_options().get("ledger_writes"):
            comes()
        return found

    def said(connection: Connection, cursor: object, statement: str, *_: Any) -> None:
        if "CREATE TABLE" in statement:
            comes()

    if when == "before":
        patch.setattr(recovery, "make_tables", made)
    elif when == "after":
        patch.setattr(engine, "_form", form)
    else:
        event.listen(Engine, "before_cursor_execute", said)
    yield
    patch.undo()
    if when == "during":
        event.remove(Engine, "before_cursor_execute", said)
    assert under_way


@pytest.mark.parametrize("when", ["before", "after", "during"])
def test_of_two_at_once_one_says_what_happened(when: str, server: PrivateServer, backup: Path) -> None:
    url = server.new_schema()
    with beside(server, url, backup, when), pytest.raises(LedgerError) as refused:
        restore(url, source=backup)
    assert str(refused.value) == MEANWHILE
    with Ledger.open(url, create=False) as ledger:
        assert ledger.verify().seq == 7
    restore(url, source=backup)


def test_it_was_told_that_it_could_not_record_this(
    server: PrivateServer, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the test above can fail."""
    url = server.new_schema()
    monkeypatch.setattr(engine, "_MADE_BY_ANOTHER", ())
    with beside(server, url, backup, "during"), pytest.raises(LedgerError, match="could not record this"):
        restore(url, source=backup)
