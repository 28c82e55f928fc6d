"""Turns to work on something large, such as a file of a million rows or what is made of one.

What such work takes beside what stays is counted nowhere: some hundred bytes a row (``tests/questions/test_large.py``).
So ``AT_ONCE`` of all pages do it at the same time, and of one address one page, so that none has all turns. Who waits
comes in the order of asking. One that has taken ``LONGEST`` is not counted any more, so that nobody waits for ever for
what hangs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

AT_ONCE = 2
LONGEST, LOOKED = 30.0, 5.0
"""Seconds after which one is taken for one that hangs, and between two looks for such."""


class Turn:
    """One page's, ``among`` those of its kind; ``begun`` is when it got it."""

    __slots__ = ("among", "begun", "whose")

    def __init__(self, whose: str, among: LargeTurns) -> None:
        self.whose, self.among = whose, among
        self.begun = 0.0


class LargeTurns:
    """Who has one and who waits; from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._running: list[Turn] = []
        self._waiting: list[Turn] = []

    def take(self, whose: str) -> Turn:
        """Wait for a turn of an address."""
        turn = Turn(whose, self)
        with self._changed:
            self._waiting.append(turn)
            while self._next() is not turn:
                self._changed.wait(LOOKED)
            self._waiting.remove(turn)
            turn.begun = self._clock()
            self._running.append(turn)
            self._changed.notify_all()  # there may be one for somebody else too
        return turn

    def give_back(self, turn: Turn) -> None:
        with self._changed:
            self._running.remove(turn)
            self._changed.notify_all()

    def _next(self) -> Turn | None:
        now = self._clock()
        have = [one.whose for one in self._running if now - one.begun < LONGEST]
        if len(have) >= AT_ONCE:
            return None
        return next((one for one in self._waiting if one.whose not in have), None)


OWN, LITTLE = LargeTurns(), LargeTurns()
"""For large data of people's own, and for what is made of samples and small files: whoever looks at these waits for
nobody's large file."""
_HERE = threading.local()


def has() -> bool:
    """Whether this thread has a turn."""
    return getattr(_HERE, "turn", None) is not None


def take(whose: str, among: LargeTurns) -> None:
    """Wait for a turn for this thread, which has none."""
    _HERE.turn = among.take(whose)


def give_back() -> Turn | None:
    """Give back this thread's turn, which it was; None where it has none."""
    turn: Turn | None = getattr(_HERE, "turn", None)
    if turn is not None:
        _HERE.turn = None
        turn.among.give_back(turn)
    return turn
