"""The connection ends between COMMIT and its word: nobody is told of what stands that it came to nothing, nor of what
was not written that it stands, whatever they did."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from benchmarks.private_postgresql import PrivateServer
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger import Ledger
from dpcore.ledger import store as stores
from dpcore.ledger.engine import UNREACHABLE
from dpcore.ledger.journal import Journal
from dpcore.ledger.store import NOT_KNOWN, RECORDED, Store
from tests.ledger.test_ledger_work import TOKEN, practised
from tests.ledger.test_ledger_work_of_all import ACTS, VIEWS, Ours, begun

Told = tuple[str, Counter[str]]
"""What somebody was told where anything went wrong, and how many records of each kind came to be."""


@dataclass
class Line:
    """To a server; where an act writes its ``at``-th record it ends with that transaction. That was ``heard`` or not;
    with ``away`` nobody can look afterwards, and ``journal`` says that the line holds and the journal fails instead."""

    heard: bool = True
    away: bool = False
    journal: bool = False
    at: int = 0
    written: int = 0

    def begin(self, at: int) -> None:
        self.at, self.written = at, 0

    @property
    def ends(self) -> bool:
        """Whether it ends now: once for each act."""
        found = 0 < self.at <= self.written
        self.at *= not found
        return found


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    found, gone = Line(), [False]
    commit, append, looking, add = psycopg.Connection.commit, Store.append, stores.reading, Journal._add

    def appended(store: Store, *given: Any, **parts: Any) -> Any:
        found.written += 1
        gone[0] = False
        return append(store, *given, **parts)

    def ended(connection: psycopg.Connection[object]) -> None:
        if found.journal or not found.ends:
            commit(connection)
            return
        if found.heard:
            commit(connection)
        connection.close()
        gone[0] = found.away
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    @contextmanager
    def look(engine: Engine) -> Iterator[Connection]:
        if gone[0]:
            gone[0] = False
            raise OperationalError("SELECT", {}, Exception("connection refused"))
        with looking(engine) as connection:
            yield connection

    def added(journal: Journal, *given: Any) -> None:
        if found.journal and found.ends:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        add(journal, *given)

    monkeypatch.setattr(Store, "append", appended)
    monkeypatch.setattr(psycopg.Connection, "commit", ended)
    monkeypatch.setattr(stores, "reading", look)
    monkeypatch.setattr(Journal, "_add", added)
    return found


def acted(server: PrivateServer, folder: Path, view: str, line: Line, at: int = 0) -> dict[str, Told]:
    """What becomes of each act that writes, where the line ends at its ``at``-th record; in a ledger of its own."""
    journal = folder / f"{len(list(folder.iterdir()))}.journal"
    found: dict[str, Told] = {}
    with Ledger.open(server.new_schema(), journal=journal, create=True) as whole:
        begun(0, whole)
        ledger = VIEWS[view](whole)
        our = Ours(ledger, getattr(ledger, "_token", TOKEN))
        practised(ledger, our.token, "mine")
        for name, act in ACTS.items():
            told, before = "", Counter(one.kind for one in whole.records())
            line.begin(at)
            try:
                act(our)
            except DpcoreError as error:
                told = str(error)
            wrote = line.written
            line.begin(0)
            whole._store._lost = None  # as after five seconds
            after: Counter[str] = Counter(one.kind for one in whole.records())
            if wrote:
                found[name] = told, after - before
        whole.verify()
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("view", ["local", "owner", "visitor"])
def test_what_stands_is_told_as_ever_though_the_server_s_word_was_lost(
    view: str, server: PrivateServer, tmp_path: Path, line: Line
) -> None:
    """An owner whose grant stood read that nothing was given out, and could decide otherwise."""
    usual = acted(server, tmp_path, view, line)
    assert view == "visitor" or {"grant", "refuse", "share", "set_limit", "end_budget", "charge"} <= set(usual)
    for at in range(1, 1 + max(records.total() for _, records in usual.values())):
        assert acted(server, tmp_path, view, line, at) == usual


@pytest.mark.thorough
@pytest.mark.parametrize("view", ["local", "owner"])
def test_of_what_the_server_never_heard_nothing_is_told(
    view: str, server: PrivateServer, tmp_path: Path, line: Line
) -> None:
    line.heard = False
    assert set(acted(server, tmp_path, view, line, 1)) >= {"grant", "charge", "rename"}
    assert {(told, records.total()) for told, records in acted(server, tmp_path, view, line, 1).values()} == {
        (UNREACHABLE, 0)
    }


@pytest.mark.thorough
@pytest.mark.parametrize("view", ["local", "owner"])
def test_where_nobody_can_look_it_is_said_that_it_is_not_known(
    view: str, server: PrivateServer, tmp_path: Path, line: Line
) -> None:
    for line.away, line.journal, sentence in ((True, False, NOT_KNOWN), (False, True, RECORDED)):
        found = acted(server, tmp_path, view, line, 1)
        assert {told for told, _ in found.values()} == {sentence}
        assert all(records.total() for _, records in found.values()), "and each stands"


@pytest.mark.thorough
def test_these_tests_can_fail(
    server: PrivateServer, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_stands", lambda *_: False)
        assert ("grant", (UNREACHABLE, Counter(ask=1))) not in acted(server, tmp_path, "owner", line).items()
        assert acted(server, tmp_path, "owner", line, 2)["grant"] == (UNREACHABLE, Counter(ask=1, grant=1))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_recorded", lambda *_: nullcontext())
        line.journal = True
        assert all(told != RECORDED for told, _ in acted(server, tmp_path, "owner", line, 1).values())
    line.journal, line.heard = False, False
    monkeypatch.setattr(Store, "_stands", lambda *_: True)
    with pytest.raises(LedgerUnsound):  # the journal has what the database was never told
        acted(server, tmp_path, "owner", line, 1)
