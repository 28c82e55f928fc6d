"""Long work in slices: submitted a few at a time, with progress, partial results and cancel.

A job never blocks the server's thread: the page polls it. Slices of several people's jobs take turns, because each
job keeps only a few slices in the executor's queue.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, Self

IN_FLIGHT = 2


class Job:
    """Runs ``work(part)`` for every part in ``executor``; results come in the order of the parts that are done.

    Thread-safe. ``error`` holds the first exception a slice raised; nothing more is submitted after it.
    ``keep`` is given the results once, when all are there.
    """

    def __init__(
        self,
        executor: Executor,
        work: Callable[[Any], Any],
        parts: Sequence[Any],
        keep: Callable[[list[Any]], None] | None = None,
    ) -> None:
        self._executor, self._work, self._keep = executor, work, keep
        self._waiting = list(enumerate(parts))
        self._results: dict[int, Any] = {}
        self._running: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self.total = len(self._waiting)
        self.cancelled = False
        self.error: BaseException | None = None
        for _ in range(IN_FLIGHT):
            self._next()

    @classmethod
    def known(cls, executor: Executor, results: Sequence[Any]) -> Self:
        """A job that was done before: nothing runs."""
        job = cls(executor, _nothing, ())
        job._results = dict(enumerate(results))
        job.total = len(results)
        return job

    def _next(self) -> None:
        with self._lock:
            if not self._waiting or self.cancelled or self.error is not None:
                return
            index, part = self._waiting.pop(0)
            try:
                future = self._executor.submit(self._work, part)
            except RuntimeError as error:
                self.error = error
                return
            self._running.add(future)
        future.add_done_callback(lambda done: self._finish(index, done))

    def _finish(self, index: int, future: Future[Any]) -> None:
        with self._lock:
            self._running.discard(future)
            if future.cancelled():
                # by somebody else: this part will never come
                self.error = self.error or (None if self.cancelled else CancelledError())
            else:
                error = future.exception()
                if error is None:
                    self._results[index] = future.result()
                else:
                    self.error = self.error or error
        if self.complete and self._keep is not None:
            keep, self._keep = self._keep, None
            keep(self.results())
        self._next()

    def cancel(self) -> None:
        """Submit nothing more and drop what has not started."""
        with self._lock:
            self.cancelled = True
            self._waiting.clear()
            running = list(self._running)
        for future in running:
            future.cancel()

    @property
    def done(self) -> int:
        with self._lock:
            return len(self._results)

    @property
    def finished(self) -> bool:
        with self._lock:
            return self.cancelled or self.error is not None or len(self._results) == self.total

    @property
    def complete(self) -> bool:
        """Whether every part has its result."""
        with self._lock:
            return len(self._results) == self.total

    def results(self) -> list[Any]:
        """What is there so far, in the order of the parts."""
        with self._lock:
            return [self._results[index] for index in sorted(self._results)]


def _nothing(part: Any) -> Any:
    return part


class Finished:
    """Results of finished jobs, the latest few, shared by all sessions: the second visitor of a view does not wait."""

    LIMIT = 48

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, list[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> list[Any] | None:
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def keep(self, key: Hashable, results: list[Any]) -> None:
        with self._lock:
            self._results[key] = results
            self._results.move_to_end(key)
            while len(self._results) > self.LIMIT:
                self._results.popitem(last=False)


class Jobs:
    """One session's jobs by key, the latest few: asking again for a key finds its job, a new one cancels the old.

    ``slot`` is the place on the page that a job fills; a slot has one running job at a time.
    """

    LIMIT = 24

    def __init__(self) -> None:
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._current: dict[str, Hashable] = {}
        self._lock = threading.Lock()

    def get(self, slot: str, key: Hashable, start: Callable[[], Job]) -> Job:
        """The job of ``key``, started by ``start`` when there is none, or when it was cancelled or failed."""
        with self._lock:
            before = self._current.get(slot)
            if before is not None and before != key:
                old = self._jobs.get(before)
                if old is not None and not old.finished:
                    old.cancel()
                    self._jobs.pop(before)
            found = self._jobs.get(key)
            if found is None:
                found = self._jobs[key] = start()
            self._jobs.move_to_end(key)
            self._current[slot] = key
            while len(self._jobs) > self.LIMIT:
                _, oldest = self._jobs.popitem(last=False)
                oldest.cancel()
            return found

    def forget(self, key: Hashable) -> None:
        """So that the next ``get`` starts it again."""
        with self._lock:
            self._jobs.pop(key, None)
