"""Time that is rounded up, so that how long something takes does not tell what it found."""

from __future__ import annotations

import math
import time

TICK = 0.25
"""Answers are stored, and come back, at a multiple of this many seconds after the call: a sampler's running time would
tell about the noise it drew, and a reader's about the rows, also to whoever reads the time of a record."""


class Tick:
    """Waits once, for the next tick of a call that begins now; what comes after it takes as long whatever was drawn."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._waited = False

    def wait(self) -> None:
        if self._waited:
            return
        self._waited = True
        ticks = math.floor((time.monotonic() - self._started) / TICK) + 1
        remaining = self._started + ticks * TICK - time.monotonic()
        if remaining > 0:
            time.sleep(remaining)
