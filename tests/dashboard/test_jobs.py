"""Long work in slices: order, cancel, errors, turns between people, and workers that are replaced."""

from __future__ import annotations

import os
import time
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from dashboard.jobs import IN_FLIGHT, Finished, Job, Jobs
from dashboard.workers import Workers


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


def test_finished_results_are_kept_once_for_everybody_and_bounded() -> None:
    pool, shared = ByHand(), Finished()
    job = Job(pool, double, [1, 2], keep=lambda results: shared.keep("view", results))
    pool.run()
    assert shared.get("view") is None
    pool.run()
    assert shared.get("view") == job.results() == [2, 4]
    other = Job.known(pool, [2, 4])
    assert other.complete
    assert not pool.queue
    for number in range(Finished.LIMIT):
        shared.keep(number, [])
    assert shared.get("view") is None


def test_a_place_has_one_job_and_an_old_question_finds_its_results() -> None:
    pool, jobs = ByHand(), Jobs()
    first = jobs.get("chart", "a", lambda: Job(pool, double, [1]))
    assert jobs.get("chart", "a", lambda: pytest.fail("started twice")) is first
    second = jobs.get("chart", "b", lambda: Job(pool, double, [2]))
    assert first.cancelled
    while pool.queue:
        pool.run()
    assert second.complete
    third = jobs.get("chart", "c", lambda: Job(pool, double, [3]))
    assert jobs.get("chart", "b", lambda: pytest.fail("done before")) is second
    assert third.cancelled


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
        until = time.monotonic() + 60
        while not lost.finished and time.monotonic() < until:
            time.sleep(0.05)
        assert lost.error is not None
        assert pool.submit(abs, -3).result(timeout=60) == 3
    finally:
        pool.shutdown(cancel_futures=True)
