"""A table as it comes back from the process that read it."""

from __future__ import annotations

import io

from dpcore.datasets.apart import crossing
from dpcore.datasets.reading.tabulate import Tabulated


def read_back(written: bytes) -> Tabulated:
    """Raises Garbled."""
    file = io.BytesIO(written)
    told = crossing.taken(file)
    return crossing.read(file.getvalue(), told)
