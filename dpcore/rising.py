"""The different ones of some numbers, found by sorting.

NumPy finds them by hashes without a key where nothing else is asked of it: whoever makes the numbers can make that take
the square of how many they are.
"""

from __future__ import annotations

import numpy as np

from dpcore.validate import FloatArray


def rising(values: FloatArray) -> FloatArray:
    """Each number once, the smallest first, shape (different,)."""
    return np.unique(values, return_counts=True)[0]
