"""Now and then a computer brings its journal up to a server's database, without anybody waiting for it.

Its own records it writes down at once. Those of other computers it needs as well: a database that is set back to a copy
from before them would else look sound to every computer that has written nothing since that copy.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from dpcore.errors import LedgerError
from dpcore.threads import WorkingThread

EVERY = 60.0
"""Seconds after which whoever reads the ledger has it followed again."""


class Following:
    """``follow`` is called in a thread of its own, one at a time, at most every so often."""

    def __init__(self, follow: Callable[[], object]) -> None:
        self._follow = follow
        self._turn = threading.Lock()
        self._next = time.monotonic() + EVERY
        self.thread = WorkingThread("ledger-following", self._followed)

    def now_and_then(self) -> None:
        """Whoever reads calls this; it returns at once."""
        with self._turn:
            if time.monotonic() < self._next or self.thread.works:
                return
            self._next = time.monotonic() + EVERY
        self.thread.wake()

    def _followed(self) -> bool:
        with suppress(LedgerError):  # what is not sound has closed the ledger; what was held is for the next time
            self._follow()
        return False
