"""An answer that was paid for and drawn is stored although the ledger is away for a moment, and is drawn once."""

from __future__ import annotations

import errno
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.costs import Cost
from dpcore.errors import DpcoreError, InvalidArgument, LedgerError, LedgerUnsound, NotAllowed
from dpcore.ledger import Known, Ledger, kept
from dpcore.ledger import store as stores
from dpcore.ledger.engine import UNREACHABLE
from dpcore.ledger.kept import KEPT, Kept
from dpcore.ledger.lock import exclusive
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.visitor import VisitorsLedger
from dpcore.release import TICK, release
from tests.ledger.conftest import Place
from tests.ledger.patients import ISSUER, person

CANARY = 7391
LONG = 60.0  # seconds: what nobody would wait
TOKEN = "t" * 32
Writing = Callable[..., AbstractContextManager[Connection]]
Away = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Number:
    """Draws the next number each time; what the tests release."""

    mechanism: ClassVar[str] = "None"
    neighbours: ClassVar[str] = "add_remove"
    what: ClassVar[str] = "Which number?"
    cost: ClassVar[Cost] = Cost.pure(0.1)

    def answer(self, rows: Iterator[int]) -> int:
        return next(rows)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "APART", 0.02)
    monkeypatch.setattr("dpcore.release.TICK", 0.01)


@pytest.fixture
def people(ledger: Ledger) -> Ledger:
    ledger.open_budget("people", epsilon=1.0)
    return ledger


@pytest.fixture(params=["lost", "lost after it was stored", "full", "held"])
def away(request: pytest.FixtureRequest, people: Ledger, monkeypatch: pytest.MonkeyPatch) -> Away:
    """Nothing can be written for as long as this is entered, in each way in which that passes."""
    writing: Writing = stores.writing
    store = people._store
    lost = OperationalError("INSERT", {}, Exception("the connection is closed"), connection_invalidated=True)

    @contextmanager
    def refusing(engine: Engine, **options: Any) -> Iterator[Connection]:
        if request.param == "lost after it was stored":
            with writing(engine, **options) as connection:
                yield connection
        raise OSError(errno.ENOSPC, "no room") if request.param == "full" else lost

    def looked(engine: Engine) -> Any:
        raise lost

    @contextmanager
    def all_of_it() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(store, "patience", 0.01)
            patch.setattr("dpcore.ledger.charging.PATIENCE", 0.01)
            if request.param == "held":
                with exclusive(store.lock):
                    yield
                return
            patch.setattr(stores, "writing", refusing)
            if request.param == "lost after it was stored":  # and nobody can look whether it was
                patch.setattr(stores, "reading", looked)
            yield

    return all_of_it


def stored(ledger: Ledger, request_id: str) -> Any:
    """The answer, once the ledger has it and nobody tries to store it any more."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        with suppress(LedgerError):
            found = ledger.receipt(request_id)
            if found is not None and found.answer_hash is not None and not ledger._store.kept.holds(request_id):
                return found.answer
        time.sleep(0.01)
    pytest.fail("the answer was thrown away")


def drawn(
    ledger: Ledger, away: Away, request_id: str, rows: Iterator[int], told: Callable[[], None] = lambda: None
) -> None:
    """A release whose answer the ledger cannot take."""

    class Last(Number):
        def answer(self, rows: Iterator[int]) -> int:
            until.__enter__()
            return super().answer(rows)

    until = away()
    try:
        with pytest.raises(LedgerError) as refused:
            release(ledger, request_id, "people", Last(), rows, drawn=told)
        assert str(refused.value) == KEPT
        assert refused.value.__context__ is None, "what the database says of a statement holds the answer"
        assert ledger._store.kept.holds(request_id)
        time.sleep(5 * kept.APART)
        with pytest.raises(LedgerError):
            release(ledger, "another", "people", Number(), rows)
    finally:
        until.__exit__(None, None, None)


def test_an_answer_is_stored_once_the_ledger_is_back(people: Ledger, away: Away) -> None:
    drawn(people, away, "r", itertools.count(CANARY))
    assert stored(people, "r") == CANARY
    assert people.remaining("people").epsilon == pytest.approx(0.9)
    people.verify()


def test_it_is_drawn_once_and_paid_for_once(people: Ledger, away: Away, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whoever comes before it was tried again: with the same request, or with a new one for the same question."""
    monkeypatch.setattr(kept, "APART", LONG)
    rows, asked, store_answer = itertools.count(CANARY), Number(), Ledger.store_answer

    class Off(Ledger):
        def store_answer(self, *asked: Any, **told: Any) -> Any:
            with away():
                return store_answer(self, *asked, **told)

    with pytest.raises(LedgerError, match=KEPT):
        release(Off(people._store), "r", "people", asked, rows)
    with away(), pytest.raises(LedgerError, match=KEPT):
        people.charge("r", "people", asked.cost, asked.what)
    people._store._lost = None  # as after five seconds
    assert release(people, "late", "people", asked, rows, known=Known()).answer == CANARY
    assert release(people, "r", "people", asked, rows).answer == CANARY
    assert next(rows) == CANARY + 1, "no other was drawn"
    assert people.count("people") == 1
    people.verify()


def test_who_drew_it_is_told_so_once_it_stands(people: Ledger, away: Away) -> None:
    """Also where the word of the server that it was stored was lost: until then another may be stored."""
    told: list[str] = []

    def now() -> None:
        found = Ledger.receipt(people, "r")
        told.append("charged" if found is None or found.answer_hash is None else "stored")

    drawn(people, away, "r", itertools.count(CANARY), now)
    assert stored(people, "r") == CANARY
    assert told == ["stored"]


def test_who_cannot_come_again_waits_for_it(people: Ledger, away: Away) -> None:
    """And is told before that it is waited for; to whoever does not say so it comes as a refusal."""
    told: list[str] = []
    until = away()

    class Last(Number):
        def answer(self, rows: Iterator[int]) -> int:
            until.__enter__()
            return super().answer(rows)

    def waits() -> None:
        told.append("waits")
        assert people._store.kept.holds("r")
        until.__exit__(None, None, None)

    found = release(
        people, "r", "people", Last(), itertools.count(CANARY), drawn=lambda: told.append("drawn"), waits=waits
    )
    assert found.answer == CANARY
    assert told == ["waits", "drawn"]
    people.verify()


def test_who_waits_for_an_answer_that_is_lost_is_told_so(people: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOR", 0.1)
    held = people._store.kept
    monkeypatch.setattr(held._thread, "_step", lambda: time.sleep(0.1) or held._are_left())
    monkeypatch.setattr(people._store, "reach", lambda: (_ for _ in ()).throw(LedgerError(UNREACHABLE)))
    with pytest.raises(LedgerError) as refused:
        release(people, "r", "people", Number(), itertools.count(CANARY), waits=lambda: None)
    assert str(refused.value) == kept.LOST
    assert refused.value.__context__ is None


def test_nobody_is_shown_another_s_answer_by_waiting_for_it(people: Ledger) -> None:
    release(people, "r", "people", Number(), itertools.count(CANARY))
    assert people.stored("r").answer == CANARY
    for view in (VisitorsLedger(people, TOKEN), person(people, "vera")):
        with pytest.raises(LedgerError):
            view.stored("r")


@pytest.mark.parametrize("alike", [False, True])
def test_where_another_replica_stored_one_first_it_alone_is_told(
    people: Ledger, place: Place, away: Away, monkeypatch: pytest.MonkeyPatch, *, alike: bool
) -> None:
    """Whichever answers the two drew."""
    monkeypatch.setattr(kept, "APART", LONG)
    rows, told = itertools.repeat(CANARY) if alike else itertools.count(CANARY), []
    asked, store_answer = Number(), Ledger.store_answer

    class Off(Ledger):
        def store_answer(self, *asked: Any, **more: Any) -> Any:
            with away():
                return store_answer(self, *asked, **more)

    with pytest.raises(LedgerError, match=KEPT):
        release(Off(people._store), "r", "people", asked, rows, drawn=lambda: told.append("first"))
    with place.open() as other:
        before = other.receipt("r")
        assert before is not None
        release(other, "r", "people", asked, rows, drawn=lambda: told.append("other"))
    people._store._lost = None  # as after five seconds
    assert release(people, "r", "people", asked, rows, drawn=lambda: told.append("again")).answer_hash
    assert told == (["other"] if before.answer_hash is None else ["first"])
    people.verify()


def test_a_word_that_is_lost_before_the_draw_takes_no_answer(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record says that the draw began, so that nobody else would draw it: who noted it goes on."""
    with Ledger.open(server.new_schema(), journal=tmp_path / "journal", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.1), "?")
        writing: Writing = stores.writing
        times = [0]

        @contextmanager
        def lost(engine: Engine, **options: Any) -> Iterator[Connection]:
            times[0] += 1
            with writing(engine, **options) as connection:
                yield connection
            if times[0] <= most:
                raise OperationalError("COMMIT", {}, Exception("the connection is closed"), connection_invalidated=True)

        monkeypatch.setattr(stores, "writing", lost)
        most = 1
        ledger.begin_draw("r")
        assert times == [1], "it is looked whether it was noted"
        assert ledger.receipt("r").state == "begun"
        times[0], most = 0, 9
        with pytest.raises(LedgerError, match=UNREACHABLE):
            ledger.begin_draw("r")
        assert times == [2], "a click is not kept waiting"


@pytest.mark.parametrize("who", ["anybody", "member", "visitor"])
def test_what_others_found_of_a_server_keeps_no_answer_out(people: Ledger, who: str) -> None:
    """A page that looked while the server was away kept everybody from asking it for five seconds."""
    whose, lineage = people, "people"
    if who == "member":
        people.give_roles("anna" + ISSUER, ["analyst"])
        people.share(lineage, "anna" + ISSUER, "ask")
        whose = person(people, "anna")
    if who == "visitor":
        whose = VisitorsLedger(people, TOKEN)
        lineage = whose.open_practice(TOKEN, "clinic", epsilon=1.0).lineage
    whose.charge("r", lineage, Cost.pure(0.1), "?")
    for step in (lambda: whose.begin_draw("r"), lambda: whose.store_answer("r", CANARY)):
        people._store._lost = (UNREACHABLE, time.monotonic() + LONG)
        step()
    assert stored(people, "r") == CANARY


def test_an_answer_that_is_not_theirs_is_not_kept(people: Ledger) -> None:
    people.charge("r", "people", Cost.pure(0.1), "?")
    for other in (person(people, "anna"), VisitorsLedger(people, TOKEN)):
        with pytest.raises(NotAllowed):
            other.begin_draw("r")
        with pytest.raises(NotAllowed):
            other.store_answer("r", 8)
    assert not people._store.kept.holds("r")
    assert people.receipt("r").state == "charged"


def may_ask(people: Ledger) -> tuple[MembersLedger, MembersLedger]:
    for name in ("anna", "arno"):
        people.give_roles(name + ISSUER, ["analyst"])
        people.share("people", name + ISSUER, "ask")
    return person(people, "anna"), person(people, "arno")


def test_nobody_takes_the_place_of_another_s_answer_while_the_ledger_is_away(
    people: Ledger, away: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor of one that was never charged, of which there is no end: whose it is cannot be asked then."""
    monkeypatch.setattr(kept, "APART", 0.1)
    anna, arno = may_ask(people)
    anna.charge("r", "people", Cost.pure(0.1), "?")
    anna.begin_draw("r")
    with away():
        others = (arno, VisitorsLedger(people, TOKEN))
        asked = [(other, name) for other in others for name in ("r", "never charged")]
        for other, name in [*asked, (people, "never charged")]:
            with pytest.raises(DpcoreError) as refused:
                other.store_answer(name, "forged")
            assert str(refused.value) != KEPT
        with pytest.raises(LedgerError, match=KEPT):
            anna.store_answer("r", CANARY)
    people._store._lost = None  # as after five seconds
    assert stored(people, "r") == CANARY


def test_a_draw_that_failed_is_forgotten_by_who_may_draw_it_again_alone(people: Ledger) -> None:
    """Else the next click of whose it is would pay once more."""
    anna, arno = may_ask(people)
    anna.charge("r", "people", Cost.pure(0.1), "?", question="q")
    anna.begin_draw("r")
    anna.draw_failed("r")
    for other in (arno, VisitorsLedger(people, TOKEN)):
        with pytest.raises(NotAllowed):
            other.begin_draw("r")
    assert [one.state for one in anna.unanswered("people", "q")] == ["failed"]
    anna.begin_draw("r")
    assert [one.state for one in anna.unanswered("people", "q")] == ["begun"]


class Clock:
    """A clock that moves only when slept on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def ended(of: Kept) -> None:
    """Its thread has ended by itself."""
    of._thread.rest(LONG)
    assert not of._thread.works


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(kept, "time", found)
    monkeypatch.setattr(kept, "APART", 1.0)
    return found


@pytest.mark.parametrize("late", [0.0, 0.137, 1.9])
def test_it_is_tried_on_a_grid_and_for_a_minute(clock: Clock, late: float) -> None:
    """However long the first try took: the time of its record tells when the server was back."""
    began, tried = clock.now, list[float]()
    clock.now += late

    def put() -> None:
        tried.append(clock.now - began)
        clock.now += 0.013 * len(tried)
        raise LedgerError(UNREACHABLE)

    held = Kept(lambda: None)
    assert held.take("r", put, size=1, began=began)
    ended(held)
    assert not held.holds("r")
    assert tried
    assert all(moment == pytest.approx(round(moment), abs=1e-6) for moment in tried)
    assert late + kept.FOR - 2 < tried[-1] < late + kept.FOR + 2
    assert kept.APART % TICK == 0, "ticks go on"


def test_a_server_that_is_away_is_asked_once_for_all(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, tried = [0], list[str]()

    def reach() -> None:
        asked[0] += 1
        if asked[0] < 5:
            raise LedgerError(UNREACHABLE)

    held, began = Kept(reach), clock.now
    with monkeypatch.context() as patch:  # until both are there
        patch.setattr(held._thread, "wake", lambda: None)
        for name in ("a", "b"):
            assert held.take(name, lambda name=name: tried.append(name), size=1, began=began)
    held._thread.wake()
    ended(held)
    assert tried == ["a", "b"]
    assert asked[0] == 5


@pytest.mark.parametrize("why", [NotAllowed("no"), InvalidArgument("answer", "no"), LedgerUnsound("closed")])
def test_what_waiting_does_not_mend_is_given_up_at_once(clock: Clock, why: DpcoreError) -> None:
    tried = [0]

    def refuse() -> None:
        tried[0] += 1
        raise why

    unsound = isinstance(why, LedgerUnsound)
    held = Kept(refuse if unsound else lambda: None)
    held.take("r", refuse, size=1, began=clock.now)
    ended(held)
    assert tried == [1]
    assert not held.holds("r")


def test_whoever_lacks_a_right_gives_up_nobody_elses(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is charged stores what is kept, under their own rights."""
    refused: list[Exception] = [NotAllowed("no")]

    def put() -> None:
        if refused:
            raise refused.pop()

    monkeypatch.setattr(Kept, "_try", lambda self: False)
    held = Kept(lambda: None)
    held.take("r", put, size=1, began=clock.now)
    held.settle("another")
    refused.append(NotAllowed("no"))
    with pytest.raises(LedgerError, match=KEPT):
        held.settle("r")
    held.settle("r")
    assert not held.holds("r")


def test_no_more_is_kept_than_there_is_room_for(people: Ledger, away: Away, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people._store.kept._thread, "_step", lambda: False)
    for name in ("a", "b", "c"):
        people.charge(name, "people", Cost.pure(0.1), "?")
        people.begin_draw(name)
    monkeypatch.setattr(kept, "MOST", 1)
    with away():
        for name in ("a", "a"):
            with pytest.raises(LedgerError, match=KEPT):
                people.store_answer(name, 1)
        monkeypatch.setattr(kept, "MOST", 2)
        monkeypatch.setattr(kept, "MOST_BYTES", 100)
        with pytest.raises(LedgerError) as refused:
            people.store_answer("b", "x" * 100)
        assert str(refused.value) != KEPT
        monkeypatch.setattr(kept, "MOST", 1)
        with pytest.raises(LedgerError) as refused:
            people.store_answer("c", 1)
        assert str(refused.value) != KEPT
    people._store._lost = None  # as after five seconds
    people.charge("d", "people", Cost.pure(0.1), "?")
    assert people.receipt("a").answer == 1


def test_what_is_kept_is_shown_nowhere(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where something fails that nobody foresaw."""
    tried = threading.Event()

    def put() -> None:
        if not tried.is_set():
            tried.set()
            raise RuntimeError(f"{CANARY}")

    held = Kept(lambda: None)
    held.take("r", put, size=1, began=time.monotonic())
    assert str(CANARY) not in repr(vars(held))
    ended(held)
    assert tried.is_set()
    assert capfd.readouterr() == ("", "")


@pytest.mark.thorough
@pytest.mark.parametrize("somebody_looks", [True, False])
def test_a_server_that_restarts_takes_no_answer(tmp_path: Path, *, somebody_looks: bool) -> None:
    with private_server() as server:
        ledger = Ledger.open(server.url("postgres"), journal=tmp_path / "journal", create=True, patience=2.5)
        ledger.open_budget("people", epsilon=1.0)

        class Restarts(Number):
            def answer(self, rows: Iterator[int]) -> int:
                server.kill()
                if somebody_looks:
                    with pytest.raises(LedgerError, match=UNREACHABLE):
                        ledger.budgets()
                return super().answer(rows)

        with pytest.raises(LedgerError, match=KEPT):
            release(ledger, "r", "people", Restarts(), itertools.count(CANARY))
        server.start_again()
        assert stored(ledger, "r") == CANARY
        ledger.verify()
        ledger.close()
