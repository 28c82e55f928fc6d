"""What all sessions of this process hold of people's own together, so that many cannot fill the server.

Counted are files, from when they are taken over, the tables that they were read as, their typed columns, the rows of
twins and large things that pages show (``background.in_use``), for as long as anything holds them: a session that has
ended and was cleared away counts no more. So is what work with a large column takes beside, as long as it goes on
(``AtWork``). One address has a share of it and not all. Nothing is taken on where the computer itself has nothing left.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from types import TracebackType
from typing import Self

import pandas as pd

from dashboard import machine_memory
from dashboard.serving.pace import EACH
from dashboard.words import data as said
from dpcore.datasets import Reading, Size
from dpcore.errors import UnreadableFile

TIMES = 6
"""How often the text of a column is there at most while it is looked at, worked on or typed, which is done column by
column."""
LITTLE_EACH = 64 << 20
"""Bytes that an address may hold whatever others do: two that work together would keep everybody else out."""
_LARGE = 32 << 20
"""Bytes of work after which what was free in between is given back to the system."""


class Waiting:
    """What is no table that was read, such as a file that waits to be: it counts for as long as anything holds this."""

    __slots__ = ("__weakref__",)


_live: weakref.WeakKeyDictionary[Waiting | Reading, tuple[int, str]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
_gone: deque[Waiting] = deque()
"""What is held no more, and counts until somebody counts. Whoever lets go takes no lock: that may be the collector of
garbage, at any moment of the very thread that holds it."""


def most() -> int:
    """Bytes that all may hold."""
    return machine_memory.for_files()


def held(whose: str | None = None) -> int:
    """Bytes that all hold now, or those of one address."""
    with _lock:
        _settle()
        return _held(whose)


def waiting(size: int, whose: str) -> Waiting:
    """Count a file of ``size`` bytes that waits for its turn. Raises UnreadableFile with what to do."""
    found = Waiting()
    _count(found, size, whose, None)
    return found


def again(size: int, whose: str, instead: Waiting | None) -> Waiting | None:
    """Count ``size`` bytes of what a session holds beside files from now on, instead of what it held; None of nothing.

    Raises UnreadableFile with what to do; then what it held counts as before.
    """
    if not size:
        if instead is not None:
            let_go(instead)
        return None
    found = Waiting()
    _count(found, size, whose, instead)
    return found


class AtWork:
    """What work of somebody's takes beside what stays: nothing until it says, and nothing once it has ended."""

    def __init__(self, whose: str) -> None:
        self._whose = whose
        self._counted: Waiting | None = None
        self._most = 0

    def takes(self, size: int) -> None:
        """So many bytes from now on. Raises UnreadableFile with what to do."""
        self._counted = again(size, self._whose, self._counted)
        self._most = max(self._most, size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        again(0, self._whose, self._counted)
        if self._most > _LARGE:
            machine_memory.give_back()


def beside(frame: pd.DataFrame) -> int:
    """Bytes that work with the columns of a table, one after the other, takes at most beside the table."""
    return TIMES * Size.of(frame).largest


def let_go(waiting: Waiting) -> None:
    """The file is held no more. Called from anywhere, a finalizer too."""
    _gone.append(waiting)


def note(reading: Reading, whose: str, data: bytes = b"", waiting: Waiting | None = None) -> Reading:
    """Count a table, and the file it was read from, from now on, instead of the file that was ``waiting``; ``reading``.

    Raises UnreadableFile with what to do.
    """
    _count(reading, reading.size + len(data), whose, waiting)
    return reading


def _count(what: Waiting | Reading, size: int, whose: str, instead: Waiting | None) -> None:
    with _lock:
        _settle()
        before = 0 if instead is None else _live.get(instead, (0, ""))[0]
    if not machine_memory.has_room(size - before):
        raise UnreadableFile(said.SERVER_HAS_NO_MEMORY)
    with _lock:
        _settle()
        before = 0 if instead is None else _live.get(instead, (0, ""))[0]
        here = _held(whose) - before + size
        if here > LITTLE_EACH and _held(None) - before + size > most():
            raise UnreadableFile(said.server_is_full(most()))
        if here > max(LITTLE_EACH, EACH * most()):
            raise UnreadableFile(said.address_is_full(int(EACH * most())))
        _live[what] = size, whose
        if instead is not None:
            _live.pop(instead, None)


def _settle() -> None:
    """Under the lock, before anything is counted."""
    while _gone:
        _live.pop(_gone.popleft(), None)


def _held(whose: str | None) -> int:
    return sum(size for size, of in _live.values() if whose in (None, of))
