"""Files that belong together, and making their names durable."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path


def beside(path: Path, ending: str) -> Path:
    """The file that belongs to ``path`` under another ending."""
    return path.with_name(f"{path.name}.{ending}")


def real(path: Path) -> Path:
    """The file that ``path`` names, by however many links: beside it lies whatever belongs to it."""
    return Path(os.path.realpath(path))


def leads_nowhere(path: Path) -> bool:
    """Whether ``path``, or a folder on its way, is a link to what is not there: its disk may not be mounted. Raises
    OSError."""
    return any(one.is_symlink() and not one.exists() for one in (path, *path.parents))


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where the system can do that for folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def others_may_replace(folder: Path) -> bool:
    """Whether every user of the computer may put a file of theirs in the place of one in this folder."""
    try:
        mode = folder.stat().st_mode
    except OSError:  # whoever writes there is told
        return False
    return os.name != "nt" and bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX


def create(path: Path) -> int:
    """The descriptor of an empty file of this user's alone (mode 600). Raises FileExistsError where anything has that
    name, a link too, and OSError."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, 0o600)


def sweep(path: Path) -> None:
    """Remove what programs that died had begun to put in the place of ``path``. Only for whoever holds its lock. Raises
    OSError."""
    begun = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{16}}\.partial(-wal|-shm|-journal)?")
    for left in [one for one in path.parent.iterdir() if begun.fullmatch(one.name)]:
        left.unlink(missing_ok=True)


def write_new(target: Path, data: bytes) -> None:
    """A new file of this user's alone (mode 600), whole and on disk when this returns, or none.

    Raises FileExistsError where anything has that name, a link too, and OSError.
    """
    partial = beside(target, f"{secrets.token_hex(8)}.partial")
    try:
        with os.fdopen(create(partial), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        put_new(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def put_new(partial: Path, target: Path) -> None:
    """Have a file that is whole and on disk under the name ``target`` too, or instead; that lasts when this returns.

    Raises FileExistsError where anything has that name, a link too, and OSError.
    """
    try:
        os.link(partial, target)  # where a rename would replace what has that name
    except FileExistsError:
        raise
    except OSError:  # a disk without links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        partial.rename(target)
    sync_folder(target.parent)
