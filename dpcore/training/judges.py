"""How much a mean squared error hangs on which rows happened to judge the model: by the spread over those rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpcore.validate import FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.training.sweep import PartResult

SECOND, FOURTH = "second_moment", "fourth_moment"
"""What ``run_slice`` gives of each model beside its mean squared error: see ``moments``."""
EIGHTY = 1.2815515655446004
"""Standard errors to either side within which 80 of 100 cases lie: the 0.9 quantile of the standard normal law."""


def moments(errors: FloatArray) -> dict[str, FloatArray]:
    """Variance and fourth central moment over rows of each model's squared ``errors``, shape (rows, models).

    Each of shape (models,); 0 where a single row judges.
    """
    off = np.asarray(errors, dtype=np.float64) - np.mean(errors, axis=0, dtype=np.float64)
    degrees = max(off.shape[0] - 1, 1)
    return {SECOND: (off**2).sum(axis=0) / degrees, FOURTH: (off**4).mean(axis=0)}


def judges(results: Sequence[PartResult], method: str, rows: int, size: int) -> pd.DataFrame:
    """How far one model's mean squared error lies from what endlessly many such ``rows`` would give, by ε.

    Columns ``epsilon``; ``half``: in 80 of 100 cases it is at most that far off, to either side; ``error``: by what
    share of itself ``half`` may be wrong (one standard error). Of the slices of ``method`` at ``size`` training rows.

    The standard error of a mean of m independent rows is σ/√m, exactly. σ² is the mean over the models of the variance
    of their squared errors over these rows. That 80 of 100 lie within 1.28 of it is the normal approximation. σ is
    known to a share of √((κ − 1)/m)/2 of itself, κ being the fourth moment over σ⁴ (the delta method; Cramér,
    *Mathematical Methods of Statistics*, 1946, 27.4 and 28.4).
    """
    import pandas as pd

    pooled: dict[float, list[tuple[FloatArray, FloatArray]]] = {}
    for one in results:
        if one.part.method == method and one.part.size == size and SECOND in one.values:
            for level, second, fourth in zip(one.part.epsilon, one.values[SECOND], one.values[FOURTH], strict=True):
                pooled.setdefault(level, []).append((second, fourth))
    found = []
    for level in sorted(pooled):
        second, fourth = (float(np.concatenate(part).mean()) for part in zip(*pooled[level], strict=True))
        peaked = max(fourth / second**2 - 1.0, 0.0) if second > 0.0 else 0.0
        found.append((level, EIGHTY * math.sqrt(second / rows), math.sqrt(peaked / rows) / 2.0))
    return pd.DataFrame(found, columns=["epsilon", "half", "error"])
