"""Which kind of mistakes a model makes: how many rows of the second class it finds, and of both classes alike."""

from __future__ import annotations

import numpy as np

from dpcore.validate import BoolArray, FloatArray

FOUND, BALANCED = "found", "balanced"
"""What is known of each model beside its share of right predictions: that among rows of the second class, and the mean
of that and of the first class's, however rare one of them is."""


def of_two_classes(right: BoolArray, y: FloatArray) -> dict[str, FloatArray]:
    """Shares of ``right`` predictions, shape (rows, models), of all rows; of those whose ``y`` is 1, where there are
    some; and of both classes alike, where there are both. Each of shape (models,)."""
    found = {"accuracy": np.asarray(right.mean(axis=0))}
    second = y > 0.0
    if second.any():
        found[FOUND] = np.asarray(right[second].mean(axis=0))
    if second.any() and not second.all():
        found[BALANCED] = (found[FOUND] + right[~second].mean(axis=0)) / 2.0
    return found


def commonest(y: FloatArray) -> dict[str, float]:
    """``FOUND`` and ``BALANCED`` of who always guesses the commonest class of ``y``; of two that are as common the
    first."""
    second = float((y > 0.0).mean())
    return {FOUND: float(second > 0.5)} | ({BALANCED: 0.5} if 0.0 < second < 1.0 else {})
