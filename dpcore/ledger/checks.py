"""Checks of a whole ledger, one at a time: those who ask while one runs share the next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dpcore.ledger.verify import Replay


class Checks:
    """The checks of one store. Safe to share between threads."""

    def __init__(self) -> None:
        self._one = threading.Lock()
        self._count = threading.Lock()
        self._waiting = 0
        self._last: tuple[float, Replay] | None = None  # when it began, for those who wait

    def shared(self, check: Callable[[], Replay]) -> Replay:
        """What ``check`` finds, begun after this was asked for, by whomever. Raises what it raises."""
        asked = time.monotonic()
        with self._count:
            self._waiting += 1
        try:
            with self._one:
                if self._last is not None and self._last[0] >= asked:
                    return self._last[1]
                began = time.monotonic()
                found = check()
                self._last = began, found
                return found
        finally:
            with self._count:
                self._waiting -= 1
                if self._waiting == 0:
                    self._last = None
