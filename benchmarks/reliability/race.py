"""Many processes at once: attempts beyond the cap, the same request again and again, and how long one charge takes."""

from __future__ import annotations

import os
import queue
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import create_engine

from benchmarks.reliability.outcome import DATABASES, Ground, Heads, Outcome, Place, processes
from dpcore.costs import Cost
from dpcore.errors import BudgetExceeded
from dpcore.ledger import accounts
from dpcore.ledger.budget import Charge
from dpcore.release import _release


def _run(target: Any, places: Place, count: int, *arguments: Any) -> list[Any]:
    """What ``count`` processes found that ran ``target(place, number, start, results, …)`` from the same moment.

    A process that fails, or dies without a word, ends the check with an error instead of leaving it waiting.
    """
    start, results = processes.Barrier(count), processes.Queue()
    workers = [
        processes.Process(target=_guarded, args=(target, places, number, start, results, *arguments))
        for number in range(count)
    ]
    for worker in workers:
        worker.start()
    found: list[Any] = []
    try:
        while len(found) < count:
            try:
                one = results.get(timeout=5)
            except queue.Empty:
                dead = [worker.exitcode for worker in workers if worker.exitcode not in (None, 0)]
                if dead or all(worker.exitcode is not None for worker in workers):
                    raise RuntimeError(f"{len(found)} of {count} processes answered; exit codes {dead}") from None
                continue
            if isinstance(one, _Failed):
                one.tell()
            found.append(one)
    finally:
        for worker in workers:
            if len(found) < count:
                worker.kill()
            worker.join()
    return found


@dataclass(frozen=True, slots=True)
class _Failed:
    """What went wrong in a process."""

    what: str

    def tell(self) -> None:
        raise RuntimeError(self.what)


def _guarded(target: Any, place: Place, number: int, start: Any, results: Any, *arguments: Any) -> None:
    try:
        target(place, number, start, results, *arguments)
    except BaseException:
        start.abort()
        results.put(_Failed(traceback.format_exc()))
        raise


def _attempt(place: Place, number: int, start: Any, results: Any, attempts: int, size: float) -> None:
    with place.open() as ledger:
        start.wait()
        granted = []
        for attempt in range(attempts):
            # every third request is one that all processes make
            name = f"shared-{attempt}" if attempt % 3 == 0 else f"{number}-{attempt}"
            try:
                granted.append(ledger.charge(name, "people", Cost.pure(size), "Which?").request_id)
            except BudgetExceeded:
                continue
        results.put(granted)


def racing(ground: Ground) -> Iterator[Outcome]:
    """10⁵ attempts from 32 processes for a cap of 2,000 charges (short: 960 from 8 for 100)."""
    workers, attempts, room = (8, 120, 100) if ground.short else (32, 3125, 2000)
    for database in DATABASES:
        place = ground.new_place(database)
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0)
        began = time.monotonic()
        granted = {name for names in _run(_attempt, place, workers, attempts, 1.0 / room) for name in names}
        took = time.monotonic() - began
        with place.open() as ledger:
            charged = {receipt.request_id for receipt in ledger.history("people")}
            spent = ledger.budget("people").spent.spent_epsilon
        yield Outcome(
            check="racing attempts",
            database=database,
            tried=f"{workers * attempts:,} attempts, {workers} processes, room for {room:,}",
            found=f"{len(charged):,} charged, {len(granted - charged)} granted without a charge, {took:.0f} s",
            good=granted == charged and len(charged) == room and spent <= 10**9,
        )


def _take(place: Place, number: int, start: Any, results: Any, attempts: int, size: int) -> None:
    engine = create_engine(place.url)
    with place.open() as ledger:
        budget = ledger.budget("people")
    taken = 0
    start.wait()
    for _ in range(attempts):
        with engine.begin() as connection:
            taken += accounts.take(connection, budget, Charge(spent_epsilon=size))
    engine.dispose()
    results.put(taken)


def bare_update(ground: Ground) -> Iterator[Outcome]:
    """The conditional UPDATE alone, without lock, queue or check before it, at READ COMMITTED."""
    workers, attempts, room = (8, 40, 50) if ground.short else (32, 200, 500)
    place = ground.new_place("PostgreSQL")
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
    taken = sum(_run(_take, place, workers, attempts, 10**9 // room))
    yield Outcome(
        check="conditional update alone",
        database="PostgreSQL",
        tried=f"{workers * attempts:,} updates, {workers} processes, room for {room}",
        found=f"{taken} taken",
        good=taken == room,
    )


def _repeat(place: Place, number: int, start: Any, results: Any, times: int) -> None:
    with place.open() as ledger:
        start.wait()
        answers = [_release(ledger, "once", "people", Heads(epsilon=0.1), [1] * 50, None) for _ in range(times)]
    results.put({(receipt.answer["count"], receipt.journal_hash, receipt.answer_hash) for receipt in answers})


def repeats(ground: Ground) -> Iterator[Outcome]:
    """1,000 repeats of one request, from 8 processes."""
    workers, times = (4, 25) if ground.short else (8, 125)
    for database in DATABASES:
        place = ground.new_place(database)
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=1.0)
        answers = set().union(*_run(_repeat, place, workers, times))
        with place.open() as ledger:
            charges, left = len(ledger.history("people")), ledger.remaining("people").epsilon
        yield Outcome(
            check="repeated request",
            database=database,
            tried=f"{workers * times:,} repeats, {workers} processes",
            found=f"{charges} charge, {len(answers)} answer",
            good=charges == 1 and len(answers) == 1 and left == 0.9,
        )


def _write(place: Place, number: int, start: Any, results: Any, times: int) -> None:
    took = []
    with place.open() as ledger:
        start.wait()
        for attempt in range(times):
            before = time.perf_counter()
            ledger.charge(f"{number}-{attempt}", "people", Cost.pure(1e-4), "Which?")
            took.append(time.perf_counter() - before)
    results.put(took)


def latency(ground: Ground) -> Iterator[Outcome]:
    """How long a charge takes while 8 processes write without a pause: the 99th percentile, at most 50 ms.

    The short form only sees that it runs (10 charges by 2): speed is not for tests to judge.
    """
    workers, times = (2, 5) if ground.short else (8, 250)
    for database in DATABASES:
        place = ground.new_place(database)
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=10.0)
        busy = os.getloadavg()[0]
        took = np.concatenate(_run(_write, place, workers, times)) * 1000
        middle, high = np.percentile(took, [50, 99])
        yield Outcome(
            check=f"charge at {workers} writers",
            database=database,
            tried=f"{took.size:,} charges",
            found=f"median {middle:.0f} ms, 99th percentile {high:.0f} ms (goal 50; load before: {busy:.1f})",
            good=ground.short or bool(high <= 50.0),  # the tests do not judge speed
        )
