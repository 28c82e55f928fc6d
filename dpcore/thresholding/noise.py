"""The two noises of a run, ρ on the threshold and ν on every query: an alarm is answer + ν ≥ threshold + ρ.

How large they must be (Lyu, Su & Li, VLDB 2017; one ρ for the whole run of c alarms), for answers that one person moves
by at most Δ each: ρ of scale Δ/ε₁ and ν of scale 2cΔ/ε₂, or cΔ/ε₂ when one person moves all answers the same way
(*monotonic*), with ε₁ + ε₂ = ε. The proof shifts ρ and ν upward only, so noise that is never negative serves as well:
exponential noise has the same scales as Laplace noise and 1/√2 of its spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exprel

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, boolean, finite_vector, in_range, one_of, positive, whole

NoiseKind = Literal["laplace", "exponential"]
Share = float | Literal["best"] | None
SHARES = (0.01, 0.99)
FARTHEST = 1e100  # of noise scales from 1, either way
FARTHEST_OFFSET = 1e15  # as far from 0 as an answer
FARTHEST_SENSITIVITY = 1e80  # of a problem's from 1, either way: its noise is reckoned with at any usual ε and limit


def best_share(limit: int = 1, *, monotonic: bool = False) -> float:
    """The part of ε for the threshold that makes the spread of ν − ρ smallest: ε₁ : ε₂ = 1 : (2c)^⅔ (c^⅔ monotonic)."""
    ratio: float = ((1 if monotonic else 2) * limit) ** (2 / 3)
    return 1.0 / (1.0 + ratio)


def resolve_share(share: Share, *, otherwise: float, limit: int, monotonic: bool) -> float:
    """``share`` as a number: ``"best"`` is ``best_share``, None is ``otherwise``. Raises InvalidArgument."""
    if share is None:
        return otherwise
    if isinstance(share, str):
        if share != "best":
            raise InvalidArgument("threshold_share", "must be a number, best, or left out")
        return best_share(limit, monotonic=monotonic)
    return in_range(*SHARES, threshold_share=share)


def offset_of(factor: float, sensitivity: float, epsilon: float) -> float:
    """An offset that was tuned at sensitivity 1 and ε 1, at these, as far as one may lie. Raises InvalidArgument."""
    return float(no_farther(factor * positive(sensitivity=sensitivity) / positive(epsilon=epsilon)))


def no_farther(offset: float | FloatArray) -> FloatArray:
    """Each offset, as far as one may lie."""
    return np.clip(offset, -FARTHEST_OFFSET, FARTHEST_OFFSET)


def check_parameters(
    epsilon: float, sensitivity: float, noise: str, share: Share, monotonic: bool, offset: float, limit: int
) -> None:
    """The public parameters every mechanism here has. Raises InvalidArgument."""
    largest = positive(sensitivity=sensitivity) * whole(1, 10**9, limit=limit) / positive(epsilon=epsilon)
    if not 1.0 / FARTHEST < largest < FARTHEST:
        raise InvalidArgument("epsilon", "is too far from the sensitivity to reckon with")
    one_of(("laplace", "exponential"), noise=noise)
    boolean(monotonic=monotonic)
    in_range(-FARTHEST_OFFSET, FARTHEST_OFFSET, offset=offset)
    resolve_share(share, otherwise=0.5, limit=limit, monotonic=monotonic)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisePair:
    """Scales of ρ (``threshold_scale``) and ν (``query_scale``) in units of the answers; ``one_sided``: exponential."""

    threshold_scale: float
    query_scale: float
    one_sided: bool

    @classmethod
    def of(cls, epsilon: float, sensitivity: float, noise: str, share: float, limit: int, monotonic: bool) -> NoisePair:
        """The scales for ε-DP, ``share`` of ε spent on the threshold."""
        steps = (1 if monotonic else 2) * limit
        return cls(
            threshold_scale=sensitivity / (share * epsilon),
            query_scale=steps * sensitivity / ((1.0 - share) * epsilon),
            one_sided=noise == "exponential",
        )

    def alarm_chance(self, margin: ArrayLike) -> FloatArray:
        """P(ν − ρ ≥ −margin): chance that one query on its own raises an alarm, same shape as ``margin``.

        ``margin`` is answer − threshold. Closed forms, exact for all scales, equal ones included.
        """
        return self._tail(-np.asarray(margin, dtype=np.float64))

    def silence_chance(self, margin: ArrayLike) -> FloatArray:
        """1 − ``alarm_chance``, precise where that is all but certain."""
        swapped = NoisePair(
            threshold_scale=self.query_scale, query_scale=self.threshold_scale, one_sided=self.one_sided
        )
        return swapped._tail(np.asarray(margin, dtype=np.float64))

    def error_rates(self, margins: ArrayLike, offset: float = 0.0) -> FloatArray:
        """Chance that one query alone is decided wrongly: false positive below the threshold, else false negative."""
        margin = finite_vector(margins=np.ravel(margins), at_least=0).reshape(np.shape(margins))
        moved = margin - offset
        rate: FloatArray = np.where(margin >= 0.0, self.silence_chance(moved), self.alarm_chance(moved))
        return rate

    def _tail(self, z: FloatArray) -> FloatArray:
        """P(ν − ρ ≥ z)."""
        if self.one_sided:
            total = self.query_scale + self.threshold_scale
            far = self.query_scale / total * np.exp(-np.maximum(z, 0.0) / self.query_scale)
            near = 1.0 - self.threshold_scale / total * np.exp(np.minimum(z, 0.0) / self.threshold_scale)
        else:
            far = self._laplace_tail(np.abs(z))
            near = 1.0 - far
        tail: FloatArray = np.where(z >= 0.0, far, near)
        return tail

    def _laplace_tail(self, z: FloatArray) -> FloatArray:
        """(A²e^{−z/A} − B²e^{−z/B}) / (2(A² − B²)) for z ≥ 0, A the larger scale, in a form that survives A = B."""
        large, small = max(self.query_scale, self.threshold_scale), min(self.query_scale, self.threshold_scale)
        faster = z * (1.0 / small - 1.0 / large)
        tail: FloatArray = 0.5 * np.exp(-z / large) * (1.0 + exprel(-faster) * z * small / (large * (large + small)))
        return tail

    def draw_threshold(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> FloatArray:
        """Simulated ρ."""
        return self._draw(rng, self.threshold_scale, shape)

    def draw_queries(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> FloatArray:
        """Simulated ν."""
        return self._draw(rng, self.query_scale, shape)

    def _draw(self, rng: np.random.Generator, scale: float, shape: int | tuple[int, ...]) -> FloatArray:
        drawn: FloatArray = rng.exponential(scale, shape) if self.one_sided else rng.laplace(0.0, scale, shape)
        return drawn
