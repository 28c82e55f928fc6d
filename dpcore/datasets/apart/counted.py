"""What the system counts of a process: its memory and its threads, as Linux has them in /proc.

A process says its own name there, in any bytes but a line feed, so that nothing but a line feed ends a line.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path


def counted(process: int | str, names: Collection[str]) -> dict[str, float]:
    """The numbers under these names of a process, "self" for this one; nothing where the system says nothing. What is
    no number is without end, so that whoever looks at a process finds that it has too much.
    """
    try:
        told = Path(f"/proc/{process}/status").read_bytes()
    except OSError:
        return {}
    lines = (line.partition(b":") for line in told.split(b"\n"))
    said = {name.decode("latin-1"): number for name, _, number in lines}
    return {name: _number(said[name]) for name in names if name in said}


def _number(said: bytes) -> float:
    number, *_ = *said.split(), b""
    return int(number) if number.isdigit() else math.inf
