"""Scripts take turns, so that each person's answer is there sooner when many move their sliders at once.

Python runs one script at a time whatever the number of processors. Without turns, forty scripts that are due at once
all finish late; with them the first finish early and the last no later. Whoever came first is first, and a script that
is not over after a moment does not hold up the others any further: it goes on beside them, and so nobody who asks for
much keeps those waiting who ask for little. Measured in ``benchmarks/capacity.py``. How many scripts there are that
could take a turn is bounded by ``places``, before they have threads.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dashboard.background.once import once

AT_ONCE = 1
HELD = 0.06
"""Seconds from which on a script that runs no longer counts among them: a few usual runs."""
PATIENCE = 0.5  # seconds; whoever has waited so long goes on without a turn
USUAL = 0.027
"""Seconds of processor that a script takes where half as much again for sending it makes 25 runs a second of one."""


class Turn:
    """One script's; ``begun`` is when it got it, None while it waits."""

    __slots__ = ("begun", "called")

    def __init__(self) -> None:
        self.begun: float | None = None
        self.called = threading.Lock()
        self.called.acquire()


class Turns:
    """Who has one and who waits, whoever came first before the others; from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running: set[Turn] = set()
        self._waiting: deque[Turn] = deque()

    def take(self, patience: float) -> Turn | None:
        """Wait for a turn; None after ``patience`` seconds."""
        turn, until = Turn(), self._clock() + patience
        with self._lock:
            self._waiting.append(turn)
            again = self._call()
        while turn.begun is None:
            turn.called.acquire(timeout=max(min(again, until) - self._clock(), 0.0))
            with self._lock:
                again = self._call()
                if turn.begun is None and self._clock() >= until:
                    self._waiting.remove(turn)
                    return None
        return turn

    def give_back(self, turn: Turn) -> None:
        """It is over, or waits for something else. May be told twice."""
        with self._lock:
            self._running.discard(turn)
            self._call()

    def _call(self) -> float:
        """Give those who wait what there is; when the next of those that run stops counting."""
        now = self._clock()
        self._running = {one for one in self._running if one.begun is not None and now - one.begun < HELD}
        while self._waiting and len(self._running) < AT_ONCE:
            turn = self._waiting.popleft()
            turn.begun = now
            self._running.add(turn)
            turn.called.release()
        return min((one.begun for one in self._running if one.begun is not None), default=now) + HELD


@once()
def _turns() -> Turns:
    return Turns()


_HERE = threading.local()


def give_back() -> None:
    """What this thread runs waits for something without computing: others may go on. It takes no turn again."""
    turn: Turn | None = getattr(_HERE, "turn", None)
    if turn is not None:
        _turns().give_back(turn)


@contextmanager
def turn() -> Iterator[bool]:
    """Wait for a turn, at most ``PATIENCE`` seconds, and give it back however the script ends; whether it got one."""
    turns = _turns()
    mine = _HERE.turn = turns.take(PATIENCE)
    try:
        yield mine is not None
    finally:
        _HERE.turn = None
        if mine is not None:
            turns.give_back(mine)
