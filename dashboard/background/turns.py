"""Scripts take turns, so that each person's answer is there sooner when many move their sliders at once.

Python runs one script at a time whatever the number of processors. Without turns, forty scripts that are due at once
all finish late; with them the first finish early and the last no later. Measured in ``benchmarks/dashboard.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dashboard.background.once import once

AT_ONCE = 2  # while one waits for the disk, another can compute
PATIENCE = 0.5  # seconds; a script that takes longer than a moment does not hold up the others any further


@once()
def _places() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[bool]:
    """Wait for a place, at most ``PATIENCE`` seconds, and give it back however the script ends; whether it got one."""
    places = _places()
    got = places.acquire(timeout=PATIENCE)
    try:
        yield got
    finally:
        if got:
            places.release()
