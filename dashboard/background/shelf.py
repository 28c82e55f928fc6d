"""Who waits for which job, and what was found: people who ask the same share one job, and nothing is done twice.

What a job has found stays for a while, finished or not, so that whoever asks again goes on from there.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dashboard.background import places
from dashboard.background.in_turn import Lane
from dashboard.background.jobs import Job, Keep
from dpcore.memory import Memory, Room


class Watch:
    """A job as one person sees it: others may be waiting for it too, so cancelling it stops it only for them.

    ``crowded`` is whether it was stopped because they began so many others, ``crowded_out`` whether others need the
    room of what it was lent.
    """

    def __init__(self, job: Job, lane: Lane | None = None) -> None:
        self._job = job
        self._stopped = False
        self.crowded = False
        self.joined = job.join(self, lane)

    def cancel(self) -> None:
        self._stopped = not self._job.complete
        self._job.leave(self)

    @property
    def crowded_out(self) -> bool:
        return self._job.crowded_out

    @property
    def cancelled(self) -> bool:
        return self._stopped or self._job.cancelled

    @property
    def finished(self) -> bool:
        return self._stopped or self._job.finished

    @property
    def error(self) -> BaseException | None:
        return self._job.error

    @property
    def total(self) -> int:
        return self._job.total

    @property
    def done(self) -> int:
        return self._job.done

    @property
    def complete(self) -> bool:
        return self._job.complete

    def results(self) -> list[Any]:
        return self._job.results()

    def wait(self, seconds: float, enough: Callable[[list[Any]], bool]) -> None:
        with places.aside():
            self._job.wait(seconds, enough)


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A job as one person saw it that is over: what is left of it, without anything that it was made by."""

    found: tuple[Any, ...]
    total: int
    cancelled: bool
    crowded: bool
    crowded_out: bool
    error: BaseException | None
    finished: ClassVar[bool] = True

    @classmethod
    def of(cls, watch: Watch) -> Over:
        return cls(
            found=tuple(watch.results()),
            total=watch.total,
            cancelled=watch.cancelled,
            crowded=watch.crowded,
            crowded_out=watch.crowded_out,
            error=None if watch.error is None else RuntimeError(type(watch.error).__name__),  # without where it was
        )

    @classmethod
    def refused(cls, error: BaseException) -> Over:
        """One that was never begun."""
        return cls(found=(), total=1, cancelled=False, crowded=False, crowded_out=False, error=error)

    @property
    def done(self) -> int:
        return len(self.found)

    @property
    def complete(self) -> bool:
        return self.done == self.total

    def results(self) -> list[Any]:
        return list(self.found)

    def cancel(self) -> None:
        """Nothing: it is over."""


class Shelf:
    """Jobs under way by what they answer, and what was found, the latest few: nobody waits for the same twice.

    What was found takes ``room`` bytes at most, as in ``Memory``.
    """

    LIMIT = 48

    def __init__(self, *, room: int, within: Room | None = None) -> None:
        self._found = Memory(self.LIMIT, room=room, within=within)
        self._jobs: dict[Hashable, Job] = {}
        self._lock = threading.RLock()

    def watch(self, key: Hashable, start: Callable[[Mapping[int, Any], Keep], Job], lane: Lane | None = None) -> Watch:
        """The job of ``key``: one that runs already, in ``lane`` too from now on, or ``start(known, keep)`` with what
        was found before."""
        with self._lock:
            self._jobs = {at: job for at, job in self._jobs.items() if not job.finished}
            if key in self._jobs:
                watch = Watch(self._jobs[key], lane)
                if watch.joined:
                    return watch
            job = start(self.known(key), lambda index, result: self.keep(key, index, result))
            self._jobs[key] = job
            return Watch(job)

    def runs(self, key: Hashable) -> bool:
        """Whether a job of ``key`` is under way."""
        with self._lock:
            job = self._jobs.get(key)
            return job is not None and not job.finished

    def known(self, key: Hashable) -> dict[int, Any]:
        """Results by their places, as far as they are there."""
        with self._lock:
            return dict(self._found.get(key) or {})

    def keep(self, key: Hashable, index: int, result: Any) -> None:
        with self._lock:
            self._found.put(key, {**(self._found.get(key) or {}), index: result})


class Jobs:
    """One session's jobs by key, the latest few: asking again for a key finds its job, a new one cancels the old.

    ``slot`` is the place on the page that a job fills; a slot has one running job at a time. What those found that are
    over takes ``room`` bytes at most, as in ``Memory``, but for those of the ``NEWEST`` that their slots show now: one
    that is larger than any room would begin anew whenever the page is drawn.
    """

    LIMIT, NEWEST = 24, 4

    def __init__(self, *, room: int, within: Room | None = None) -> None:
        self._over = Memory(self.LIMIT, room=room, within=within)
        self._jobs: OrderedDict[Hashable, Watch] = OrderedDict()
        self._current: dict[str, Hashable] = {}
        self._lock = threading.Lock()

    def get(self, slot: str, key: Hashable, start: Callable[[], Watch], most: int = LIMIT) -> Watch | Over:
        """The job of ``key``, started by ``start`` when there is none, or when it was left for another question.

        No more than ``most`` run at once: the oldest stops for a new one.
        """
        with self._lock:
            before = self._current.get(slot)
            if before is not None and before != key:
                old = self._jobs.get(before)
                if old is not None and not old.finished:
                    old.cancel()
                    self._jobs.pop(before)
            self._current[slot] = key
            over: Over | None = self._over.get(key)
            if over is not None:
                return over
            found = self._jobs.get(key)
            if found is None:
                self._make_room(most)
                found = self._jobs[key] = start()
            self._jobs.move_to_end(key)
            self._put_away()
            while len(self._jobs) > self.LIMIT:
                _, oldest = self._jobs.popitem(last=False)
                oldest.cancel()
            return found

    def _put_away(self) -> None:
        shown = {*list(self._jobs)[-self.NEWEST :]} & {*self._current.values()}
        for key in [key for key in self._jobs if key not in shown]:
            if self._jobs[key].finished:
                self._over.put(key, Over.of(self._jobs.pop(key)))

    def _make_room(self, most: int) -> None:
        running = [job for job in self._jobs.values() if not job.finished]
        for job in running[: max(0, len(running) - most + 1)]:
            job.crowded = True
            job.cancel()

    def forget_all(self) -> None:
        """Stop every job and drop what they found."""
        with self._lock:
            jobs = list(self._jobs.values())
            self._jobs.clear()
            self._over.forget()
            self._current.clear()
        for job in jobs:
            job.cancel()

    def forget(self, key: Hashable) -> None:
        """So that the next ``get`` starts it again."""
        with self._lock:
            self._jobs.pop(key, None)
            self._over.drop(key)
