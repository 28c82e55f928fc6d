"""What each network has begun within the hour, or each browser within a day, as this process saw it: in memory alone.

A visitor without a login is a cookie, and whoever drops it is another one: a bound by cookies alone lets one computer
take all that a ledger takes from everybody. A record would keep an address for good, so that none is ever written.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable


class Begun:
    """Thread-safe. Holds no more than was begun within ``seconds`` by the ``clock``."""

    def __init__(self, seconds: float = 3600.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._noted: deque[tuple[float, str, str, int]] = deque()
        self._records: Counter[str] = Counter()
        self._of_one: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def note(self, network: str, records: int, who: str = "", most: int = 1 << 31) -> None:
        """So many records were begun from this network, of ``who`` no more than ``most``; nothing is noted where it is
        not known ("")."""
        if not network:
            return
        with self._lock:
            self._forget()
            records = min(records, most - self._of_one[network, who])
            if records <= 0:
                return
            self._noted.append((self._clock(), network, who, records))
            self._records[network] += records
            self._of_one[network, who] += records

    def records(self, network: str) -> int:
        """How many records were begun from this network within the time."""
        with self._lock:
            self._forget()
            return self._records.get(network, 0)

    def of_one(self, network: str, who: str) -> int:
        """How many of these somebody has begun."""
        with self._lock:
            self._forget()
            return self._of_one.get((network, who), 0)

    def _forget(self) -> None:
        since = self._clock() - self._seconds
        while self._noted and self._noted[0][0] <= since:
            _, network, who, records = self._noted.popleft()
            self._records[network] -= records
            self._of_one[network, who] -= records
            if self._records[network] <= 0:
                del self._records[network]
            if self._of_one[network, who] <= 0:
                del self._of_one[network, who]
