"""A source in PostgreSQL behind a pooler whose sessions are all taken: what is worked on is waited for, and whoever
gets no session reads one sentence, which ends nothing for anybody else."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.private_postgresql import PORT, PrivateServer
from dpcore.datasets.in_place import InPlace, database, open_database, tables_of, watched
from dpcore.errors import UnreadableFile
from tests.ledger.source_anew import anew as anew
from tests.ledger.test_ledger_pooled_letters import exactly, message_of

PATIENCE = 60.0
QUESTION = "SELECT 1 FROM pg_advisory_lock_shared(7)"
"""It is worked on for as long as somebody holds the lock."""


class Pooler:
    """One in transaction mode: whoever connects is let in, and what they ask waits for one of so many sessions."""

    def __init__(self, server: PrivateServer, folder: Path, sessions: int) -> None:
        self.folder, self._server = folder, server
        self.free = threading.Semaphore(sessions)

    def serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._client, args=(client,), daemon=True).start()

    def _client(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as straight, suppress(EOFError, OSError):
            straight.connect(str(self._server.folder / f".s.PGSQL.{PORT}"))
            size = exactly(client, 4)
            straight.sendall(size + exactly(client, struct.unpack("!i", size)[0] - 4))
            self._answered(straight, client)
            while (asked := message_of(client))[:1] != b"X":
                with self.free:
                    straight.sendall(asked)
                    while asked[:1] not in b"QS" or self._answered(straight, client) != b"I":
                        asked = message_of(client)
                        straight.sendall(asked)

    def _answered(self, straight: socket.socket, client: socket.socket) -> bytes:
        """Pass an answer on; the state in which the session is then."""
        while True:
            message = message_of(straight)
            client.sendall(message)
            if message[:1] == b"Z":
                return message[5:]


@contextmanager
def pooler(server: PrivateServer, folder: Path, sessions: int) -> Iterator[Pooler]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / f".s.PGSQL.{PORT}"))
        listener.listen()
        found = Pooler(server, folder, sessions)
        threading.Thread(target=found.serve, args=(listener,), daemon=True).start()
        yield found
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def clinic(server: PrivateServer) -> str:
    """The address of a database with a table."""
    address = server.new_database()
    with owner_of(address) as owner:
        owner.execute("CREATE TABLE visits (n int)")
    return address


def owner_of(address: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(address.replace("+psycopg", ""), autocommit=True)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What is found each time that a statement was waited for so long that the server was looked at."""
    for name, seconds in (("CONNECT", 2.0), ("QUIET", 0.3), ("BEGUN", 2.0), ("ASK_AGAIN", 3600.0), ("LOCKED", 3600.0)):
        monkeypatch.setattr(watched, name, seconds)
    found: list[bool] = []
    answers = watched._answers

    def noted(connect: Callable[[], object]) -> bool:
        found.append(answers(connect))
        return found[-1]

    monkeypatch.setattr(watched, "_answers", noted)
    watched.server_of.cache_clear()
    return found


def until(holds: Callable[[], bool]) -> None:
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.01)


def said(ask: Callable[[], object]) -> str:
    try:
        return str(ask())
    except UnreadableFile as error:
        return str(error)


@contextmanager
def counting(clinic: str, stored: InPlace) -> Iterator[tuple[Future[str], psycopg.Connection[tuple[Any, ...]]]]:
    """A question that the server works on, and who ends its wait."""
    with owner_of(clinic) as owner, ThreadPoolExecutor(1) as asks:
        owner.execute("SELECT pg_advisory_lock(7)")
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        found = asks.submit(said, lambda: stored.run(QUESTION))
        until(lambda: owner.execute(waits).fetchone() == (1,))
        yield found, owner
        owner.execute("SELECT pg_advisory_unlock_all()")


def asks_something(connect: Callable[[], Any]) -> bool:
    """As it was: a connection counts once a statement was answered through it."""
    made = []

    def ask() -> None:
        made.append(connect())
        made[0].execute("SELECT 1")
        made[0].close()

    try:
        watched.within(watched.CONNECT, ask, "asks")
    except watched.TooLate:
        watched.shut(made[0])
        return False
    return True


@pytest.mark.thorough
@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize("others", [0, 2])
def test_what_is_worked_on_is_waited_for_though_no_session_is_left(
    server: PrivateServer, clinic: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    looks: list[bool], others: int, *, made: bool,
) -> None:  # fmt: skip
    """Taken by this question, or by other clients of its account's too. Where more is asked of a look than that a
    connection is ``made`` it ends the question: the test can fail."""
    if not made:
        monkeypatch.setattr(watched, "_answers", lambda connect: looks.append(asks_something(connect)) or looks[-1])
    with pooler(server, tmp_path_factory.mktemp("p"), others + 1) as between:
        for _ in range(others):
            between.free.acquire()
        stored = open_database(clinic.replace(str(server.folder), str(between.folder)), "visits")
        with counting(clinic, stored) as (found, owner):
            until(lambda: bool(looks) and (made or found.done()))
            assert looks[0] is made
            owner.execute("SELECT pg_advisory_unlock_all()")
            assert found.result(PATIENCE) == ("[(1,)]" if made else database._LOST)


MUTANTS = {
    "": lambda patch: None,
    "ends others": lambda patch: patch.setattr(watched.Server, "is_gone", watched.Server.is_silent),
    "hears no answer": lambda patch: patch.setattr(watched.Server, "answered", lambda _: None),
}


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", MUTANTS)
def test_who_gets_no_session_reads_one_sentence_and_ends_nothing(
    server: PrivateServer, clinic: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    looks: list[bool], mutant: str,
) -> None:  # fmt: skip
    """Nor does anybody wait with them; and all may ask again once there was an answer."""
    with pooler(server, tmp_path_factory.mktemp("p"), 1) as between:
        pooled = clinic.replace(str(server.folder), str(between.folder))
        stored = open_database(pooled, "visits")
        MUTANTS[mutant](monkeypatch)
        with counting(clinic, stored) as (found, owner):
            assert said(lambda: tables_of(pooled)) == database._UNREACHED
            assert watched.server_of(*watched._named(database._engine(pooled).url)).is_silent()
            seen = len(looks)
            until(lambda: len(looks) > seen + 1 or found.done())
            owner.execute("SELECT pg_advisory_unlock_all()")
            answered, later = found.result(PATIENCE), said(lambda: stored.run("SELECT 7"))
    assert (answered == "[(1,)]") is (mutant != "ends others")
    assert (later == "[(7,)]") is (mutant == "")
