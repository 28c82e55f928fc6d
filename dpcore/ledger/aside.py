"""Damaged files that give way to new ones: each is kept under another name, and nothing of it is lost on the way.

Whoever dies in between leaves both, so what was kept is looked through when something is brought back (``kept``).
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from dpcore.ledger.files import create, sync_folder

_LOG, _SHARED = "-wal", "-shm"
"""What SQLite has beside a database: what was written last, and what tells programs where in that it is."""
_MARK = ".damaged-"


def give_way(path: Path, new: Path) -> Path | None:
    """Put ``new`` in the place of what is at ``path``, and return where that is kept; None where it held nothing. The
    names last once the folder is on disk.

    Both must be on one disk, in use by nobody. All is as it was where this fails. Raises OSError.
    """
    kept = keep(path) if path.exists() and path.stat().st_size else None
    try:
        for ending in (_LOG, _SHARED):
            _beside(path, ending).unlink(missing_ok=True)  # or it would be read as what was written last to the new one
        new.replace(path)
    except OSError:
        if kept is not None:
            _put_back(path, kept)
        raise
    return kept


def keep(path: Path) -> Path:
    """Have a file, with what was written last to it, under another name too. Raises OSError."""
    kept = path.with_name(f"{path.name}{_MARK}{datetime.now(UTC).strftime('%Y%m%dT%H%M%S%f')}")
    try:
        for ending in (_LOG, ""):
            if _beside(path, ending).exists():
                _have_twice(_beside(path, ending), _beside(kept, ending))
        sync_folder(path.parent)
    except OSError:
        let_go(kept)
        raise
    return kept


def let_go(kept: Path) -> None:
    """What is kept of a file that is still in its place is not needed."""
    for ending in (_LOG, ""):
        _beside(kept, ending).unlink(missing_ok=True)


def kept(path: Path) -> list[Path]:
    """What was at this place before and gave way, oldest first. Raises OSError."""
    start = path.name + _MARK
    if not path.parent.is_dir():
        return []
    there = (one for one in path.parent.iterdir() if one.name.startswith(start) and one.is_file())
    return sorted(one for one in there if not one.name.endswith((_LOG, _SHARED)))


def copied(kept: Path, folder: Path) -> Path:
    """A copy of what is kept, with what was written last to it, which can be read as a database without a change to it.
    Raises OSError."""
    for ending in (_LOG, ""):
        if _beside(kept, ending).is_file():
            shutil.copyfile(_beside(kept, ending), folder / f"copy{ending}")
    return folder / "copy"


def _have_twice(path: Path, other: Path) -> None:
    try:
        os.link(path, other)
    except OSError:  # a disk without links
        with path.open("rb") as source, os.fdopen(create(other), "wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())


def _put_back(path: Path, kept: Path) -> None:
    with suppress(OSError):
        if _beside(kept, _LOG).exists():
            _beside(kept, _LOG).replace(_beside(path, _LOG))
        kept.unlink()


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
