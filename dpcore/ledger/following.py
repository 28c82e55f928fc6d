"""Now and then a computer brings its journal up to a server's database, without anybody waiting for it.

Its own records it writes down at once. Those of other computers it needs as well: a database that is set back to a copy
from before them would else look sound to every computer that has written nothing since that copy.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dpcore.errors import LedgerError

EVERY = 60.0
"""Seconds after which whoever reads the ledger has it followed again."""


class Following:
    """``follow`` is called in a thread of its own, one at a time, at most every so often."""

    def __init__(self, follow: Callable[[], object]) -> None:
        self._follow = follow
        self._turn = threading.Lock()
        self._next = time.monotonic() + EVERY
        self.thread: threading.Thread | None = None

    def now_and_then(self) -> None:
        """Whoever reads calls this; it returns at once."""
        with self._turn:
            if time.monotonic() < self._next or (self.thread is not None and self.thread.is_alive()):
                return
            self._next = time.monotonic() + EVERY
            self.thread = threading.Thread(target=self._followed, name="ledger-following", daemon=True)
            self.thread.start()

    def _followed(self) -> None:
        try:
            self._follow()
        except LedgerError:
            return  # what is not sound has closed the ledger for whoever comes next; what was held is tried again
