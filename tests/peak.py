"""How much memory a call takes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable


def peak(call: Callable[[], object]) -> int:
    """The most bytes of Python's that it took beside what there was, with what it returned."""
    gc.collect()
    tracemalloc.start()
    try:
        held = call()
        most = tracemalloc.get_traced_memory()[1]
        del held
    finally:
        tracemalloc.stop()
    return most
