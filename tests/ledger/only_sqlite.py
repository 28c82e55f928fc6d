"""Whether the program opens a database's file by itself while SQLite has it open in the same process.

POSIX takes all of a process's locks of a file away when any descriptor of it is closed, and SQLite never takes its own
again: the next program that closes the database takes the log away under the one that writes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

PRODUCT = tuple(str(Path(__file__).parents[2] / package) + os.sep for package in ("dpcore", "dashboard"))
_TESTS = str(Path(__file__).parents[1]) + os.sep
_HELD = Path("/proc/self/fd")


class _Watch:
    """Calls of the program's that opened what SQLite holds."""

    def __init__(self) -> None:
        self.databases: set[str] = set() if not _watches else _watches[-1].databases
        self.found: list[str] = []

    def connected(self, address: Any) -> None:
        named = os.fsdecode(address)
        self.databases.add(unquote(urlsplit(named).path) if named.startswith("file:") else named)

    def opened(self, path: Any, flags: int) -> None:
        if flags & os.O_EXCL or not isinstance(path, (str, bytes, os.PathLike)):  # a new file, or a descriptor
            return
        here = _inode(os.fsdecode(path))
        locked = {_inode(name + ending) for name in self.databases for ending in ("", "-shm")}
        if here is None or here not in locked or (by := _caller()) is None:
            return
        if here in {_inode(one) for one in _HELD.iterdir()}:
            self.found.append(by)


_watches: list[_Watch] = []


def _told(event: str, given: tuple[Any, ...]) -> None:
    if not _watches:
        return
    if event == "sqlite3.connect":
        _watches[-1].connected(given[0])
    elif event == "open":
        _watches[-1].opened(given[0], given[2])


@cache
def _listen() -> None:
    """Once: what is added to Python stays to the end of the process."""
    sys.addaudithook(_told)


def _inode(path: str | Path) -> tuple[int, int] | None:
    with suppress(OSError, ValueError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


def _caller() -> str | None:
    """The line of the program that opens a file; None where a test does."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        name = frame.f_code.co_filename
        if name.startswith(PRODUCT):
            return f"{Path(name).name}:{frame.f_lineno}"
        if name.startswith(_TESTS) and name != __file__:
            return None
    return None


@contextmanager
def opened_beside_sqlite() -> Iterator[list[str]]:
    """Which lines of the program open, within, a database that SQLite holds in this process."""
    _listen()
    _watches.append(_Watch())
    try:
        yield _watches[-1].found
    finally:
        _watches.pop()
