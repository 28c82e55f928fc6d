"""Threads that the system may not give for a moment (no memory, too many tasks), and work that is done all the same.

``Thread.start`` raises there. Whoever noted that thread before would wait for good for one that never came, and so
would who waits for a thread that ended by what one piece of its work raised.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from dpcore.defects import logged, reported

AGAIN = 1.0
"""Seconds after which work that raised goes on."""


class NoThread(OSError):
    """The system gives no more threads for now, so nothing has begun."""

    def __init__(self) -> None:
        super().__init__(errno.EAGAIN, "the system gives no more threads for now")


def begun(work: Callable[[], object], name: str) -> threading.Thread:
    """A thread that has begun with ``work``, and that no process waits for. Raises NoThread."""
    try:
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
    except (RuntimeError, MemoryError):
        raise NoThread from None
    return thread


class WorkingThread:
    """A thread that lives while there is something to do. Safe to share.

    ``step`` does one piece and says whether there may be another. What it raises is noted in the log, once in a row,
    and ends nothing. ``first`` is called in each thread before all else.
    """

    def __init__(self, name: str, step: Callable[[], bool], first: Callable[[], object] = lambda: None) -> None:
        self._name, self._step, self._first = name, step, first
        self._lock = threading.Lock()
        self._asked = self._raised = False
        self._thread: threading.Thread | None = None

    @property
    def works(self) -> bool:
        """Whether a thread lives."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def wake(self) -> None:
        """There may be something to do, from now on: a thread is made where none lives. It raises nothing: where the
        system gives none, whoever wakes one next, and each that works, makes that one too."""
        self._live(asked=True)
        _make_owed()

    def rest(self, seconds: float | None = None) -> None:
        """Wait until there is nothing to do."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _live(self, *, asked: bool = False) -> None:
        missing = False
        with self._lock:
            self._asked = self._asked or asked
            if not self.works:
                try:
                    self._thread = begun(self._run, self._name)
                except NoThread:
                    missing = self not in _owed
                    _owed.add(self)
                else:
                    _owed.discard(self)
        if missing:
            logged(f"the system gives no more threads for now: {self._name} waits for one")

    def _run(self) -> None:
        self._tried(self._first)
        more = True
        while self._goes_on(more):
            more = self._tried(self._step)
            _make_owed()

    def _goes_on(self, more: bool) -> bool:
        """Whoever wakes it after this said no makes another thread."""
        with self._lock:
            if not more and not self._asked:
                self._thread = None
                return False
            self._asked = False
            return True

    def _tried(self, work: Callable[[], object]) -> bool:
        try:
            more = bool(work())
        except Exception as error:  # noqa: BLE001 - a thread has nobody to tell, and what else it is for waits
            if not self._raised:
                self._raised = True
                with suppress(Exception):  # no memory for that either
                    reported(error, f"the thread {self._name} worked")
            time.sleep(AGAIN)
            return True
        self._raised = False
        return more


_owed: set[WorkingThread] = set()
"""Those that the system gave no thread."""


def _make_owed() -> None:
    for one in _owed.copy():
        one._live()
