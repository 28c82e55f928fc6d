"""Who draws for which request in this process, in memory: an answer of anybody else is none, also while the ledger is
away and cannot say whose request it is."""

from __future__ import annotations

import threading
from collections import OrderedDict

MOST = 10_000
"""Draws that are known; the one that began longest ago goes first."""


class Drawing:
    """Requests with whoever began to draw for them ("" for who runs the program). Safe to share between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._begun: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, one: tuple[str, str]) -> bool:
        with self._lock:
            return one in self._begun

    def note(self, request_id: str, whose: str) -> None:
        """They, who may, draw for it now."""
        with self._lock:
            self._begun[request_id, whose] = None
            self._begun.move_to_end((request_id, whose))
            while len(self._begun) > self._most:
                self._begun.popitem(last=False)

    def forget(self, request_id: str, whose: str) -> None:
        """Its answer is stored."""
        with self._lock:
            self._begun.pop((request_id, whose), None)
