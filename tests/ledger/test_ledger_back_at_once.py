"""A ledger that is brought back is there as a whole or not at all, at whatever moment somebody else starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Connection, Engine, event

from benchmarks.private_postgresql import PORT, PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger, engine, recovery
from dpcore.ledger.key import Key
from dpcore.ledger.records import Record
from dpcore.ledger.recovery import restore
from dpcore.ledger.store import put


@pytest.fixture
def backup(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a ledger whose database was lost, with its key file and its journal at this computer."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with Ledger.open(server.new_schema(), create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        for number in range(5):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "How many?")
        ledger.backup(tmp_path / "backup")
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
    with Ledger.open(server.new_schema(), create=True) as ledger:
        ledger.open_budget("people", epsilon=10.0)
        for number in range(charges):
            ledger.charge(f"r{number}", "people", Cost.pure(0.1), "How many?")
        ledger.backup(tmp_path / f"backup {charges}")
    found: list[object] = []

    def count(*said: Any) -> None:
        found.append(said)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        restore(server.new_schema(), source=tmp_path / f"backup {charges}")
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
