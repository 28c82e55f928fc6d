"""A source's transaction in PostgreSQL is told in the message that begins it: at no moment does the server wait for the
next one by what another client of a pooler said, and nothing is asked outside of one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from socket import socket

import psycopg
import pytest

from dpcore.datasets.in_place import tables_of, told
from tests.ledger import test_ledger_pooled_letters as letters
from tests.ledger.source_anew import anew as anew
from tests.ledger.source_anew import forget
from tests.ledger.test_source_sessions import clinic as clinic
from tests.ledger.test_source_sessions import counts, holding, otherwise
from tests.ledger.test_source_sessions import dirtied as dirtied

SETTINGS = (
    "SELECT pg_catalog.string_agg(pg_catalog.concat(name, '=', setting), pg_catalog.chr(1)) FROM pg_catalog.pg_settings"
)
LIMITS = ["statement_timeout", "lock_timeout"]
"""What is told only once it is known what the account says of it."""
OUTSIDE = {"a statement": "outside of a transaction"}
Settings = dict[str, str]
Dirtied = Callable[[str, str], AbstractContextManager[str]]


def ask(session: socket, statement: bytes) -> bytes:
    """The one text that a statement gives."""
    session.sendall(b"Q" + struct.pack("!i", 5 + len(statement)) + statement + b"\0")
    found = b""
    while (message := letters.message_of(session))[:1] != b"Z":
        if message[:1] == b"D":
            found = message[11:]
    return found


def settings(session: socket) -> Settings:
    return dict(line.split("=", 1) for line in ask(session, SETTINGS.encode()).decode().split("\1"))


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """What holds of each session behind the pooler once it waits in a transaction."""
    found: list[Settings] = []

    def along(source: socket, target: socket, _: object) -> None:
        before = b""
        with suppress(EOFError, OSError):
            while True:
                message = letters.message_of(source)
                if message[:1] == b"Z":
                    if before == b"I":
                        found.append(settings(source) if message[5:] == b"T" else OUTSIDE)
                    before = message[5:]
                    if before == b"I":
                        ask(source, letters.OF_ANOTHER["elsewhere"].rstrip(b"\0"))
                target.sendall(message)
        target.close()

    monkeypatch.setattr(letters, "along", along)
    return found


@pytest.fixture
def own(clinic: str) -> Settings:
    """What holds in a source's transaction where nobody else is, with the limits of time that its account has."""
    with psycopg.connect(clinic.replace("+psycopg", "")) as session:
        limits = session.execute("SELECT name, setting FROM pg_settings WHERE name = ANY (%s)", [LIMITS]).fetchall()
    found = holding(clinic) | {str(name): str(setting) for name, setting in limits}
    forget()
    return found


def test_no_session_waits_in_a_transaction_by_what_another_client_said(
    clinic: str, own: Settings, dirtied: Dirtied, waits: list[Settings]
) -> None:
    with dirtied("; ".join(otherwise(clinic)), clinic) as pooled:
        assert counts(pooled)
    assert len(waits) > 10
    assert own["transaction_read_only"] == "on"
    assert [one for one in waits if one != own] == []


@pytest.mark.parametrize("first", [True, False])
def test_one_that_is_told_after_its_beginning_waits_by_it(
    clinic: str, own: Settings, dirtied: Dirtied, waits: list[Settings], monkeypatch: pytest.MonkeyPatch, *, first: bool
) -> None:
    """As it was; or begins none for what SQLAlchemy asks ``first``. The test above can fail."""
    if first:
        monkeypatch.setattr(told, "before_the_first", lambda engine: None)
    else:
        monkeypatch.setattr(told, "_tell", lambda info, execute: (execute(told._BEGIN), execute(told._TOLD)))
    with dirtied("; ".join(otherwise(clinic)), clinic) as pooled:
        assert tables_of(pooled)
    assert (OUTSIDE in waits) is first
    assert any(one != own for one in waits)
