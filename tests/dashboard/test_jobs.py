"""Long work in slices: order, cancel, errors, turns between people, and workers that are replaced."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.background import lending
from dashboard.background.cluster import SliceFailed, _value
from dashboard.background.in_turn import IN_FLIGHT
from dashboard.background.jobs import Job, Keep
from dashboard.background.lending import Borrowed, Loan
from dashboard.background.shelf import Jobs, Shelf, Watch
from dashboard.background.slices import Came
from dashboard.background.workers import Workers


class ByHand(Executor):
    """Runs what was submitted only when told, in any order."""

    def __init__(self) -> None:
        self.queue: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []
        self.most = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.queue.append((future, fn, args))
        self.most = max(self.most, len(self.queue))
        return future

    def run(self, place: int = 0) -> None:
        future, fn, args = self.queue.pop(place)
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(fn(*args))
        except ValueError as error:
            future.set_exception(error)


def double(part: int) -> int:
    if part < 0:
        raise ValueError("no")
    return 2 * part


def test_results_come_in_the_order_of_the_parts() -> None:
    """Even when slices finish the other way round; each is there as soon as it is done."""
    pool = ByHand()
    job = Job(pool, double, [1, 2, 3])
    pool.run(1)
    assert (job.results(), job.done, job.total, job.finished) == ([4], 1, 3, False)
    while pool.queue:
        pool.run(len(pool.queue) - 1)
    assert job.results() == [2, 4, 6]
    assert job.complete
    assert job.finished


def test_a_job_keeps_few_slices_in_the_queue() -> None:
    """So another person's first slice waits for at most that many of each job, however long the jobs are."""
    pool = ByHand()
    long = Job(pool, double, list(range(50)))
    short = Job(pool, double, [1, 2])
    assert len(pool.queue) == 2 * IN_FLIGHT
    for _ in range(2 * IN_FLIGHT):
        pool.run()
    assert short.complete
    assert long.done == IN_FLIGHT
    while pool.queue:
        pool.run()
    assert long.complete
    assert pool.most == 2 * IN_FLIGHT


def test_cancel_submits_nothing_more_and_keeps_what_is_there() -> None:
    pool = ByHand()
    job = Job(pool, double, [1, 2, 3, 4])
    pool.run()
    job.cancel()
    while pool.queue:
        pool.run()
    assert job.finished
    assert not job.complete
    assert job.results() == [2]


def test_an_error_stops_the_job() -> None:
    pool = ByHand()
    job = Job(pool, double, [1, -1, 3, 4])
    while pool.queue:
        pool.run()
    assert isinstance(job.error, ValueError)
    assert job.finished
    assert not job.complete


class Odd:
    """A result whose size nobody can tell, and which says something of its own."""

    @property
    def nbytes(self) -> int:
        raise RuntimeError("12345 is a private value")

    def __sizeof__(self) -> int:
        raise RuntimeError("12345 is a private value")


def odd(_: int) -> Odd:
    return Odd()


def test_what_cannot_be_kept_ends_the_job_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    shelf, pool, over = Shelf(room=10**6), ByHand(), []
    watch = shelf.watch(
        "odd", lambda known, keep: Job(pool, odd, [1, 2, 3, 4], known=known, keep=keep, ended=lambda: over.append(1))
    )
    while pool.queue:
        pool.run()
    assert watch.finished
    assert not watch.complete
    assert watch.results() == []
    assert over == [1]
    assert str(watch.error) == "RuntimeError"
    assert "12345" not in caplog.text


@pytest.mark.parametrize(
    "came",
    [Odd(), "text", None, [[]], Came(value=1, error=Odd()), Came(value=1, error="a\nline")],  # type: ignore[arg-type]
)
def test_a_worker_that_sends_something_else_has_failed(came: Any) -> None:
    with pytest.raises(SliceFailed, match=r"^No(Result|Name)$"):
        _value(came)
    assert _value(Came(value=2)) == 2


def test_results_are_kept_for_everybody_as_they_come_and_bounded() -> None:
    pool, shelf = ByHand(), Shelf(room=1 << 20)
    watch = shelf.watch("view", lambda known, keep: Job(pool, double, [1, 2], known=known, keep=keep))
    pool.run(1)
    assert shelf.known("view") == {1: 4}
    pool.run()
    assert shelf.known("view") == {0: 2, 1: 4}
    assert watch.results() == [2, 4]
    again = shelf.watch("view", lambda known, keep: Job(pool, double, [1, 2], known=known, keep=keep))
    assert again.complete
    assert not pool.queue
    for number in range(Shelf.LIMIT):
        shelf.keep(number, 0, None)
    assert shelf.known("view") == {}


def test_a_cancelled_job_goes_on_from_the_slices_that_are_done() -> None:
    """Every slice is worked on once, whether it was done when the job was cancelled or still on its way."""
    pool, shelf, worked = ByHand(), Shelf(room=1 << 20), []

    def work(part: int) -> int:
        worked.append(part)
        return double(part)

    def start(known: Mapping[int, int], keep: Keep) -> Job:
        return Job(pool, work, [1, 2, 3, 4, 5], known=known, keep=keep)

    first = shelf.watch("view", start)
    pool.run()
    pool.queue[0][0].set_running_or_notify_cancel()  # the next is already with a worker
    first.cancel()
    future, fn, args = pool.queue.pop(0)
    future.set_result(fn(*args))
    while pool.queue:
        pool.run()
    assert (first.results(), first.cancelled, first.finished) == ([2, 4], True, True)
    second = shelf.watch("view", start)
    assert (second.done, second.cancelled) == (2, False)
    while pool.queue:
        pool.run()
    assert second.results() == [2, 4, 6, 8, 10]
    assert sorted(worked) == [1, 2, 3, 4, 5]


def test_people_who_ask_the_same_share_a_job_until_the_last_one_leaves() -> None:
    pool, shelf = ByHand(), Shelf(room=1 << 20)

    def start(known: Mapping[int, int], keep: Keep) -> Job:
        return Job(pool, double, list(range(9)), known=known, keep=keep)

    here, there = shelf.watch("view", start), shelf.watch("view", start)
    assert len(pool.queue) == IN_FLIGHT
    here.cancel()
    pool.run()
    assert (here.cancelled, there.cancelled) == (True, False)
    assert there.done == 1
    assert len(pool.queue) == IN_FLIGHT
    there.cancel()
    while pool.queue:
        pool.run()
    assert (there.cancelled, there.done) == (True, 1)


def test_a_job_ends_when_everybody_is_gone() -> None:
    """A session that ends drops its watch; the job hands over nothing more, and what it borrowed goes back."""
    pool, ended = ByHand(), []
    watch = Watch(Job(pool, double, list(range(9)), ended=lambda: ended.append(True)))
    pool.run()
    assert len(pool.queue) == IN_FLIGHT
    del watch
    pool.run()
    assert not ended
    pool.run()
    assert not pool.queue
    assert ended == [True]


@pytest.mark.parametrize(
    ("parts", "enough", "run", "there"), [([1, 2, 3], 2, 2, 2), ([1, 2, 3], 9, 3, 3), ([1, -1, 3], 9, 2, 1)]
)
def test_waiting_ends_with_enough_or_with_the_job(parts: list[int], enough: int, run: int, there: int) -> None:
    """Not with the time, which is a day: when so many results are there, when all are, or after an error."""
    pool = ByHand()
    job = Job(pool, double, parts)
    worker = threading.Thread(target=lambda: [pool.run() for _ in range(run)])
    worker.start()
    job.wait(86_400.0, lambda results: len(results) >= enough)
    worker.join()
    assert job.done == there


@pytest.mark.parametrize("parts", [[1], [1, 2, 3], [1, -1, 3], []])
def test_the_end_is_told_once_when_nothing_runs(parts: list[int]) -> None:
    pool, ended = ByHand(), []
    Job(pool, double, parts, ended=lambda: ended.append(len(pool.queue)))
    while pool.queue:
        assert not ended
        pool.run()
    assert ended == [0]


def test_a_place_has_one_job_and_an_old_question_finds_its_results() -> None:
    pool, jobs = ByHand(), Jobs(room=1 << 20)
    first = jobs.get("chart", "a", lambda: Watch(Job(pool, double, [1])))
    assert jobs.get("chart", "a", lambda: pytest.fail("started twice")) is first
    second = jobs.get("chart", "b", lambda: Watch(Job(pool, double, [2])))
    assert first.cancelled
    while pool.queue:
        pool.run()
    assert second.complete
    third = jobs.get("chart", "c", lambda: Watch(Job(pool, double, [3])))
    assert jobs.get("chart", "b", lambda: pytest.fail("done before")).results() == [4]
    assert third.cancelled


def test_of_what_is_over_only_what_places_show_now_is_held_beyond_the_room() -> None:
    """Each answer here is larger than the room: one after the other in a place, a session holds one and not four."""
    pool, jobs = ByHand(), Jobs(room=1)
    for number in range(4):
        for place in ("chart", "report"):
            jobs.get(place, (place, number), lambda: Watch(Job(pool, double, [1])))
            pool.run()
            jobs.get(place, (place, number), lambda: pytest.fail("it stands on the page"))
    assert list(jobs._jobs) == [("chart", 3), ("report", 3)]


def test_a_session_runs_so_many_jobs_at_once_and_the_oldest_stops() -> None:
    pool, jobs = ByHand(), Jobs(room=1 << 20)
    watches = [jobs.get(f"chart {n}", n, lambda: Watch(Job(pool, double, [1, 2])), most=2) for n in range(3)]
    assert [(watch.finished, watch.crowded) for watch in watches] == [(True, True), (False, False), (False, False)]
    assert jobs.get("chart 0", 0, lambda: pytest.fail("started again unasked"), most=2) is watches[0]
    jobs.forget(0)  # "Go on"
    again = jobs.get("chart 0", 0, lambda: Watch(Job(pool, double, [1, 2])), most=2)
    assert [watch.finished for watch in (again, *watches[1:])] == [False, True, False]
    while pool.queue:
        pool.run()
    assert again.complete
    assert not again.crowded


def test_an_executor_that_is_shut_down_ends_its_jobs() -> None:
    """Parts that were queued never come, so the job says so instead of waiting for them; nothing waits for ever."""
    pool = Workers(1)
    job = Job(pool, time.sleep, [0.2] * 20)
    pool.shutdown(cancel_futures=True)
    assert job.error is not None
    assert job.finished


def test_workers_are_replaced_after_one_died() -> None:
    """A worker that ends in the middle of its work fails that work; what is asked for next runs."""
    pool = Workers(1)
    try:
        lost = Job(pool, os._exit, [1])
        until = time.monotonic() + 600
        while not lost.finished and time.monotonic() < until:
            time.sleep(0.05)
        assert lost.error is not None
        assert pool.submit(abs, -3).result(timeout=600) == 3
    finally:
        pool.shutdown(cancel_futures=True)


def total(value: dict[str, np.ndarray], part: int) -> float:
    """What a slice may do with what it borrowed: compute, fail with it in hand, or leave it in a cycle."""
    rows = value["rows"]
    if part < 0:
        raise ValueError("no")
    ring: list[Any] = [rows]
    ring.append(ring)
    return float(part * rows.sum())


@pytest.mark.parametrize("named", [False, True])
def test_workers_read_what_they_are_lent_in_place_and_it_is_gone_afterwards(
    named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slice carries a place, not the data; when the loan ends nobody can open them any more, there or elsewhere."""
    if named:
        monkeypatch.setattr("dashboard.background.lending._shows_descriptors", lambda: False)
    rows = np.arange(200_000.0)
    pool, loan = Workers(1), Loan({"rows": rows})
    try:
        work = loan.lent(total)
        assert len(pickle.dumps(work)) < 1000
        assert pool.submit(work, 2).result(timeout=600) == 2 * rows.sum()
        assert isinstance(pool.submit(work, -1).exception(timeout=600), ValueError)
        assert pool.submit(work, 1).result(timeout=600) == rows.sum()
        loan.close()
        loan.close()
        assert isinstance(pool.submit(work, 1).exception(timeout=600), FileNotFoundError)
    finally:
        pool.shutdown(cancel_futures=True)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux lends memory by its descriptor")
def test_what_has_the_number_of_lent_memory_afterwards_is_not_taken_for_it(tmp_path: Path) -> None:
    """A file, a pipe, a socket, memory that is lent to somebody else."""
    loan = Loan({"rows": np.arange(10.0)})
    work = loan.lent(total)
    assert work(1) == 45.0
    assert isinstance(work, Borrowed)
    place = work.place
    assert isinstance(place, lending._Nameless)
    loan.close()
    (tmp_path / "file").write_bytes(bytes(10**6))
    others: list[Callable[[], int]] = [
        lambda: os.open(tmp_path / "file", os.O_RDONLY),
        lambda: os.pipe()[0],
        lambda: socket.socket().detach(),
        lambda: os.memfd_create("other"),
    ]
    for other in others:
        handle = other()
        os.truncate(handle, 10**6) if other is others[-1] else None
        try:
            os.dup2(handle, place.descriptor)
            with pytest.raises(FileNotFoundError):
                work(1)
        finally:
            os.close(place.descriptor)
            if handle != place.descriptor:
                os.close(handle)


def keeping(value: dict[str, np.ndarray], part: int) -> float:
    keeping.kept = value  # type: ignore[attr-defined]
    return 0.0


def spoiling(value: dict[str, np.ndarray], part: int) -> float:
    value["rows"][0] = 1.0
    return 0.0


@pytest.mark.parametrize(("work", "error"), [(keeping, BufferError), (spoiling, ValueError)])
def test_a_worker_can_neither_keep_nor_change_what_it_is_lent(work: Any, error: type[Exception]) -> None:
    pool, loan = Workers(1), Loan({"rows": np.zeros(1000)})
    try:
        assert isinstance(pool.submit(loan.lent(work), 1).exception(timeout=600), error)
    finally:
        pool.shutdown(cancel_futures=True)
        loan.close()


@pytest.mark.parametrize("shared", [True, False])
def test_without_shared_memory_the_data_go_along(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dashboard.background.lending._reserved", full)
    rows = np.arange(10.0)
    loan = Loan({"rows": rows}, shared=shared)
    work = pickle.loads(pickle.dumps(loan.lent(total)))  # noqa: S301 - our own bytes
    assert work(2) == 2 * rows.sum()
    loan.close()


def napping(value: dict[str, np.ndarray], seconds: float) -> None:
    time.sleep(seconds)


def server_that_lends() -> None:
    """Run in a process of its own, in the middle of a slice: says where the data lie and who works on them."""
    pool, loan = Workers(1), Loan({"rows": np.zeros(1000)})
    work = loan.lent(napping)
    pool.submit(work, 0.0).result(timeout=600)
    pool.submit(work, 600.0)
    print(os.getpid(), *pool._pool._processes, *shared_memory(), flush=True)
    time.sleep(600)


def shared_memory() -> list[str]:
    """What has a name in memory."""
    folder = Path("/dev/shm")  # noqa: S108
    return [str(one) for one in folder.glob("psm_*")]


@pytest.mark.thorough
@pytest.mark.parametrize("all_at_once", [False, True])
def test_nothing_is_left_of_a_server_that_was_killed(all_at_once: bool) -> None:
    """Its worker ends in the middle of a slice, and the data it was lent are gone: also where everything that it
    started, and what tidies up behind it, is killed in the same moment."""
    before = set(shared_memory())
    script = "from tests.dashboard.test_jobs import server_that_lends as run\nif __name__ == '__main__':\n    run()\n"
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        told, worker, *_ = server.stdout.readline().split()
        assert int(told) == server.pid
        left = [Path("/proc", worker)]
        assert all(one.exists() for one in left)
        lent = [one for one in Path("/proc", told, "fd").iterdir() if "memfd:epsilon-lab" in os.readlink(one)]
        assert len(lent) == 1
        os.killpg(server.pid, signal.SIGKILL) if all_at_once else server.kill()
        until = time.monotonic() + 600
        while any(one.exists() for one in left) and time.monotonic() < until:
            time.sleep(0.1)
        assert not any(one.exists() for one in left)
        assert set(shared_memory()) <= before
    finally:
        server.kill()
        server.communicate()


def _goes_first(_: None) -> str:
    return Path("/proc/self/oom_score_adj").read_text().strip()


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="Linux says which process goes first")
def test_where_the_memory_is_full_a_worker_goes_before_the_server(workers: Workers) -> None:
    assert workers.submit(_goes_first, None).result(60) == "500"
