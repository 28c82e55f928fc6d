"""One writer at a time, across threads and processes of one machine, in turn, and never a wait without end."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

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
    if not _try(handle):
        turn = _Turn.of(handle)
        if not turn.came(patience):
            raise LedgerError(HELD)
        handle = turn.handle
    try:
        yield
    finally:
        _free(handle)
        os.close(handle)


class _Turn:
    """A wait for the lock in the system's own queue, which is fair, by a thread that can be left behind: whoever waits
    next for the same file goes on in its place, so that there are no more of them than wait at one time."""

    _left: ClassVar[dict[tuple[int, int], list[_Turn]]] = {}
    """Those left behind, by the file for which they wait."""
    _deciding = threading.Lock()

    def __init__(self, handle: int, file: tuple[int, int]) -> None:
        self.handle = handle
        self._file = file
        self._mine = threading.Event()
        self._begun = False

    @classmethod
    def of(cls, handle: int) -> _Turn:
        """One that was left behind, in place of ``handle``, or a new one."""
        found = os.fstat(handle)
        file = (found.st_dev, found.st_ino)
        with cls._deciding:
            left = cls._left.get(file, [])
            if not left:
                return cls(handle, file)
            turn = cls._taken(file, left[0])
        os.close(handle)
        return turn

    @classmethod
    def _taken(cls, file: tuple[int, int], turn: _Turn) -> _Turn:
        """No longer left behind."""
        cls._left[file].remove(turn)
        if not cls._left[file]:
            del cls._left[file]
        return turn

    def came(self, patience: float) -> bool:
        """Whether the lock was had in time, by ``handle``; if not, that is closed as soon as the queue lets go of it,
        unless somebody else waits in this place by then. Raises LedgerError where nobody can wait."""
        if not self._begun:
            try:
                begun(self._queue, "ledger-lock")
            except NoThread:
                os.close(self.handle)
                raise LedgerError(NO_THREAD) from None
            self._begun = True
        if self._mine.wait(patience):
            return True
        with self._deciding:
            if self._mine.is_set():
                return True
            self._left.setdefault(self._file, []).append(self)
        return False

    def _queue(self) -> None:
        _wait(self.handle)
        with self._deciding:
            if self not in self._left.get(self._file, []):
                self._mine.set()
                return
            self._taken(self._file, self)
        os.close(self.handle)
