"""The threads that read people's files: few for everyone, so that uploads wait rather than pile up, and fair.

A file of 300 kB may take a reader for minutes, and one address may bring hundreds. So the next file is of the address
that had least of the threads' time of late; one has at most half of the threads while another waits; and who had most
gives way, where all threads are taken and somebody who had less than half of that has waited for ``PATIENT``. What has
to give way begins anew, and nobody reads a word of it. Its next turn is twice as long, so that what takes long is read
at last, unless its address has had much: then its turns stay short, and what takes longer in all of them is ended with
a sentence.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from dashboard.background import garbage
from dashboard.background.once import once
from dpcore.errors import ReadingCancelled, UnreadableFile
from dpcore.threads import WorkingThread

AT_ONCE = 2
LONG, WAITED = 120.0, 30.0
"""Seconds that a reading may take, in all its turns, where somebody else has waited for so many more."""
TURN, PATIENT = 20.0, 10.0
"""Seconds after which a reading gives way for the first time, to somebody who has waited for so many."""
MUCH, HALF = 240.0, 300.0
"""Seconds of the threads beyond which an address's turns stay as short; half of what it had is forgotten in so many."""
_LESS_URGENT = 5  # about a third of a page's share, where there is not enough for both


class GaveWay(ReadingCancelled):
    """Somebody else waits who had less of the threads than its address: it is to begin anew later."""


class Piece:
    """Work for a thread, and for whom: the address that brought the file. ``gave_up`` are the seconds of each whole
    turn after which it gave way."""

    def __init__(self, work: Callable[[], Any], whose: str, gave_up: tuple[float, ...] = ()) -> None:
        self.work, self.whose, self.gave_up = work, whose, gave_up
        self.since = 0.0
        """When it began to wait, and once it runs when that began."""
        self.done: Future[Any] = Future()


class ReadingThreads:
    """Thread-safe."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once, self._most_each = at_once, max(1, at_once // 2)
        self._threads = [WorkingThread(f"reading_{place}", self._next, _behind_pages) for place in range(at_once)]
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Piece]] = {}  # who was served longest ago comes first
        self._running: list[Piece] = []  # in the order in which they began
        self._used: dict[str, tuple[float, float]] = {}  # seconds of the threads by address, and when that was noted

    def submit(self, piece: Piece) -> Future[Any]:
        """Have it done when it is its turn."""
        with self._lock:
            piece.since = time.monotonic()
            self._waiting.setdefault(piece.whose, deque()).append(piece)
        self.go_on()
        return piece.done

    def go_on(self) -> None:
        """Whoever waits says so: the system may have given no thread when work came."""
        for thread in self._threads:
            thread.wake()

    def withdraw(self, piece: Piece) -> None:
        """It need not be done, unless it is under way: nobody waits for it any more."""
        with self._lock:
            if piece in self._waiting.get(piece.whose, ()):
                self._take(piece)

    def goes_on(self, piece: Piece) -> None:
        """Asked by a reading at each step. Raises GaveWay, or UnreadableFile with a sentence, where others wait."""
        with self._lock:
            now = time.monotonic()
            waiting = [queue[0] for whose, queue in self._waiting.items() if whose != piece.whose]
            same = [one for one in self._running if one.whose == piece.whose]
            second = bool(waiting) and len(same) > self._most_each and same[-1] is piece
            turn = self._turn_is_over(piece, waiting, now)
            waited = turn or any(now > one.since + WAITED for one in waiting)
            took = now - piece.since
            whole = took + (sum(piece.gave_up) if self._had(piece.whose, now) > MUCH else 0.0)
            if turn and whole <= LONG:
                piece.gave_up = (*piece.gave_up, took)
            if second or (turn and whole <= LONG):
                raise GaveWay("Somebody else waits.")
        if waited and whole > LONG:
            raise UnreadableFile(
                f"This takes longer than {LONG / 60:,.0f} minutes while others wait for their files; try again later, "
                "or with fewer rows or columns."
            )

    def _turn_is_over(self, piece: Piece, waiting: list[Piece], now: float) -> bool:
        """Whether all threads are taken, its address had most, and somebody who had much less has waited for it."""
        had = {one.whose: self._had(one.whose, now) for one in self._running}
        most = had.get(piece.whose, 0.0)
        turn = TURN if most > MUCH else min(LONG, TURN * 2 ** len(piece.gave_up))
        return (
            len(self._running) >= self._at_once
            and now > piece.since + turn
            and most >= max(had.values())
            and any(now > one.since + PATIENT and 2.0 * self._had(one.whose, now) < most for one in waiting)
        )

    def _had(self, whose: str, now: float) -> float:
        """Seconds of the threads that an address had of late, with what it has at the moment."""
        used, noted = self._used.get(whose, (0.0, now))
        here = sum(now - one.since for one in self._running if one.whose == whose)
        return float(used * 2.0 ** ((noted - now) / HALF)) + here

    def close(self) -> None:
        """Wait for what is under way or waits; for tests."""
        for thread in self._threads:
            thread.rest()

    def _next(self) -> bool:
        """Do the next piece; whether there was one."""
        piece = self._begun()
        if piece is None:
            return False
        if not piece.done.set_running_or_notify_cancel():
            self._ended(piece)
            return True
        try:
            result = piece.work()
        except BaseException as error:  # noqa: BLE001 - told to whoever asks for the result, as by any executor
            self._ended(piece)
            piece.done.set_exception(error)
        else:
            self._ended(piece)
            piece.done.set_result(result)
        return True

    def _begun(self) -> Piece | None:
        """Of the address that has fewest under way, and among those the one that had least of the threads, to a second,
        or was served longest ago."""
        with self._lock:
            if not self._waiting:
                return None
            under_way = [one.whose for one in self._running]
            now = time.monotonic()
            whose = min(self._waiting, key=lambda one: (under_way.count(one), int(self._had(one, now))))
            piece = self._waiting[whose][0]
            self._take(piece)
            piece.since = now
            self._running.append(piece)
            return piece

    def _take(self, piece: Piece) -> None:
        queue = self._waiting.pop(piece.whose)
        queue.remove(piece)
        if queue:
            self._waiting[piece.whose] = queue  # the last from now on

    def _ended(self, piece: Piece) -> None:
        with self._lock:
            now = time.monotonic()
            had = self._had(piece.whose, now)
            self._running.remove(piece)
            others = sum(now - one.since for one in self._running if one.whose == piece.whose)
            self._used[piece.whose] = (had - others, now)
            for whose in [one for one in self._used if self._had(one, now) < 1.0]:
                del self._used[whose]
        garbage.soon()


def _behind_pages() -> None:
    """Linux knows how urgent each thread is: this one, and those it starts, leave the processor to people's pages."""
    if sys.platform == "linux":
        own = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, own, os.getpriority(os.PRIO_PROCESS, own) + _LESS_URGENT)


@once()
def threads() -> ReadingThreads:
    return ReadingThreads()
