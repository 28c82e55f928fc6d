"""What all sessions of this process hold of people's own files together, so that many cannot fill the server.

Counted are the files and the tables that they were read as, for as long as anything holds a table: a session that has
ended and was cleared away counts no more.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

from dashboard.gate import number
from dashboard.words import data as said
from dpcore.datasets import Reading
from dpcore.errors import UnreadableFile

SHARE = 0.6
"""Of the memory that the system, or the container, gives: the rest is for reading, simulations and the server."""
_CGROUPS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_USUAL = 4 << 30
_live: weakref.WeakKeyDictionary[Reading, int] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def most() -> int:
    """Bytes that all may hold: EPSILON_LAB_MEMORY_ALL in MB, or a share of what there is."""
    return number("EPSILON_LAB_MEMORY_ALL", int(SHARE * _memory()) >> 20) << 20


def held() -> int:
    """Bytes that all hold now."""
    with _lock:
        return sum(_live.values())


def check(size: int) -> None:
    """Whether ``size`` bytes more fit. Raises UnreadableFile with what to do."""
    if held() + size > most():
        raise UnreadableFile(said.server_is_full(most()))


def note(reading: Reading, data: bytes = b"") -> Reading:
    """Count a table, and the file that it was read from, from now on; ``reading``. Raises UnreadableFile."""
    size = reading.size + len(data)
    check(size)
    with _lock:
        _live[reading] = size
    return reading


@cache
def _memory() -> int:
    """Bytes of memory that this process may have at most, as far as the system says."""
    found = [_USUAL]
    with suppress(AttributeError, ValueError, OSError):  # Windows does not say
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for place in _CGROUPS:
        try:
            told = place.read_text().strip()
        except OSError:
            continue
        if told.isascii() and told.isdigit():
            found.append(int(told))
    return min(found)
