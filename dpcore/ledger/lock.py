"""One writer at a time, across threads and processes of one machine, in turn, and never a wait without end."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpcore.errors import LedgerError
from dpcore.threads import NoThread, begun

PATIENCE = 60.0
HELD = "The ledger is held by another program for too long, so nothing was given out; close it and ask again."
NO_THREAD = "The ledger is held, and the system gives no thread to wait for it, so nothing was given out; ask again."

if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait(handle: int) -> None:
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
            except OSError:  # it gives up after ten seconds; we do not
                continue
            return

    def _free(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _free(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def exclusive(path: Path | None, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock file ``path`` while the block runs; the system frees it when a process dies. None: no lock.

    Raises LedgerError when someone else has held it for ``patience`` seconds, or holds it where nobody can wait.
    """
    if path is None:
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if not _try(handle) and not _Turn(handle).came(patience):
        raise LedgerError(HELD)
    try:
        yield
    finally:
        _free(handle)
        os.close(handle)


class _Turn:
    """A wait for the lock in the system's own queue, which is fair, by a thread that can be left behind."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._mine = threading.Event()
        self._decided = threading.Lock()
        self._left = False

    def came(self, patience: float) -> bool:
        """Whether the lock was had in time; if not, the handle is closed as soon as the queue lets go of it. Raises
        LedgerError where nobody can wait."""
        try:
            begun(self._queue, "ledger-lock")
        except NoThread:
            os.close(self._handle)
            raise LedgerError(NO_THREAD) from None
        if self._mine.wait(patience):
            return True
        with self._decided:
            self._left = not self._mine.is_set()
        return not self._left

    def _queue(self) -> None:
        _wait(self._handle)
        with self._decided:
            if not self._left:
                self._mine.set()
                return
        os.close(self._handle)
