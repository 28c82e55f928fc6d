"""The noise on counts, exactly: its chances and tails, of one noisy count and of the sum of two.

Discrete Laplace noise: P(x) = (1 − q)/(1 + q)·q^|x| with q = exp(−1/scale) (Ghosh, Roughgarden & Sundararajan, STOC
2009), whose tails are in closed form. Discrete Gaussian noise: P(x) ∝ exp(−x²/(2·scale²)) (Canonne, Kamath & Steinke,
NeurIPS 2020), whose tails are a sum; where it has many terms, the Euler–Maclaurin formula of that sum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.hermite_e import herme2poly
from numpy.typing import ArrayLike
from scipy.special import ndtr

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, probability, whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noise(ABC):
    """Noise of ``scale`` rows on each count, in what is the sum of ``counts`` (1 or 2) of them.

    ``scale`` may be an array; it is broadcast with what is asked. Raises InvalidArgument.
    """

    name: ClassVar[str]
    reach: ClassVar[float]
    """Scales beyond which there is no chance that a float64 could tell from 0."""

    scale: ArrayLike
    counts: int = 2

    def __post_init__(self) -> None:
        scale = np.asarray(self.scale, dtype=np.float64)
        if not (np.isfinite(scale) & (scale > 0.0)).all():
            raise InvalidArgument("scale", "must be greater than 0")
        whole(1, 2, counts=self.counts)
        object.__setattr__(self, "scale", scale)

    @property
    @abstractmethod
    def variance(self) -> FloatArray:
        """At most so large, the shape of ``scale``."""

    @abstractmethod
    def chance(self, places: ArrayLike) -> FloatArray:
        """P(noise = k) for whole numbers k, exact."""

    @abstractmethod
    def at_least(self, places: ArrayLike) -> FloatArray:
        """P(noise ≥ k) for whole numbers k, exact."""

    def within(self, beta: float) -> FloatArray:
        """The smallest x so that two independent ones are both at most x off, but for a chance of ``beta``: whole
        numbers, the shape of ``scale``."""
        level = 1.0 - probability(beta=beta)
        high = np.ceil(self.reach * np.asarray(self.scale) * (1.0 - np.log(beta))) + 1.0
        low = np.full_like(high, -1.0)
        # beyond 2⁵³ two floats are never 1 apart
        while (((middle := np.floor((low + high) / 2.0)) > low) & (middle < high)).any():
            inside = np.maximum(1.0 - 2.0 * self.at_least(middle + 1.0), 0.0) ** 2 >= level
            low, high = np.where(inside, low, middle), np.where(inside, middle, high)
        return np.asarray(high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaplaceNoise(Noise):
    """Discrete Laplace noise on each count.

    >>> round(float(LaplaceNoise(scale=2.0, counts=1).at_least(1)), 4)
    0.3775
    """

    name: ClassVar[str] = "laplace"
    reach: ClassVar[float] = 40.0

    @property
    def variance(self) -> FloatArray:
        """2·scale² of each."""
        return np.asarray(2.0 * self.counts * np.asarray(self.scale) ** 2)

    @property
    def _q(self) -> FloatArray:
        return np.asarray(np.exp(-1.0 / np.asarray(self.scale)))

    @property
    def _gap(self) -> FloatArray:
        """1 − q, also where that is next to nothing."""
        return np.asarray(-np.expm1(-1.0 / np.asarray(self.scale)))

    @property
    def _middle(self) -> FloatArray:
        """How much likelier a sum of two is at 0 than the square of one at 0."""
        return np.asarray((1.0 + self._q**2) / (self._gap * (1.0 + self._q)))

    def chance(self, places: ArrayLike) -> FloatArray:
        """P(noise = k) for whole numbers k, exact."""
        away = np.abs(np.asarray(places, dtype=np.float64))
        one, fall = self._gap / (1.0 + self._q), np.exp(-away / self.scale)
        return np.asarray(one * fall if self.counts == 1 else one * one * fall * (away + self._middle))

    def at_least(self, places: ArrayLike) -> FloatArray:
        """P(noise ≥ k) for whole numbers k, exact."""
        k = np.asarray(places, dtype=np.float64)
        above = np.where(k >= 1.0, k, 1.0 - k)  # P(noise ≥ k) = 1 − P(noise ≥ 1 − k)
        tail = np.exp(-np.minimum(above / self.scale, 700.0)) / (1.0 + self._q)
        if self.counts == 2:
            tail = tail * (self._gap * (above + self._middle) + self._q) / (1.0 + self._q)
        return np.where(k >= 1.0, tail, 1.0 - tail)


_FAR = 40.0
"""Spreads beyond which no chance is a float64 above 0."""
_SUMMED = 16
"""The largest spread of noise whose chances are added up one by one."""
_TERMS = _SUMMED * int(_FAR)
_CORRECTIONS = tuple(
    (2 * power, factor * Polynomial(herme2poly([0.0] * (2 * power - 1) + [1.0])))
    for power, factor in enumerate((-1 / 24, 7 / 5760, -31 / 967680, 127 / 154828800), start=1)
)
"""Of the Euler–Maclaurin formula from the middle between two whole numbers, B₂ₙ(½)/(2n)!·He₂ₙ₋₁, each over a power of
the spread. What is left out is less than 10⁻¹⁶, and up to six spreads away less than 10⁻¹² of a tail."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianNoise(Noise):
    """Discrete Gaussian noise of parameter σ = ``scale`` on each count.

    A sum of two is e^(−k²/4σ²) times one of two numbers, by whether k is even: a square was completed in its
    convolution. They differ by less than 10⁻¹⁶ of themselves where σ is above 2.

    >>> round(float(GaussianNoise(scale=2.0, counts=1).at_least(1)), 4)
    0.4003
    """

    name: ClassVar[str] = "gaussian"
    reach: ClassVar[float] = 13.0

    @property
    def variance(self) -> FloatArray:
        """scale² of each (Canonne, Kamath & Steinke, Corollary 9)."""
        return np.asarray(self.counts * np.asarray(self.scale) ** 2)

    @property
    def _spread(self) -> FloatArray:
        """Of the sum, as σ is of one."""
        return np.asarray(np.sqrt(float(self.counts)) * np.asarray(self.scale))

    def chance(self, places: ArrayLike) -> FloatArray:
        """P(noise = k) for whole numbers k, exact."""
        away, spread = np.broadcast_arrays(np.abs(np.asarray(places, dtype=np.float64)), self._spread)
        smooth = np.exp(-0.5 * np.minimum(away / spread, _FAR) ** 2) / (spread * np.sqrt(2.0 * np.pi))
        return self._with_sums(smooth, away, tails=False)

    def at_least(self, places: ArrayLike) -> FloatArray:
        """P(noise ≥ k) for whole numbers k, exact."""
        k, spread = np.broadcast_arrays(np.asarray(places, dtype=np.float64), self._spread)
        above = np.where(k >= 1.0, k, 1.0 - k)  # P(noise ≥ k) = 1 − P(noise ≥ 1 − k)
        from_middle = np.minimum((above - 0.5) / spread, _FAR)
        density = np.exp(-0.5 * from_middle**2) / np.sqrt(2.0 * np.pi)
        corrections = sum(one(from_middle) * (1.0 / spread) ** power for power, one in _CORRECTIONS)
        tail = self._with_sums(ndtr(-from_middle) + density * corrections, above, tails=True)
        return np.where(k >= 1.0, tail, 1.0 - tail)

    def _with_sums(self, smooth: FloatArray, places: FloatArray, *, tails: bool) -> FloatArray:
        """``smooth`` with what was added up in the place of all that is of a small spread: chances of ``places``, whole
        numbers of at least 0, or ``tails`` from there on."""
        spreads, which = np.unique(self._spread, return_inverse=True)
        few = spreads <= _SUMMED
        if not few.any():
            return smooth
        spread, terms = spreads[few, None], np.arange(_TERMS + 1.0)
        weights = np.exp(-0.5 * (terms / spread) ** 2)
        if self.counts == 2:
            middle = np.arange(-_TERMS, _TERMS + 1.0)
            even, odd = (np.exp(-2.0 * ((middle + off) / spread) ** 2).sum(axis=1) for off in (0.0, 0.5))
            weights[:, 1::2] *= (odd / even)[:, None]
        weights[:, -1] = 0.0  # that and all behind it
        above = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]  # the smallest first, so that no digit of them is lost
        found = (above if tails else weights) / (2.0 * above[:, :1] - weights[:, :1])
        row = np.broadcast_to((np.cumsum(few) - 1)[which].reshape(self._spread.shape), places.shape)
        summed = found[row, np.minimum(places, _TERMS).astype(np.int64)]
        return np.where(np.broadcast_to(self._spread, places.shape) <= _SUMMED, summed, smooth)
