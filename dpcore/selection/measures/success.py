"""How often a best option is named."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpcore.selection.measure import Judged
from dpcore.tradeoff import Metric
from dpcore.validate import FloatArray


class Success:
    """The chance of an option with the best score."""

    key: ClassVar[str] = "success"
    rank: ClassVar[int] = 1
    metric: ClassVar[Metric] = Metric(
        key="success",
        name="Chance of the right answer",
        title="times right in 100",
        better="higher",
        factor=100.0,
        unit=" times in 100",
        share=True,
    )

    @staticmethod
    def of_law(law: FloatArray, judged: Judged) -> FloatArray:
        chance: FloatArray = law[:, 0]
        return chance

    @staticmethod
    def promised(slopes: FloatArray, k: int, judged: Judged) -> FloatArray:
        """Right whenever the loss stays below the gap to the second best."""
        if judged.gaps.size == 1:
            return np.ones_like(slopes)
        chance: FloatArray = 1 - np.exp(np.minimum(math.log(k) - slopes * judged.gaps[1], 0.0))
        return chance
