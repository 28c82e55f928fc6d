"""Processes and servers killed at any moment: what was shown must be recorded, and the ledger must open again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.reliability.outcome import Ground, Heads, Outcome, Place, processes, sentence
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger
from dpcore.release import _release

SIZE = 1e-4


def _work(place: Place, run: int, shown: Any) -> None:
    """Release after release; each answer is shown only when the release path has returned it."""
    with place.open() as ledger:
        shown.send(None)
        for number in range(10**6):
            receipt = _release(ledger, f"{run}-{number}", "people", Heads(epsilon=SIZE), [1] * 50, None)
            shown.send((receipt.request_id, receipt.answer["count"], receipt.journal_hash))


def _killed(place: Place, run: int, rng: np.random.Generator) -> list[tuple[str, int, str]]:
    """What one worker showed before kill −9 reached it, at a random moment of its first few releases."""
    here, there = processes.Pipe(duplex=False)
    worker = processes.Process(target=_work, args=(place, run, there))
    worker.start()
    there.close()
    if not here.poll(60):
        raise RuntimeError("a worker did not start")
    here.recv()
    before = time.monotonic()
    shown: list[tuple[str, int, str]] = [here.recv() for _ in range(int(rng.integers(0, 4)))]
    each = (time.monotonic() - before) / len(shown) if shown else 0.01
    time.sleep(float(rng.uniform(0.0, each)))
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join()
    while here.poll():
        try:
            shown.append(here.recv())
        except (EOFError, OSError):
            break
    here.close()
    return shown


def _unrecorded(ledger: Ledger, shown: list[tuple[str, int, str]]) -> int:
    kept = {receipt.request_id: receipt for receipt in ledger.history("people")}
    missing = 0
    for request_id, count, digest in shown:
        receipt = kept.get(request_id)
        same = receipt is not None and receipt.answer == {"count": count} and receipt.journal_hash == digest
        missing += not same
    return missing


def killed_workers(ground: Ground) -> Iterator[Outcome]:
    """500 kill −9 of workers on SQLite, 100 on PostgreSQL (short: 12 and 6), at random moments of their work."""
    rng = np.random.default_rng(11)
    for database, kills in (("SQLite", 12 if ground.short else 500), ("PostgreSQL", 6 if ground.short else 100)):
        place = ground.new_place(database)
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=100.0)
        shown: list[tuple[str, int, str]] = []
        for run in range(kills):
            shown += _killed(place, run, rng)
        with place.open() as ledger:
            missing, charges = _unrecorded(ledger, shown), len(ledger.history("people"))
            spent = ledger.budget("people").spent.spent_epsilon
            ledger.verify()
        yield Outcome(
            check="kill -9 of a worker",
            database=database,
            tried=f"{kills} kills, {len(shown):,} answers shown",
            found=f"{missing} without a record; {charges - len(shown)} charges burned; opens each time",
            good=missing == 0 and len(shown) > kills / 4 and spent == charges * 10**5,
        )


def killed_server(ground: Ground) -> Iterator[Outcome]:
    """The PostgreSQL server killed while a worker releases, then started again."""
    kills = 1 if ground.short else 10
    place = ground.new_place("PostgreSQL")
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=100.0)
    shown: list[tuple[str, int, str]] = []
    sentences = 0
    for run in range(kills):
        with place.open() as ledger:
            for number in range(5):
                receipt = _release(ledger, f"s{run}-{number}", "people", Heads(epsilon=SIZE), [1], None)
                shown.append((receipt.request_id, receipt.answer["count"], receipt.journal_hash))
            ground.server.kill()
            try:
                _release(ledger, f"s{run}-down", "people", Heads(epsilon=SIZE), [1], None)
            except LedgerError as error:
                sentences += sentence(error)
        ground.server.start_again()
    with place.open() as ledger:
        missing = _unrecorded(ledger, shown)
        ledger.verify()
    yield Outcome(
        check="kill of the server",
        database="PostgreSQL",
        tried=f"{kills} kills, {len(shown)} answers shown",
        found=f"{missing} without a record; {sentences} of {kills} told in a sentence",
        good=missing == 0 and sentences == kills,
    )
