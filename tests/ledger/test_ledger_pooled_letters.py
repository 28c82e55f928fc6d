"""Whatever a pooler says of the session it gave away before, a record is written in the letters it is sealed in."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Connection

from benchmarks.private_postgresql import PORT, PrivateServer
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, lodging
from dpcore.ledger.lodging import POOLED, Lodging

NAMES = ("Ã¤1 at https://login.example", "ä at https://login.example", "人 at https://login.example")
"""The first is in Latin 1 what the second nearly is in UTF-8."""
OF_ANOTHER = {"unsaid": b"SET client_encoding TO 'LATIN1'\0", "elsewhere": b"SET search_path TO report\0"}
"""What another client told the session that is given away."""
Meanwhile = Literal["said", "unsaid", "mute", "elsewhere"]


def said(encoding: str) -> bytes:
    """The server's word that a session has this encoding."""
    told = b"client_encoding\0" + encoding.encode() + b"\0"
    return b"S" + struct.pack("!i", 4 + len(told)) + told


def exactly(source: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = source.recv(size - len(found))
        if not part:
            raise EOFError
        found += part
    return found


def message_of(source: socket.socket) -> bytes:
    head = exactly(source, 5)
    return head + exactly(source, struct.unpack("!i", head[1:])[0] - 4)


def along(source: socket.socket, target: socket.socket, meanwhile: Meanwhile) -> None:
    """What the server says. Before it is ready for another transaction it has another client's letters, which are
    Latin 1: it says so, or has them unsaid, or says nothing ever of letters."""
    with suppress(EOFError, OSError):
        while True:
            message = message_of(source)
            if meanwhile == "mute" and message.startswith(b"S") and b"client_encoding" in message:
                continue
            if meanwhile == "unsaid" and message == said("LATIN1"):
                continue
            if message[:1] == b"Z" and message[5:] == b"I":
                if told := OF_ANOTHER.get(meanwhile):
                    source.sendall(b"Q" + struct.pack("!i", 4 + len(told)) + told)
                    while message_of(source)[:1] != b"Z":
                        pass
                else:
                    target.sendall(said("LATIN1"))
            target.sendall(message)
    target.close()


def asked(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
    target.close()


@contextmanager
def pooler(server: PrivateServer, folder: Path, url: str, meanwhile: Meanwhile = "said") -> Iterator[str]:
    """What another client's session says of its letters is not what holds of the session that it gives away: where it
    is ``said`` these are UTF-8, and where it is ``unsaid`` Latin 1; or that one looks ``elsewhere``. Its address before
    that of a ledger."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / f".s.PGSQL.{PORT}"))
    listener.listen()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                straight = socket.socket(socket.AF_UNIX)
                straight.connect(str(server.folder / f".s.PGSQL.{PORT}"))
                threading.Thread(target=along, args=(straight, client, meanwhile), daemon=True).start()
                threading.Thread(target=asked, args=(client, straight), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield url.replace(str(server.folder), str(folder))
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path_factory.mktemp("p")
    monkeypatch.setenv("EPSILON_LAB_KEY", str(made / "key"))
    return made


def named(url: str, folder: Path) -> list[str]:
    """Who has a role after each was given one, as everybody reads it who asks the server itself."""
    with Ledger.open(url, journal=folder / "journal", create=True) as ledger:
        for name in NAMES:
            ledger.give_roles(name, ["owner"])
        assert {*ledger.roles()} == {*NAMES}
        assert ledger.verify().seq == len(NAMES)
        return [*ledger.roles()]


def test_names_are_written_as_they_are_sealed(server: PrivateServer, folder: Path) -> None:
    with pooler(server, folder, server.new_schema()) as url:
        assert sorted(named(url, folder)) == sorted(NAMES)
        straight = url.replace(str(folder), str(server.folder))
        with Ledger.open(straight, journal=folder / "journal") as ledger:
            assert {*ledger.roles()} == {*NAMES}


def test_one_that_says_nothing_of_letters_is_refused(server: PrivateServer, folder: Path) -> None:
    with pooler(server, folder, server.new_schema(), "mute") as url, pytest.raises(LedgerError) as refused:
        named(url, folder)
    assert str(refused.value) == POOLED
    assert not isinstance(refused.value, LedgerUnsound)


def test_what_goes_by_the_last_word_breaks_the_chain(
    server: PrivateServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the tests above can fail."""
    monkeypatch.setattr(lodging, "_agree", lambda info, execute: None)
    with pooler(server, folder, server.new_schema()) as url, pytest.raises((LedgerError, AssertionError)):
        named(url, folder)


def in_a_schema_with_letters(server: PrivateServer) -> str:
    """A ledger's address at which the account's schema is called so."""
    url = server.new_database()
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as db:
        db.execute('CREATE SCHEMA "büro"')
        db.execute(sql.SQL('ALTER DATABASE {} SET search_path = "büro"').format(sql.Identifier(db.info.dbname)))
    return url


def test_so_is_the_schema_that_a_transaction_sees(server: PrivateServer, folder: Path) -> None:
    with pooler(server, folder, in_a_schema_with_letters(server), "unsaid") as url:
        assert sorted(named(url, folder)) == sorted(NAMES)


def test_a_schema_that_is_told_in_letters_is_another(
    server: PrivateServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(self: Lodging, connection: Connection) -> None:
        told = ", ".join(f"set_config('{name}', %({name})s, true)" for name in self._settings)
        connection.exec_driver_sql(f"SELECT {told}", self._settings | {"search_path": self._path()})

    monkeypatch.setattr(Lodging, "tell", tell)
    with (
        pooler(server, folder, in_a_schema_with_letters(server), "unsaid") as url,
        pytest.raises((LedgerError, AssertionError)),
    ):
        named(url, folder)


def test_a_program_that_begins_looks_where_its_account_does(server: PrivateServer, folder: Path) -> None:
    """Not where another client of the pool does, at whose place it would find no ledger, or make a second one."""
    straight = in_a_schema_with_letters(server)
    with psycopg.connect(straight.replace("+psycopg", ""), autocommit=True) as db:
        db.execute("CREATE SCHEMA report")
        with pooler(server, folder, straight, "elsewhere") as url:
            with psycopg.connect(url.replace("+psycopg", "")) as other:
                assert other.execute("SHOW search_path").fetchone() == ("report",)
            named(url, folder)
            with Ledger.open(url, journal=folder / "journal") as ledger:
                assert {*ledger.roles()} == {*NAMES}
        found = db.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'records'").fetchall()
    assert found == [("büro",)]
