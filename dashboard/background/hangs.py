"""Whether something hangs, or is only slow because many share the interpreter: a thread that hangs takes no processor.

By the clock alone they look the same, and then the slower everything is, the more begins beside it.
"""

from __future__ import annotations

import sys
import threading
import time

LONGEST, LOOKED = 30.0, 5.0
"""Seconds without a sign of life after which something is taken for what hangs, and between two looks for such while
somebody waits."""
LITTLE = 0.03
"""Seconds of processor in all that time which are no sign: a thousandth, as of what wakes now and then to look."""


class Life:
    """When something began, came back or was last seen to compute. Guarded by whoever looks."""

    __slots__ = ("_clock", "_took", "since")

    def __init__(self) -> None:
        self.since = 0.0
        self._clock: int | None = None
        self._took = 0.0

    def here(self) -> None:
        """This thread does it from now on. Where no system tells what a thread takes, the clock alone counts."""
        self._clock = None
        if sys.platform != "darwin" and sys.platform != "win32":
            took, clock = time.thread_time(), time.pthread_getcpuclockid(threading.get_ident())
            self._took, self._clock = took, clock

    def gone(self) -> None:
        """Its thread does something else from now on."""
        self._clock = None

    def hangs(self, now: float) -> bool:
        """Whether there was no sign of life for ``LONGEST``."""
        if now - self.since < LONGEST:
            return False
        took = self._taken()
        if took - self._took < LITTLE:
            return True
        self.since, self._took = now, took
        return False

    def _taken(self) -> float:
        if self._clock is None or sys.platform == "win32":
            return self._took
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # the thread is over
            return self._took
