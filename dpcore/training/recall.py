"""Which kind of mistakes a model makes: how many rows of the second class it finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpcore.validate import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.training.sweep import PartResult

FOUND = "found"
"""What ``run_slice`` gives of each model beside its share of right predictions: that among rows of the second class."""


def of_two_classes(right: BoolArray, y: FloatArray) -> dict[str, FloatArray]:
    """Shares of ``right`` predictions, shape (rows, models), of all rows and of those whose ``y`` is 1, where there are
    some; each of shape (models,)."""
    found = {"accuracy": np.asarray(right.mean(axis=0))}
    second = y > 0.0
    return found | ({FOUND: np.asarray(right[second].mean(axis=0))} if second.any() else {})


def recall(results: Sequence[PartResult], method: str, size: int) -> pd.DataFrame:
    """Mean share of the second class's rows that models of ``method`` at ``size`` training rows find, by ε: columns
    ``epsilon`` and ``found``; no row where none is known."""
    import pandas as pd

    pooled: dict[float, list[FloatArray]] = {}
    for one in results:
        if one.part.method == method and one.part.size == size and FOUND in one.values:
            for level, values in zip(one.part.epsilon, one.values[FOUND], strict=True):
                pooled.setdefault(level, []).append(values)
    means = [(level, float(np.concatenate(pooled[level]).mean())) for level in sorted(pooled)]
    return pd.DataFrame(means, columns=["epsilon", "found"])
