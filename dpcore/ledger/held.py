"""Which files SQLite has open in this process, so that no other part of it opens them.

POSIX takes all locks of a process on a file away when any descriptor of it is closed, and SQLite takes none of its own
again: the next program that closes the database takes its log away under the one that writes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from weakref import WeakKeyDictionary

HELD = (
    "That file is a ledger which this program has open, so it is not read beside it and nothing was changed; write a "
    "backup of that ledger and name the backup."
)
_DESCRIPTORS = Path("/dev/fd")
_SHARED = "-shm"
_databases: WeakKeyDictionary[object, Path] = WeakKeyDictionary()


def note(engine: object, file: Path) -> None:
    """This engine opens that database, for as long as it lives."""
    _databases[engine] = file


def is_held(path: Path) -> bool:
    """Whether the file at ``path``, by whatever name or link, is a database that SQLite has open in this process, or
    its file of locks."""
    there = _inode(path)
    if there is None:
        return False
    files = [file.with_name(file.name + ending) for file in list(_databases.values()) for ending in ("", _SHARED)]
    return there in {_inode(file) for file in files} and there in _opened()


def _inode(path: Path) -> tuple[int, int] | None:
    with suppress(OSError, ValueError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _opened() -> set[tuple[int, int]]:
    """Of this process; none on a system whose locks do not go with a descriptor."""
    if not _DESCRIPTORS.is_dir():
        return set()
    found = set[tuple[int, int]]()
    for name in os.listdir(_DESCRIPTORS):
        with suppress(OSError):  # one that was closed meanwhile
            told = os.fstat(int(name))
            found.add((told.st_dev, told.st_ino))
    return found
