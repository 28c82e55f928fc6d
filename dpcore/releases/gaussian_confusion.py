"""How often a drawn model is right on the rows, where ρ is counted: four counts with discrete Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from dpcore.calibration import zcdp_gaussian_noise_multiplier, zcdp_rho
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.asked import LEAST, Asked
from dpcore.releases.asked_confusion import AskedConfusion
from dpcore.releases.confusion import ModelConfusion
from dpcore.training.count_noise import GaussianNoise, Noise
from dpcore.validate import IntArray, in_range


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianConfusion(AskedConfusion):
    """Four counts of what a drawn model says (``AskedConfusion``), each with discrete Gaussian noise.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP, as a model at the same ε and δ. The L2 sensitivity is
    the m rows of one person, which may all be in one cell, or √2·m where a row is replaced: m leave one cell for
    another. P(noise = x) ∝ exp(−x²/(2σ²)) with σ = sensitivity/√(2ρ); Canonne, Kamath & Steinke, NeurIPS 2020. Raises
    InvalidArgument.
    """

    key: ClassVar[str] = "model_confusion_gaussian"
    mechanism: ClassVar[str] = "Discrete Gaussian noise on four counts"
    noise_law: ClassVar[type[Noise]] = GaussianNoise
    unread: ClassVar[tuple[str, ...]] = (*Asked.unread, "delta")

    delta: float

    def check(self) -> None:
        """The parameters that every request has, and δ. Raises InvalidArgument."""
        Asked.check(self)
        in_range(LEAST, 1.0, open_high=True, delta=self.delta)

    @property
    def instead_of(self) -> tuple[ModelConfusion, ...]:
        """The count by ε alone, which budgets in ρ were charged for before."""
        try:
            return (ModelConfusion(**{one.name: getattr(self, one.name) for one in fields(ModelConfusion)}),)
        except InvalidArgument:  # its noise would not fit, so nobody could ask for it
            return ()

    @property
    def rho(self) -> float:
        """zCDP of the answer."""
        return zcdp_rho(self.epsilon, self.delta)

    @property
    def sensitivity(self) -> float:
        """How far one person can move the four counts together, in L2."""
        return self.rows_per_person * (1.0 if self.neighbours == "add_remove" else math.sqrt(2.0))

    @property
    def scale(self) -> float:
        """The σ of the noise on each count, in rows."""
        return self.sensitivity * zcdp_gaussian_noise_multiplier(self.rho)

    @property
    def cost(self) -> Cost:
        """One answer: no Gaussian event, since noise in whole rows has the ρ of continuous noise and not its δ at an
        ε."""
        return Cost(epsilon=self.epsilon, delta=self.delta, rho=self.rho)

    def noisy(self, found: IntArray) -> IntArray:
        """The counts (4,) with noise."""
        return draws.gaussian(found, sensitivity=self.sensitivity, rho=self.rho)
