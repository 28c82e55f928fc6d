"""From one form of guarantee to another, in closed form or by a search that never understates.

All functions are about one pair of neighbours; the noise multiplier already holds the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import cast

import numpy as np
from scipy.special import bdtr, bdtrc, log_ndtr, ndtri_exp

from dpcore.validate import FloatArray, non_negative, positive, probability, whole


def smallest(reached: Callable[[float], bool], low: float, high: float, *, relative: float = 1e-12) -> float:
    """The end of a bracket at which a monotone condition first holds; ``reached`` holds at the value returned.

    ``low`` (where it may fail) and ``high`` are both at least 0; ``high`` is doubled until the condition holds.
    """
    if reached(low):
        return low
    while not reached(high):
        low, high = high, 2.0 * high
        if high > 1e300:
            return math.inf
    while high - low > relative * high:
        middle = 0.5 * (low + high) if low == 0.0 or high < 4.0 * low else math.sqrt(low * high)
        if not low < middle < high:
            break
        if reached(middle):
            high = middle
        else:
            low = middle
        if high < 1e-300:
            break
    return high


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The ε of (ε, δ)-DP that ρ-zCDP implies: the tight conversion over Rényi orders α > 1.

    ε = inf over α of αρ + (ln(1/δ) − ln(α−1) + α ln(1−1/α)) / (α−1), never below 0. Canonne, Kamath & Steinke,
    NeurIPS 2020, Proposition 12. Any α gives a valid ε, so a coarse minimum is only loose (here by under 1e-9).
    Raises InvalidArgument.
    """
    non_negative(rho=rho)
    probability(delta=delta)
    return _zcdp_epsilon(float(rho), float(delta))


@lru_cache(maxsize=4096)
def _zcdp_epsilon(rho: float, delta: float) -> float:
    if rho == 0.0:
        return 0.0
    log_inverse = -math.log(delta)
    middle, width = math.log(math.sqrt(max(log_inverse, 1e-12) / rho)), 14.0
    best = math.inf
    while width > 1e-6:
        over_one = np.exp(middle + np.linspace(-width, width, 65))
        order = 1.0 + over_one
        # α ln(1 − 1/α) − ln(α − 1), written so that neither end loses digits
        tail = order * (-np.log1p(1.0 / over_one)) - np.log(over_one)
        epsilon = order * rho + (log_inverse + tail) / over_one
        index = int(np.argmin(epsilon))
        best = min(best, float(epsilon[index]))
        middle, width = math.log(over_one[index]), width / 16.0
    return max(best, 0.0)


def gaussian_delta(noise_multiplier: float, epsilon: float) -> float:
    """The exact δ of the Gaussian mechanism at ε ≥ 0; ``noise_multiplier`` is σ over the L2 sensitivity.

    δ = Φ(1/(2σ) − εσ) − e^ε Φ(−1/(2σ) − εσ). Balle & Wang, ICML 2018, Theorem 8. Raises InvalidArgument.
    """
    positive(noise_multiplier=noise_multiplier)
    non_negative(epsilon=epsilon)
    return float(gaussian_deltas(float(noise_multiplier), np.asarray([epsilon], dtype=np.float64))[0])


def gaussian_deltas(noise_multiplier: float, epsilon: FloatArray) -> FloatArray:
    """``gaussian_delta`` for many ε at once, negative ones included (where it is a hockey-stick divergence)."""
    # so far out there is nothing, and no difference of two infinities is a number
    above = np.maximum(log_ndtr(0.5 / noise_multiplier - epsilon * noise_multiplier), -np.finfo(np.float64).max)
    below = log_ndtr(-0.5 / noise_multiplier - epsilon * noise_multiplier)
    # a difference of two nearly equal numbers, taken as Φ(a)(1 − e^x) so that small δ keep their digits
    return cast(FloatArray, np.exp(above) * -np.expm1(np.minimum(epsilon + below - above, 0.0)))


def gaussian_epsilon(noise_multiplier: float, delta: float) -> float:
    """The smallest ε at which the Gaussian mechanism is (ε, δ)-DP, to 1e-12 and never below it.

    T releases with multipliers σ_t are one with 1/σ² = Σ 1/σ_t². Raises InvalidArgument.
    """
    positive(noise_multiplier=noise_multiplier)
    probability(delta=delta)
    return _gaussian_epsilon(float(noise_multiplier), float(delta))


@lru_cache(maxsize=4096)
def _gaussian_epsilon(noise_multiplier: float, delta: float) -> float:
    def reached(epsilon: float) -> bool:
        return gaussian_delta(noise_multiplier, epsilon) <= delta

    return smallest(reached, 0.0, 1.0)


def bounded_range_gaussian(epsilon0: float) -> float:
    """The μ of Gaussian DP that ε-bounded range implies: 2Φ⁻¹(1/(1 + e^(−ε/2))), about 0.627 ε; 1/μ is a multiplier.

    The likelihood ratio of two neighbours lies in some [e^(t−ε), e^t], so by convexity all their hockey-stick
    divergences are at most those of two points at its ends, with chances whose log-odds are ε apart (Dong, Durfee &
    Rogers, ICML 2020). A trade-off function with one corner is above the normal one if the corner is: μ is the distance
    of the chances' probits, which is greatest when they lie evenly about ½, as probit of log-odds is steepest at 0 and
    the normal law is less heavy-tailed than the logistic. So such answers add up with Gaussian releases as squares of μ
    do, also when one depends on the other (Dong, Roth & Su, JRSS B 2022). Raises InvalidArgument.
    """
    return float(-2.0 * ndtri_exp(-np.logaddexp(0.0, 0.5 * positive(epsilon0=epsilon0))))


def gaussian_bounded_range(mu: float) -> float:
    """The ε of bounded range that has this μ: the inverse of ``bounded_range_gaussian``. Raises InvalidArgument."""
    half = 0.5 * positive(mu=mu)
    return float(2.0 * (log_ndtr(half) - log_ndtr(-half)))


def bounded_range_delta(epsilon0: float, count: int, epsilon: float) -> float:
    """The exact δ at ε of ``count`` releases of bounded range ε₀, planned in advance on fixed data (not adaptive).

    The worst case puts log-ratios t and t − ε₀ on two outcomes; the best t for the attacker is one of count + 1.
    Dong, Durfee & Rogers, ICML 2020, Theorem 2.
    """
    positive(epsilon0=epsilon0)
    whole(1, count=count)
    non_negative(epsilon=epsilon)
    if epsilon >= count * epsilon0:
        return 0.0
    # Only so many low log-ratios leave the high one at most ε₀. Among them there is one maximum, wide on that scale:
    # look at a coarse comb, then between the neighbours of its best tooth.
    low, high = 0, min(count - 1, max(0, math.ceil(count - epsilon / epsilon0)))
    while high - low > 96:
        comb = np.linspace(low, high, 65).astype(np.int64)
        best = int(np.argmax(_two_point_delta(epsilon0, count, epsilon, comb.astype(np.float64))))
        low, high = int(comb[max(best - 1, 0)]), int(comb[min(best + 1, 64)])
    return float(_two_point_delta(epsilon0, count, epsilon, np.arange(low, high + 1, dtype=np.float64)).max())


def _two_point_delta(epsilon0: float, count: int, epsilon: float, losers: FloatArray) -> FloatArray:
    """δ at ε when the attacker's t makes ``losers`` the largest number of low log-ratios still above ε."""
    top = (epsilon + (losers + 1.0) * epsilon0) / (count + 1.0)
    inside = top <= epsilon0
    top = np.minimum(top, epsilon0)
    whole_range = -np.expm1(-epsilon0)
    low_other, high = -np.expm1(-top) / whole_range, -np.expm1(top - epsilon0) / whole_range
    here = _at_most(losers, count, low_other * np.exp(top - epsilon0), high)
    there = _at_most(losers, count, low_other, high * np.exp(-top))
    with np.errstate(divide="ignore", over="ignore"):
        discounted = np.exp(epsilon + np.log(there))  # e^ε alone may overflow
    return np.where(inside, np.maximum(here - discounted, 0.0), 0.0)


def _at_most(losers: FloatArray, count: int, low: FloatArray, high: FloatArray) -> FloatArray:
    """The chance of at most ``losers`` low log-ratios of ``count``, whose chance is ``low``, and ``high`` of the other.

    By the smaller of the two, which are given both: 1 − e^−40 is 1, and the event that it hides is all of δ.
    """
    by_low = bdtr(losers, count, np.clip(low, 0.0, 1.0))
    by_high = bdtrc(count - 1.0 - losers, count, np.clip(high, 0.0, 1.0))
    return cast(FloatArray, np.where(low < high, by_low, by_high))


def bounded_range_epsilon(epsilon0: float, count: int, delta: float) -> float:
    """The smallest ε at which ``count`` ε₀-bounded-range releases are (ε, δ)-DP, planned in advance (not adaptive).

    Never above the basic sum count × ε₀. Source and worst case as ``bounded_range_delta``. Raises InvalidArgument.
    """
    positive(epsilon0=epsilon0)
    whole(1, count=count)
    probability(delta=delta)
    return _bounded_range_epsilon(float(epsilon0), int(count), float(delta))


@lru_cache(maxsize=4096)
def _bounded_range_epsilon(epsilon0: float, count: int, delta: float) -> float:
    def reached(epsilon: float) -> bool:
        return bounded_range_delta(epsilon0, count, epsilon) <= delta

    return smallest(reached, 0.0, count * epsilon0, relative=1e-9)
