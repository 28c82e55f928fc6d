"""Files are read by threads that leave the processor to people's pages, and addresses take turns."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboard.data import reading_threads
from dashboard.data.reading_threads import AT_ONCE, Piece, ReadingThreads, threads
from dashboard.data.task import Say, Task

HERE, THERE, ELSEWHERE = "10.0.0.1", "10.0.0.2", "10.0.0.3"
PATIENCE = 60.0


def urgency() -> int:
    """How nice the thread is that asks: the larger, the less urgent."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process is as urgent as a whole")
def test_readers_and_what_they_start_are_less_urgent_than_pages() -> None:
    own = urgency()

    def started_by_a_reader() -> int:
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(urgency).result()

    assert own < threads().submit(Piece(urgency, "")).result() <= 19
    assert own < threads().submit(Piece(started_by_a_reader, "")).result()
    assert urgency() == own


class Long:
    """A reading that takes as long as it may, and counts how often it was begun."""

    def __init__(self) -> None:
        self.begun, self.may_end, self._runs = 0, threading.Event(), threading.Event()

    def __call__(self, say: Say) -> None:
        self.begun += 1
        self._runs.set()
        while not self.may_end.wait(0.001):
            say(0.5, "Reading the rows")

    def runs(self) -> bool:
        return self._runs.wait(PATIENCE)


@pytest.fixture
def long() -> Iterator[Callable[[], Long]]:
    """Makes such readings, all of which end with the test."""
    made: list[Long] = []

    def another() -> Long:
        made.append(Long())
        return made[-1]

    yield another
    for each in made:
        each.may_end.set()


def short(whose: str) -> Task:
    return Task(lambda say: "read", "Reading the file", whose)


def test_one_address_leaves_a_thread_to_whoever_else_comes(long: Callable[[], Long]) -> None:
    """Two files of 300 kB, and hundreds behind them, kept everybody else's from being read for minutes."""
    works = [long() for _ in range(4)]
    tasks = [Task(work, "Reading the file", HERE) for work in works]
    assert all(work.runs() for work in works[:AT_ONCE]), "as long as nobody else waits it has both"
    for _ in range(3):
        other = short(THERE)
        assert other.wait(PATIENCE)
        assert other.result == "read"
    assert works[0].begun == 1, "the first goes on"
    assert works[1].begun >= 1
    for work, task in zip(works, tasks, strict=True):
        work.may_end.set()
        assert task.wait(PATIENCE)
        assert task.problem is None, "what gave way was done all the same"


def test_addresses_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever brings a hundred files is served as often as who brings one."""
    monkeypatch.setattr(ReadingThreads, "_next", lambda _: None)
    here, order = ReadingThreads(), list[str]()
    for whose in [HERE] * 5 + [THERE] * 2 + [ELSEWHERE]:
        here.submit(Piece(lambda: None, whose))
    while (piece := here._begun()) is not None:
        order.append(piece.whose)
        here._ended(piece)
    assert order == [HERE, THERE, ELSEWHERE, HERE, THERE, HERE, HERE, HERE]


def test_what_takes_long_while_others_wait_for_long_is_ended_with_a_sentence(
    long: Callable[[], Long], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two addresses together have both threads for no longer than that."""
    now = [0.0]
    monkeypatch.setattr(reading_threads, "time", type("Time", (), {"monotonic": staticmethod(lambda: now[0])}))
    works = [long(), long()]
    tasks = [Task(work, "Reading the file", whose) for work, whose in zip(works, (HERE, THERE), strict=True)]
    assert all(work.runs() for work in works)
    now[0] += 10 * reading_threads.LONG
    other = short(ELSEWHERE)
    assert not other.wait(0.05), "who has only come waits"
    assert not any(task.finished for task in tasks)
    now[0] += reading_threads.WAITED + 1.0
    assert other.wait(PATIENCE)
    ended = [task for task in tasks if task.finished]
    assert ended
    assert {task.problem for task in ended} == {
        "This takes longer than 2 minutes while others wait for their files; try again later, or with fewer rows or "
        "columns."
    }


def test_what_waits_and_is_cancelled_makes_nobody_give_way(long: Callable[[], Long]) -> None:
    works = [long(), long()]
    tasks = [Task(work, "Reading the file", HERE) for work in works]
    assert all(work.runs() for work in works)
    behind = Task(long(), "Reading the file", HERE)
    behind.cancel()
    assert behind.finished
    assert not threads()._waiting
    for task in tasks:
        task.cancel()
        assert task.wait(PATIENCE)
        assert task.problem == ""


def test_without_turns_nobody_else_is_served(long: Callable[[], Long], monkeypatch: pytest.MonkeyPatch) -> None:
    """Counter-check: as it was."""
    monkeypatch.setattr(ReadingThreads, "goes_on", lambda *_: None)
    works = [long(), long()]
    tasks = [Task(work, "Reading the file", HERE) for work in works]
    assert all(work.runs() for work in works)
    other = short(THERE)
    assert not other.wait(0.1)
    works[0].may_end.set()
    assert other.wait(PATIENCE)
    assert tasks[0].wait(PATIENCE)
