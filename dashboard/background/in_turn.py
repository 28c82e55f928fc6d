"""What several addresses hand over to an executor is taken from them in turn, one slice of each.

A job keeps few slices handed over, but one address may have hundreds of jobs, those of tabs that it closed a moment ago
among them: without turns whoever asks next would wait for a slice of every one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
IN_FLIGHT = 2
"""Slices that a job hands over at once to an executor that does not say how many (``at_once``)."""
AHEAD = 1
"""Slices that the executor has beside those that it works on, so that it never waits for the next."""


class Slice(Future[R]):
    """A slice that waits, or that the executor has: then it is cancelled where the executor still can."""

    def __init__(self, call: Callable[[], Future[R]]) -> None:
        super().__init__()
        self.call = call
        self.taken = self.stopped = False
        self.begun: Future[R] | None = None

    def cancel(self) -> bool:
        self.stopped = True
        if not self.taken:
            return super().cancel()
        return self.begun is not None and self.begun.cancel()


class InTurn:
    """The slices that wait for one executor, by the address that they are for. Thread-safe."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._waiting: OrderedDict[str, OrderedDict[Slice[Any], None]] = OrderedDict()
        self._busy = 0
        self._lock = threading.Lock()

    @property
    def at_once(self) -> int:
        """Slices that one job may have handed over; a cluster's workers come and go."""
        found: int = getattr(self._executor, "at_once", IN_FLIGHT)
        return found

    def of(self, whose: str) -> Lane:
        """The executor as an address has it."""
        return Lane(self, whose)

    def waiting(self, whose: str) -> int:
        """How many slices wait for an address."""
        with self._lock:
            return len(self._waiting.get(whose, ()))

    def add(self, whose: str, call: Callable[[], Future[R]]) -> Future[R]:
        future = Slice(call)
        with self._lock:
            self._waiting.setdefault(whose, OrderedDict())[future] = None
        self._go_on()
        return future

    def move(self, found: Future[Any], whose: str) -> None:
        """Let a slice that still waits wait among those of another address."""
        with self._lock:
            for here, slices in list(self._waiting.items()):
                if isinstance(found, Slice) and found in slices and here != whose:
                    self._waiting.setdefault(whose, OrderedDict())[found] = slices.pop(found)
                    if not slices:
                        del self._waiting[here]
                    return

    def _go_on(self) -> None:
        while (taken := self._next()) is not None:
            try:
                taken.begun = taken.call()
            except RuntimeError as error:  # it was shut down
                self._one_less()
                taken.set_exception(error)
                continue
            if taken.stopped:  # while it was handed over
                taken.begun.cancel()
            taken.begun.add_done_callback(partial(self._came_back, taken))

    def _next(self) -> Slice[Any] | None:
        """The next slice of the address whose turn it is, where there is room for one."""
        with self._lock:
            while self._waiting and self._busy < self.at_once + AHEAD:
                whose, slices = next(iter(self._waiting.items()))
                found, _ = slices.popitem(last=False)
                if not slices:
                    del self._waiting[whose]
                found.taken = True
                if found.stopped:
                    continue  # nobody wants it any more: that was no turn
                if slices:
                    self._waiting.move_to_end(whose)
                self._busy += 1
                return found
            return None

    def _came_back(self, here: Slice[Any], done: Future[Any]) -> None:
        self._one_less()
        error = None if done.cancelled() else done.exception()
        if done.cancelled():
            Future.cancel(here)
        elif error is None:
            here.set_result(done.result())
        else:
            here.set_exception(error)
        self._go_on()

    def _one_less(self) -> None:
        with self._lock:
            self._busy -= 1


@dataclass(frozen=True, slots=True)
class Lane(Executor):
    """An executor as one address has it: what it hands over waits among its own, and takes turns with others'."""

    turns: InTurn
    whose: str

    @property
    def at_once(self) -> int:
        """See ``InTurn.at_once``."""
        return self.turns.at_once

    @property
    def waiting(self) -> int:
        """How many of its slices wait."""
        return self.turns.waiting(self.whose)

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        return self.turns.add(self.whose, partial(self.turns._executor.submit, fn, *args, **kwargs))

    def take(self, future: Future[Any]) -> None:
        """Have a slice wait here that waits among those of another address."""
        self.turns.move(future, self.whose)
