"""Worker processes for long sweeps, replaced when one dies, and what makes them and the server ready for a visitor.

Imported by every worker process, so it imports neither Streamlit nor a page.
"""

from __future__ import annotations

import importlib
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from dashboard.background.in_turn import IN_FLIGHT, InTurn
from dashboard.background.lending import Loan
from dpcore.threads import NoThread, begun

_GOES_FIRST = Path("/proc/self/oom_score_adj")
P = ParamSpec("P")
R = TypeVar("R")


class Workers(Executor):
    """``count`` processes that start when there is work. After one died (out of memory, say) all are new ones.

    What was running or queued then fails with BrokenExecutor; what is submitted afterwards runs.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()
        self._pool = self._new()
        self.turns = InTurn(self)

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            max_workers=self.count, mp_context=multiprocessing.get_context("spawn"), initializer=begin
        )

    @property
    def at_once(self) -> int:
        """Slices that one job may have handed over, so that all processes have work and others' slices come soon."""
        return max(IN_FLIGHT, self.count)

    @property
    def working(self) -> int:
        """Slices that are worked on at once."""
        return self.count

    def lend(self, value: Any, take: Callable[[int], None] | None = None) -> Loan:
        """See ``Loan``."""
        return Loan(value, take)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        with self._lock:
            try:
                return self._submitted(fn, *args, **kwargs)
            except BrokenExecutor:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = self._new()
                return self._submitted(fn, *args, **kwargs)

    def _submitted(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Where the system gives the pool no thread of its own the next who comes has another pool: this one has noted
        the thread, and waits for it for good. Raises NoThread."""
        pool: Any = self._pool
        queue = pool._call_queue
        try:
            if queue is not None and queue._thread is None:
                queue._start_thread()  # else it begins in the other, which ends by that
            return self._pool.submit(fn, *args, **kwargs)
        except (RuntimeError, MemoryError):
            threads = (pool._executor_manager_thread, getattr(queue, "_thread", None))
            if all(thread is None or thread.ident is not None for thread in threads):
                raise
        processes = list(pool._processes.values())
        pool.shutdown(wait=False)
        for process in processes:
            process.terminate()  # nobody would hand it work
        self._pool = self._new()
        raise NoThread

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            pool = self._pool
        # not under the lock: what a job does when its work is cancelled may be to submit the next piece
        pool.shutdown(wait=wait, cancel_futures=cancel_futures)


def begin() -> None:
    """First thing in a worker process: one thread each, since there are as many workers as cores.

    A worker whose server was killed ends at once: as long as one lives, what it was lent stays in memory.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    with suppress(OSError):  # Linux's; read-only in some containers
        _GOES_FIRST.write_text("500")  # where the computer's memory is full, rather than the server
    begun(_end_with_server, "end with the server")  # one that it cannot be told of is replaced


def _end_with_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def rehearse(seconds: float = 0.0) -> None:
    """In a worker: a sweep over a handful of rows, so that all a real one needs is loaded.

    Takes at least ``seconds``, so that others of these, submitted together, go to other workers.
    """
    from dpcore.training import CodedRows, Sweep, run_slice

    until = time.monotonic() + seconds
    rng = np.random.Generator(np.random.SFC64(0))
    X, y = rng.uniform(-0.5, 0.5, (40, 2)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    codes = CodedRows.of([np.arange(40) % 2, np.zeros(40, dtype=np.int64)], [np.eye(2), np.ones((1, 1))])
    methods = ("scaled_descent", "noisy_gradient_descent", "objective_perturbation", "dp_sgd")
    common: dict[str, Any] = {"X": X, "y": y, "X_test": X, "y_test": y, "coded": codes, "coded_test": codes}
    sweep = Sweep(**common, methods=methods, epsilon=(1.0,), seeds=1)
    for part in sweep.parts():
        run_slice(sweep, part)
    time.sleep(max(0.0, until - time.monotonic()))


def compile_kernels() -> None:
    """Compile, or load from the disk, the loops behind Thresholding and Experts; done once per process."""
    from dpcore.experts import expected_regret
    from dpcore.thresholding.alarm_problem import AlarmProblem

    expected_regret(np.eye(2), [0.1])
    problem = AlarmProblem(answers=np.arange(30.0), threshold=20.0, people=1000, monotonic=True)
    for method in problem.methods:
        problem.evaluate(method, "on_time", np.array([0.5, 1.0]), np.array([1000.0, 1000.0]))


def warm_up(workers: Workers, modules: Sequence[str] = (), last: Callable[[], None] = lambda: None) -> threading.Thread:
    """Start making everything ready, beside the first visitor's page; what fails is noted in the log, and the page that
    needs it says so.

    Every worker is made ready for a sweep before loops are compiled, or the first sweep would wait behind the compiler.
    Loops are compiled in a worker, which leaves them on the disk: compiling here would hold up the server. ``modules``
    are loaded here once the first page is likely to be there: what a later page would load while somebody waits for it.
    ``last`` is called after them.
    """

    def work() -> None:
        rehearsals = [workers.submit(rehearse, 0.5) for _ in range(workers.count)]
        compiled = workers.submit(compile_kernels)
        wait(rehearsals)
        for name in modules:
            importlib.import_module(name)
        last()
        if compiled.exception() is None:
            compile_kernels()

    def quietly() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the page that needs what failed here will say so itself
            logging.getLogger(__name__).warning("warm-up stopped: %s", type(error).__name__)

    return begun(quietly, "warm-up")
