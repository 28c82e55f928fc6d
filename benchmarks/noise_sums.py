"""Regression from noisy sums, and again and again on what is left: candidates of ``benchmarks.noise``."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.models import DELTA
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.training import AdaSSP


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostedAdaSSP:
    """AdaSSP again and again on what is left, clipped: Tang, Aydore, Kearns, Rho, Roth, Wang, Wang and Wu (2023).

    (ε, δ)-DP, a row added or removed: noisy XᵀX and its noisy smallest eigenvalue once, then ``rounds`` noisy sums
    Xᵀr of residuals r clipped to ``clip``, at public weights that came of earlier ones. Of 1/σ² a third goes to each
    of the first two (sensitivity ‖x‖² ≤ 1) and a third to the rounds in equal parts (sensitivity
    ‖x‖·clip ≤ clip); Gaussian releases that may depend on earlier ones add up (Dong, Roth & Su, 2022).
    """

    epsilon: float
    rounds: int = 20
    clip: float = 0.5
    failure: float = 0.05

    def fit(self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Weights (d,) of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,) in [−1, 1]."""
        once = AdaSSP(epsilon=self.epsilon, delta=DELTA, failure=self.failure)
        square, d = X.T @ X, X.shape[1]
        smallest = max(0.0, float(np.linalg.eigvalsh(square)[0]))
        noisy, _, least = once.statistics(square, np.zeros(d), smallest, rng)
        noise = gaussian_noise_multiplier(self.epsilon, DELTA) * math.sqrt(3.0 * self.rounds) * self.clip
        known = least - once.noise_scale * math.sqrt(2.0 * math.log(2.0 / self.failure))
        largest = once.noise_scale * math.sqrt(d * math.log(2.0 * d * d / self.failure))
        held = noisy + max(0.0, largest - max(0.0, known)) * np.eye(d)
        weights = np.zeros(d)
        for _ in range(self.rounds):
            left = np.clip(y - X @ weights, -self.clip, self.clip)
            step = np.linalg.lstsq(held, X.T @ left + noise * rng.standard_normal(d), rcond=None)[0]
            weights = weights + step
        return weights
