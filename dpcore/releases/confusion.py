"""How often a drawn model is right on the rows, by ε alone: four counts with discrete Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpcore.costs import Cost
from dpcore.releases import draws
from dpcore.releases.asked_confusion import AskedConfusion
from dpcore.training.count_noise import LaplaceNoise, Noise
from dpcore.validate import IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfusion(AskedConfusion):
    """Four counts of what a drawn model says (``AskedConfusion``), each with discrete Laplace noise: ε-DP.

    The L1 sensitivity is the m rows of one person, or 2m where a row is replaced.
    P(noise = x) ∝ exp(−|x|·ε/sensitivity); Ghosh, Roughgarden & Sundararajan, STOC 2009. Raises InvalidArgument.
    """

    key: ClassVar[str] = "model_confusion"
    mechanism: ClassVar[str] = "Discrete Laplace noise on four counts"
    noise_law: ClassVar[type[Noise]] = LaplaceNoise

    @property
    def sensitivity(self) -> int:
        """How far one person can move the four counts together, in L1."""
        return self.rows_per_person * (1 if self.neighbours == "add_remove" else 2)

    @property
    def scale(self) -> float:
        """Of the noise on each count, in rows."""
        return self.sensitivity / self.epsilon

    @property
    def cost(self) -> Cost:
        """One answer."""
        return Cost.pure(self.epsilon)

    def noisy(self, found: IntArray) -> IntArray:
        """The counts (4,) with noise."""
        return draws.laplace(found, sensitivity=self.sensitivity, epsilon=self.epsilon)
