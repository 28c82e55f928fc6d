"""What a writer reads while all other computers wait for it is little, whatever the ledger holds: over a slow line a
large answer is there in no moment, so that its own computer lost it and kept everybody else from being charged."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event

from benchmarks.private_postgresql import PrivateServer
from dpcore.costs import Cost
from dpcore.datasets import sketch
from dpcore.ledger import Known, Ledger, charging, history
from dpcore.ledger import store as stores
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.people import Brought
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record
from dpcore.ledger.store import Store
from dpcore.ledger.verify import stored_records
from tests.ledger.conftest import Computers
from tests.ledger.patients import ISSUER, furnished, guessed, patients, person, reading
from tests.ledger.test_ledger_server import opened

LITTLE = 2 * stores._NEAR
LARGE = "x" * (2 * LITTLE)
PRICE = Cost.pure(0.001)
TOKEN = "t" * 32


@dataclass
class Held:
    """How many bytes each transaction reads from when it has the head."""

    read: list[int] = field(default_factory=list)
    now: dict[int, int] = field(default_factory=dict)

    def asked(self, connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if "FOR NO KEY UPDATE" in statement:
            self.now[id(connection)] = 0
        if id(connection) in self.now and cursor.description is not None:
            found = cursor.pgresult
            cells = (found.get_value(row, at) for row in range(found.ntuples) for at in range(found.nfields))
            self.now[id(connection)] += sum(len(cell or b"") for cell in cells)

    def ended(self, connection: Connection) -> None:
        self.read += [self.now.pop(one) for one in {id(connection)} & self.now.keys()]


@pytest.fixture
def held() -> Iterator[Held]:
    found = Held()
    listens = (("after_cursor_execute", found.asked), ("commit", found.ended), ("rollback", found.ended))
    for name, listener in listens:
        event.listen(Engine, name, listener)
    yield found
    for name, listener in listens:
        event.remove(Engine, name, listener)


@dataclass
class Place:
    """One ledger at two computers: of real people, with large answers of which ``other`` knows nothing yet."""

    first: Ledger
    other: Ledger
    numbers: int = 0

    @property
    def anna(self) -> MembersLedger:
        return person(self.other, "anna")

    @property
    def olga(self) -> MembersLedger:
        return person(self.other, "olga")

    def request(self) -> str:
        self.numbers += 1
        return f"r{self.numbers}"

    def charged(self, question: str = "q") -> str:
        """At the first computer, so that the other one's journal lacks it."""
        name = self.request()
        person(self.first, "anna").charge(
            name, "people", PRICE, "?", mechanism="m", neighbours="add_remove", question=question
        )
        self.first.begin_draw(name)
        return name

    def answered(self, question: str = "q") -> str:
        name = self.charged(question)
        self.first.store_answer(name, LARGE)
        self.other._store.follow()
        self.charged(question)
        return name

    def again(self, name: str, known: Known | None = None) -> Any:
        return self.anna.charge(
            name, "people", PRICE, "?", mechanism="m", neighbours="add_remove", question="q", known=known
        ).answer

    def practice(self) -> str:
        return self.other.open_practice(TOKEN, "clinic", epsilon=1.0).lineage

    def file(self, value: str) -> Brought:
        found = reading(guessed(patients(), value))
        because = "These are the patients of another clinic."
        marks = sketch(found, self.other.sketch_key)
        return Brought(fingerprint=found.fingerprint, sketch=marks, because=because)

    def asked(self) -> str:
        name = self.request()
        self.anna.ask(name, "people", Cost.pure(0.5), "?", mechanism="m", neighbours="add_remove")
        return name


@pytest.fixture
def place(server: PrivateServer, tmp_path: Path, computers: Computers) -> Iterator[Place]:
    with ExitStack() as until:
        url = server.new_schema()
        first = until.enter_context(opened(url, computers("first", tmp_path), create=True))
        furnished(first, patients())
        found = Place(first, until.enter_context(opened(url, computers("second", tmp_path))))
        person(first, "olga").set_limit("people", 0.1)
        found.answered()
        yield found


def stores_one_of_its_own(place: Place) -> None:
    name = place.charged()
    assert place.anna.store_answer(name, [LARGE]).answer == [LARGE]


def finds_one_that_stands(place: Place) -> None:
    assert place.anna.store_answer(place.answered(), "another").answer == LARGE


def finds_its_own(place: Place) -> None:
    """Whose word was lost."""
    put = charging._Put(place.other._store, place.charged(), LARGE, lambda: None, lambda receipt: None)
    put()
    assert put().answer_hash


def goes_on_after_a_crash(place: Place) -> None:
    """In the midst of its journal's line of a large answer."""
    name, journal = place.charged(), place.other._store.journal
    assert journal is not None
    place.other.store_answer(name, LARGE)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-9])
    with opened(str(place.other._store.engine.url.render_as_string(hide_password=False)), journal.path.parent) as again:
        again._store.follow()
    assert journal.path.read_bytes() == whole
    journal.read_on()


def confirms(place: Place) -> None:
    name = place.charged()
    place.first.store_answer(name, LARGE)
    found = place.first.receipt(name)
    assert found is not None
    assert place.other.confirms(found)


def decides(place: Place) -> None:
    place.olga.grant(place.asked())
    place.olga.refuse(place.asked(), "No, not now.")
    place.anna.withdraw(place.asked())


def practises(place: Place) -> None:
    lineage = place.practice()
    place.other.reset_practice(lineage)
    place.other.resize_practice(lineage, epsilon=2.0)
    place.other.undo_reset(lineage)


def brings_files(place: Place) -> None:
    otto = person(place.other, "otto")
    for value in ("flu", "hiv"):
        otto.open_budget(f"mine {value}", epsilon=1.0, file=place.file(value))
        otto.link(place.file("none" + value).fingerprint, f"mine {value}")
    otto.join(place.file("asthma"), "mine hiv")
    otto.say_others(place.file("cancer"), "mine hiv", than="mine flu")


def changes_terms(place: Place) -> None:
    place.olga.rename("people", "Others")
    place.olga.share("people", "vera" + ISSUER, "see")
    place.olga.set_limit("people", 0.2)
    place.first.give_roles("vera" + ISSUER, ["viewer"])
    place.other.give_roles("vera" + ISSUER, ["analyst"])
    place.olga.open_budget("to end", epsilon=1.0)
    place.olga.end_budget("to end")


WRITES: dict[str, Callable[[Place], object]] = {
    "stores an answer": stores_one_of_its_own,
    "stores one where another stands": finds_one_that_stands,
    "stores one again": finds_its_own,
    "goes on after a crash": goes_on_after_a_crash,
    "charges again": lambda place: place.again(place.answered()) == LARGE,
    "charges a question that was answered": lambda place: place.again(place.request(), Known()) == LARGE,
    "begins to draw": lambda place: place.anna.begin_draw(place.answered()),
    "follows": lambda place: place.other._store.follow(),
    "checks": lambda place: place.other.verify(),
    "confirms": confirms,
    "decides": decides,
    "practises": practises,
    "brings files": brings_files,
    "changes terms": changes_terms,
}


def most_read(place: Place, held: Held, name: str) -> int:
    """Bytes that one of these reads at most while all others wait; each is at a computer that lacks a little."""
    place.answered()
    held.read.clear()
    assert WRITES[name](place) is not False, name
    return max(held.read)


@pytest.mark.thorough
def test_whoever_writes_reads_little_while_all_others_wait(
    place: Place, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the program writes."""
    found, writing = set[str](), Store.writing

    def noted(store: Store, *given: Any, **more: Any) -> AbstractContextManager[Connection]:
        code = sys._getframe(1).f_code
        found.add(f"{Path(code.co_filename).stem}.{code.co_name}")
        return writing(store, *given, **more)

    monkeypatch.setattr(Store, "writing", noted)
    assert {name: many for name in WRITES if (many := most_read(place, held, name)) > LITTLE} == {}
    assert places_that_write() <= found
    assert place.other.verify().seq == place.first.verify().seq


@pytest.mark.thorough
def test_these_tests_can_fail(place: Place, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: an answer was read back for its receipt, and others' records for what follows a line."""
    told, compare = history.without_answer, Store._compare

    def whole(connection: Connection, request_id: str) -> tuple[Receipt | None, history.Place | None]:
        return history.receipt(connection, request_id), told(connection, request_id)[1]

    def following(store: Store, connection: Connection, record: Record | None) -> None:
        compare(store, connection, record)
        assert store.journal is not None
        next(stored_records(connection, after=store.journal.seq - 2), None)

    with monkeypatch.context() as patch:
        patch.setattr(history, "without_answer", whole)
        for name in ("stores one where another stands", "stores one again", "charges again", "begins to draw"):
            assert most_read(place, held, name) > LITTLE, name
        assert most_read(place, held, "charges a question that was answered") > LITTLE
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_compare", following)
        assert most_read(place, held, "goes on after a crash") > LITTLE


def places_that_write() -> set[str]:
    """By file and function."""
    found = set[str]()
    for path in Path(stores.__file__).parent.glob("*.py"):
        for one in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(one, ast.FunctionDef):
                within = [call.func for call in ast.walk(one) if isinstance(call, ast.Call)]
                if any(isinstance(called, ast.Attribute) and called.attr == "writing" for called in within):
                    found.add(f"{path.stem}.{one.name}")
    assert "charging._charged" in found
    return found
