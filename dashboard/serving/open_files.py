"""How many files this process may have open and has: each page, each file on its way and each connection is some."""

from __future__ import annotations

import os
import time

FILES_RESERVED, FILES_A_SESSION = 200, 5
"""File descriptors that are kept for the server itself, and what one open page needs of them (measured: 4)."""
LOOKED = 0.1
"""Seconds for which it is remembered how many are open: to look is work for each of them, and each page asks."""
MOST_SESSIONS = 500
"""Open pages at the same time, unless EPSILON_LAB_SESSIONS says another number or the system gives fewer files."""


def raise_file_limit() -> int:
    """Let this process open as many files as the system allows it; returns how many that are."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_SESSIONS * FILES_A_SESSION + FILES_RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else max(soft, 65_536)
    if most > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(soft, most)


def files_open() -> int:
    """How many files this process has open; 0 where the system does not tell."""
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 0


class Left:
    """Whether so few more may be opened that they are kept for the server itself, as of a moment ago."""

    def __init__(self) -> None:
        self._until, self._few = 0.0, False

    def few(self) -> bool:
        now = time.monotonic()
        if now >= self._until:
            self._until = now + LOOKED
            self._few = files_open() > raise_file_limit() - FILES_RESERVED // 2
        return self._few


def places(files: int, most: int = MOST_SESSIONS) -> int:
    """How many pages may be open at once, given how many files this process may open."""
    return max(1, min(most, (files - FILES_RESERVED) // FILES_A_SESSION))
