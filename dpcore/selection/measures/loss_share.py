"""The average distance from the best, for each person."""

from __future__ import annotations

from typing import ClassVar

from dpcore.selection.measure import Judged
from dpcore.selection.measures.expected_loss import ExpectedLoss
from dpcore.tradeoff import Metric
from dpcore.validate import FloatArray


class LossShare:
    """The expected loss over the number of people: the one to ask sample sizes for."""

    key: ClassVar[str] = "loss_share"
    rank: ClassVar[int] = 3
    metric: ClassVar[Metric] = Metric(
        key="loss_share",
        name="Distance from the best per person",
        title="average distance from the best, per person",
        better="lower",
        natural=True,
    )

    @staticmethod
    def of_law(law: FloatArray, judged: Judged) -> FloatArray:
        share: FloatArray = ExpectedLoss.of_law(law, judged) / (judged.times * judged.people)
        return share

    @staticmethod
    def promised(slopes: FloatArray, k: int, judged: Judged) -> FloatArray:
        """The promise about the expected loss, shared by all people."""
        share: FloatArray = ExpectedLoss.promised(slopes, k, judged) / (judged.times * judged.people)
        return share
