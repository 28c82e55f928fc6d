"""How far the named option lies below the best, on average."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpcore.selection.measure import Judged
from dpcore.tradeoff import Metric
from dpcore.validate import FloatArray


class ExpectedLoss:
    """Mean gap to the best score, in units of the scores at that number of people."""

    key: ClassVar[str] = "expected_loss"
    rank: ClassVar[int] = 2
    metric: ClassVar[Metric] = Metric(
        key="expected_loss",
        name="Average distance from the best",
        title="average distance from the best",
        better="lower",
        natural=True,
    )

    @staticmethod
    def of_law(law: FloatArray, judged: Judged) -> FloatArray:
        loss: FloatArray = (law @ judged.gaps) * judged.times
        return loss

    @staticmethod
    def promised(slopes: FloatArray, k: int, judged: Judged) -> FloatArray:
        """(ln k + 1)/a: the mean of s is at most 1; never more than the worst option loses."""
        loss: FloatArray = np.minimum((math.log(k) + 1.0) / slopes, judged.gaps[-1]) * judged.times
        return loss
