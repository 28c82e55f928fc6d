"""Whichever statement of an opening or of a charge a server leaves unanswered, or ends its connection at: it is told in
a sentence, in the time that a statement has."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.exc import DisconnectionError

from benchmarks.private_postgresql import PORT, PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, watch
from dpcore.ledger import store as stores
from dpcore.ledger.engine import SLOW, UNREACHABLE
from dpcore.ledger.lodging import Lodging
from dpcore.ledger.store import NOT_KNOWN, RECORDED

LONG = 60.0
"""Seconds that nobody would wait."""
OF_OPENING, OF_CHARGE = {UNREACHABLE, SLOW}, {UNREACHABLE, SLOW, NOT_KNOWN, RECORDED}
PING = "SELECT 1\0"
LIBRARY = ("pg_catalog.version()", "show transaction isolation", "show standard_conforming")
"""Words of what SQLAlchemy asks the first connection of an engine itself, in its order."""


class Line:
    """A line to the server that ends, or holds back, the ``at``-th statement that is sent over it, and no other; or
    each with a ``word`` in it from that one on."""

    def __init__(self, server: PrivateServer, folder: Path) -> None:
        self.said: list[str] = []
        self.at, self.how, self.word = 0, "", ""
        self.each: Callable[[str], object] = lambda statement: None
        self._server = f"{server.folder}/.s.PGSQL.{PORT}"
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(f"{folder}/.s.PGSQL.{PORT}")
        self._listening.listen()
        self._threads: list[threading.Thread] = []
        self._threads.append(self._begun(self._serve))

    def _begun(self, work: Callable[..., None], *given: socket.socket) -> threading.Thread:
        thread = threading.Thread(target=work, args=given, daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Once all that came by it has been closed."""
        self._listening.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(LONG)
        self._listening.close()

    def begin(self, at: int = 0, how: str = "", word: str = "") -> None:
        self.said.clear()
        self.at, self.how, self.word = at, how, word

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                self._threads.append(self._begun(self._carry, self._listening.accept()[0]))

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server)
            answers = self._begun(self._answers, client, server)
            with suppress(OSError):
                self._asks(client, server)
            _ended(client, server)
            answers.join(LONG)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while some := server.recv(1 << 16):
                client.sendall(some)
        _ended(client, server)

    def _asks(self, client: socket.socket, server: socket.socket) -> None:
        """A statement is a message of itself, or what is said up to the next Sync."""
        kind, said = b"", b""
        with client.makefile("rb") as sent:
            while len(head := sent.read(4 + len(kind))) == 4 + len(kind):
                said += head + sent.read(struct.unpack(">I", head[-4:])[0] - 4)
                if not kind or head[:1] in (b"Q", b"S", b"X"):
                    if kind and head[:1] != b"X" and not self._goes_on(said, client):
                        return
                    server.sendall(said)
                    said = b""
                kind = b"?"  # which the first message has none of

    def _goes_on(self, said: bytes, client: socket.socket) -> bool:
        statement = said.decode("latin-1")
        self.each(statement)
        self.said.append(statement)
        meant = self.word in statement and len(self.said) >= self.at if self.word else len(self.said) == self.at
        if not meant:
            return True
        if self.how == "hold":
            passes()
            client.recv(1)  # until whoever waits gives up
        return False


def passes() -> None:
    """The time in which a server must answer what it is asked now, of which nobody knows who has none."""
    for one in list(watch._looker._all.values()):
        if isinstance(one, watch.Watched) and one._until is not None:
            one._until = 0.0


def _ended(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def line(server: PrivateServer, tmp_path: Path) -> Iterator[Line]:
    found = Line(server, tmp_path)
    yield found
    found.close()


@pytest.fixture
def url(server: PrivateServer, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch) -> str:
    """A ledger with a budget, by the line."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    straight = server.new_schema()
    found = straight.replace(str(server.folder), str(tmp_path))
    with Ledger.open(found, journal=tmp_path / "journal", create=True) as ledger:
        ledger.open_budget("people", epsilon=1000.0)
    return found


def told(url: str, folder: Path, request_id: str) -> tuple[bool, str]:
    """Whether the ledger could be opened, and the sentence for whoever opens it and is charged; fails when neither
    comes before long."""
    opened, found = [], []

    def ask() -> None:
        try:
            with Ledger.open(url, journal=folder / "journal") as ledger:
                opened.append(True)
                ledger.charge(request_id, "people", Cost.pure(0.25), "?")
        except LedgerError as error:
            found.append(str(error))
        except Exception as error:  # noqa: BLE001 - shown by the test
            found.append(repr(error))

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    asker.join(LONG)
    assert not asker.is_alive(), "whoever opens it hangs with the server"
    return bool(opened), "".join(found)


def library(line: Line) -> list[int]:
    """The numbers of what SQLAlchemy asked itself."""
    return [next(at for at, said in enumerate(line.said, 1) if word in said) for word in LIBRARY]


@contextmanager
def noted(line: Line) -> Iterator[list[str]]:
    """Statements that come while no connection has a moment by which it must be answered."""
    found: list[str] = []

    def look(statement: str) -> None:
        if all(getattr(one, "_until", None) is None for one in list(watch._looker._all.values())):
            found.append(statement)

    line.each = look
    yield found
    line.each = lambda statement: None


def test_every_statement_of_an_opening_and_of_a_charge_has_its_moment(url: str, line: Line, tmp_path: Path) -> None:
    line.begin()
    with noted(line) as unwatched:
        assert told(url, tmp_path, "r") == (True, "")
    assert library(line) == sorted(library(line))
    assert len(line.said) > 40
    assert unwatched == []


def test_that_test_can_fail(url: str, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: nobody watched what SQLAlchemy asks of a connection that is nobody's yet."""
    settle = Lodging.settle

    def as_it_was(lodging: Lodging, cursor: psycopg.Cursor[object]) -> None:
        settle(lodging, cursor)
        cursor.connection.commit()
        for one in list(watch._looker._all.values()):
            if one.connection is cursor.connection:
                one.end()  # type: ignore[attr-defined]

    monkeypatch.setattr(Lodging, "settle", as_it_was)
    with noted(line) as unwatched:
        assert told(url, tmp_path, "r") == (True, "")
    for word in LIBRARY:
        assert any(word in statement for statement in unwatched)


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["drop", "hold"])
def test_whichever_statement_is_not_answered_it_is_told_before_long(
    how: str, url: str, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.begin()
    told(url, tmp_path, "r")
    made = library(line)[-1]
    monkeypatch.setattr(watch.Silence, "note", lambda *_: None)  # each is the first
    at = 0
    while True:
        at += 1
        line.begin(at, how)
        opened, found = told(url, tmp_path, f"r{at}")
        if len(line.said) < at:
            break
        assert found in (OF_CHARGE | {""} if opened else OF_OPENING), line.said[at - 1]
        if at <= made:
            assert (opened, found) == (False, UNREACHABLE), line.said[at - 1]
    assert found == ""
    assert at > 40
    watch._looker._look()
    assert not [one for one in watch._looker._all.values() if one.connection.closed], "nobody looks at what is gone"
    line.begin()
    with Ledger.open(url, journal=tmp_path / "journal") as ledger:
        ledger.verify()


def test_an_end_at_what_the_library_asks_was_no_sentence(
    url: str, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: what is known of a connection was asked of one that has none of it yet. The test above can fail."""
    line.begin()
    told(url, tmp_path, "r")
    last = library(line)[-1]
    line.begin(last, "drop")
    assert told(url, tmp_path, "s") == (False, UNREACHABLE)
    monkeypatch.setattr(watch, "_of", lambda connection: connection.connection.info["watched"])
    line.begin(last, "drop")
    assert told(url, tmp_path, "s")[1].startswith(("TypeError", "NotImplementedError"))


def read(ledger: Ledger) -> str:
    """The sentence for whoever reads, or what is no sentence; fails when neither comes before long."""
    found = [""]

    def ask() -> None:
        try:
            ledger.budgets()
        except LedgerError as error:
            found[0] = str(error)
        except Exception as error:  # noqa: BLE001 - shown by the test
            found[0] = repr(error)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    asker.join(LONG)
    assert not asker.is_alive(), "whoever reads hangs with the server"
    return found[0]


@pytest.mark.parametrize("how", ["drop", "hold"])
def test_connections_of_which_none_shows_that_it_is_alive_are_a_server_that_cannot_be_reached(
    how: str, url: str, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever read was told that something could not be recorded, and to run a check; and all others asked again."""
    with Ledger.open(url, journal=tmp_path / "journal") as ledger:
        line.begin(1, how, PING)
        assert read(ledger) == UNREACHABLE
        assert len([said for said in line.said if PING in said]) > 1, "one alone says nothing of the server"
        asked = len(line.said)
        assert read(ledger) == UNREACHABLE
        assert len(line.said) == asked, "nobody else asks meanwhile"
        line.begin()
        monkeypatch.setattr(stores, "ASK_AGAIN", 0.0)
        ledger._store._lost = None
        assert read(ledger) == ""
        line.begin(2, how)
        assert read(ledger) == "", "one connection that is not alive gives way to another"
        assert PING in line.said[1]


def test_an_error_of_the_library_was_no_server_that_cannot_be_reached(
    url: str, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the test above can fail."""
    with Ledger.open(url, journal=tmp_path / "journal") as ledger:
        monkeypatch.setattr(watch.psycopg, "OperationalError", lambda *_: DisconnectionError())
        line.begin(1, "drop", PING)
        assert "could not record this" in read(ledger)
        asked = len(line.said)
        assert "could not record this" in read(ledger)
        assert len(line.said) > asked
