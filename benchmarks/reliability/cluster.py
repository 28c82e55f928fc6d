"""A training sweep on a Dask cluster of this machine: the same numbers, a worker killed on the way, and how it grows.

What 100 workers would take is worked out, not measured: slices of the measured lengths go to the worker that is free
first, the server spends its measured time on each, and the data go to each worker once by a line of 1 Gbit/s.
"""

from __future__ import annotations

import heapq
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability.outcome import Ground, Outcome
from benchmarks.training import census_like
from dashboard.background.cluster import Cluster
from dashboard.background.jobs import Job
from dashboard.background.workers import Workers
from dashboard.serving.replicas import free_ports
from dpcore.training import Part, PartResult, Sweep, run_slice

ROOT = Path(__file__).parents[2]
PATIENCE = 1800.0  # seconds
LINE = 125e6  # bytes a second
GROWTH = (1, 2, 4)
MANY = 100


def timed(sweep: Sweep, part: Part) -> tuple[PartResult, float]:
    """A slice and the processor time it took."""
    start = time.thread_time()
    return run_slice(sweep, part), time.thread_time() - start


def clustering(ground: Ground) -> Iterator[Outcome]:
    """The short form leaves it to ``tests/serving/test_cluster.py``, where the workers are threads."""
    if ground.short:
        name = "test_cluster.py"
        good = (ROOT / "tests" / "serving" / name).is_file()
        yield Outcome(check="cluster", database="none", tried="left to the tests", found=name, good=good)
        return
    sweep = census_sweep()
    parts, local = sweep.parts(), Workers(2)
    _swept(local, small_sweep(), small_sweep().parts())
    here, alone, _ = _swept(local, sweep, parts)
    dask = _Dask(ground.folder / "dask")
    far = Cluster(dask.address, local)
    try:
        walls: dict[int, float] = {}
        spent, slices, same = 0.0, [0.0], True
        for count in GROWTH:
            dask.grow(count)
            _until(lambda count=count: far.threads == count)
            _swept(far, small_sweep(), small_sweep().parts())  # each has loaded what a slice needs
            found, walls[count], own = _swept(far, sweep, parts)
            same &= _bits(found) == _bits(here)
            spent, slices = own / len(parts), [seconds for _, seconds in found]
        size = len(pickle.dumps(sweep, protocol=5))
        yield Outcome(
            check="cluster",
            database="none",
            tried=f"{len(parts)} slices, {size / 1e6:.1f} MB, on {', '.join(map(str, GROWTH))} workers of one thread",
            found=f"{'the same bits' if same else 'OTHER NUMBERS'}; {alone:.1f} s by two local processes, then "
            f"{', '.join(f'{wall:.1f}' for wall in walls.values())} s on {os.cpu_count()} cores; "
            f"{1000 * spent:.1f} ms of the server a slice; on paper "
            f"{', '.join(f'{_paper(slices, n, spent, size):.1f} s with {n}' for n in (*GROWTH, MANY))}",
            good=same,
        )
        dask.shrink(3)
        _until(lambda: far.threads == 3)
        accidents = {
            "cluster, worker killed": (dask.kill, "kill -9 of one of 3 workers"),
            "cluster, scheduler stopped": (dask.stop, "the scheduler stands still (SIGSTOP)"),
        }
        for check, (befall, tried) in accidents.items():
            loan = far.lend(sweep)
            job = Job(far, loan.lent(timed), parts, ended=loan.close)
            job.wait(PATIENCE, lambda results: len(results) >= len(parts) // 3)
            befall()
            job.wait(PATIENCE, lambda results: False)
            whole = job.error is None and _bits(job.results()) == _bits(here)
            yield Outcome(
                check=check,
                database="none",
                tried=f"{tried} after {len(parts) // 3} of {len(parts)} slices",
                found="the same bits" if whole else f"{job.done} of {job.total} slices, {job.error!r}",
                good=whole,
            )
    finally:
        far.shutdown(cancel_futures=True)
        dask.end()


def census_sweep() -> Sweep:
    X, y = census_like(49_000, 30)
    levels = tuple(float(level) for level in np.geomspace(0.05, 10.0, 9))
    methods = ("noisy_gradient_descent", "proved_descent", "scaled_descent")
    rows = {"X": X[:40_000], "y": y[:40_000], "X_test": X[40_000:], "y_test": y[40_000:]}
    return Sweep(**rows, methods=methods, epsilon=levels, seeds=8)


def small_sweep() -> Sweep:
    X, y = census_like(400, 5)
    levels = tuple(float(level) for level in np.geomspace(0.05, 10.0, 9))
    methods = ("book_gradient_descent", "noisy_gradient_descent", "dp_sgd", "scaled_descent")
    return Sweep(X=X, y=y, X_test=X, y_test=y, methods=methods, epsilon=levels, seeds=8)


def _swept(pool: Any, sweep: Sweep, parts: Sequence[Part]) -> tuple[list[tuple[PartResult, float]], float, float]:
    """Every slice's result and length, the seconds of all by the clock, and this process's own processor time."""
    began, own = time.monotonic(), _own()
    loan = pool.lend(sweep)
    job = Job(pool, loan.lent(timed), parts, ended=loan.close)
    job.wait(PATIENCE, lambda results: False)
    if job.error is not None or not job.complete:
        raise RuntimeError(f"{job.done} of {job.total} slices") from job.error
    return job.results(), time.monotonic() - began, _own() - own


def _own() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _bits(found: Sequence[tuple[PartResult, float]]) -> list[dict[str, bytes]]:
    return [{name: values.tobytes() for name, values in one.values.items()} for one, _ in found]


def _paper(slices: Sequence[float], workers: int, server: float, size: int) -> float:
    """Seconds until the last slice is back, on so many workers with a core each."""
    free = [size * (number + 1) / LINE for number in range(min(workers, len(slices)))]
    handed = 0.0
    for seconds in slices:
        handed += server
        heapq.heapreplace(free, max(free[0], handed) + seconds)
    return max(free)


def _until(true: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise TimeoutError("the cluster did not come to be as it should")
        time.sleep(0.05)


class _Dask:
    """A scheduler and workers, each a process of this machine."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        (port,) = free_ports(1)
        self.address = f"tcp://127.0.0.1:{port}"
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        self._workers: list[subprocess.Popen[bytes]] = []

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", kind, "--no-dashboard", "--dashboard-address", "127.0.0.1:0", *options],
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def grow(self, count: int) -> None:
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self._folder))
        while len(self._workers) < count:
            self._workers.append(self._start("worker", self.address, *options))

    def shrink(self, count: int) -> None:
        while len(self._workers) > count:
            _ended(self._workers.pop(), signal.SIGTERM)

    def kill(self) -> None:
        _ended(self._workers.pop(), signal.SIGKILL)

    def stop(self) -> None:
        """It neither answers nor goes away, as one whose computer is out of memory."""
        self._scheduler.send_signal(signal.SIGSTOP)

    def end(self) -> None:
        for process in (*self._workers, self._scheduler):
            _ended(process, signal.SIGKILL)


def _ended(process: subprocess.Popen[bytes], by: signal.Signals) -> None:
    process.send_signal(by)
    process.wait(30)
