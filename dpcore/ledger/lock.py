"""One writer at a time, across threads and processes of one machine, without polling."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
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

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)

    def _free(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def exclusive(path: Path | None) -> Iterator[None]:
    """Hold the lock file ``path`` while the block runs; the system frees it when a process dies. None: no lock."""
    if path is None:
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _take(handle)
        try:
            yield
        finally:
            _free(handle)
    finally:
        os.close(handle)
