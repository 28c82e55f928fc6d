"""What all visitors use and what may take long to open, or not open at all: the ledger, which is checked whole."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dashboard.background import places
from dashboard.background.once import anew, outcome
from dpcore.threads import WorkingThread

T = TypeVar("T")
SHORTEST, LONGEST = 5.0, 30.0
"""Seconds for which a refusal is kept, at least and at most; between them as long as the opening took."""


@dataclass(slots=True, eq=False)
class _Attempt(Generic[T]):
    """One opening, which began at ``since``; ``before`` is what the one before raised, if that is why it is opened."""

    since: float
    before: BaseException | None
    call: Future[T] = field(default_factory=Future)
    again: float = 0.0
    """From when on another may be begun, where this one was refused."""

    def refused(self) -> BaseException | None:
        return self.call.exception() if self.call.done() else None


class Opening(Generic[T]):
    """Opens it in a thread of its own for whoever asks first. Safe to share.

    Whoever asks while it is being opened waits until ``waits`` seconds after that began, without a place among scripts,
    and then has ``meanwhile`` raised. What ``opens`` raises is raised anew for as long as it took (``SHORTEST`` to
    ``LONGEST`` seconds); then one who asks begins again and waits, while all others have that raised still.
    """

    def __init__(
        self,
        opens: Callable[[], T],
        meanwhile: Callable[[], Exception],
        *,
        waits: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opens, self._meanwhile, self._waits, self._clock = opens, meanwhile, waits, clock
        self._lock = threading.Lock()
        self._attempt: _Attempt[T] | None = None
        self._thread = WorkingThread("opening", self._open)

    def __call__(self) -> T:
        attempt, begins = self._present()
        if not attempt.call.done():
            self._thread.wake()  # whoever asks: the system may have given no thread to who began
            if begins or attempt.before is None:
                self._wait_for(attempt)
        if attempt.call.done():
            return outcome(attempt.call)
        raise self._meanwhile() if attempt.before is None else anew(attempt.before)

    def _present(self) -> tuple[_Attempt[T], bool]:
        """The opening that counts now, and whether whoever asks has just begun it."""
        with self._lock:
            attempt, now = self._attempt, self._clock()
            refused = None if attempt is None else attempt.refused()
            if attempt is not None and (refused is None or now < attempt.again):
                return attempt, False
            self._attempt = _Attempt(now, refused)
            return self._attempt, True

    def _wait_for(self, attempt: _Attempt[T]) -> None:
        seconds = attempt.since + self._waits - self._clock()
        if seconds > 0.0:
            with places.aside():
                wait([attempt.call], seconds)

    def _open(self) -> bool:
        with self._lock:
            attempt = self._attempt
        if attempt is None or attempt.call.done():
            return False
        since = self._clock()
        try:
            found = self._opens()
        except Exception as error:  # noqa: BLE001 - for whoever asks
            traceback.clear_frames(error.__traceback__)  # it is kept, and a whole ledger was in there
            now = self._clock()
            attempt.again = now + min(max(now - since, SHORTEST), LONGEST)
            attempt.call.set_exception(error)
        else:
            attempt.call.set_result(found)
        return False

    def reopen(self) -> T | None:
        """Have what is open opened anew by who asks next; what it was, None where nothing is open. What is being opened
        is new, and a refusal stays for its seconds: many who found the same do not begin one after the other."""
        with self._lock:
            attempt = self._attempt
            if attempt is None or not attempt.call.done() or attempt.refused() is not None:
                return None
            self._attempt = None
        return attempt.call.result()
