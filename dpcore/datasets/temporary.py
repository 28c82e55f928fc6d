"""Private folders for as long as a file is read, and the removal of those that a killed process left behind.

Each folder holds a lock that the system lets go of when its process ends, however that happens, so that a folder whose
lock can be had belongs to nobody any more. Numbers of processes would not tell: they are used again, and another
container has its own. Windows has no such locks, and no other user reaches a folder of one's own there: nothing is
swept.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX, _LOCK, _UNLOCKED = "epsilon-lab-read-", "lock", "unlocked"
_COUNT = itertools.count()
_EARLIER = re.compile(r"epsilon-lab-[a-z0-9_]{8}")  # without a lock, from versions before


_given: Path | None = None


def only(folder: Path) -> None:
    """From now on this process makes no folder and takes nothing away: it has this one, which another removes."""
    global _given
    _given = folder


@contextmanager
def private_folder() -> Iterator[Path]:
    """A folder that only this user can open, gone afterwards; after a crash ``sweep`` removes it. The same for all who
    ask where there is but one."""
    if _given is not None:
        yield _given
        return
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        if sys.platform == "win32":
            yield Path(folder)
            return
        lock = os.open(Path(folder) / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # nobody who sweeps may find a lock that can be had, not even for a moment
            os.rename(Path(folder) / _UNLOCKED, Path(folder) / _LOCK)
            yield Path(folder)
        finally:
            os.close(lock)


def private_file(folder: Path, data: bytes | bytearray, name: str = "table") -> Path:
    """``data`` as a file in such a folder, which only this user can open."""
    file = folder / (name if _given is None else f"{name}-{next(_COUNT)}")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(data)
    return file


def drop(file: Path) -> None:
    """Such a file is needed no more."""
    if _given is None:
        file.unlink(missing_ok=True)
    elif file.exists():
        os.truncate(file, 0)


def sweep() -> int:
    """Remove what processes that no longer live left in the temporary folder of this user; returns how many."""
    swept = 0
    if sys.platform == "win32":
        return swept
    for folder in Path(tempfile.gettempdir()).glob("epsilon-lab-*"):
        try:
            mine = folder.lstat().st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink()
            if mine and _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
                swept += not folder.exists()
        except (OSError, RecursionError):  # somebody else removed it meanwhile; or it was made not to be removed
            continue
    return swept


def _abandoned(folder: Path) -> bool:
    if sys.platform == "win32":
        return False
    if not folder.name.startswith(_PREFIX):
        return _EARLIER.fullmatch(folder.name) is not None and [each.name for each in folder.iterdir()] == ["table"]
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False  # it is being made, or removed, this very moment; it holds no table yet
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
