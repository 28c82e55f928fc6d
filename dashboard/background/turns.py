"""Scripts take turns, so that each person's answer is there sooner when many move their sliders at once.

Python runs one script at a time whatever the number of processors. Without turns, forty scripts that are due at once
all finish late; with them the first finish early and the last no later. Measured in ``benchmarks/dashboard.py``. How
many scripts there are that could take a turn is bounded by ``places``, before they have threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dashboard.background.once import once

AT_ONCE = 2  # while one waits for the disk, another can compute
PATIENCE = 0.5  # seconds; a script that takes longer than a moment does not hold up the others any further
USUAL = 0.027
"""Seconds of processor that a script takes where half as much again for sending it makes 25 runs a second of one."""
_LATEST = 0.02
"""How much the latest run counts among all."""
_seconds = USUAL


def weight() -> float:
    """How long a run takes on this computer at present, in runs of usual length: a measure of the computer, and so of
    no more than one that is three times as slow. What an address is charged for its own runs: ``places.Visitor``.
    """
    return min(max(_seconds / USUAL, 0.1), 3.0)


@once()
def _places() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[bool]:
    """Wait for a place, at most ``PATIENCE`` seconds, and give it back however the script ends; whether it got one."""
    global _seconds
    places = _places()
    got = places.acquire(timeout=PATIENCE)
    begun = time.thread_time()
    try:
        yield got
    finally:
        _seconds += _LATEST * (time.thread_time() - begun - _seconds)  # two at once: one of them may count for nothing
        if got:
            places.release()
