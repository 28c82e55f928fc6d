"""A ledger on a server: one that hangs, a client that freezes, and computers that come to it later."""

from __future__ import annotations

import errno
import math
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from benchmarks.private_postgresql import PORT, PrivateServer, private_server
from dashboard.background import compute
from dashboard.background.opening import SHORTEST, Opening
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, watch
from dpcore.ledger import journal as journals
from dpcore.ledger import lock as locks
from dpcore.ledger import place as places
from dpcore.ledger import store as stores
from dpcore.ledger.engine import CHECKING, SLOW, UNREACHABLE, WITHIN, ledger_url, make_engine
from dpcore.ledger.lock import exclusive
from dpcore.ledger.records import Record
from tests.ledger.conftest import Computers, unguarded

LONG = 60.0  # seconds: what nobody would wait
LATER = (UNREACHABLE, math.inf)


def opened(url: str, folder: Path, *, create: bool | None = None) -> Ledger:
    return Ledger.open(url, journal=folder / "ledger.journal", create=create)


def told(ledger: Ledger) -> str:
    """The sentence for whoever asks; fails when there is none before long."""
    found: list[str] = []

    def ask() -> None:
        try:
            ledger.budgets()
        except LedgerError as error:
            found.append(str(error))

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    asker.join(LONG)
    assert not asker.is_alive(), "the page hangs with the server"
    return found[0] if found else ""


@pytest.mark.thorough
def test_a_server_that_hangs_is_given_up_and_asked_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with private_server() as server:
        url = server.url("postgres")
        ledger = opened(url, tmp_path, create=True)
        ledger.open_budget("people", epsilon=1.0)
        with server.frozen():
            assert told(ledger) == UNREACHABLE
            asked: list[object] = []
            with monkeypatch.context() as patch:
                patch.setattr(stores, "reading", lambda engine: asked.append(engine))
                assert told(ledger) == UNREACHABLE
            assert not asked, "the next visitor does not wait for the same server"
            monkeypatch.setattr(stores, "ASK_AGAIN", LONG)
            _one_asks_again(ledger, monkeypatch)
        monkeypatch.setattr(stores, "ASK_AGAIN", 0.0)
        ledger._store._lost = None
        assert [budget.lineage for budget in ledger.budgets()] == ["people"], "as before, once the server is back"
        ledger.charge("r", "people", Cost.pure(0.25), "?")
        assert ledger.budget("people").remaining.epsilon == 0.75
        ledger.close()


def test_what_a_statement_waited_for_in_vain_a_new_connection_does_not_wait_for_again() -> None:
    """A server that froze within a click was told after 5.5 seconds: those of a statement, and of a new connection."""
    now = [100.0]
    silence = watch.Silence(lambda: now[0])
    assert silence.left(2.0) == 2.0
    silence.note(100.0 - watch.ANSWER)
    silence.note(99.0)
    assert silence.left(2.0) == pytest.approx(watch.ALL_IN_ALL - watch.ANSWER), "from its beginning"
    assert silence.left(0.1) == 0.1
    now[0] += 2.0
    assert silence.left(2.0) == watch.MOMENT, "a moment is what a server that is well needs"
    now[0] += watch.ALL_IN_ALL
    assert silence.left(2.0) == 2.0, "and later as ever"
    now[0] += LONG

    def late(seconds: float) -> None:
        now[0] += seconds
        raise watch.psycopg.errors.ConnectionTimeout

    for seconds in (2.0, 1.0, watch.MOMENT):
        before = now[0]
        with pytest.raises(watch.psycopg.errors.ConnectionTimeout):
            silence.heard(late, 2.0)
        assert now[0] - before == pytest.approx(seconds), "nor for a connection"


def test_all_that_is_asked_of_a_server_knows_that_it_does_not_answer() -> None:
    """A click asks for its budget, and for what its room shares, by an engine each."""
    here, there, other = (f"postgresql+psycopg://x@h:{port}/{name}" for port, name in ((1, "a"), (1, "b"), (2, "a")))
    engines = [make_engine(make_url(url)) for url in (here, there, other)]
    found = [watch.silence_of(watch.server(engine)) for engine in engines]
    assert found[0] is found[1]
    assert found[0] is not found[2]


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["reading", "writing"])
def test_a_server_that_freezes_within_a_click_is_told_in_the_time_of_one(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with private_server() as server:
        ledger = opened(server.url("postgres"), tmp_path, create=True)
        ledger.open_budget("people", epsilon=1.0)
        waited: list[float] = []
        within = watch.within
        monkeypatch.setattr(watch, "within", lambda most, connect: waited.append(most) or within(most, connect))
        with ExitStack() as until:

            def click() -> None:
                with getattr(ledger._store, how)() as connection:
                    until.enter_context(server.frozen())
                    connection.execute(text("SELECT 1"))

            with pytest.raises(LedgerError, match=SLOW):
                click()
            assert told(ledger) == UNREACHABLE
            assert waited
            assert sum(waited) <= watch.ALL_IN_ALL - watch.ANSWER + watch.MOMENT
        ledger.close()


def test_the_first_record_of_a_new_ledger_has_the_time_of_a_click(server: PrivateServer, tmp_path: Path) -> None:
    """Where the server froze just then, the page waited for a minute."""
    first = opened(server.new_schema(), tmp_path, create=True)
    moments: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("reading", "writing", "snapshot"):
            begin = getattr(stores, name)

            def noted(engine: Engine, begin: Any = begin) -> Iterator[Connection]:
                with begin(engine) as connection:
                    moments.append(connection.get_execution_options().get(WITHIN))
                    yield connection

            patch.setattr(stores, name, contextmanager(noted))
        first.open_budget("people", epsilon=1.0)
        assert moments == [None, None], "to join, and to write"
        first.verify()
        assert CHECKING in moments
    first.close()


def test_a_name_of_several_addresses_has_one_time_out() -> None:
    """psycopg grants each address the whole time: "localhost", which is two, took 4.8 seconds."""
    go, closed = threading.Event(), threading.Event()

    class Late:
        close = closed.set

    def connect() -> Late:
        go.wait(LONG)
        return Late()

    with pytest.raises(watch.psycopg.errors.ConnectionTimeout):
        watch.within(0.0, connect)
    assert not closed.is_set(), "it was not waited for"
    go.set()
    assert closed.wait(LONG), "what comes too late is not left open"
    go.set()
    assert isinstance(watch.within(LONG, connect), Late)
    with pytest.raises(ZeroDivisionError):
        watch.within(LONG, lambda: 1 / 0)


@pytest.mark.parametrize(
    ("said", "seconds"), [("", [watch.CONNECT]), ("?connect_timeout=7", [7]), ("?connect_timeout=0", [])]
)
def test_the_url_s_own_time_out_comes_first(said: str, seconds: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def within(most: float, connect: object) -> object:
        asked.append(most)
        raise OperationalError("", {}, Exception("no"))

    monkeypatch.setattr(watch, "within", within)
    engine = make_engine(ledger_url(f"postgresql://nobody@/nothing{said}{'&' if said else '?'}host=/nowhere"))
    with pytest.raises(OperationalError):
        engine.connect()
    assert asked == seconds


@pytest.mark.parametrize("said", [UNREACHABLE, SLOW, locks.HELD, "The ledger's sums are wrong."])
def test_a_page_asks_once_for_a_ledger_that_cannot_be_opened(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages waited wherever they asked for the ledger, one after the other, for an opening of their own: while
    PostgreSQL hangs, or a table is locked. Now one asks, some seconds later one again, and meanwhile nobody waits."""
    now, tried, answers = [100.0], list[str](), Ledger.open("sqlite://")

    def opening(**_: object) -> Ledger:
        tried.append(said)
        for _ in range(2):
            if len(tried) == 2:  # while one asks again
                refused()
        raise LedgerUnsound(said)

    def refused() -> None:
        with pytest.raises(LedgerUnsound, match=re.escape(said)):
            compute.opens()
        compute.reopen_ledger()  # as whoever is told so may ask

    monkeypatch.setattr(compute.Ledger, "open", opening)
    mine = Opening(compute._opened, LedgerError, waits=LONG, clock=lambda: now[0])
    monkeypatch.setattr(compute, "_opening", lambda named: mine)
    for _ in range(5):
        refused()
    assert len(tried) == 1
    now[0] += SHORTEST
    refused()
    assert len(tried) == 2
    monkeypatch.setattr(compute.Ledger, "open", lambda **_: answers)
    now[0] += SHORTEST
    compute.opens()
    assert compute.rooms_ledger()._store is answers._store


def _one_asks_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is time to ask a lost server again, one visitor does, and others do not wait with them."""
    meanwhile: list[str] = []

    def asking(engine: object) -> AbstractContextManager[Connection]:
        meanwhile.append(told(ledger))
        raise OperationalError("SELECT 1", {}, psycopg.OperationalError("connection closed"))

    ledger._store._lost = (UNREACHABLE, 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(stores, "reading", asking)
        assert told(ledger) == UNREACHABLE
    assert meanwhile == [UNREACHABLE]


def test_who_waits_behind_one_that_asks_a_lost_server_does_not_ask_it_in_turn(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten clicks once waited for one another, three seconds each."""
    ledger = opened(server.new_schema(), tmp_path, create=True)
    ledger.open_budget("people", epsilon=1.0)
    waits, refused, lock = threading.Event(), list[str](), ledger._store.lock
    came = locks._Turn.came

    def waiting(turn: locks._Turn, patience: float) -> bool:
        waits.set()
        return came(turn, patience)

    def charge() -> None:
        try:
            ledger.charge("r", "people", Cost.pure(0.25), "?")
        except LedgerError as error:
            refused.append(str(error))

    monkeypatch.setattr(locks._Turn, "came", waiting)
    with exclusive(lock):
        asker = threading.Thread(target=charge, daemon=True)
        asker.start()
        assert waits.wait(LONG)
        ledger._store._lost = (UNREACHABLE, time.monotonic() + LONG)
    asker.join(LONG)
    assert refused == [UNREACHABLE]
    ledger._store._lost = None
    ledger.charge("r", "people", Cost.pure(0.25), "?")
    ledger.close()


@pytest.mark.parametrize("seen", [[None, LATER, LATER, None], [LATER, None]])
def test_another_visitor_who_finds_the_server_back_at_the_same_moment(
    seen: list[tuple[str, float] | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever only reads takes no lock: what is known of the server may be gone between two looks at it."""
    with Ledger.open(tmp_path / "ledger.db", create=True) as ledger:
        looks = iter(seen)
        monkeypatch.setattr(
            stores.Store, "_lost", property(lambda _: next(looks, None), lambda *_: None), raising=False
        )
        with pytest.raises(LedgerError, match=UNREACHABLE):
            ledger.open_budget("people", epsilon=1.0)


def test_what_was_found_of_a_server_is_forgotten_while_one_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(tmp_path / "ledger.db", create=True) as ledger:
        looks = iter([None, (UNREACHABLE, 0.0), (UNREACHABLE, 0.0), (UNREACHABLE, 0.0)])
        monkeypatch.setattr(
            stores.Store, "_lost", property(lambda _: next(looks, None), lambda *_: None), raising=False
        )
        ledger.open_budget("people", epsilon=1.0)


def test_a_program_that_froze_with_the_ledger_s_lock_is_waited_for_as_long_as_was_said(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db", create=True, patience=0.01) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        with exclusive(ledger._store.lock), pytest.raises(LedgerError, match="held by another program"):
            ledger.charge("r", "people", Cost.pure(0.25), "?")
        assert ledger.charge("r", "people", Cost.pure(0.25), "?").request_id == "r"


def test_what_has_been_charged_is_waited_for_longer_than_what_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A room's alarm once went off while a backup held the ledger: it was paid for, and lost."""
    waited: list[float] = []
    came = locks._Turn.came

    with Ledger.open(tmp_path / "ledger.db", create=True, patience=0.01) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.25), "?")
        for step in (lambda: ledger.begin_draw("r"), lambda: ledger.store_answer("r", 4)):
            with ExitStack() as held:
                held.enter_context(exclusive(ledger._store.lock))

                def let_go(turn: locks._Turn, patience: float, held: ExitStack = held) -> bool:
                    waited.append(patience)
                    held.close()
                    return came(turn, LONG)

                monkeypatch.setattr(locks._Turn, "came", let_go)
                step()
        assert waited == [locks.PATIENCE, locks.PATIENCE]
        receipt = ledger.receipt("r")
        assert receipt is not None
        assert receipt.answer == 4


def test_the_pages_wait_less_than_three_seconds_for_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{tmp_path / 'ledger.db'}")
    Ledger.open(tmp_path / "ledger.db", create=True).close()
    compute.reopen_ledger()
    assert compute.rooms_ledger()._store.patience < 3.0
    compute.reopen_ledger()
    assert watch.PING + watch.CONNECT < 3.0
    assert watch.ANSWER < 3.0


def test_a_frozen_client_s_lock_is_one_sentence(server: PrivateServer, tmp_path: Path) -> None:
    url = server.new_schema()
    ledger = opened(url, tmp_path, create=True)
    ledger.open_budget("people", epsilon=1.0)
    other = create_engine(url)
    with other.connect() as holder:
        holder.execute(text("SELECT * FROM head FOR UPDATE"))
        refused: list[str] = []

        def charge() -> None:
            try:
                ledger.charge("r", "people", Cost.pure(0.25), "?")
            except LedgerError as error:
                refused.append(str(error))

        asker = threading.Thread(target=charge, daemon=True)
        asker.start()
        asker.join(LONG / 2)
        assert len(refused) == 1
        assert "held by another program" in refused[0]
        assert ledger.budget("people").remaining.epsilon == 1.0, "whoever only looks does not wait"
    other.dispose()
    ledger.charge("r", "people", Cost.pure(0.25), "?")
    ledger.close()


def test_the_server_ends_the_transaction_of_a_client_that_froze(server: PrivateServer, tmp_path: Path) -> None:
    ledger = opened(server.new_schema(), tmp_path, create=True)
    with ledger._store.reading() as connection:
        found = connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar()
    assert found == "10s"
    ledger.close()


def test_a_second_computer_joins_and_says_so(server: PrivateServer, tmp_path: Path, computers: Computers) -> None:
    url = server.new_schema()
    first = computers("first", tmp_path)
    with opened(url, first, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("a", "people", Cost.pure(0.25), "?")
    second = computers("second", tmp_path)
    with opened(url, second) as ledger:
        assert ledger.budget("people").remaining.epsilon == 0.75
        ledger.charge("b", "people", Cost.pure(0.25), "?")
        ledger.verify()
    lines = (second / "ledger.journal").read_text().splitlines()
    assert '"journal\\\\":\\\\"joined' in "".join(lines).replace('\\"', '\\\\"')
    computers("first", tmp_path)
    with opened(url, first) as ledger:
        assert ledger.budget("people").remaining.epsilon == 0.5
        ledger.verify()
    assert (first / "ledger.journal").read_bytes() == (second / "ledger.journal").read_bytes()


@pytest.mark.parametrize("counted", ["all that it lacks", "its own"])
@pytest.mark.parametrize("lacks", ["an answer", "many records"])
def test_nothing_is_charged_at_a_computer_whose_journal_has_no_room_for_what_others_wrote(
    counted: str,
    lacks: str,
    server: PrivateServer,
    tmp_path: Path,
    computers: Computers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its disk had room for its own record, and the charge was made; where that alone is counted it is again."""
    url, first = server.new_schema(), computers("first", tmp_path)
    one = opened(url, first, create=True)
    one.open_budget("people", epsilon=1.0)
    with opened(url, computers("second", tmp_path)) as other:
        assert other._store.journal is not None
        path = other._store.journal.path
        behind = path.read_bytes()
        if lacks == "an answer":
            one.charge("a", "people", Cost.pure(0.25), "?")
            one.begin_draw("a")
            one.store_answer("a", '"' * 30_000)
        else:
            for number in range(300):
                one.open_budget(f"others {number}", epsilon=1.0)
        if counted == "its own":
            must_fit = journals.Journal.must_fit

            def its_own(journal: journals.Journal, found: Iterable[Record]) -> None:
                with monkeypatch.context() as alone:
                    alone.setattr(journals.Journal, "_linked", lambda _, records: iter(records))
                    must_fit(journal, list(found)[-1:])

            monkeypatch.setattr(journals.Journal, "must_fit", its_own)
        told = "disk is full" if counted == "all that it lacks" else stores.RECORDED
        with monkeypatch.context() as full:
            full_at(full, path, 70_000)
            for number in range(2):
                with pytest.raises(LedgerError, match=told):
                    other.charge(f"b{number}", "people", Cost.pure(0.25), "?")
        mine = [record.request_id for record in one.records() if record.request_id.startswith("b")]
        assert (mine == []) is (counted == "all that it lacks")
        assert path.read_bytes() == behind, "nor is a line broken off"
        other.charge("b0", "people", Cost.pure(0.25), "?")
        other.verify()
        assert path.read_bytes().count(b"\n") == len(one.records())
    one.close()


def full_at(patch: pytest.MonkeyPatch, journal: Path, free: int) -> None:
    """The journal's disk has so many bytes free, and takes no more."""
    whole, write = journal.stat().st_size + free, journals._write_all

    def written(handle: int, data: bytes) -> None:
        if os.lseek(handle, 0, os.SEEK_CUR) + len(data) > whole:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(handle, data)

    patch.setattr(journals, "_write_all", written)
    patch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=whole - journal.stat().st_size))


def test_a_receipt_of_another_computer_is_genuine_here(
    server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    url = server.new_schema()
    first, second = computers("first", tmp_path), tmp_path / "second"
    with opened(url, first, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        second = computers("second", tmp_path)
        with opened(url, second) as other:
            receipt = other.charge("b", "people", Cost.pure(0.25), "?")
        computers("first", tmp_path)
        assert ledger.confirms(receipt), "this computer has not written since"
        assert ledger.confirms(receipt.to_json())
        assert not ledger.confirms(receipt.to_json().replace('"b"', '"c"'))
        ledger.verify()


def test_a_computer_that_lost_its_journal_does_not_pass_for_a_new_one(
    server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    url, first = server.new_schema(), computers("first", tmp_path)
    with opened(url, first, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
    (first / "ledger.journal").unlink()
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        opened(url, first)


def test_computers_that_come_before_the_first_record_all_go_on(
    server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    """A service that is brought up on two hosts at once; the first click at one of them closed the other for good."""
    url, first = server.new_schema(), computers("first", tmp_path)
    with ExitStack() as opens:
        one, again = opens.enter_context(opened(url, first, create=True)), opens.enter_context(opened(url, first))
        second = computers("second", tmp_path)
        other, restarted = opens.enter_context(opened(url, second)), opens.enter_context(opened(url, second))
        computers("first", tmp_path)
        one.open_budget("people", epsilon=1.0)
        again.charge("a", "people", Cost.pure(0.25), "?")
        computers("second", tmp_path)
        other.charge("b", "people", Cost.pure(0.25), "?")
        restarted.charge("c", "people", Cost.pure(0.25), "?")
        with opened(url, second) as later:
            assert later.remaining("people").epsilon == 0.25
        computers("first", tmp_path)
        for ledger in (one, again):
            ledger.verify()
    assert (first / "ledger.journal").read_bytes() == (second / "ledger.journal").read_bytes()
    assert (first / "ledger.journal").read_text().count("joined") == 1
    for name, folder in (("first", first), ("second", second)):
        computers(name, tmp_path)
        (folder / "ledger.journal").unlink()
        with pytest.raises(LedgerUnsound, match="journal is missing"):
            opened(url, folder)


def test_one_that_is_started_again_before_it_wrote_anything_joins(
    server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    url, first = server.new_schema(), computers("first", tmp_path)
    with opened(url, first, create=True) as ledger:
        second = computers("second", tmp_path)
        opened(url, second).close()
        computers("first", tmp_path)
        ledger.open_budget("people", epsilon=1.0)
    computers("second", tmp_path)
    with opened(url, second) as ledger:
        ledger.charge("b", "people", Cost.pure(0.25), "?")
    (second / "ledger.journal").unlink()
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        opened(url, second)


def test_the_first_record_of_another_in_the_very_moment_is_asked_again(
    server: PrivateServer, tmp_path: Path, computers: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, first = server.new_schema(), computers("first", tmp_path)
    with opened(url, first, create=True) as one, opened(url, computers("second", tmp_path)) as other:
        one.open_budget("people", epsilon=1.0)
        with monkeypatch.context() as patch:
            patch.setattr(stores.Store, "_begin", lambda *_: None)
            with pytest.raises(LedgerError, match="ask again"):
                other.charge("b", "people", Cost.pure(0.25), "?")
        other.charge("b", "people", Cost.pure(0.25), "?")


def test_the_check_notices_a_computer_that_is_closed_for_good(
    server: PrivateServer, tmp_path: Path, computers: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_NOT_YET", "as it was: taken for one that had a journal")
    monkeypatch.setattr(places.Place, "is_new_here", lambda *_: False)
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        test_computers_that_come_before_the_first_record_all_go_on(server, tmp_path, computers)


def looked(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is drawn, more than a minute after the last look at what other computers wrote."""
    follows = ledger._store.following
    assert follows is not None
    with monkeypatch.context() as patch:
        patch.setattr(follows, "_next", 0.0)
        ledger.budgets()
        follows.thread.rest(LONG)
        assert not follows.thread.works


def set_back(server: PrivateServer, name: str, copy: str) -> None:
    with psycopg.connect(host=str(server.folder), port=PORT, user="ledger", dbname="postgres", autocommit=True) as db:
        db.execute(f'DROP DATABASE IF EXISTS "{name}"')
        db.execute(f'CREATE DATABASE "{name}" TEMPLATE "{copy}"')


def test_a_database_that_was_set_back_is_noticed_by_a_computer_that_has_only_looked(
    server: PrivateServer, tmp_path: Path, computers: Computers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another computer spent since the copy was spent once more by one that had written nothing since."""
    url = server.new_database()
    name = url.split("/")[3].split("?")[0]
    first = computers("first", tmp_path)
    with opened(url, first, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
    second = computers("second", tmp_path)
    opened(url, second).close()
    computers("first", tmp_path)
    opened(url, first).close()
    set_back(server, f"{name}_copy", name)
    looking = opened(url, first)
    with opened(url, computers("second", tmp_path)) as other:
        other.charge("b", "people", Cost.pure(1.0), "?")
    before = (first / "ledger.journal").stat().st_size
    assert looking.remaining("people").epsilon == 0.0
    assert (first / "ledger.journal").stat().st_size == before, "one look in a minute is enough"
    looked(looking, monkeypatch)
    assert (first / "ledger.journal").stat().st_size > before
    looking._store.engine.dispose()
    set_back(server, name, f"{name}_copy")
    assert looking.remaining("people").epsilon == 1.0
    looked(looking, monkeypatch)
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        looking.budgets()
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        looking.charge("c", "people", Cost.pure(1.0), "?")
    looking.close()
    computers("first", tmp_path)
    with pytest.raises(LedgerUnsound, match="older than its journal"):
        opened(url, first)


def test_nobody_waits_while_what_others_wrote_is_written_down(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that is held, or a server that does not answer, is for the next look; one looks at a time."""
    with opened(server.new_schema(), tmp_path, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        follows = ledger._store.following
        assert follows is not None
        monkeypatch.setattr(follows, "_next", 0.0)
        ledger._store.patience = 0.5
        with exclusive(ledger._store.lock):
            assert ledger.remaining("people").epsilon == 1.0
            thread = follows.thread._thread
            monkeypatch.setattr(follows, "_next", 0.0)
            assert ledger.remaining("people").epsilon == 1.0
            assert follows.thread._thread is thread
            assert thread is not None
            thread.join(LONG)
        ledger.verify()


def test_a_second_computer_does_not_join_what_is_not_sound(
    server: PrivateServer, tmp_path: Path, computers: Computers
) -> None:
    url, first = server.new_schema(), computers("first", tmp_path)
    with opened(url, first, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("a", "people", Cost.pure(0.25), "?")
    engine = create_engine(url)
    with engine.begin() as connection:
        unguarded(connection, "UPDATE accounts SET spent_epsilon = 0")
    engine.dispose()
    second = computers("second", tmp_path)
    with pytest.raises(LedgerUnsound, match="totals do not match"):
        opened(url, second)
    assert not (second / "ledger.journal").exists()


def test_a_server_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be reached"):
        opened(f"postgresql+psycopg://ledger@/postgres?host={tmp_path}&port={PORT}", tmp_path)
