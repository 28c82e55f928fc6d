"""How much memory this process may have, how much of it people's files, and how much what it remembers of its answers.

It is what the system has, or the smallest limit of the groups that this process is in. A container and a unit of
systemd are groups of Linux ("control groups"), one within another, each with a limit or none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from dashboard.serving.settings import number

SHARE = 0.6
"""For files and their tables: the rest is for reading, simulations and the server."""
ANSWERS, _LEAST = 0.25, 256 << 20
"""For what was computed, as a part of what there is for files; no fewer bytes than one training and what it drew."""
_USUAL = 4 << 30
_OWN = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")


def for_files() -> int:
    """Bytes of people's files and their tables: EPSILON_LAB_MEMORY_ALL in MB, or a share of what there is."""
    return number("EPSILON_LAB_MEMORY_ALL", int(SHARE * given()) >> 20) << 20


def for_answers() -> int:
    """Bytes of what was computed and is remembered, for everybody and in all sessions."""
    return max(_LEAST, int(ANSWERS * for_files()))


@cache
def given() -> int:
    """Bytes of memory that this process may have at most, as far as the system says."""
    found = [_USUAL]
    with suppress(AttributeError, ValueError, OSError):  # Windows does not say
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for place in _limits():
        try:
            told = place.read_text().strip()
        except OSError:
            continue
        if told.isascii() and told.isdigit():
            found.append(int(told))
    return min(found)


def _limits() -> Iterator[Path]:
    """Where a limit could be: of the group this process is in and of all around it, in both forms that Linux has."""
    try:
        lines = _OWN.read_text().splitlines()
    except OSError:
        lines = []
    for line in ("0::/", "0:memory:/", *lines):
        _, kinds, path = (*line.split(":", 2), "-", "")[:3]
        if kinds == "":
            top, name = _GROUPS, "memory.max"
        elif "memory" in kinds.split(","):
            top, name = _GROUPS / "memory", "memory.limit_in_bytes"
        else:
            continue
        # a path that leads out of what this process is shown says nothing of what it is shown
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
        for depth in range(len(parts), -1, -1):
            yield top.joinpath(*parts[:depth]) / name
