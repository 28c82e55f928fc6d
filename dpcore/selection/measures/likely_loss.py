"""The distance from the best that is seldom exceeded."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpcore.selection.measure import Judged
from dpcore.tradeoff import Metric
from dpcore.validate import FloatArray


class LikelyLoss:
    """The loss that is not exceeded with probability 1 − β."""

    key: ClassVar[str] = "likely_loss"
    rank: ClassVar[int] = 4
    metric: ClassVar[Metric] = Metric(
        key="likely_loss",
        name="Distance from the best that is seldom exceeded",
        title="distance from the best, seldom exceeded",
        better="lower",
        natural=True,
    )

    @staticmethod
    def of_law(law: FloatArray, judged: Judged) -> FloatArray:
        # a hair of tolerance, so that a law that reaches 1 − β exactly counts
        reached = np.cumsum(law, axis=1) >= 1 - judged.beta - 1e-12
        likely: FloatArray = judged.gaps[np.argmax(reached, axis=1)] * judged.times
        return likely

    @staticmethod
    def promised(slopes: FloatArray, k: int, judged: Judged) -> FloatArray:
        """(ln k + ln(1/β))/a, never more than the worst option loses."""
        most = (math.log(k) - math.log(judged.beta)) / slopes
        loss: FloatArray = np.minimum(most, judged.gaps[-1]) * judged.times
        return loss
