"""Choosing among settings privately: a random number of private tries, the best of which is kept.

The number of tries K has the logarithmic law P(K = k) ∝ (1 − γ)^k/k (a truncated negative binomial of η = 0), and each
try takes a setting at random. Papernot & Steinke, ICLR 2022, Theorem 2: where one try is ρ-zCDP, the best of all is
(λ, λρ + (o − 1) ρ + ln(1/γ)/o + ln E[K]/(λ − 1))-RDP for every λ and o > 1, whatever the score by which it is
chosen, as long as the score is a part of what the try gives out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.accounting import gaussian_epsilon
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.privacy_loss import ORDERS, rdp_epsilon
from dpcore.validate import in_range, positive, probability

if TYPE_CHECKING:
    from numpy.random import Generator

MOST_TRIES = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogarithmicTries:
    """``mean`` tries on average, at least 1 of them: more than 1, at most 1,000. Raises InvalidArgument."""

    mean: float

    def __post_init__(self) -> None:
        in_range(1.0, MOST_TRIES, open_low=True, mean=self.mean)

    @property
    def log_inverse_gamma(self) -> float:
        """ln(1/γ), at which the mean (1/γ − 1)/ln(1/γ) is as asked."""
        low, high = 1e-9, 60.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if math.expm1(middle) / middle < self.mean else (low, middle)
        return high

    def draw(self, rng: Generator) -> int:
        """How many tries."""
        return int(rng.logseries(-math.expm1(-self.log_inverse_gamma)))

    def epsilon(self, rho: float, delta: float) -> float:
        """ε at ``delta`` of the best of all, where one try is ``rho``-zCDP."""
        log_inverse = self.log_inverse_gamma
        order = max(1.0, math.sqrt(log_inverse / positive(rho=rho)))
        extra = (order - 1.0) * rho + log_inverse / order
        return float(rdp_epsilon(ORDERS * rho + extra + math.log(self.mean) / (ORDERS - 1.0), probability(delta=delta)))

    def one_try(self, epsilon: float, delta: float) -> float:
        """The ε at ``delta`` that one try, a Gaussian release, may have so that the best of all is (ε, δ)-DP.

        Raises InvalidArgument where so many tries cannot be had at this ε.
        """
        high = 0.5 / gaussian_noise_multiplier(positive(epsilon=epsilon), probability(delta=delta)) ** 2
        low = high * 1e-6
        if self.epsilon(low, delta) > epsilon:
            raise InvalidArgument(
                "tries", "must be fewer at this epsilon: choosing alone would cost more than it allows"
            )
        for _ in range(60):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.epsilon(middle, delta) <= epsilon else (low, middle)
        return gaussian_epsilon(math.sqrt(0.5 / low), delta) * (1.0 - 1e-9)
