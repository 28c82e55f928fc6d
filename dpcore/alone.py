"""One at a time in this process: whoever comes meanwhile waits for their turn, for as long as was said."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Turn:
    """Who is at it, and how many are or wait to be."""

    def __init__(self) -> None:
        self.lock, self.wanted = threading.Lock(), 0


class Alone:
    """Turns, by what they are at. Safe to share between threads; of what nobody is at nothing stays."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}
        self._lock = threading.Lock()

    @contextmanager
    def at(self, what: str, seconds: float) -> Iterator[bool]:
        """Whether one's turn came within so many seconds; it ends with this, however that ends."""
        with self._lock:
            turn = self._turns.setdefault(what, _Turn())
            turn.wanted += 1
        mine = False
        try:
            mine = turn.lock.acquire(timeout=seconds)
            yield mine
        finally:
            if mine:
                turn.lock.release()
            with self._lock:
                turn.wanted -= 1
                if turn.wanted == 0:
                    del self._turns[what]
