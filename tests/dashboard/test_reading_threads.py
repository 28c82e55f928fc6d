"""Files are read by threads that leave the processor to people's pages, and addresses take turns."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from dashboard.data import arrivals, reading_threads, working
from dashboard.data.reading_threads import AT_ONCE, GaveWay, Piece, ReadingThreads, threads
from dashboard.data.task import Say, Task, asking
from dpcore.datasets import OneRowPer, Size, Template, read_table, recognised
from dpcore.datasets.reading.reader import done
from dpcore.errors import ReadingCancelled, UnreadableFile

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
    long: Callable[[], Long], clock: Clock
) -> None:
    """Two addresses together have both threads for no longer than that."""
    _, tasks = both_taken(long)
    clock.now += 10 * reading_threads.LONG
    other = short(ELSEWHERE)
    assert not other.wait(0.05), "who has only come waits"
    assert not any(task.finished for task in tasks)
    clock.now += reading_threads.WAITED + 1.0
    assert other.wait(PATIENCE)
    ended = [task for task in tasks if task.finished]
    assert ended
    assert {task.problem for task in ended} == {
        "This takes longer than 2 minutes while others wait for their files; try again later, or with fewer rows or "
        "columns."
    }


class Clock:
    """Time that goes when it is told to."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(reading_threads, "time", found)
    return found


def both_taken(long: Callable[[], Long]) -> tuple[list[Long], list[Task]]:
    """Two addresses have both threads, each with a file that takes long."""
    works = [long(), long()]
    tasks = [Task(work, "Reading the file", whose) for work, whose in zip(works, (HERE, THERE), strict=True)]
    assert all(work.runs() for work in works)
    return works, tasks


def test_what_takes_long_gives_way_to_who_had_less_and_is_done_later(long: Callable[[], Long], clock: Clock) -> None:
    """Two addresses with a file of 539 kB each kept everybody else's waiting for two minutes."""
    works, tasks = both_taken(long)
    clock.now += reading_threads.TURN + 1.0
    other = short(ELSEWHERE)
    assert not other.wait(0.05), "who has only come waits"
    clock.now += reading_threads.PATIENT + 1.0
    assert other.wait(PATIENCE)
    assert other.result == "read"
    for work, task in zip(works, tasks, strict=True):
        work.may_end.set()
        assert task.wait(PATIENCE)
        assert task.problem is None, "nobody reads a word of it"
    assert sorted(work.begun for work in works) in ([1, 2], [1, 1]), "one gave way, or was to begin when it could end"


def under_way(had: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> tuple[ReadingThreads, list[Piece]]:
    """Both threads taken by two addresses, which had so much before; nobody reads."""
    monkeypatch.setattr(ReadingThreads, "_next", lambda _: None)
    here, pieces = ReadingThreads(), list[Piece]()
    for whose, seconds in had.items():
        here.submit(Piece(lambda: None, whose))
        here._used[whose] = (seconds, reading_threads.time.monotonic())
        begun = here._begun()
        assert begun is not None
        pieces.append(begun)
    return here, pieces


def gives_way(here: ReadingThreads, piece: Piece) -> bool:
    try:
        here.goes_on(piece)
    except GaveWay:
        return True
    return False


def test_who_had_most_gives_way_and_nobody_else(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    here, (less, most) = under_way({HERE: 3.0, THERE: 50.0}, monkeypatch)
    here.submit(Piece(lambda: None, ELSEWHERE))
    clock.now += reading_threads.TURN
    assert not gives_way(here, most), "a turn is not over"
    clock.now += 1.0
    assert not gives_way(here, less)
    assert gives_way(here, most)
    assert most.gave_up == (pytest.approx(reading_threads.TURN + 1.0),)
    here._ended(most)
    clock.now += reading_threads.LONG / 2
    assert not gives_way(here, less), "there is a thread for who waits"
    later = reading_threads.TURN + 1.0
    assert here._had(THERE, later) == pytest.approx(50.0 * 2 ** (-later / reading_threads.HALF) + later)
    assert here._had(THERE, later + reading_threads.HALF) == pytest.approx(here._had(THERE, later) / 2)


def test_who_had_least_is_next(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    here, (piece, _) = under_way({HERE: 0.0, THERE: 50.0}, monkeypatch)
    for whose in (THERE, ELSEWHERE, HERE):
        here.submit(Piece(lambda: None, whose))
    clock.now += 5.0
    here._ended(piece)
    order = [one.whose for one in (here._begun() for _ in range(3)) if one is not None]
    assert order == [ELSEWHERE, HERE, THERE], "of those with fewest under way"


def test_nobody_gives_way_to_who_had_more_or_has_only_come(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    here, pieces = under_way({HERE: 0.0, THERE: 1.0}, monkeypatch)
    clock.now += reading_threads.TURN + 5.0
    here.submit(Piece(lambda: None, ELSEWHERE))
    clock.now += reading_threads.PATIENT
    assert not any(gives_way(here, piece) for piece in pieces), "who waits has only come"
    here._used[ELSEWHERE] = (1_000.0, clock.now)
    clock.now += 5.0
    assert not any(gives_way(here, piece) for piece in pieces), "who waits had more"
    del here._used[ELSEWHERE]
    assert [gives_way(here, piece) for piece in pieces] == [False, True]


def test_who_comes_again_waits_behind_who_had_less(long: Callable[[], Long], clock: Clock) -> None:
    _, tasks = both_taken(long)
    again = Task(long(), "Reading the file", HERE)
    clock.now += reading_threads.TURN + 1.0
    others = [short(f"10.0.1.{place}") for place in range(5)]
    clock.now += reading_threads.PATIENT + 1.0
    assert all(other.wait(PATIENCE) for other in others)
    assert not again.finished
    for one in (*tasks, again):
        one.cancel()


def test_without_turns_who_comes_waits_until_the_end(
    long: Callable[[], Long], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counter-check: as it was."""
    monkeypatch.setattr(ReadingThreads, "_turn_is_over", lambda *_: False)
    _, tasks = both_taken(long)
    other = short(ELSEWHERE)
    clock.now += reading_threads.LONG - 1.0
    assert not other.wait(0.1)
    for task in (*tasks, other):
        task.cancel()


def test_each_turn_is_twice_as_long_so_that_what_takes_long_is_read(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where several addresses read on and on, a file of half a minute was thrown away in every turn."""
    monkeypatch.setattr(ReadingThreads, "_next", lambda _: None)
    here, turns = ReadingThreads(1), []
    gave_up: tuple[float, ...] = ()
    for _ in range(3):
        piece, begun = Piece(lambda: None, HERE, gave_up), clock.now
        here.submit(piece)
        assert here._begun() is piece
        here.submit(Piece(lambda: None, f"10.0.2.{len(turns)}"))
        while not gives_way(here, piece) and clock.now < begun + 100.0:
            clock.now += 1.0
        turns.append(clock.now - begun)
        gave_up = piece.gave_up
        here._ended(piece)
        while (other := here._begun()) is not None:
            here._ended(other)
    first = reading_threads.TURN + 1.0
    assert turns == [first, 2 * first - 1.0, 4 * first - 3.0]


def test_turns_of_who_had_much_stay_short_and_end_with_a_sentence(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, (less, most) = under_way({HERE: 3.0, THERE: 2 * reading_threads.MUCH}, monkeypatch)
    most.gave_up = (20.0, 40.0)
    here.submit(Piece(lambda: None, ELSEWHERE))
    clock.now += reading_threads.TURN + 1.0
    assert gives_way(here, most)
    most.gave_up = (20.0, 100.0)
    with pytest.raises(UnreadableFile, match="longer than 2 minutes"):
        here.goes_on(most)
    assert not gives_way(here, less)


def test_what_an_address_had_is_forgotten_in_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    here, (first, second) = under_way({HERE: 100.0, THERE: 0.0}, monkeypatch)
    clock.now += 5.0
    here._ended(first)
    assert HERE in here._used
    clock.now += 30 * reading_threads.HALF
    here._ended(second)
    assert set(here._used) == {THERE}


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


MANY = tuple(OneRowPer(by="who") for _ in range(50))


def test_between_the_steps_of_a_declaration_it_is_asked_whether_to_go_on(clock: Clock) -> None:
    """A thousand steps kept a thread for a quarter of an hour, and nobody could stop them."""
    reading = read_table(b"who,n\na,1\nb,2\n")
    said: list[str] = []

    def say(part: float, what: str) -> None:
        said.append(what)
        if len(said) > 6:
            raise ReadingCancelled("Cancelled.")

    for work in (
        lambda fits: reading.after(MANY, fits),
        lambda fits: recognised(reading, [Template(schema=reading.suggested(), steps=MANY)], fits),
    ):
        said.clear()
        with pytest.raises(ReadingCancelled):
            work(asking(say, 0.5, "Doing steps", lambda _: None))
        assert said == ["Doing steps"] * 7


def test_whoever_does_steps_asks_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known again by its steps, and what has them done."""
    reading = read_table(b"who,n\na,1\nb,2\n")
    known = Template(schema=reading.suggested(), steps=MANY)
    said: list[str] = []

    def say(part: float, what: str) -> None:
        said.append(what)

    arrivals._told(reading, (known,), say, None, lambda _: None)
    assert len(said) > len(MANY)
    begun: list[Callable[[Say], object]] = []
    monkeypatch.setattr(working.actions, "start", lambda work, *_: begun.append(work))
    monkeypatch.setattr(working.source, "own_file", lambda: SimpleNamespace(as_read=reading, reading=None, data=b""))
    working.beside(MANY, lambda *_: None)
    said.clear()
    begun[0](say)
    assert len(said) > len(MANY)


def test_while_what_steps_made_is_looked_at_it_is_asked_whether_to_go_on() -> None:
    asked: list[Size] = []
    reading = read_table(b"who,n\na,1\nb,2\n")
    done(reading, MANY[:1], asked.append)
    steps_alone = len(asked)
    asked.clear()
    reading.after(MANY[:1], asked.append)
    assert len(asked) > steps_alone


def test_who_gives_way_for_its_own_other_file_has_no_longer_turn_for_it(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an address would bring two files, and have turns of two minutes after some seconds."""
    monkeypatch.setattr(ReadingThreads, "_next", lambda _: None)
    here = ReadingThreads()
    for _ in range(2):
        here.submit(Piece(lambda: None, HERE))
    (_, second) = (here._begun(), here._begun())
    assert second is not None
    here.submit(Piece(lambda: None, THERE))
    assert gives_way(here, second)
    assert second.gave_up == ()
