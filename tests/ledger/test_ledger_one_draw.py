"""One charge pays for one draw: of any other that was made for it at the same moment nothing is told to anybody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchmarks.reliability.outcome import processes
from dpcore.alone import Alone
from dpcore.costs import Cost
from dpcore.errors import ReleaseRefused
from dpcore.ledger import Ledger
from dpcore.release import FAILED, UNDER_WAY, release
from tests.ledger.conftest import Place

LONG = 60.0  # seconds: what nobody would wait


@dataclass(frozen=True)
class Asked:
    """Draws what its rows say; what the tests release."""

    mechanism: ClassVar[str] = "None"
    neighbours: ClassVar[str] = "add_remove"
    what: ClassVar[str] = "Which option?"
    cost: ClassVar[Cost] = Cost.pure(0.1)

    def answer(self, rows: Callable[[], Any]) -> Any:
        return rows()


@pytest.fixture
def people(ledger: Ledger) -> Ledger:
    ledger.open_budget("people", epsilon=1.0)
    return ledger


def at_once(*acts: Callable[[], object]) -> None:
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


# -- of replicas, none of which knows what the others do ---------------------------------------------------------------


@pytest.fixture
def as_replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for whom they cannot see."""
    monkeypatch.setattr(Alone, "at", lambda self, what, seconds: nullcontext(True))


def told(place: Place, draws: str) -> list[bool]:
    """Who of several that draw these at one moment is told that theirs is kept; they store in this order."""
    drew, turns = threading.Barrier(len(draws)), [threading.Event() for _ in [*draws, "the last"]]
    found, answers = [False] * len(draws), [""] * len(draws)
    turns[0].set()

    def one(at: int) -> None:
        def drawn() -> str:
            drew.wait(LONG)
            turns[at].wait(LONG)
            return draws[at]

        with place.open() as replica:
            receipt = release(replica, "r", "people", Asked(), drawn, drawn=lambda: found.__setitem__(at, True))
        answers[at] = receipt.answer
        turns[at + 1].set()

    at_once(*(lambda at=at: one(at) for at in range(len(draws))))
    assert answers == [draws[0]] * len(draws), "all are shown the one that is kept"
    return found


@pytest.mark.parametrize("draws", ["aaaa", "abab", "abbb", "aabb"])
@pytest.mark.usefixtures("as_replicas")
def test_who_is_told_hangs_on_no_draw_that_is_thrown_away(people: Ledger, place: Place, draws: str) -> None:
    assert told(place, draws) == [True, False, False, False]
    assert people.count("people") == 1
    people.verify()


@pytest.mark.usefixtures("as_replicas")
def test_a_ledger_that_compares_them_is_found_out(
    people: Ledger, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: as it was, each window read its own draw off what it was told."""
    store_answer = Ledger.store_answer

    def compares(self: Ledger, request_id: str, answer: Any, written: Callable[[], object]) -> Any:
        stored = store_answer(self, request_id, answer)
        if stored.answer == answer:
            written()
        return stored

    monkeypatch.setattr(Ledger, "store_answer", compares)
    assert told(place, "abab") == [True, False, True, False]


def _drawn_there(url: str, journal: Path, all_drew: Any, mine: str, results: Any) -> None:
    """In a process of its own."""
    found: list[str] = []

    def drawn() -> str:
        all_drew.wait(LONG)
        return mine

    with Ledger.open(url, journal=journal) as replica:
        release(replica, "r", "people", Asked(), drawn, drawn=lambda: found.append(mine))
        receipt = replica.receipt("r")
    results.put((found, None if receipt is None else receipt.answer))


@pytest.mark.parametrize("draws", ["aaa", "abc"])
def test_of_processes_that_draw_at_one_moment_one_is_told(people: Ledger, place: Place, draws: str) -> None:
    all_drew, results = processes.Barrier(len(draws)), processes.Queue()
    where = (place.url, place.journal, all_drew)
    workers = [processes.Process(target=_drawn_there, args=(*where, mine, results)) for mine in draws]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=LONG) for _ in workers]
    for worker in workers:
        worker.join(LONG)
    (kept,) = {answer for _, answer in found}
    assert sorted(one for one, _ in found) == [[], [], [kept]]
    people.verify()


# -- of threads of one process -----------------------------------------------------------------------------------------


def test_of_threads_one_draws_and_all_are_shown_its_answer(people: Ledger) -> None:
    draws, answers, told = [], [], []

    def ask() -> None:
        receipt = release(people, "r", "people", Asked(), lambda: draws.append(7) or len(draws), drawn=told_one)
        answers.append(receipt.answer)

    def told_one() -> None:
        told.append(threading.get_ident())

    at_once(*[ask] * 8)
    assert (draws, answers, len(told)) == ([7], [1] * 8, 1)
    assert people.count("people") == 1


def test_threads_that_all_draw_are_found_out(people: Ledger, as_replicas: None) -> None:
    """The test above can fail."""
    draws, all_drew = [], threading.Barrier(3)

    def drawn() -> int:
        all_drew.wait(LONG)
        draws.append(7)
        return 1

    at_once(*[lambda: release(people, "r", "people", Asked(), drawn)] * 3)
    assert len(draws) == 3


class Ended(BaseException):
    """As a page that is stopped in the midst of a draw."""


@pytest.mark.parametrize("ends", [RuntimeError, Ended])
def test_where_one_draw_came_to_nothing_who_waited_draws(people: Ledger, ends: type[BaseException]) -> None:
    """For the same charge, and once."""
    begun, draws, answers = threading.Event(), [], []

    def fails() -> Any:
        begun.set()
        raise ends

    def first() -> None:
        with pytest.raises((ReleaseRefused, Ended)) as refused:
            release(people, "r", "people", Asked(), fails)
        assert ends is Ended or str(refused.value) == FAILED

    def second() -> None:
        begun.wait(LONG)
        answers.append(release(people, "r", "people", Asked(), lambda: draws.append(7) or "drawn").answer)

    at_once(first, second, second)
    assert (answers, draws) == (["drawn"] * 2, [7])
    assert people.count("people") == 1


def test_a_charge_whose_drawer_died_is_answered_once_and_for_all(people: Ledger, place: Place) -> None:
    """The record says that its draw began, and no process is at it."""
    request = Asked()
    with pytest.raises(Ended):
        release(people, "r", "people", request, lambda: (_ for _ in ()).throw(Ended))
    assert people.receipt("r").state == "begun"
    with place.open() as restarted:
        assert release(restarted, "r", "people", request, lambda: "after it").answer == "after it"
    assert release(people, "r", "people", request, lambda: "another").answer == "after it"
    assert people.remaining("people").epsilon == pytest.approx(0.9)


def test_a_draw_that_takes_long_keeps_nobody_waiting(people: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.release.AWAITED", 1)
    begun, over = threading.Event(), threading.Event()

    def long() -> int:
        begun.set()
        over.wait(LONG)
        return 1

    def other() -> None:
        begun.wait(LONG)
        with pytest.raises(ReleaseRefused) as refused:
            release(people, "r", "people", Asked(), lambda: pytest.fail("drawn twice"))
        assert str(refused.value) == UNDER_WAY
        assert release(people, "another", "people", Asked(), lambda: 2).answer == 2, "nor anybody with another request"
        over.set()

    at_once(lambda: release(people, "r", "people", Asked(), long), other)
    assert people.receipt("r").answer == 1


def test_of_turns_that_are_over_nothing_stays() -> None:
    turns = Alone()
    with turns.at("r", 0.0) as mine, turns.at("r", 0.01) as other, turns.at("s", 0.0) as elsewhere:
        assert (mine, other, elsewhere) == (True, False, True)
    assert turns._turns == {}
    with pytest.raises(Ended), turns.at("r", 0.0):
        raise Ended
    with turns.at("r", 0.0) as mine:
        assert mine
