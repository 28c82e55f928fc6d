"""Whoever asks for a file waits for a thread that reads it, where the system gives none for a moment.

Starlette reads files, and keeps what is uploaded, in threads of anyio's, which are made when all others are at work.
Where none could be made the answer was that the server failed, or broke off: a browser asks for no part of a page
again, which stays blank. Those that were made stay, so that a server at rest has as many as it ever needed.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from anyio._backends import _asyncio
from anyio._backends._asyncio import AsyncIOBackend, WorkerThread

from dashboard.runtime.replaced import Methods, put, put_back, there
from dpcore.defects import logged
from dpcore.threads import NoThread

AGAIN, PATIENCE = 0.05, 30.0
"""Seconds between two looks whether there is a thread, and until nobody waits for one any more."""
_RUN = "run_sync_in_worker_thread"
_missing = False
"""Whether the system gave none when one was asked for last, which is said once."""


class _NoneFree(Exception):
    """All threads are at work, and the system gives no other."""


class _Worker(WorkerThread):
    """One that stays, and says in its own way that it could not begin."""

    MAX_IDLE_TIME = math.inf  # type: ignore[assignment]

    def start(self) -> None:
        global _missing
        try:
            super().start()
        except (RuntimeError, MemoryError):
            if not _missing:
                logged("the system gives no more threads for now: files wait for one")
            _missing = True
            raise _NoneFree from None
        _missing = False


async def _run(backend: type[AsyncIOBackend], *given: Any, **more: Any) -> Any:
    """As anyio does it, once there is a thread. Raises NoThread where there is none for too long."""
    run, clock = _ANYIOS[AsyncIOBackend, _RUN].__get__(None, backend), asyncio.get_running_loop().time
    until = clock() + PATIENCE
    while True:
        try:
            return await run(*given, **more)
        except _NoneFree:
            if clock() >= until:
                raise NoThread from None
        await asyncio.sleep(AGAIN)


_OURS: Methods = {(AsyncIOBackend, _RUN): classmethod(_run), (_asyncio, "WorkerThread"): _Worker}
_ANYIOS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _ANYIOS)


def unguard() -> None:
    """As anyio does it; for tests."""
    put_back(_OURS)
