"""What several addresses hand over to an executor is taken from them in turn, so that each has as much of its time.

A job keeps few slices handed over, but one address may have hundreds of jobs, those of tabs that it closed a moment ago
among them, and its slices may take a hundred times as long as others': without turns whoever asks next would wait for a
slice of every one. So the next slice is one of the address that had least of the workers' time, where whoever comes
begins with as much as the latest who had a turn (start-time fair queueing; Goyal, Vin and Cheng, SIGCOMM 1996). And
since no slice that runs can be stopped, and nobody knows how long one will take, an address has its share of the
workers at most, unless nobody else may come.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar

from dashboard.serving.pace import EACH

P = ParamSpec("P")
R = TypeVar("R")
IN_FLIGHT = 2
"""Slices that a job hands over at once to an executor that does not say how many (``at_once``)."""
AHEAD = 1
"""Slices that the executor has beside those that it works on, so that it never waits for the next."""
SHORT = 0.2
"""Seconds of a slice beyond which none waits in the executor: that gains nothing, and who comes would wait for it."""


class Slice(Future[R]):
    """A slice that waits, or that the executor has: then it is cancelled where the executor still can."""

    def __init__(self, call: Callable[[], Future[R]], whose: str) -> None:
        super().__init__()
        self.call, self.whose = call, whose
        self.taken = self.stopped = False
        self.begun: Future[R] | None = None
        self.since: float | None = None  # when the executor began with it, as far as can be told
        self.charged = 0.0

    def cancel(self) -> bool:
        self.stopped = True
        if not self.taken:
            return super().cancel()
        return self.begun is not None and self.begun.cancel()


@dataclass(slots=True)
class _Share:
    """What an address has: slices that wait, and how many the executor has; ``used`` seconds of the workers, where what
    it let pass while it asked for nothing counts as used; and the seconds of its ``latest`` slice."""

    used: float
    waiting: OrderedDict[Slice[Any], None] = field(default_factory=OrderedDict)
    taken: int = 0
    latest: float | None = None
    alone: bool = False

    @property
    def here(self) -> bool:
        return bool(self.waiting or self.taken)

    @property
    def ahead(self) -> int:
        """How many of its slices may wait in the executor."""
        return AHEAD if self.latest is not None and self.latest < SHORT else 0

    def may(self, working: int) -> bool:
        """Whether it may have a turn, where the executor works on so many slices at once."""
        most = working + self.ahead if self.alone else max(1, int(EACH * working))
        return bool(self.waiting) and self.taken < most


class InTurn:
    """The slices that wait for one executor, by the address that they are for. Thread-safe."""

    def __init__(self, executor: Executor, clock: Callable[[], float] = time.monotonic) -> None:
        self._executor, self._clock = executor, clock
        self._shares: OrderedDict[str, _Share] = OrderedDict()  # who had a turn longest ago comes first
        self._taken: OrderedDict[Slice[Any], None] = OrderedDict()
        self._now = 0.0  # what the latest who had a turn had used before it
        self._lock = threading.Lock()

    @property
    def at_once(self) -> int:
        """Slices that one job may have handed over; a cluster's workers come and go."""
        found: int = getattr(self._executor, "at_once", IN_FLIGHT)
        return found

    @property
    def _working(self) -> int:
        """Slices that the executor works on at once."""
        found: int = getattr(self._executor, "working", IN_FLIGHT)
        return found

    def of(self, whose: str, *, alone: bool = False) -> Lane:
        """The executor as an address has it; ``alone`` where nobody else may come."""
        return Lane(self, whose, alone)

    def behind(self, whose: str) -> tuple[float, int]:
        """How late the next slice of an address would have its turn: smaller is earlier."""
        with self._lock:
            one = self._shares.get(whose) or _Share(self._now)
            return max(one.used, self._now) + len(one.waiting) * (one.latest or 0.0), len(one.waiting)

    def add(self, whose: str, call: Callable[[], Future[R]], *, alone: bool = False) -> Future[R]:
        future = Slice(call, whose)
        with self._lock:
            share = self._share(whose)
            share.waiting[future], share.alone = None, alone
        self._go_on()
        return future

    def move(self, found: Future[Any], whose: str) -> None:
        """Let a slice that still waits wait among those of another address."""
        with self._lock:
            here = self._shares.get(found.whose) if isinstance(found, Slice) and found.whose != whose else None
            if here is not None and isinstance(found, Slice) and found in here.waiting:
                del here.waiting[found]
                there = self._share(whose)
                there.waiting[found], there.alone = None, here.alone
                found.whose = whose

    def _share(self, whose: str) -> _Share:
        """What an address has. One that comes begins where the others are, or where it was if that is more."""
        found = self._shares.get(whose)
        if found is None:
            found = self._shares[whose] = _Share(self._now)
        if not found.here:
            found.used = max(found.used, self._now)
            self._shares.move_to_end(whose, last=False)
        return found

    def _forget(self) -> None:
        """Those who have nothing here, and would begin where the others are."""
        here = any(one.here for one in self._shares.values())
        for whose, one in list(self._shares.items()):
            if not one.here and (one.used <= self._now or not here):
                del self._shares[whose]

    def _go_on(self) -> None:
        while (taken := self._next()) is not None:
            if taken not in self._taken:  # nobody wants it any more; it may have been taken before that could be told
                Future.cancel(taken)
                continue
            try:
                taken.begun = taken.call()
            except Exception as error:  # noqa: BLE001 - it was shut down, or the system gives it no more processes
                self._give_back(taken)
                taken.set_exception(error)
                continue
            if taken.stopped:  # while it was handed over
                taken.begun.cancel()
            taken.begun.add_done_callback(partial(self._came_back, taken))

    def _next(self) -> Slice[Any] | None:
        """The next slice of the address whose turn it is, where there is room for one; or one that nobody wants any
        more, for which there is none."""
        with self._lock:
            working = self._working
            may = [(whose, one) for whose, one in self._shares.items() if one.may(working)]
            whose, share = min(may, key=lambda each: each[1].used, default=("", _Share(0.0)))
            if not may or len(self._taken) >= working + share.ahead:
                self._forget()
                return None
            found, _ = share.waiting.popitem(last=False)
            found.taken = True
            if found.stopped:
                return found
            self._shares.move_to_end(whose)
            self._taken[found] = None
            self._now = max(self._now, share.used)
            share.taken += 1
            found.charged = share.latest or 0.0  # until it is known
            share.used += found.charged
            self._begin()
            return found

    def _begin(self) -> None:
        """Executors begin with what they were given first."""
        now = self._clock()
        for one, _ in zip(self._taken, range(self._working), strict=False):
            one.since = now if one.since is None else one.since

    def _came_back(self, here: Slice[Any], done: Future[Any]) -> None:
        self._give_back(here)
        error = None if done.cancelled() else done.exception()
        if done.cancelled():
            Future.cancel(here)
        elif error is None:
            here.set_result(done.result())
        else:
            here.set_exception(error)
        self._go_on()

    def _give_back(self, here: Slice[Any]) -> None:
        with self._lock:
            del self._taken[here]
            share = self._shares[here.whose]
            took = 0.0 if here.since is None else self._clock() - here.since
            share.used += took - here.charged
            share.latest = took
            share.taken -= 1
            self._begin()


@dataclass(frozen=True, slots=True)
class Lane(Executor):
    """An executor as one address has it: what it hands over waits among its own, and takes turns with others'."""

    turns: InTurn
    whose: str
    alone: bool = False

    @property
    def at_once(self) -> int:
        """See ``InTurn.at_once``."""
        return self.turns.at_once

    @property
    def behind(self) -> tuple[float, int]:
        """See ``InTurn.behind``."""
        return self.turns.behind(self.whose)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        return self.turns.add(self.whose, partial(self.turns._executor.submit, fn, *args, **kwargs), alone=self.alone)

    def take(self, future: Future[Any]) -> None:
        """Have a slice wait here that waits among those of another address."""
        self.turns.move(future, self.whose)
