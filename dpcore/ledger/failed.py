"""Draws that failed in this process, in memory: nothing of them was seen, so their charge pays for another try.

After a restart one cannot be told from a draw that a crash took, whose answer may have been made.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

MOST = 10_000
"""Requests that are kept; the one that failed longest ago goes first."""


class Failed:
    """Request ids. Safe to share between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._requests: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, request_id: str) -> bool:
        with self._lock:
            return request_id in self._requests

    def note(self, request_id: str) -> None:
        """Its draw failed."""
        with self._lock:
            self._requests[request_id] = None
            while len(self._requests) > self._most:
                self._requests.popitem(last=False)

    def forget(self, request_id: str) -> None:
        """It is drawn again."""
        with self._lock:
            self._requests.pop(request_id, None)
