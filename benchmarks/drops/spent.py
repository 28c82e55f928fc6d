"""Processor time of everything that was started from here: the server, its workers and the browser."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """User and system seconds of all processes below this one, those that have ended and were waited for included."""
    parents, seconds = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(") ")[2].split()
        except OSError:  # it ended meanwhile
            continue
        process = int(folder.name)
        parents[process] = int(fields[1])
        seconds[process] = sum(int(field) for field in fields[11:15]) / _TICKS
    here, total = {os.getpid()}, 0.0
    while True:
        below = {process for process, parent in parents.items() if parent in here} - here
        if not below:
            return total
        total += sum(seconds[process] for process in below)
        here |= below
