"""A thread that the system does not give for a moment, and work that raises once, leave nothing undone for good."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.background import garbage, leaving
from dashboard.background.garbage import Garbage
from dashboard.background.opening import Opening
from dashboard.background.workers import Workers
from dashboard.data.reading_threads import Piece, ReadingThreads
from dashboard.people import ended, logged_out, told_elsewhere
from dashboard.poll.refused import PollRefused
from dashboard.poll.rooms import Rooms
from dashboard.poll.watch import Watch
from dashboard.poll.watch_room import WatchRoom
from dashboard.serving import relief, replica
from dashboard.serving.output import HandedOn
from dpcore import threads, waiting
from dpcore.datasets.in_place import watched
from dpcore.errors import LedgerError
from dpcore.ledger import following, kept, lock
from dpcore.ledger.ended import Ended
from dpcore.ledger.following import Following
from dpcore.ledger.kept import Kept
from dpcore.ledger.lock import exclusive
from dpcore.threads import NoThread, WorkingThread, begun
from dpcore.waiting import Looker

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0
HOST = "h" * 32

Undone = Callable[[], bool]
Case = Callable[[pytest.MonkeyPatch, Path], tuple[Callable[[], object], Undone, Callable[[], object]]]
"""Begins something, says whether it is done, and what comes by later and may find it."""


def until(done: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.005)
    return done()


class Short:
    """The system gives no more threads while this is entered, to any that is begun by Python."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        self._there, self._patch = threading.Thread.start, monkeypatch

    def __enter__(self) -> Short:
        def none(thread: threading.Thread) -> None:
            self.asked += 1
            raise RuntimeError("can't start new thread")

        self._patch.setattr(threading.Thread, "start", none)
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.setattr(threading.Thread, "start", self._there)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Short:
    return Short(monkeypatch)


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "AGAIN", 0.01)
    monkeypatch.setattr(kept, "APART", 0.02)
    monkeypatch.setattr(logged_out, "_AGAIN", 0.01)
    monkeypatch.setattr(told_elsewhere, "EVERY", 0.02)
    monkeypatch.setattr(replica, "_PULSE", 0.02)
    monkeypatch.setattr(relief, "APART", 0.01)


# -- where threads are begun -------------------------------------------------------------------------------------------

ALONE = {
    "dpcore/datasets/in_place/duck.py Timer": "before anything is asked; what asks fails, and may be asked again",
    "dpcore/datasets/at_once.py ThreadPoolExecutor": "of one reading, which fails with it",
    "dpcore/datasets/reading/bulk.py ThreadPoolExecutor": "of one reading, which fails with it",
    "dpcore/datasets/reading/reader.py ThreadPoolExecutor": "of one reading, which fails with it",
    "dpcore/threads.py Thread": "the one home",
    "dashboard/background/workers.py ProcessPoolExecutor": "another pool where its threads do not begin",
    "dashboard/serving/file_rights.py run_sync": "a file that is brought waits for one, as for being read",
    "dashboard/serving/relief.py to_thread": "pages close all the same",
    "dashboard/server.py run_in_executor": "a browser is opened, at the start",
}
"""Where a thread is begun otherwise than by ``dpcore.threads``, and what becomes of it where there is none."""
BEGUN = {
    "dashboard/background/cluster.py begun": "in its constructor, which is called again by who comes next",
    "dashboard/background/workers.py begun": "what is made ready is made ready by who comes next; a worker ends",
    "dashboard/poll/live_opening.py begun": "what is loaded early is loaded by who needs it",
    "dashboard/poll/watch_room.py begun": "the room stays open",
    "dpcore/datasets/in_place/watched.py begun": "asked the next time",
    "dpcore/ledger/lock.py begun": "who waits is told, and comes again",
    "dpcore/waiting.py begun": "who connects is told, and connects again",
}
"""Threads for one thing: whoever asks is told."""
BEGIN = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "to_thread", "run_in_executor"} | {
    "start_new_thread",
    "run_sync",
    "run_in_threadpool",
    "begun",
    "WorkingThread",
}


def found() -> Iterator[str]:
    for folder in ("dpcore", "dashboard"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            ours = {
                alias.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.module == "dpcore.threads"
                for alias in node.names
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func).rsplit(".", 1)[-1]
                    if name in BEGIN and (name != "begun" or name in ours):
                        yield f"{file.relative_to(ROOT).as_posix()} {name}"


def test_no_thread_is_begun_elsewhere() -> None:
    lasting = {f"{where} WorkingThread" for where in LASTING}
    assert set(found()) == set(ALONE) | set(BEGUN) | lasting


# -- threads that last as long as there is something to do -------------------------------------------------------------


def answers_kept(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    stored: list[str] = []
    held = Kept(lambda: None)
    now = time.monotonic()
    return (
        lambda: held.take("one", lambda: stored.append("one"), size=1, began=now),
        lambda: stored == ["one"],
        lambda: held.holds("one"),
    )


def tabs_closed(monkeypatch: pytest.MonkeyPatch, _: Path) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    monkeypatch.setattr(garbage, "_GARBAGE", Garbage(lambda: None))
    ended: list[str] = []

    def visit(name: str) -> Any:
        return SimpleNamespace(session=name, whose="", end=lambda: ended.append(name))

    left = leaving.Waiting()
    return lambda: left.add(visit("one"), -1.0), lambda: "one" in ended, left.empty


def collected(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    done: list[int] = []
    mine = Garbage(lambda: done.append(1))
    return mine.soon, lambda: bool(done), mine.soon


def connections(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    looks: list[float] = []
    looker = Looker("looks", 0.005)

    def look(now: float) -> bool:
        looks.append(now)
        return len(looks) < 3

    return (
        lambda: looker.add(SimpleNamespace(connection=object(), look=look)),
        lambda: len(looks) == 3,
        looker.wake,
    )


def followed(monkeypatch: pytest.MonkeyPatch, _: Path) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    done: list[int] = []
    monkeypatch.setattr(following, "EVERY", 0.0)
    mine = Following(lambda: done.append(1))
    return mine.now_and_then, lambda: bool(done), mine.now_and_then


class Shared:
    """Where computers tell each other of log-outs."""

    def last(self) -> int:
        return 1

    def after(self, number: int) -> Iterator[tuple[int, Ended]]:
        yield 1, Ended("p", "person", "login", 1, 2)

    def put(self, *_: object, **__: object) -> None:
        """Nothing is told."""


def logged_out_there(
    monkeypatch: pytest.MonkeyPatch, _: Path
) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    heard: list[Ended] = []
    monkeypatch.setattr(logged_out, "hear", heard.append)
    monkeypatch.setattr(logged_out, "known", list)
    telling = told_elsewhere.Telling(Shared())  # type: ignore[arg-type]
    monkeypatch.setattr(told_elsewhere, "_telling", telling)  # ends with the next
    begun_at = telling.try_once

    def once() -> None:
        begun_at()
        if heard:
            telling.end()

    monkeypatch.setattr(telling, "try_once", once)
    return telling.go_on, lambda: bool(heard), lambda: telling.note(Ended("q", "another", "login", 1, 2))


def log_outs_owed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    """The disk is full for who logs out first and who does so next."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    for name in ("_ended", "_owed"):
        monkeypatch.setattr(logged_out, name, ended.Held())
    monkeypatch.setattr(logged_out, "_writing", WorkingThread("log-outs-owed", logged_out._write_later))
    tries, add = [0], logged_out._add

    def full(*given: Any) -> None:
        tries[0] += 1
        if tries[0] <= 2:
            raise OSError
        add(*given)

    monkeypatch.setattr(logged_out, "_add", full)
    file = tmp_path / "key.logged-out"
    return (
        lambda: logged_out.end({"sub": "one"}, 60.0),
        lambda: file.exists() and not logged_out._writing.works,
        lambda: logged_out.end({"sub": "another"}, 60.0),
    )


def rooms_overdue(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    mine, asked = Rooms(lambda: now[0], sleep), Watch(question="?", bar=1, looks=5, seconds=1.0, epsilon=1.0)
    return lambda: mine.open(asked, HOST), lambda: len(mine) == 0, lambda: mine.open(asked, "another")


def files_read(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    mine, done = ReadingThreads(1), list[int]()
    return lambda: mine.submit(Piece(lambda: done.append(1), "")), lambda: bool(done), mine.go_on


def replicas_asked(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    asked, stop = list[int](), threading.Event()

    def ask() -> None:
        asked.append(1)
        stop.set()

    one: Any = SimpleNamespace(name="r1", ask=ask)
    mine = replica.asking(one, stop)
    return mine.wake, lambda: bool(asked), mine.wake


def opened(*_: object) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    done = list[int]()
    mine = Opening(lambda: done.append(1), LedgerError, waits=0.0)

    def ask() -> None:
        with contextlib.suppress(LedgerError):
            mine()

    return ask, lambda: bool(done), ask


def output_handed_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[Callable[[], object], Undone, Callable[[], object]]:
    file = tmp_path / "log"
    number = os.open(file, os.O_WRONLY | os.O_CREAT)
    mine = HandedOn(number)
    os.write(number, b"a line")
    return mine.go_on, lambda: file.read_bytes() == b"a line", mine.go_on


LASTING: dict[str, Case] = {
    "dashboard/background/garbage.py": collected,
    "dashboard/background/leaving.py": tabs_closed,
    "dashboard/background/opening.py": opened,
    "dashboard/data/reading_threads.py": files_read,
    "dashboard/people/logged_out.py": log_outs_owed,
    "dashboard/people/told_elsewhere.py": logged_out_there,
    "dashboard/poll/rooms.py": rooms_overdue,
    "dashboard/serving/output.py": output_handed_on,
    "dashboard/serving/replica.py": replicas_asked,
    "dpcore/ledger/following.py": followed,
    "dpcore/ledger/kept.py": answers_kept,
    "dpcore/waiting.py": connections,
}
"""What each of these threads is for."""


@pytest.mark.parametrize("where", LASTING)
def test_what_a_missing_thread_left_is_done_once_somebody_comes_by(
    where: str, short: Short, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begin, done, comes_by = LASTING[where](monkeypatch, tmp_path)
    with short:
        begin()  # nobody's click fails for it
        assert short.asked
        assert not until(done, 0.05), "else this would show nothing"
    comes_by()
    assert until(done)


@pytest.mark.parametrize("where", LASTING)
def test_it_is_done_whoever_else_has_a_thread_made(
    where: str, short: Short, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a quiet server nobody may ask for this very one for hours."""
    begin, done, _ = LASTING[where](monkeypatch, tmp_path)
    with short:
        begin()
    WorkingThread("another", lambda: False).wake()
    assert until(done)
    assert not threads._owed


def as_it_was(of: WorkingThread) -> None:
    """A thread is noted before it has begun, and made where none was noted."""
    with of._lock:
        if of._thread is None:
            of._thread = threading.Thread(target=of._run, daemon=True)
            of._thread.start()


@pytest.mark.parametrize("where", LASTING)
def test_a_thread_that_is_noted_before_it_has_begun_is_found_out(
    where: str, short: Short, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(WorkingThread, "wake", as_it_was)
    begin, done, comes_by = LASTING[where](monkeypatch, tmp_path)
    with short, contextlib.suppress(RuntimeError):
        begin()
    comes_by()
    assert not until(done, 0.1)


@pytest.mark.defects
@pytest.mark.parametrize("where", LASTING)
def test_what_one_piece_raises_ends_no_thread(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody comes by: what waits is done by the same thread."""
    begin, done, _ = LASTING[where](monkeypatch, tmp_path)
    raised, step = list[int](), WorkingThread._tried

    def once(of: WorkingThread, work: Callable[[], object]) -> bool:
        def tried() -> object:
            if not raised and work != of._first:
                raised.append(1)
                raise MemoryError
            return work()

        return step(of, tried)

    monkeypatch.setattr(WorkingThread, "_tried", once)
    with caplog.at_level(logging.ERROR, "dpcore"):
        begin()
        assert until(done)
    assert raised
    assert [one for one in caplog.messages if ": MemoryError at " in one and "while the thread" in one]


@pytest.mark.defects
def test_one_connection_that_raises_keeps_no_other_from_being_looked_at(caplog: pytest.LogCaptureFixture) -> None:
    looks: list[str] = []

    def bad(now: float) -> bool:
        raise RuntimeError

    def good(now: float) -> bool:
        looks.append("good")
        return len(looks) < 5

    looker = Looker("looks", 0.005)
    for look in (bad, good):
        looker.add(SimpleNamespace(connection=object(), look=look))
    assert until(lambda: len(looks) == 5)
    assert len([one for one in caplog.messages if "while the thread looks" in one]) == 1, "once in a row"
    looker._all.clear()


def test_who_wakes_a_thread_that_is_about_to_end_is_not_missed() -> None:
    work, done = [0], [0]
    lock_ = threading.Lock()

    def step() -> bool:
        with lock_:
            taken, work[0] = work[0], 0
        done[0] += taken
        return False

    mine = WorkingThread("short", step)
    for _ in range(3000):
        with lock_:
            work[0] += 1
        mine.wake()
    assert until(lambda: done[0] == 3000)


# -- threads for one thing ---------------------------------------------------------------------------------------------


def test_a_room_whose_alarm_has_no_thread_stays_open(short: Short) -> None:
    room = WatchRoom("code", Watch(question="?", bar=1, looks=5, seconds=1.0, epsilon=1.0), HOST, lambda *_: None)
    drawn = threading.Event()

    def draw(*_: Any, **__: Any) -> Any:
        drawn.set()
        return "receipt"

    with short, pytest.raises(PollRefused, match="try again soon"):
        room.listen(HOST, draw)
    assert room.seen().phase == "joining"
    assert room.join("phone")
    assert room.listen(HOST, draw) is not None
    assert drawn.wait(PATIENCE)
    assert until(lambda: room.seen().phase == "answered")


@pytest.mark.defects
@pytest.mark.parametrize("raised", [MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("heard", [False, True])
def test_a_room_whose_alarm_fails_does_not_listen_for_nobody(raised: type[Exception], *, heard: bool) -> None:
    room = WatchRoom("code", Watch(question="?", bar=1, looks=5, seconds=1.0, epsilon=1.0), HOST, lambda *_: None)

    def draw(*given: Any, **_: Any) -> Any:
        if heard:
            next(given[-1].counts())
        raise raised

    thread = room.listen(HOST, draw)
    assert thread is not None
    thread.join(PATIENCE)
    assert room.seen().phase == ("ended" if heard else "joining")
    assert room.seen().problem


def test_a_ledger_that_is_held_is_waited_for_by_the_next(short: Short, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path):
        before = set(Path("/proc/self/fd").iterdir()) if Path("/proc/self/fd").exists() else set()
        with short:
            for _ in range(3):
                with pytest.raises(LedgerError, match="no thread") as refused, exclusive(path):
                    pass
                assert kept.mends(refused.value), "an answer that is kept is tried again"
        after = set(Path("/proc/self/fd").iterdir()) if before else set()
        assert len(after) <= len(before)
        with pytest.raises(LedgerError, match=lock.HELD), exclusive(path, 0.02):
            pass
    with exclusive(path):
        pass


def test_a_source_s_server_is_asked_the_next_time(short: Short, monkeypatch: pytest.MonkeyPatch) -> None:
    one, asked = watched.Server(), threading.Event()
    with short:
        one.ask(lambda: bool(asked.set()))
    assert not one._asking
    assert not one.is_silent(), "that says nothing of the server"
    one.ask(lambda: not asked.set())
    assert asked.wait(PATIENCE)


def test_who_waits_within_some_seconds_is_told_at_once(short: Short) -> None:
    with short, pytest.raises(NoThread):
        waiting.within(PATIENCE, lambda: None, "connects")
    assert waiting.within(PATIENCE, lambda: 1, "connects") == 1
    with short, pytest.raises(OSError, match="no more threads"):
        begun(lambda: None, "a thread")


@pytest.mark.defects
def test_pages_close_where_memory_is_short_though_there_is_no_thread(short: Short) -> None:
    """It is what the system gives none for."""
    closed: list[object] = []

    async def send(message: Any) -> None:
        closed.append(message)

    def empty() -> None:
        raised.append(1)
        if len(raised) == 1:
            raise MemoryError

    async def go() -> None:
        mine = relief.Relief(lambda: not closed, empty, lambda: None, held=lambda whose: 1 << 30, enough=lambda: 1)
        with ThreadPoolExecutor(1) as pool:
            asyncio.get_running_loop().set_default_executor(pool)
            with short:
                for number in range(40):
                    mine.comes(f"10.0.0.{number % 2}", send)
                for _ in range(1000):
                    if closed:
                        break
                    await asyncio.sleep(0.01)

    raised: list[int] = []
    asyncio.run(go())
    assert closed
    assert len(raised) > 1, "what raised once was done again"


@pytest.mark.parametrize("missing", [1, 2])
def test_simulations_go_on_though_their_pool_had_no_thread(missing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's pool notes its threads before they begin: none of all that is handed to it later would be done."""
    pool, start, asked = Workers(1), threading.Thread.start, [0]

    def second(thread: threading.Thread) -> None:
        asked[0] += 1
        if asked[0] == missing:
            raise RuntimeError("can't start new thread")
        start(thread)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", second)
            with pytest.raises(NoThread):
                pool.submit(abs, -1)
        assert pool.submit(abs, -1).result(PATIENCE) == 1
    finally:
        pool.shutdown()


def test_a_pool_that_notes_its_thread_before_it_begins_is_found_out(
    short: Short, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workers, "_submitted", lambda pool, *given: pool._pool.submit(*given))
    pool = Workers(1)
    with short, pytest.raises(RuntimeError):
        pool.submit(abs, -1)
    late = pool.submit(abs, -1)
    with pytest.raises(TimeoutError):
        late.result(0.5)
    for process in (pool._pool._processes or {}).values():
        process.terminate()
    pool.shutdown(wait=False)
