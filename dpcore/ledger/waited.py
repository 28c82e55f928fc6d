"""What a read waited for in vain is waited for once: a page asks the ledger many times, and so do those of all others.

That a lock is held is told to whoever reads meanwhile. A statement that took too long may have been one person's large
question, so that is told within the same run alone (``one_run``). Who writes is told neither, and waits as ever: that
charges wait for one another says that a ledger is busy, and nothing of those who only look.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpcore.errors import LedgerError
from dpcore.ledger.engine import TROUBLE, explain, is_held, is_slow

KEPT = 5.0
"""Seconds for which a lock is told: longer than a lock is waited for, and than a page is drawn."""

_RUN: ContextVar[dict[Waited, str] | None] = ContextVar("run", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """What is read within by this thread is one run's: once a statement took too long, none of it is waited for."""
    before = _RUN.set({})
    try:
        yield
    finally:
        _RUN.reset(before)


class Waited:
    """Of one ledger. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: tuple[str, float] | None = None  # the sentence, and until when nobody else asks

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One read. Raises LedgerError at once while it is known that a lock is waited for in vain; later one reader at
        a time finds out whether it still is. Raises it also where a read of the same run took too long."""
        run = _RUN.get()
        if run is not None and self in run:
            raise LedgerError(run[self])
        mine = self._begun()
        try:
            yield
        except TROUBLE as error:
            if is_held(error):
                self._known = explain(error), self._clock() + KEPT
            elif run is not None and is_slow(error):
                run[self] = explain(error)
            raise
        finally:
            with self._lock:
                if self._known is mine:  # none that was noted while this one was answered
                    self._known = None

    def _begun(self) -> tuple[str, float] | None:
        """What is known, where it is this reader's turn to ask again."""
        with self._lock:
            known, now = self._known, self._clock()
            if known is None:
                return None
            if now < known[1]:
                raise LedgerError(known[0])
            self._known = known[0], now + KEPT
            return self._known
