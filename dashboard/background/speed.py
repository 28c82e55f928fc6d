"""How fast this computer is, by a piece of work that is always the same.

What a plain request, an opened page, or a run of somebody of whom nothing is known yet counts, hangs on it. It once
hung on how long everybody's runs took: whoever made some that were over at once made the computer look ten times as
fast to the server, and might ask for ten times as much as it bears.
"""

from __future__ import annotations

import time
from functools import cache

USUAL = 0.0014
"""Seconds of processor that the piece takes on a usual computer: there a plain request takes 1.3 ms of it, and those
that one address has, 300 a second, leave more than half."""
FASTEST, SLOWEST = 0.25, 3.0
_TIMES, _LONG = 9, 5_000


def weight() -> float:
    """How long work takes on this computer, in what it takes on a usual one."""
    return min(max(seconds() / USUAL, FASTEST), SLOWEST)


@cache
def seconds() -> float:
    """What the piece takes, the least of some times: others who compute meanwhile make it longer. Looked at once, by
    the server as it starts."""
    return min(_taken() for _ in range(_TIMES))


def _taken() -> float:
    begun = time.thread_time()
    kept: dict[str, int] = {}
    for number in range(_LONG):
        word = f"{number:x}"
        kept[word] = kept.get(word[::-1], 0) + len(word)
    return time.thread_time() - begun
