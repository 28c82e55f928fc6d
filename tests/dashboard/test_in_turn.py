"""Addresses take turns before the workers, however many jobs each has."""

from __future__ import annotations

from concurrent.futures import CancelledError, Executor, Future
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.background.in_turn import AHEAD, IN_FLIGHT, InTurn
from dashboard.background.jobs import Job
from dashboard.background.shelf import Shelf
from dashboard.people import visitors
from tests.dashboard.test_jobs import ByHand, double

ROOM = IN_FLIGHT + AHEAD


def in_turn(pool: Executor) -> InTurn:
    """Where no slice takes any time."""
    return InTurn(pool, clock=lambda: 0.0)


def waiting(turns: InTurn, whose: str) -> int:
    """How many slices wait for an address."""
    return len(turns._shares[whose].waiting) if whose in turns._shares else 0


def crowd(turns: InTurn, jobs: int = 100) -> list[Job]:
    """So many jobs of one address, of nine slices each."""
    return [Job(turns.of("crowd", alone=True), double, range(9)) for _ in range(jobs)]


def runs_until(pool: ByHand, job: Any) -> int:
    """How many slices of all are worked on until a job is over."""
    runs = 0
    while not job.finished:
        pool.run()
        runs += 1
    return runs


@pytest.mark.parametrize("jobs", [1, 100])
def test_a_job_does_not_wait_for_all_jobs_of_another_address(jobs: int) -> None:
    pool = ByHand()
    turns = in_turn(pool)
    others = crowd(turns, jobs)
    assert runs_until(pool, Job(turns.of("one"), double, [1, 2, 3])) <= ROOM + 2 * 3
    while pool.queue:
        pool.run()
    assert all(job.complete for job in others)
    assert pool.most == ROOM
    assert waiting(turns, "crowd") == 0


def test_three_addresses_have_a_third_each() -> None:
    pool, worked = ByHand(), list[str]()
    turns = in_turn(pool)

    for whose, jobs in (("a", 50), ("b", 5), ("c", 1)):
        for _ in range(jobs):
            Job(turns.of(whose), worked.append, [whose] * 30)
    for _ in range(ROOM + 60):
        pool.run()
    shares = [worked[ROOM:].count(whose) for whose in "abc"]
    assert max(shares) - min(shares) <= ROOM


class Worker(ByHand):
    """Works on the first that were handed over, as many as it says at once; each says how many seconds it takes."""

    working, at_once = 1, IN_FLIGHT

    def __init__(self) -> None:
        super().__init__()
        self.now, self.ends = 0.0, dict[int, float]()

    def work(self) -> None:
        """Until the next is done."""
        here = [
            (self.ends.setdefault(id(one), self.now + seconds), place) for place, (one, _, (seconds,)) in self.first
        ]
        self.now, place = min(here)
        del self.ends[id(self.queue[place][0])]
        self.run(place)

    @property
    def first(self) -> list[Any]:
        return list(enumerate(self.queue))[: self.working]


@pytest.mark.parametrize("long", [0.5, 10.0])
@pytest.mark.parametrize("jobs", [1, 300])
def test_long_slices_of_one_address_keep_nobody_waiting_for_each(jobs: int, long: float) -> None:
    """As turns of slices it was one of theirs for each of the other's, be they a hundred times as long."""
    pool = Worker()
    turns = InTurn(pool, clock=lambda: pool.now)
    for _ in range(jobs):
        Job(turns.of("crowd"), float, [long] * 200)
    for _ in range(3):
        pool.work()
    asked, job = pool.now, Job(turns.of("one"), float, [0.1] * 17)
    while not job.finished:
        pool.work()
    assert pool.now - asked <= long + 2 * 17 * 0.1 + long, "what runs, the other's own, and as much for the crowd"


@pytest.mark.parametrize("others", [1, 3, 10])
@pytest.mark.parametrize("workers", [1, 2])
def test_who_comes_again_and_again_has_no_more_than_who_stays(others: int, workers: int) -> None:
    """Addresses that ask one slice at a time, and come back when it is done, once had all of the workers' time."""
    pool = Worker()
    pool.working = workers
    turns = InTurn(pool, clock=lambda: pool.now)

    def again(whose: str) -> None:
        Job(turns.of(whose), float, [0.4], ended=lambda: later.append(whose))

    later = [f"other {place}" for place in range(others)]
    asked, job = pool.now, Job(turns.of("one"), float, [0.1] * 17)
    while not job.finished:
        while later:
            again(later.pop(0))
        pool.work()
        assert pool.now - asked < 60.0
    assert pool.now - asked <= (others + 1) * (17 * 0.1 + 0.4 + 0.4)


@pytest.mark.parametrize("before", [0, 30])
@pytest.mark.parametrize(("workers", "most"), [(1, 1), (2, 1), (4, 3), (10, 8)])
def test_an_address_leaves_a_worker_to_others(workers: int, most: int, before: int) -> None:
    """A slice that runs cannot be stopped, and short ones may come before long ones."""
    pool = Worker()
    pool.working = pool.at_once = workers
    turns = InTurn(pool, clock=lambda: pool.now)
    job = Job(turns.of("one"), float, [0.01] * before + [10.0] * 50)
    for _ in range(before + 5):
        assert len(turns._taken) == most
        pool.work()
    assert not job.finished


def test_the_person_at_this_computer_has_all_workers() -> None:
    pool = Worker()
    pool.working = pool.at_once = 4
    turns = InTurn(pool, clock=lambda: pool.now)
    Job(turns.of("", alone=True), float, [10.0] * 50)
    assert len(turns._taken) == 4


def test_who_had_much_and_joins_holds_nobody_up() -> None:
    """A job goes on where its turn comes first, not where least waits."""
    pool, shelf = Worker(), Shelf(room=1 << 20)
    turns = InTurn(pool, clock=lambda: pool.now)
    mine, theirs = turns.of("one"), turns.of("other")
    Job(turns.of("third"), float, [0.1] * 400)
    Job(theirs, float, [50.0])
    while pool.now < 50.0:
        pool.work()
    job = shelf.watch("mine", lambda known, keep: Job(mine, float, [0.1] * 10, known=known, keep=keep), mine)
    shelf.watch("mine", lambda known, keep: pytest.fail("anew"), theirs)
    asked = pool.now
    while not job.finished:
        pool.work()
    assert pool.now - asked <= 2 * (10 * 0.1) + 0.5


def test_a_slice_that_is_cancelled_as_it_is_taken_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its job never ends, and what it was lent stays."""
    pool, ended = ByHand(), list[str]()
    turns = in_turn(pool)
    Job(turns.of("other", alone=True), double, range(9))
    job = Job(turns.of("one", alone=True), double, [1], ended=lambda: ended.append("job"))
    (here,) = turns._shares["one"].waiting
    # its thread has said so, and stands still before it looks whether it was taken
    here.stopped = True
    while pool.queue:
        pool.run()
    assert here.cancelled()
    assert ended == ["job"]
    assert isinstance(job.error, CancelledError)


def test_nothing_is_kept_of_who_has_nothing_left() -> None:
    """An address that was idle has saved nothing, nor owes it anything."""
    pool = Worker()
    turns = InTurn(pool, clock=lambda: pool.now)
    Job(turns.of("early"), float, [1.0] * 3)
    while pool.queue:
        pool.work()
    assert not turns._shares
    worked: list[str] = []
    for whose in ("late", "early"):
        Job(turns.of(whose), lambda seconds, whose=whose: worked.append(whose), [1.0] * 60)
        for _ in range(20):
            pool.work()
    assert 9 <= worked[20:].count("late") <= 11


def test_who_joins_a_job_of_a_crowd_does_not_wait_for_the_crowd() -> None:
    """Nor does a crowd that joins somebody's job hold it up."""
    pool, shelf = ByHand(), Shelf(room=1 << 20)
    turns = in_turn(pool)
    crowd(turns)
    theirs, mine = turns.of("crowd", alone=True), turns.of("one", alone=True)
    shelf.watch("theirs", lambda known, keep: Job(theirs, double, [1, 2, 3, 4], known=known, keep=keep), theirs)
    assert runs_until(pool, shelf.watch("theirs", lambda known, keep: pytest.fail("anew"), mine)) <= ROOM + 2 * 4
    job = shelf.watch("mine", lambda known, keep: Job(mine, double, [1, 2, 3, 4], known=known, keep=keep), mine)
    shelf.watch("mine", lambda known, keep: pytest.fail("anew"), theirs)
    assert runs_until(pool, job) <= ROOM + 2 * 4


def test_what_is_cancelled_while_it_waits_takes_no_turn() -> None:
    pool, ended = ByHand(), list[str]()
    turns = in_turn(pool)
    others = crowd(turns, 20)
    job = Job(turns.of("one"), double, range(9), ended=lambda: ended.append("job"))
    job.cancel()
    assert ended == ["job"]
    assert waiting(turns, "one") == IN_FLIGHT, "they are passed over"
    begun = [future for future, _, _ in pool.queue]
    for future in begun:
        future.set_running_or_notify_cancel()  # it can no longer be cancelled
    for other in others:
        other.cancel()
    pool.queue.clear()
    for future in begun:
        future.set_result(0)
    assert len(begun) == IN_FLIGHT
    assert not pool.queue, "what the workers had already, and no more"
    assert waiting(turns, "one") == waiting(turns, "crowd") == 0
    assert runs_until(pool, Job(turns.of("one"), double, [1])) == 1, "and there is as much room as before"


def test_what_the_workers_have_is_cancelled_where_they_still_can() -> None:
    pool, ended = ByHand(), list[int]()
    turns = in_turn(pool)
    job = Job(turns.of("one", alone=True), double, range(9), ended=lambda: ended.append(len(pool.queue)))
    begun, waits = (one for one, _, _ in pool.queue)
    begun.set_running_or_notify_cancel()
    job.cancel()
    assert waits.cancelled()
    assert not begun.cancelled()
    assert not ended, "it still runs, with what it was lent"
    begun.set_result(0)
    assert len(ended) == 1
    assert job.error is None
    assert not turns._taken


def test_what_the_workers_cancel_was_not_done() -> None:
    pool = ByHand()
    job = Job(in_turn(pool).of("one"), double, [1])
    pool.queue[0][0].cancel()
    assert isinstance(job.error, CancelledError)


@pytest.mark.parametrize(
    "error", [RuntimeError("cannot schedule new futures after shutdown"), OSError(12, "no memory")]
)
def test_workers_that_are_gone_are_told(error: Exception) -> None:
    """Be it that the server ends, or that the system gives it no more processes."""

    class Gone(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            raise error

    turns = in_turn(Gone())
    assert Job(turns.of("one"), double, [1, 2, 3]).error is error
    assert Job(Gone(), double, [1, 2, 3]).error is error
    assert not turns._taken


def begun() -> None:
    import streamlit as st

    from dashboard.widgets.waiting import begin

    running = begin("place", "key", lambda _, part: part, lambda: None, lambda: [1, 2], what="Counting", own=True)
    st.text(str(running.job.done))


def test_what_a_page_begins_waits_in_the_line_of_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pool(ByHand):
        def __init__(self) -> None:
            super().__init__()
            self.turns = in_turn(self)

    pool = Pool()
    monkeypatch.setattr(compute, "pool", lambda: pool)
    monkeypatch.setattr(visitors, "address", lambda: "10.0.0.7")
    crowd(pool.turns, 3)
    assert not AppTest.from_function(begun, default_timeout=600).run().exception
    assert waiting(pool.turns, "10.0.0.7") == IN_FLIGHT
