"""Whoever comes to a ledger on a server holds its head for a moment: not while it reads or checks the whole, and where
it freezes meanwhile not without end."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, text

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, engine, verify
from dpcore.ledger import journal as journals
from dpcore.ledger import store as stores
from dpcore.ledger.journal import Journal
from dpcore.ledger.records import Record
from dpcore.ledger.recovery import restore
from dpcore.ledger.verify import Replay, stored_records
from dpcore.sketches import Sketch
from tests.ledger.conftest import Computers, Place, unguarded
from tests.ledger.test_ledger_compared import marks
from tests.ledger.test_ledger_server import full_at, opened
from tests.ledger.test_ledger_soundness import edit

MANY, PORTION, FEW = 100, 5, 30
"""Records that others wrote, how many of them are read at once, and what a click may read."""
KEEPS_OTHERS_OUT = re.compile(r"FOR NO KEY UPDATE\s*$|^\s*(INSERT|UPDATE|CREATE TABLE|ALTER TABLE|LOCK)\b")


@dataclass
class Held:
    """Of each transaction that keeps writers waiting: what it reads meanwhile, rows and lines of a journal, and for how
    long the server lets it be idle."""

    read: list[int] = field(default_factory=list)
    idle: set[str] = field(default_factory=set)
    now: dict[int, int] = field(default_factory=dict)

    def asked(self, connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        mine = id(connection)
        if KEEPS_OTHERS_OUT.search(statement):
            self.now.setdefault(mine, 0)
        if mine in self.now and cursor.description is not None:
            self.now[mine] += cursor.rowcount

    def ending(self, connection: Connection) -> None:
        if id(connection) in self.now:
            self.idle.add(str(connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar()))
            self.ended(connection)

    def ended(self, connection: Connection) -> None:
        self.read += [self.now.pop(one) - 1 for one in {id(connection)} & self.now.keys()]

    def line(self) -> None:
        self.now = {one: number + 1 for one, number in self.now.items()}


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Notes within a block all that keeps writers waiting."""
    parse = journals._parse
    monkeypatch.setattr(verify, "_BATCH", PORTION)

    @contextmanager
    def noted() -> Iterator[Held]:
        found = Held()
        with monkeypatch.context() as patch:
            patch.setattr(journals, "_parse", lambda raw: (found.line(), parse(raw))[1])
            listens = (("after_cursor_execute", found.asked), ("commit", found.ending), ("rollback", found.ended))
            for name, listener in listens:
                event.listen(Engine, name, listener)
            try:
                yield found
            finally:
                for name, listener in listens:
                    event.remove(Engine, name, listener)
        assert not found.now
        assert found.read, "nothing was written"

    return noted


@dataclass
class Network:
    """A ledger on a server, and who is at it."""

    url: str
    folder: Path
    at: Computers
    until: ExitStack

    def open(self, name: str) -> Ledger:
        return self.until.enter_context(opened(self.url, self.at(name, self.folder)))

    def first_writes(self, number: int = MANY) -> None:
        ledger = self.open("first")
        ledger.open_budget("people", epsilon=1.0)
        with ledger._store.writing() as connection:
            for _ in range(number):
                ledger._store.append(connection, "restore", body={"records": 0, "journal": "kept"})


@pytest.fixture
def network(server: PrivateServer, tmp_path: Path, computers: Computers) -> Iterator[Network]:
    with ExitStack() as until:
        made = Network(server.new_schema(), tmp_path, computers, until)
        opened(made.url, computers("first", tmp_path), create=True).close()
        yield made


def charged(ledger: Ledger) -> None:
    ledger.charge("b", "people", Cost.pure(0.25), "?")


def begun(network: Network) -> Ledger:
    """The second computer's, which has a journal of it."""
    network.open("first").open_budget("others", epsilon=1.0)
    return network.open("second")


def comes_back(network: Network) -> Callable[[], object]:
    begun(network).close()
    network.first_writes()
    return lambda: network.open("second")


def stayed(act: Callable[[Ledger], object]) -> Callable[[Network], Callable[[], object]]:
    def before(network: Network) -> Callable[[], object]:
        other = begun(network)
        network.first_writes()
        return lambda: act(other)

    return before


def written_down_by_another_program(network: Network) -> Callable[[], object]:
    other = begun(network)
    beside = network.open("second")
    network.first_writes()
    beside._store.follow()
    return lambda: charged(other)


def joins(network: Network) -> Callable[[], object]:
    network.first_writes()
    return lambda: network.open("second")


def came_before_the_first_record(network: Network) -> Callable[[], object]:
    other = network.open("second")
    network.first_writes()
    network.at("second", network.folder)
    return lambda: charged(other)


def looks_again(ledger: Ledger) -> None:
    """A check whose first look found something."""
    looks = list[str]()
    checked = verify.verify_database

    def torn(connection: Connection) -> Replay:
        looks.append("a look")
        if len(looks) == 1:
            raise LedgerUnsound(verify.BROKEN_CHAIN)
        return checked(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stores, "verify_database", torn)
        ledger.verify()
    assert len(looks) == 2


COMES = {
    "starts again": comes_back,
    "clicks": stayed(charged),
    "follows": stayed(lambda ledger: ledger._store.follow()),
    "checks": stayed(lambda ledger: ledger.verify()),
    "checks again": stayed(looks_again),
    "clicks beside a program that followed": written_down_by_another_program,
    "joins": joins,
    "joins with its first click": came_before_the_first_record,
}


@pytest.mark.parametrize("how", COMES)
def test_whoever_comes_keeps_nobody_waiting_while_it_reads(how: str, network: Network, held: Callable[[], Any]) -> None:
    """A computer that was away for a week, or that joined, had everybody else refused for as long as it read."""
    act = COMES[how](network)
    with held() as found:
        act()
    assert max(found.read) <= FEW
    assert found.idle <= {"10s"}
    for name in ("first", "second"):
        with opened(network.url, network.at(name, network.folder)) as ledger:
            assert ledger.verify().seq >= MANY
    journal = [(network.folder / name / "ledger.journal").read_bytes() for name in ("first", "second")]
    shorter, longer = sorted(journal, key=len)
    assert longer.startswith(shorter)


@pytest.mark.parametrize("how", sorted(COMES.keys() - {"clicks beside a program that followed"}))
def test_one_that_keeps_the_others_waiting_is_found_out(
    how: str, network: Network, held: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def keeping(of: Engine) -> Iterator[Connection]:
        with engine.writing(of) as connection:
            connection.execute(stores._HEAD)
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout TO 0"))
            yield connection

    act = COMES[how](network)
    monkeypatch.setattr(stores, "snapshot", keeping)
    with held() as found:
        act()
    assert max(found.read) >= MANY
    assert "0" in found.idle


def test_a_journal_that_is_read_meanwhile_is_found_out(network: Network, held: Callable[[], Any]) -> None:
    network.first_writes()
    ledger = network.open("first")
    assert ledger.journal_path is not None
    with held() as found, ledger._store.writing():
        Journal(ledger.journal_path).read_on()
    with held() as rows, ledger._store.writing() as connection:
        list(stored_records(connection))
    assert min(found.read[-1], rows.read[-1]) >= MANY


@pytest.mark.parametrize(("letters", "waited"), [(10, True), (300_000, False)])
def test_of_what_others_wrote_little_is_read_while_all_wait(
    letters: int, waited: bool, network: Network, held: Callable[[], Any]
) -> None:
    """One large answer, over a slow line, was not there in the time that a click has: that computer was out for good,
    and kept all others from being charged with each of its tries."""
    other, first = begun(network), network.open("first")
    charged_to = first.charge("large", "others", Cost.pure(0.25), "?")
    assert charged_to is not None
    first.store_answer("large", "x" * letters)
    journal = other._store.journal
    assert journal is not None
    with other._store.writing() as connection:
        assert (connection.info["head"][0] > journal.seq) == waited
    assert other.receipt("large") is not None


@pytest.mark.parametrize(("near", "waited"), [(stores._NEAR, True), (1 << 16, False)])
def test_what_is_linked_is_little(
    near: int, waited: bool, network: Network, monkeypatch: pytest.MonkeyPatch, held: Callable[[], Any]
) -> None:
    """A link is 74 kB: where files are linked one after the other and that is too much, every other computer's writers
    are refused, whatever its line is."""
    monkeypatch.setattr(stores, "_NEAR", near)
    other, first = begun(network), network.open("first")
    for number in range(3 if waited else 1):
        first.link(f"a file {number}", "others", Sketch(combinations=(marks(16),)))
    journal = other._store.journal
    assert journal is not None
    with other._store.writing() as connection:
        assert (connection.info["head"][0] > journal.seq) == waited


def lags_behind(network: Network, patch: pytest.MonkeyPatch, other: Ledger, looks: list[str]) -> None:
    """A copy of the database answers who reads, and what was written is not in it yet."""
    patch.setattr(Journal, "catch_up", lambda journal, records: looks.append("a look"))


def is_overtaken(network: Network, patch: pytest.MonkeyPatch, other: Ledger, looks: list[str]) -> None:
    """While it reads one large answer another one is written."""
    first, catch_up = network.open("first"), Journal.catch_up

    def overtaken(journal: Journal, records: Iterator[Record]) -> None:
        catch_up(journal, records)
        if journal is other._store.journal:
            looks.append("a look")
            another = Ledger.new_lineage()
            first.charge(another, "others", Cost.pure(0.001), "?")
            first.store_answer(another, "x" * 200_000)

    patch.setattr(Journal, "catch_up", overtaken)


@pytest.mark.parametrize("how", [lags_behind, is_overtaken])
def test_whoever_does_not_come_up_with_the_others_is_told(
    how: Callable[..., None], network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looked again and again without end, and let no other program of its computer write meanwhile."""
    other, looks = begun(network), list[str]()
    network.first_writes()
    monkeypatch.setattr(stores, "_NEAR", 1000)
    with monkeypatch.context() as patch:
        how(network, patch, other, looks)
        for most in (3, 5):
            patch.setattr(stores, "_MOST_TRIES", most)
            looks.clear()
            with pytest.raises(LedgerError, match="faster than this computer can read") as refused:
                other._store.follow()
            assert type(refused.value) is LedgerError, "which closes nothing"
            assert len(looks) == most, "or that bound is not what ends it"
    charged(other)
    other.verify()


@pytest.mark.parametrize(("patience", "most"), [(25.0, 4), (45.0, 6), (1e9, 20)])
def test_nor_for_longer_than_a_program_waits_for_another(
    patience: float, most: int, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty looks at ten seconds each let nobody at that computer write for minutes. The first look takes what it
    takes, for whoever was away."""
    other, looks = begun(network), list[str]()
    network.first_writes()
    monkeypatch.setattr(stores, "_NEAR", 1000)
    monkeypatch.setattr(other._store, "patience", patience)
    with monkeypatch.context() as patch:
        is_overtaken(network, patch, other, looks)
        patch.setattr(stores.time, "monotonic", lambda: 10.0 * len(looks))
        with pytest.raises(LedgerError, match="faster than this computer can read"):
            other._store.follow()
    assert len(looks) == most
    charged(other)
    other.verify()


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """A block in which no journal has room for a line more."""

    def refused(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    @contextmanager
    def disk() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(journals, "_take", refused)
            yield

    return disk


def test_a_computer_that_has_no_room_to_join_leaves_no_record(network: Network, full: Callable[[], Any]) -> None:
    """Each page that was looked at there left one more in everybody's ledger."""
    first = network.open("first")
    first.open_budget("people", epsilon=1.0)
    before = first.verify().seq
    with full():
        for _ in range(3):
            with pytest.raises(LedgerError, match="disk is full"):
                network.open("second")
    assert first.verify().seq == before
    network.open("second")
    assert first.verify().seq == before + 1, "then it says that it joined"


def test_one_whose_first_record_found_no_room_joins_what_another_began(
    network: Network, full: Callable[[], Any]
) -> None:
    """It took the empty file that was left for its journal, and later for one that was lost."""
    second = network.open("second")
    with full(), pytest.raises(LedgerError, match="disk is full"):
        second.open_budget("mine", epsilon=1.0)
    second._store.follow()
    network.open("first").open_budget("people", epsilon=1.0)
    second.open_budget("mine", epsilon=1.0)
    assert second.verify().seq == 3


def test_whoever_writes_much_is_not_waited_for_without_end(
    network: Network, server: PrivateServer, held: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """New tables, and a ledger that is brought back, take their time; a client that froze has a minute of it."""
    network.first_writes(PORTION)
    path = network.folder / "first" / "ledger.journal"

    def written() -> set[str]:
        with held() as found:
            opened(server.new_schema(), network.folder).close()
            path.write_bytes(path.read_bytes()[:-9])
            restore(network.url, journal=path, new_journal=True)
        idle: set[str] = found.idle
        return idle

    assert written() == {"10s", "1min"}
    monkeypatch.setattr(engine, "_WRITES_MUCH_SECONDS", 0)
    assert "0" in written()


def test_a_computer_that_comes_back_to_a_full_disk_breaks_no_line_off(
    network: Network, held: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = begun(network)
    network.first_writes(400)
    path = other.journal_path
    assert path is not None
    with monkeypatch.context() as full:
        full_at(full, path, 70_000)
        with pytest.raises(LedgerError, match="disk is full"):
            charged(other)
    assert path.read_bytes().endswith(b"\n")
    charged(other)
    other.verify()


def test_records_that_are_not_there_are_not_waited_for(place: Place) -> None:
    """The head says that there are more than the journal has, and there are none."""
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        edit(place, lambda connection: unguarded(connection, "UPDATE head SET seq = seq + 5"))
        with pytest.raises(LedgerUnsound, match="do not follow one another"):
            charged(ledger)
