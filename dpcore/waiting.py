"""Waiting for a server that may never answer: connections that are looked at, and shut, by a thread of their own.

Whoever waits for an answer through a connection waits until its socket is shut, upon which the waiting statement fails.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, Protocol

from dpcore.threads import WorkingThread, begun


class TooLate(Exception):
    """What was waited for did not come in time."""


class Looked(Protocol):
    """What is looked at: a ``connection``, and what ``look`` does about it at a moment of the monotonic clock; False
    says that there is nothing to look at any more."""

    connection: Any

    def look(self, now: float) -> bool: ...


class Looker:
    """The thread that looks at all that were added, every ``seconds``, while there are any. Safe to share."""

    def __init__(self, name: str, seconds: float) -> None:
        self._seconds = seconds
        self._all: dict[int, Looked] = {}
        self._lock = threading.Lock()
        self._thread = WorkingThread(name, self._look)

    def add(self, looked: Looked) -> None:
        with self._lock:
            self._all[id(looked.connection)] = looked
        self.wake()

    def wake(self) -> None:
        """Whoever begins to wait says so: the system may have given no thread when this was added."""
        self._thread.wake()

    def remove(self, looked: Looked) -> None:
        with self._lock:
            self._all.pop(id(looked.connection), None)

    def of(self, connection: Any) -> Looked | None:
        """What was added of this connection."""
        with self._lock:
            return self._all.get(id(connection))

    def _look(self) -> bool:
        time.sleep(self._seconds)
        with self._lock:
            present = list(self._all.values())
        raised: Exception | None = None
        for looked in present:
            try:
                if not looked.look(time.monotonic()):
                    self.remove(looked)
            except Exception as error:  # noqa: BLE001 - once the others were looked at
                raised = error
        if raised is not None:
            raise raised
        with self._lock:
            return bool(self._all)


def within(seconds: float, work: Callable[[], Any], name: str) -> Any:
    """What ``work`` gives within so many seconds, in a thread of this ``name``; raises what it raises, TooLate, or
    NoThread.

    What comes after that and can be closed is.
    """
    ready: Future[Any] = Future()

    def run() -> None:
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - for who waits
            with contextlib.suppress(InvalidStateError):
                ready.set_exception(error)
            return
        try:
            ready.set_result(found)
        except InvalidStateError:
            if hasattr(found, "close"):
                found.close()

    begun(run, name)
    try:
        return ready.result(seconds)
    except TimeoutError:
        if ready.cancel():
            raise TooLate from None
        return ready.result()  # it came, or raised this itself


def shut(connection: Any) -> None:
    """Shut the socket of a connection (psycopg's), whoever waits for it; one that is closed already stays so."""
    with contextlib.suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as seen:
        seen.shutdown(socket.SHUT_RDWR)
