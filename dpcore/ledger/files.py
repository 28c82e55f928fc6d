"""Files that belong together, and making their names durable."""

from __future__ import annotations

import os
from pathlib import Path


def beside(path: Path, ending: str) -> Path:
    """The file that belongs to ``path`` under another ending."""
    return path.with_name(f"{path.name}.{ending}")


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable, where the system can do that for folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
