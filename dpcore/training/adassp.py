"""AdaSSP: linear regression from noisy sufficient statistics, with a ridge that adapts to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.training.fit import Fit, checked
from dpcore.training.losses import SQUARED, Loss, Squared
from dpcore.validate import FloatArray, Neighbours, positive, probability

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaSSP:
    """Ridge regression on noisy XᵀX and Xᵀy, with a ridge set by a noisy smallest eigenvalue.

    (ε, δ)-DP, add/remove. Wang, UAI 2018, Algorithm 2, with its three classical Gaussian releases, each of L2
    sensitivity 1, accounted exactly as one: each has noise √3 σ(ε, δ). The upper triangle of XᵀX moves by at most
    ‖x‖² ≤ 1. ``failure`` is the chance that the ridge is too small for the noise. With labels −1 and 1 the fit is a
    classifier. Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = AdaSSP(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "adassp"
    rank: ClassVar[int] = 35
    about: ClassVar[About] = About(
        name="AdaSSP (noisy least squares)",
        plain="noise on the sums behind a straight-line fit",
        how=(
            "A straight-line fit needs only a few sums over all rows. These get noise, and the fit is made from the "
            "noisy sums, held back by a penalty that grows with the noise."
        ),
        formula=r"w = (\widetilde{X^\top X} + \lambda I)^{-1} \, \widetilde{X^\top y}",
        source="Wang, UAI 2018, Algorithm 2.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("squared",)
    neighbours: ClassVar[Neighbours] = "add_remove"

    epsilon: float
    delta: float
    loss: Loss = SQUARED
    failure: float = 0.05

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        probability(failure=self.failure)
        if not isinstance(self.loss, Squared) or self.loss.ridge != 0.0:
            raise InvalidArgument("loss", "must be squared here, without a ridge of its own: the method adds one")

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise on every released number."""
        return gaussian_noise_multiplier(self.epsilon, self.delta, 3)

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=3.0 / (2.0 * self.noise_scale**2),
            event=GaussianEvent(noise_multiplier=self.noise_scale, count=3),
        )

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,) in [−1, 1]."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings: XᵀX and Xᵀy are computed once."""
        rows, answers = checked(X, y, SQUARED, rng, replicas)
        square, cross = rows.T @ rows, rows.T @ answers
        smallest = max(0.0, float(np.linalg.eigvalsh(square)[0]))
        found = []
        for method in methods:
            released = (method.statistics(square, cross, smallest, rng) for _ in range(replicas))
            weights = np.stack([method.solve(*one) for one in released])
            found.append(Fit(weights=weights, loss=method.loss, method=cls.key, cost=method.cost))
        return found

    def statistics(
        self, square: FloatArray, cross: FloatArray, smallest: float, rng: Generator
    ) -> tuple[FloatArray, FloatArray, float]:
        """All that is released: XᵀX (d, d), Xᵀy (d,) and XᵀX's smallest eigenvalue, each with noise."""
        d, scale = cross.shape[0], self.noise_scale
        upper = np.triu(scale * rng.standard_normal((d, d)))
        noisy = square + upper + np.triu(upper, 1).T
        return noisy, cross + scale * rng.standard_normal(d), smallest + scale * float(rng.standard_normal())

    def solve(self, square: FloatArray, cross: FloatArray, smallest: float) -> FloatArray:
        """Weights (d,) from what was released alone."""
        d, scale = cross.shape[0], self.noise_scale
        # a lower bound on the smallest eigenvalue that holds with chance 1 − failure/2
        known = smallest - scale * math.sqrt(2.0 * math.log(2.0 / self.failure))
        # the largest eigenvalue of symmetric Gaussian noise, exceeded with chance below failure/2
        largest = scale * math.sqrt(d * math.log(2.0 * d * d / self.failure))
        ridge = max(0.0, largest - max(0.0, known))
        return np.asarray(np.linalg.lstsq(square + ridge * np.eye(d), cross, rcond=None)[0])
