"""When what refers to itself is looked for: soon after something large ended, and seldom while many move sliders.

Python's collector looks through all that every session holds, and nobody is answered meanwhile: a quarter of a second
where four hundred people are. By itself it did so every ten seconds under such a load, in all replicas at about the
same moment; and each closed tab, each forgotten file had it done at once, so that whoever opened and closed pages
without end kept everybody waiting. So large things that end ask for it here, one thread does it for all of them, and
it takes a twentieth of the time at most. The youngest objects, among which is what a run leaves, are looked through as
ever.
"""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable

from dpcore.threads import WorkingThread

APART = 10.0
"""Seconds between two collections of everything, at least."""
SHARE = 0.05
"""Of the time at most that they take: where one takes long, they are further apart."""
SELDOM = range(150, 250)
"""After how many collections of the middle generation Python looks through everything by itself; usually ten. Each
process draws its own, so that replicas do not stop together."""


class Garbage:
    """Whether something waits to be collected, and the one thread that does it, while there is."""

    def __init__(
        self,
        collect: Callable[[], object] = gc.collect,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._collect, self._clock, self._sleep = collect, clock, sleep
        self._lock = threading.Lock()
        self._due = False
        self._thread = WorkingThread("garbage", self._run)
        self._not_before = clock()

    def soon(self) -> None:
        """Something large has ended: collect what it left, at once where that was not done of late."""
        with self._lock:
            self._due = True
        self._thread.wake()

    def _run(self) -> bool:
        self._sleep(max(self._not_before - self._clock(), 0.0))
        with self._lock:
            if not self._due:
                return False
            self._due = False
        begun = self._clock()
        self._collect()
        now = self._clock()
        self._not_before = now + max(APART, (now - begun) / SHARE)
        return True


_GARBAGE = Garbage()


def soon() -> None:
    """Something large has ended: what it left is collected within some seconds."""
    _GARBAGE.soon()


def seldom() -> None:
    """From here on Python looks through everything seldom by itself."""
    youngest, middle, _ = gc.get_threshold()
    gc.set_threshold(youngest, middle, random.choice(SELDOM))
