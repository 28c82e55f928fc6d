"""Answers that were drawn and could not be stored at once: kept in memory, and tried again until the ledger has them.

An answer is paid for before it is drawn, and is drawn once: a database that is away for a moment must not take it. No
click waits for that: one thread tries, and ends with the last answer. A process that ends before loses what it keeps.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from dpcore.errors import DpcoreError, LedgerError, LedgerUnsound
from dpcore.threads import WorkingThread

FOR = 60.0
"""Seconds for which an answer is kept: a server is restarted in seconds, and replaced by another in less than this."""
APART = 1.0
"""Seconds between two tries, counted from when storing it began, which is a tick (``dpcore.release``): the time of its
record tells when the ledger came back, and no more of the draw than it told before."""
MOST, MOST_BYTES = 64, 64 << 20
"""Answers, and bytes of them, that are kept at once: of all that are drawn while the database goes away."""
KEPT = (
    "The answer was drawn and paid for, and the ledger could not store it at that moment: this is tried again for a "
    "minute, so look again soon; nothing more is charged."
)
LOST = (
    "The answer was drawn and paid for, and the ledger did not have it after a minute, so nobody is shown it; nothing "
    "more is charged."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _One:
    """``put`` stores it, once and for all. It is not shown: nobody has seen the answer yet."""

    put: Callable[[], object]
    size: int
    began: float
    until: float

    def due(self, now: float) -> float:
        """When it is tried next."""
        return self.began + (math.floor((now - self.began) / APART) + 1) * APART


class Kept:
    """The answers of one ledger. Thread-safe; ``reach`` asks a server that was lost, and raises LedgerError."""

    def __init__(self, reach: Callable[[], object]) -> None:
        self._reach = reach
        self._all: dict[str, _One] = {}  # by request
        self._lock = threading.Lock()
        self._thread = WorkingThread("ledger-kept", self._try)

    def take(self, request_id: str, put: Callable[[], object], *, size: int, began: float) -> bool:
        """Whether an answer of so many bytes is kept now; ``began`` is when storing it did, on the monotonic clock.

        ``put`` is called until it returns, or raises what waiting does not mend; of one request the first is kept.
        """
        with self._lock:
            if request_id not in self._all:
                if len(self._all) >= MOST or sum(one.size for one in self._all.values()) + size > MOST_BYTES:
                    return False
                self._all[request_id] = _One(put, size, began, time.monotonic() + FOR)
        self._thread.wake()
        return True

    def holds(self, request_id: str) -> bool:
        """Whether this request's answer is kept, and so is tried again."""
        with self._lock:
            found = request_id in self._all
        if found:
            self._thread.wake()
        return found

    def wait(self, request_id: str) -> None:
        """Until this request's answer is kept no more, since it is stored or too old; looked for as often as it is
        tried."""
        while self.holds(request_id):
            time.sleep(APART)

    def settle(self, request_id: str) -> None:
        """Store what is kept before another request is charged. Raises LedgerError where the ledger takes nothing now,
        and while the answer of this very request is kept."""
        for name, one in self._present():
            refused = _refused(one.put)
            if refused is None:
                self._forget(name)
            elif type(refused) is LedgerError:
                raise LedgerError(KEPT if self.holds(request_id) else str(refused))
            # nor is one given up here: whoever asks may lack a right that has nothing to do with it
        if self.holds(request_id):
            raise LedgerError(KEPT)

    def _present(self) -> list[tuple[str, _One]]:
        with self._lock:
            return list(self._all.items())

    def _forget(self, request_id: str) -> None:
        with self._lock:
            self._all.pop(request_id, None)

    def _try(self) -> bool:
        """Try those that are due next; whether any is left."""
        if not self._are_left():
            return False
        present, now = self._present(), time.monotonic()
        due = min((one.due(now) for _, one in present), default=now)
        time.sleep(max(due - now, 0.0))
        refused = _refused(self._reach)
        for request_id, one in present:
            if refused is None and one.due(now) <= time.monotonic():
                found = _refused(one.put)
                if found is None or not mends(found):
                    self._forget(request_id)
        if isinstance(refused, LedgerUnsound):
            with self._lock:
                self._all.clear()
        return self._are_left()

    def _are_left(self) -> bool:
        """Whether any is, of those that are not too old."""
        with self._lock:
            now = time.monotonic()
            for request_id in [name for name, one in self._all.items() if one.until < now]:
                del self._all[request_id]
            return bool(self._all)


def mends(error: Exception) -> bool:
    """Whether what the ledger refused may be well in a moment: a server that is away, a disk that is full, a lock."""
    return not isinstance(error, DpcoreError) or type(error) is LedgerError


def _refused(act: Callable[[], object]) -> Exception | None:
    """What ``act`` raised. It may hold the answer, so it goes no further than this file."""
    try:
        act()
    except Exception as error:  # noqa: BLE001 - a thread has nobody to tell, and tries again
        return error
    return None
