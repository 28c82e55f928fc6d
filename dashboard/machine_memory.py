"""How much memory this process may have, how much of it people's files, and how much what it remembers of its answers.

It is what the system has, or the smallest limit of the groups that this process is in. A container and a unit of
systemd are groups of Linux ("control groups"), one within another, each with a limit or none.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

from dashboard.serving.settings import number

SERVER, SHARE = 1152 << 20, 0.45
"""Bytes of a server with its workers and readers when nobody is there, and of all messages, answers and made files that
wait in it; and of what these leave a share for files, their tables and what pages work with. The rest is for answers,
simulations and uploads, or free."""
ANSWERS, _LEAST = 0.25, 256 << 20
"""For what was computed, as a part of what there is for files; no fewer bytes than one training and what it drew."""
LENT, _LEAST_LENT = 0.3, 300 << 20
"""As for answers, for what simulations are lent; no fewer bytes than one of the largest."""
_USUAL = 4 << 30
LITTLE = 1 << 20
"""Bytes that are taken on whatever is left."""
KEPT_FREE, _MOST_FREE = 1 / 16, 256 << 20
"""Of what there is, and at most: nothing of people's is taken where less than this is left, whoever has the rest."""
_OWN = Path("/proc/self/cgroup")
_OF_SYSTEM, _OWN_PAGES = Path("/proc/meminfo"), Path("/proc/self/statm")
_GROUPS = Path("/sys/fs/cgroup")
_IN_USE = {
    "memory.max": ("memory.current", "inactive_file"),
    "memory.limit_in_bytes": ("memory.usage_in_bytes", "total_inactive_file"),
}
"""Beside each form of limit what is in use, and what of it the system only keeps at hand."""
_FRESH = 0.5
_looked = (-_FRESH, False)
_C = ctypes.CDLL(None) if os.name == "posix" else None


def for_files(servers: int = 1) -> int:
    """Bytes of people's files and of what pages work with, for so many servers together: EPSILON_LAB_MEMORY_ALL in MB,
    or a share of what they leave of what there is, a quarter of all at least."""
    usual = max(SHARE * (given() - servers * SERVER), given() / 4)
    return number("EPSILON_LAB_MEMORY_ALL", int(usual) >> 20) << 20


def for_answers() -> int:
    """Bytes of what was computed and is remembered, for everybody and in all sessions."""
    return max(_LEAST, int(ANSWERS * for_files()))


def for_simulations() -> int:
    """Bytes that simulations are lent, all of them together."""
    return max(_LEAST_LENT, int(LENT * for_files()))


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


def left() -> int | None:
    """Bytes that the system and the groups of this process still have for it, those of files that the system only keeps
    at hand among them; None where the system does not say."""
    found: list[int] = []
    with suppress(OSError, ValueError):
        of_system = dict(line.split(":", 1) for line in _OF_SYSTEM.read_text().splitlines())
        found.append(int(of_system["MemAvailable"].split()[0]) << 10)
    for limit in _limits():
        in_use, at_hand = _IN_USE[limit.name]
        with suppress(OSError, ValueError):
            most = int(limit.read_text())
            of_files = dict(line.split() for line in (limit.parent / "memory.stat").read_text().splitlines())
            found.append(most - int((limit.parent / in_use).read_text()) + int(of_files.get(at_hand, 0)))
    return min(found, default=None)


def has_room(size: int) -> bool:
    """Whether so much more leaves something over, after what nothing is in any more was given back if need be; a little
    always may be taken."""
    if size <= LITTLE or _fits(size):
        return True
    give_back()
    return _fits(size)


def kept_free() -> int:
    """Bytes that stay free, as far as it goes."""
    return int(min(KEPT_FREE * given(), _MOST_FREE))


def own() -> int:
    """Bytes that this process has in memory, what it shares with others among them; all there is where the system does
    not say."""
    with suppress(OSError, ValueError, IndexError):
        return int(_OWN_PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return given()


def is_short() -> bool:
    """Whether there is so little left that nobody new should come."""
    global _looked
    at, short = _looked
    if time.monotonic() - at > _FRESH:
        short = not _fits(0)
        _looked = time.monotonic(), short
    return short


def _fits(size: int) -> bool:
    there = left()
    return there is None or there - size >= kept_free()


def give_back() -> None:
    """Let the system have the memory that nothing is in any more: Arrow and C keep it for what comes next."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(_C, "malloc_trim", None)
    if trim is not None:
        trim(0)


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
