"""Long work in slices: submitted a few at a time, with progress, partial results and cancel.

A job never blocks the server's thread: the page polls it. Slices of several people's jobs take turns: each job
keeps only a few slices in the executor's queue, and addresses take turns there (``dashboard.background.in_turn``).
Several people may wait for one job (``dashboard.background.shelf``).
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future
from typing import Any

from dashboard.background.in_turn import IN_FLIGHT, Lane

Keep = Callable[[int, Any], None]


class Job:
    """Runs ``work(part)`` in ``executor`` for every part but those in ``known``; results in the order of the parts.

    Thread-safe. ``error`` holds the first exception a slice raised, or the name of what kept its result from being
    kept; nothing more is submitted after it. ``keep`` is given the place and the result of every slice as it is done.
    ``ended`` is called once, when nothing runs any more.
    """

    def __init__(
        self,
        executor: Executor,
        work: Callable[[Any], Any],
        parts: Sequence[Any],
        *,
        known: Mapping[int, Any] | None = None,
        keep: Keep | None = None,
        ended: Callable[[], None] | None = None,
    ) -> None:
        self._executors: list[Executor] = [executor]
        self._work, self._keep, self._ended = work, keep, ended
        self._results: dict[int, Any] = dict(known or {})
        self._waiting = [(index, part) for index, part in enumerate(parts) if index not in self._results]
        self._running: set[Future[Any]] = set()
        self._busy = 0  # slices handed over and not back yet
        self._watching: weakref.WeakSet[Any] = weakref.WeakSet()
        self._watched = False
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self.total = len(parts)
        self.cancelled = self.crowded_out = False
        self.error: BaseException | None = None
        for _ in range(self._most()):
            self._next()

    def _most(self) -> int:
        """How many slices may be handed over at once; a cluster's workers come and go."""
        found: int = getattr(self._executors[0], "at_once", IN_FLIGHT)
        return found

    def _quickest(self) -> Executor:
        """The executor as the one of those who watch has it whose turn comes first."""
        return min(list(self._executors), key=lambda one: one.behind if isinstance(one, Lane) else (0.0, 0))

    def _next_ones(self) -> None:
        """The next slice for the one that came back, and one more where there is room for it now."""
        self._next()
        with self._lock:
            more = bool(self._waiting) and self._busy < self._most()
        if more:
            self._next()

    def _next(self) -> None:
        with self._lock:
            if self._watched and not self._watching:
                self.cancelled = True  # everybody who asked for it is gone
            if not self._waiting or self.cancelled or self.error is not None:
                self._end()
                return
            index, part = self._waiting.pop(0)
            self._busy += 1
        # not under the lock: an executor whose process died calls back while it holds its own
        try:
            future = self._quickest().submit(self._work, part)
        except Exception as error:  # noqa: BLE001 - it was shut down, or the system gives it no more processes
            self._stop(error)
            return
        late = self._handed_over(future)
        future.add_done_callback(lambda done: self._finish(index, done))
        if late:
            future.cancel()

    def _handed_over(self, future: Future[Any]) -> bool:
        """Note it, and say whether the job was cancelled in the meantime."""
        with self._lock:
            self._running.add(future)
            return self.cancelled

    def _stop(self, error: BaseException) -> None:
        with self._lock:
            self._busy -= 1
            self.error = self.error or error
            self._end()
            self._news.notify_all()

    def _end(self) -> None:
        if self._busy == 0 and self._ended is not None:
            ended, self._ended = self._ended, None
            ended()

    def _finish(self, index: int, future: Future[Any]) -> None:
        # by somebody else, when it was not us: this part will never come
        error = CancelledError() if future.cancelled() else future.exception()
        result = future.result() if error is None else None
        if error is None and self._keep is not None:
            try:
                self._keep(index, result)
            except Exception as failure:  # noqa: BLE001 - what a worker of a cluster sends may be anything: what it says is its own
                error = RuntimeError(type(failure).__name__)
        with self._lock:
            self._running.discard(future)
            self._busy -= 1
            if error is None:
                self._results[index] = result
            elif not (self.cancelled and isinstance(error, CancelledError)):
                self.error = self.error or error
            self._news.notify_all()
        self._next_ones()

    def cancel(self) -> None:
        """Submit nothing more and drop what has not started."""
        with self._lock:
            self.cancelled = True
            self._waiting.clear()
            running = list(self._running)
        for future in running:
            future.cancel()

    def crowd_out(self) -> None:
        """Stop because others need the room of what it was lent."""
        self.crowded_out = True
        self.cancel()

    def join(self, watch: object, lane: Lane | None = None) -> bool:
        """Let somebody watch it, and have its slices in their ``lane`` where they come earlier there; False when it has
        stopped before its end, so that they must start another."""
        with self._lock:
            if self.cancelled or self.error is not None:
                return False
            self._watched = True
            self._watching.add(watch)
            is_new = lane is not None and lane not in self._executors
            if is_new and lane is not None:
                self._executors.append(lane)
            running = list(self._running) if is_new else []
        if lane is not None and running and self._quickest() == lane:
            for future in running:
                lane.take(future)
        return True

    def leave(self, watch: object) -> None:
        """Somebody needs it no more; it stops when that was the last one."""
        with self._lock:
            self._watching.discard(watch)
            alone = not self._watching
        if alone:
            self.cancel()

    def wait(self, seconds: float, enough: Callable[[list[Any]], bool]) -> None:
        """Wait until ``enough(results)`` or nothing more will come, at most so long."""
        with self._news:
            self._news.wait_for(lambda: self._over() or enough(self._listed()), seconds)

    @property
    def done(self) -> int:
        with self._lock:
            return len(self._results)

    @property
    def finished(self) -> bool:
        with self._lock:
            return self._over()

    def _over(self) -> bool:
        return self.cancelled or self.error is not None or len(self._results) == self.total

    @property
    def complete(self) -> bool:
        """Whether every part has its result."""
        with self._lock:
            return len(self._results) == self.total

    def results(self) -> list[Any]:
        """What is there so far, in the order of the parts."""
        with self._lock:
            return self._listed()

    def _listed(self) -> list[Any]:
        return [self._results[index] for index in sorted(self._results)]
