"""A configured database that does not answer holds nobody for long; one that works on a question is waited for."""

from __future__ import annotations

import socket
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path

import duckdb
import psycopg
import pytest
from sqlalchemy import make_url

from benchmarks.private_postgresql import PORT, PrivateServer, private_server
from dpcore.datasets.in_place import database, watched
from dpcore.datasets.in_place.database import open_database, tables_of
from dpcore.datasets.in_place.duck import open_duckdb
from dpcore.errors import UnreadableFile

LONG = 10.0
"""Seconds that nobody waits, with the short times of these tests."""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, seconds in (("CONNECT", 0.5), ("QUIET", 0.5), ("BEGUN", 1.0), ("ASK_AGAIN", 5.0)):
        monkeypatch.setattr(watched, name, seconds)
    database._engine.cache_clear()
    watched.server_of.cache_clear()
    yield
    database._engine.cache_clear()


def waited(ask: Callable[[], object], seconds: float = LONG) -> tuple[bool, str]:
    """Whether whoever asked went on within so many seconds, and what they were told."""
    said: list[str] = []

    def work() -> None:
        try:
            said.append(str(ask()))
        except UnreadableFile as error:
            said.append(str(error))

    asker = threading.Thread(target=work, daemon=True)
    asker.start()
    asker.join(seconds)
    return not asker.is_alive(), "".join(said)


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


def lets_in(visitor: socket.socket) -> None:
    """As PostgreSQL begins; then it says no more."""
    while True:
        (size,) = struct.unpack(">I", visitor.recv(4))
        if visitor.recv(size - 4)[:4] not in (struct.pack(">I", 80877103), struct.pack(">I", 80877104)):
            break
        visitor.sendall(b"N")
    told = {"server_version": "15.4", "client_encoding": "UTF8", "server_encoding": "UTF8", "DateStyle": "ISO, MDY"}
    told |= {"TimeZone": "UTC", "integer_datetimes": "on", "standard_conforming_strings": "on"}
    words = b"".join(message(b"S", f"{name}\0{value}\0".encode()) for name, value in told.items())
    ready = message(b"K", struct.pack(">II", 1, 2)) + message(b"Z", b"I")
    visitor.sendall(message(b"R", struct.pack(">I", 0)) + words + ready)


class Silent:
    """A server that takes connections, or lets them in, and then says nothing."""

    def __init__(self, listening: socket.socket, *, lets: bool) -> None:
        self.address = f"postgresql+psycopg://r@127.0.0.1:{listening.getsockname()[1]}/db?sslmode=disable"
        self.listening, self.lets = listening, lets
        self.held: list[socket.socket] = []

    def serve(self) -> None:
        while True:
            try:
                visitor, _ = self.listening.accept()
                if self.lets:
                    lets_in(visitor)
                self.held.append(visitor)
            except (OSError, struct.error):
                return

    def connect(self) -> object:
        return psycopg.connect(self.address.replace("+psycopg", ""))

    def asked(self) -> int:
        """How many were let in and asked something."""
        found = 0
        for visitor in self.held:
            try:
                found += visitor.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"Q"
            except BlockingIOError:
                continue
        return found


@contextmanager
def saying_nothing(*, lets: bool) -> Iterator[Silent]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = Silent(listening, lets=lets)
        threading.Thread(target=found.serve, daemon=True).start()
        try:
            yield found
        finally:
            for visitor in found.held:
                visitor.close()


@pytest.fixture(params=[False, True], ids=["takes the connection", "lets one in"])
def silent(request: pytest.FixtureRequest) -> Iterator[str]:
    """Its address."""
    with saying_nothing(lets=request.param) as found:
        yield found.address


def test_a_server_that_says_nothing_is_given_up_and_nobody_else_waits(silent: str) -> None:
    assert waited(lambda: tables_of(silent)) == (True, database._UNREACHED)
    began = time.monotonic()
    for _ in range(20):
        assert waited(lambda: open_database(silent, "rows")) == (True, database._UNREACHED)
    assert time.monotonic() - began < 1.0


def until(holds: Callable[[], bool]) -> None:
    last = time.monotonic() + 6 * LONG
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.01)


@pytest.mark.parametrize("told", [True, False])
def test_of_those_who_came_before_a_silence_was_noted_one_asks(monkeypatch: pytest.MonkeyPatch, *, told: bool) -> None:
    """SQLAlchemy has who comes before its first answer wait for each other: without a word of it they ask one after the
    other."""
    for name in ("CONNECT", "QUIET", "BEGUN"):  # by the test's own clock alone, however slowly all of them come
        monkeypatch.setattr(watched, name, 60 * LONG)
    if not told:
        monkeypatch.setattr(watched.Server, "is_silent", lambda _: False)
    late = count(0.0, 100 * LONG)
    with saying_nothing(lets=True) as server, ThreadPoolExecutor(3) as visitors:
        found = [visitors.submit(waited, lambda: tables_of(server.address), 6 * LONG) for _ in range(3)]
        until(lambda: len(server.held) == 3 and server.asked() == 1)
        give_up(late)
        if not told:
            until(lambda: server.asked() == 2)
        while not all(one.done() for one in found):
            give_up(late)
        assert {one.result() for one in found} == {(True, database._UNREACHED)}
        assert server.asked() == (1 if told else 3)


def give_up(late: Iterator[float]) -> None:
    """As the watch does that looks twice, so ``late`` and later, with more between than anybody waits."""
    for seconds in islice(late, 2):
        for one in list(watched._looker._all.values()):
            one.look(time.monotonic() + seconds)


def test_that_somebody_is_let_in_or_refused_is_an_answer() -> None:
    """Behind a pooler no session may be left for more."""
    for lets in (True, False):
        with saying_nothing(lets=lets) as server:
            assert watched._answers(server.connect) is lets
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        assert watched._answers(Silent(deaf, lets=False).connect)


def test_who_takes_nobody_ends_what_waits_and_who_only_says_nothing_does_not() -> None:
    server = watched.Server(lambda: 0.0)
    server.said_nothing()
    assert (server.is_silent(), server.is_gone(), server.may_be_asked()) == (True, False, False)
    server.answered()
    assert (server.is_silent(), server.is_gone(), server.may_be_asked()) == (False, False, True)
    server.took_nobody()
    assert (server.is_silent(), server.is_gone(), server.may_be_asked()) == (True, True, False)
    server.answered()
    server.said_nothing()
    assert (server.is_silent(), server.is_gone()) == (True, False), "what was answered since began anew"


def test_after_a_silence_one_asks_and_nobody_waits_with_them() -> None:
    now = [100.0]
    server = watched.Server(lambda: now[0])
    assert [server.may_be_asked() for _ in range(3)] == [True] * 3, "as long as it answers"
    server.said_nothing()
    assert not server.may_be_asked()
    now[0] += watched.ASK_AGAIN
    assert [server.may_be_asked() for _ in range(3)] == [True, False, False]
    assert not server.is_silent(), "whatever waits for it is not given up for that"
    server.said_nothing()
    now[0] += watched.ASK_AGAIN
    assert server.may_be_asked()
    server.answered()
    assert [server.may_be_asked() for _ in range(3)] == [True] * 3


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("postgresql+psycopg://a:x@h:1/one?sslmode=disable", True),
        ("postgresql+psycopg://a@h:1/two", False),
        ("postgresql+psycopg://b@h:1/one", False),
        ("postgresql+psycopg://a@h:1/one?dbname=two", False),
        ("postgresql+psycopg://a@h:2/one", False),
        ("postgresql+psycopg://a@g:1/one", False),
        ("postgresql+psycopg://a@h:1/one?host=elsewhere", False),
    ],
)
def test_what_is_silent_is_one_database_for_one_account(other: str, *, same: bool) -> None:
    """Behind a proxy one that hung at its login kept everybody from those that answered, and ended their statements."""

    def server(address: str) -> watched.Server:
        return watched.server_of(*watched._named(make_url(address)))

    assert (server("postgresql+psycopg://a@h:1/one") is server(other)) is same


def test_without_the_watch_whoever_asks_waits_for_ever(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the test above can fail."""
    monkeypatch.setattr(database, "watch", lambda engine, tell: None)
    address = silent + "&connect_timeout=0"
    gone_on, _ = waited(lambda: tables_of(address), 3.0)
    assert not gone_on


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


SLOW = "SELECT 1 FROM pg_sleep(2)"


def rows(server: PrivateServer) -> str:
    """The address of a table."""
    with psycopg.connect(host=str(server.folder), port=PORT, user="ledger", dbname="postgres") as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS rows (n int)")
    return server.url("postgres")


@pytest.mark.thorough
def test_a_server_that_works_on_a_question_is_waited_for(server: PrivateServer) -> None:
    stored = open_database(rows(server), "rows")
    assert waited(lambda: stored.run(SLOW)) == (True, "[(1,)]")
    assert stored.run("SHOW statement_timeout") == [("1h",)]
    assert stored.run("SHOW lock_timeout") == [("5s",)]


@pytest.mark.thorough
def test_what_the_address_says_of_time_holds(server: PrivateServer) -> None:
    stored = open_database(rows(server) + "&options=-c%20statement_timeout%3D700", "rows")
    began = time.monotonic()
    assert waited(lambda: stored.run(SLOW)) == (True, database._NO_ANSWER)
    assert time.monotonic() - began < 2.0


@pytest.mark.thorough
def test_a_server_that_freezes_in_mid_answer_is_given_up_and_asked_again_later(
    server: PrivateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = open_database(rows(server), "rows")
    told: list[tuple[bool, str]] = []
    asker = threading.Thread(target=lambda: told.append(waited(lambda: stored.run(SLOW))))
    asker.start()
    time.sleep(0.5)
    with server.frozen():
        asker.join(LONG + 1)
        assert told == [(True, database._LOST)]
        assert waited(lambda: stored.run("SELECT 1"), 0.2)[0], "and nobody else waits"
    monkeypatch.setattr(watched, "ASK_AGAIN", 0.0)
    until = time.monotonic() + LONG
    while waited(lambda: stored.run("SELECT 7")) != (True, "[(7,)]"):
        assert time.monotonic() < until
        time.sleep(0.2)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_question_without_end_ends_in_this_process_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, bounded: bool
) -> None:
    """With a bound of hours, as without one, it goes on."""
    monkeypatch.setattr(watched, "MOST", 0.5 if bounded else 4.0)
    file = tmp_path / "rows.db"
    if kind == "sqlite":
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE rows (n INTEGER)")
        stored = open_database(f"sqlite:///{file}", "rows")
    else:
        with duckdb.connect(str(file)) as connection:
            connection.execute("CREATE TABLE rows (n INTEGER)")
        stored = open_duckdb(file, "rows")
    ended, told = waited(lambda: stored.run(ENDLESS), 2.5)
    assert ended is bounded
    if bounded:
        assert told
    time.sleep(0 if bounded else 2.0)
