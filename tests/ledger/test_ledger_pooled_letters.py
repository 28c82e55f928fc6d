"""Whatever a pooler says of the session it gave away before, a record is written in the letters it is sealed in."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from benchmarks.private_postgresql import PORT, PrivateServer
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, lodging
from dpcore.ledger.lodging import POOLED

NAMES = ("Ã¤1 at https://login.example", "ä at https://login.example", "人 at https://login.example")
"""The first is in Latin 1 what the second nearly is in UTF-8."""


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


def along(source: socket.socket, target: socket.socket, end: bytes, *, mute: bool) -> None:
    """What the server says, and before it is ready for another transaction this ``end``; of encodings nothing of its
    own where the pooler is ``mute``."""
    with suppress(EOFError, OSError):
        while True:
            head = exactly(source, 5)
            message = head + exactly(source, struct.unpack("!i", head[1:])[0] - 4)
            if mute and message.startswith(b"S") and b"client_encoding" in message:
                continue
            target.sendall((end if message[:1] == b"Z" and message[5:] == b"I" else b"") + message)
    target.close()


def asked(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
    target.close()


@contextmanager
def pooler(server: PrivateServer, folder: Path, *, mute: bool = False) -> Iterator[str]:
    """Between transactions it is in a session of another client's, whose letters are Latin 1; in each it is in one that
    writes UTF-8, of which the server has said so to somebody else. Its address."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / f".s.PGSQL.{PORT}"))
    listener.listen()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                straight = socket.socket(socket.AF_UNIX)
                straight.connect(str(server.folder / f".s.PGSQL.{PORT}"))
                for work, ends in ((along, (straight, client, said("LATIN1"))), (asked, (client, straight))):
                    more = {"mute": mute} if work is along else {}
                    threading.Thread(target=work, args=ends, kwargs=more, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    url = server.new_schema()
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
    with pooler(server, folder) as url:
        assert sorted(named(url, folder)) == sorted(NAMES)
        straight = url.replace(str(folder), str(server.folder))
        with Ledger.open(straight, journal=folder / "journal") as ledger:
            assert {*ledger.roles()} == {*NAMES}


def test_one_that_says_nothing_of_letters_is_refused(server: PrivateServer, folder: Path) -> None:
    with pooler(server, folder, mute=True) as url, pytest.raises(LedgerError) as refused:
        named(url, folder)
    assert str(refused.value) == POOLED
    assert not isinstance(refused.value, LedgerUnsound)


def test_what_goes_by_the_last_word_breaks_the_chain(
    server: PrivateServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the tests above can fail."""
    monkeypatch.setattr(lodging, "_agree", lambda info, execute: None)
    with pooler(server, folder) as url, pytest.raises((LedgerError, AssertionError)):
        named(url, folder)
