"""Names of rooms' budgets. Who has the token of a browser can tell which rooms it opened, and nobody else can.

Receipts of a room are on every phone in it: a name that was the same for two rooms would tell whose they are. So a
browser's rooms cannot be looked up by their names but by trying all of them; this process keeps in mind who opened
which within a day.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import time
from collections import deque
from collections.abc import Callable

START = "room:"
MOST = 100_000
"""Rooms that are kept in mind, more than one network can open in a day. Beyond them the oldest are forgotten, and count
with their network and with all others' still (``rate``)."""


def lineage_for(token: str) -> str:
    """A new random name for one room that the browser with this secret opens."""
    nonce = os.urandom(8).hex()
    return f"{START}{nonce}:{_mark(nonce, token)}"


def opened_by(lineage: str, token: str) -> bool:
    """Whether the browser with this secret opened the room of this name."""
    parts = lineage.removeprefix(START).split(":")
    return lineage.startswith(START) and len(parts) == 2 and hmac.compare_digest(parts[1], _mark(parts[0], token))


def _mark(nonce: str, token: str) -> str:
    return hmac.digest(token.encode(), f"room {nonce}".encode(), hashlib.sha256).hex()[:20]


class Opened:
    """Which browser opened which rooms within ``seconds`` by the ``clock``, at most ``most`` of them. Thread-safe."""

    def __init__(
        self, seconds: float = 86_400.0, most: int = MOST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds, self._most, self._clock = seconds, most, clock
        self._noted: deque[tuple[float, bytes]] = deque()
        self._rooms: dict[bytes, deque[str]] = {}
        self._lock = threading.Lock()

    def note(self, lineage: str, token: str) -> None:
        """The browser with this secret opened this room; nothing is noted of a room that it did not name."""
        if not opened_by(lineage, token):
            return
        with self._lock:
            self._noted.append((self._clock(), _whose(token)))
            self._rooms.setdefault(_whose(token), deque()).append(lineage)
            self._forget()

    def opened_by(self, token: str) -> list[str]:
        """The rooms of the browser with this secret, oldest first."""
        with self._lock:
            self._forget()
            return list(self._rooms.get(_whose(token), ()))

    def _forget(self) -> None:
        since = self._clock() - self._seconds
        while self._noted and (self._noted[0][0] <= since or len(self._noted) > self._most):
            _, whose = self._noted.popleft()
            self._rooms[whose].popleft()
            if not self._rooms[whose]:
                del self._rooms[whose]


def _whose(token: str) -> bytes:
    return hashlib.sha256(b"rooms of " + token.encode()).digest()
