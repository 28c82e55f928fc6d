"""From a guarantee to a mechanism's parameter: one bracketed search, and its use for every kind of noise.

Every result keeps the promise: the guarantee at the returned parameter is at most the one asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from dpcore.accounting import bounded_range_delta, compose, gaussian_delta, zcdp_epsilon
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.events import SampledGaussianEvent
from dpcore.validate import Neighbours, in_range, positive, probability, whole

_TOLERANCE = 1e-10


def solve(
    guarantee: Callable[[float], float],
    target: float,
    *,
    low: float,
    high: float,
    increasing: bool,
    relative: float = _TOLERANCE,
) -> float:
    """The parameter in [low, high] whose ``guarantee`` is as close to ``target`` as possible without exceeding it.

    ``guarantee`` is monotone, ``increasing`` or not. The bracket is halved on a log scale until its ends agree to
    ``relative``; the end that keeps the promise is returned. Raises InvalidArgument when none in the bracket does.
    """
    positive(low=low)
    positive(high=high)
    safe, risky = (low, high) if increasing else (high, low)
    if guarantee(risky) <= target:
        return risky
    if not guarantee(safe) <= target:
        raise InvalidArgument("target", "cannot be met by any parameter in the range that was searched")
    while abs(safe - risky) > relative * max(safe, risky):
        middle = math.sqrt(safe * risky)
        if not min(safe, risky) < middle < max(safe, risky):
            break
        if guarantee(middle) <= target:
            safe = middle
        else:
            risky = middle
    return safe


def gaussian_noise_multiplier(epsilon: float, delta: float, count: int = 1) -> float:
    """The smallest σ (for L2 sensitivity 1) at which ``count`` Gaussian releases are (ε, δ)-DP together, exactly.

    The analytic Gaussian mechanism, Balle & Wang, ICML 2018; never under-noised. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    probability(delta=delta)
    whole(1, count=count)
    return _gaussian_noise_multiplier(float(epsilon), float(delta)) * math.sqrt(count)


@lru_cache(maxsize=4096)
def _gaussian_noise_multiplier(epsilon: float, delta: float) -> float:
    return solve(lambda noise: gaussian_delta(noise, epsilon), delta, low=1e-4, high=1e9, increasing=False)


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest ρ whose ρ-zCDP implies (ε, δ)-DP by the tight conversion. Raises InvalidArgument."""
    positive(epsilon=epsilon)
    probability(delta=delta)
    return _zcdp_rho(float(epsilon), float(delta))


@lru_cache(maxsize=4096)
def _zcdp_rho(epsilon: float, delta: float) -> float:
    # ρ + 2√(ρ ln(1/δ)), solved for ρ: Bun & Steinke's conversion holds too, and is not much looser
    inverse = math.log(1 / delta)
    floor = (epsilon / (math.sqrt(epsilon + inverse) + math.sqrt(inverse))) ** 2

    def excess(log_rho: float) -> float:
        return math.log(max(zcdp_epsilon(math.exp(log_rho), delta), 1e-300) / epsilon)

    return math.exp(_at_most_zero(excess, math.log(floor), 0.5))


def zcdp_gaussian_noise_multiplier(rho: float, count: int = 1) -> float:
    """The σ (for L2 sensitivity 1) at which ``count`` Gaussian releases cost ρ in all: √(count / (2ρ))."""
    return math.sqrt(whole(1, count=count) / (2 * positive(rho=rho)))


def bounded_range_rate(epsilon: float, delta: float, count: int) -> float:
    """The largest ε₀ of each of ``count`` bounded-range draws, planned in advance, for (ε, δ)-DP in all.

    Exact (Dong, Durfee & Rogers, ICML 2020); at least ε/count. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    probability(delta=delta)
    whole(1, count=count)
    return _bounded_range_rate(float(epsilon), float(delta), int(count))


@lru_cache(maxsize=16384)
def _bounded_range_rate(epsilon: float, delta: float, count: int) -> float:
    def excess(log_rate: float) -> float:
        return math.log(max(bounded_range_delta(math.exp(log_rate), count, epsilon), 1e-300) / delta)

    # exact composition allows at least what zCDP allows, and not much more
    return math.exp(_at_most_zero(excess, math.log(adaptive_bounded_range_rate(epsilon, delta, count)), 0.1))


def _at_most_zero(excess: Callable[[float], float], low: float, step: float, tolerance: float = 1e-10) -> float:
    """Within about ``tolerance`` of the zero of a rising smooth ``excess``, not past it, from a ``low`` not far below.

    Regula falsi with the Illinois rule, in about ten evaluations.
    """
    at_low, high = excess(low), low + step
    at_high = excess(high)
    while at_high <= 0.0:
        low, at_low, high = high, at_high, high + 4 * (high - low)
        at_high = excess(high)
    close, width, side = low, tolerance / 10, 0
    while at_low < 0.0 and high - low > width:
        close = high - at_high * (high - low) / (at_high - at_low)
        here = excess(close)
        if abs(here) < tolerance:
            break
        # an end that stays twice in a row counts half, so that it moves next time
        if here > 0.0:
            high, at_high, at_low, side = close, here, at_low / 2 if side > 0 else at_low, 1
        else:
            low, at_low, at_high, side = close, here, at_high / 2 if side < 0 else at_high, -1
    while excess(close) > 0.0:
        close, width = close - width, 2 * width
    return close


def adaptive_bounded_range_rate(epsilon: float, delta: float, count: int) -> float:
    """The largest ε₀ of each of ``count`` bounded-range draws that may react to earlier ones: by zCDP, ρ = ε₀²/8."""
    rate = math.sqrt(8 * zcdp_rho(epsilon, delta) / whole(1, count=count))
    return max(rate, epsilon / count)


def pure_epsilon(epsilon: float, delta: float, count: int) -> float:
    """The largest ε₀ of each of ``count`` pure ε₀-DP releases, planned in advance, for (ε, δ)-DP in all (PLD).

    With ``delta`` 0 it is ε/count. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    in_range(0.0, 1.0, open_high=True, delta=delta)
    whole(1, count=count)
    if delta == 0.0 or count == 1:
        return epsilon / count
    return _planned(lambda rate: Cost.pure(rate, count), float(epsilon), float(delta), epsilon / count)


def laplace_noise_multiplier(epsilon: float, delta: float = 0.0, count: int = 1) -> float:
    """The smallest Laplace scale (for L1 sensitivity 1) of each of ``count`` releases for (ε, δ)-DP in all (PLD).

    With ``delta`` 0 it is count/ε. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    in_range(0.0, 1.0, open_high=True, delta=delta)
    whole(1, count=count)
    if delta == 0.0:
        return count / epsilon
    return 1 / _planned(lambda rate: Cost.laplace(1 / rate, count), float(epsilon), float(delta), epsilon / count)


def _planned(cost: Callable[[float], Cost], epsilon: float, delta: float, least: float) -> float:
    return solve(
        lambda rate: compose([cost(rate)], delta)["best"],
        epsilon,
        low=least,
        high=least * 64,
        increasing=True,
        relative=1e-4,
    )


def sampled_gaussian_noise_multiplier(
    epsilon: float,
    delta: float,
    sampling_rate: float,
    count: int,
    neighbours: Neighbours = "add_remove",
    grid: float = 1e-3,
) -> float:
    """The smallest σ (over the clipping norm) of ``count`` Gaussian steps on Poisson samples for (ε, δ)-DP in all.

    By PLD, to 0.05 % above; cached. ``grid`` as in ``compose``. Raises InvalidArgument.
    """
    positive(epsilon=epsilon)
    probability(delta=delta)
    in_range(0.0, 1.0, open_low=True, sampling_rate=sampling_rate)
    whole(1, count=count)
    return _sampled_gaussian_noise_multiplier(
        float(epsilon), float(delta), float(sampling_rate), int(count), neighbours, float(grid)
    )


@lru_cache(maxsize=1024)
def _sampled_gaussian_noise_multiplier(
    epsilon: float, delta: float, sampling_rate: float, count: int, neighbours: Neighbours, grid: float
) -> float:
    factor = 1.0 if neighbours == "add_remove" else 2.0
    unsampled = factor * gaussian_noise_multiplier(epsilon, delta, count)
    if sampling_rate == 1.0:
        return unsampled

    def guarantee(noise: float) -> float:
        event = SampledGaussianEvent(
            noise_multiplier=noise, sampling_rate=sampling_rate, count=count, neighbours=neighbours
        )
        return compose([Cost(epsilon=math.inf, event=event)], delta, accountants=["pld"], grid=grid)["pld"]

    # start from the side where losses are small: tiny noise makes the loss grid enormous
    high = unsampled
    while high > 0.3 and guarantee(high / 2) <= epsilon:
        high /= 2

    def excess(log_precision: float) -> float:
        return math.log(max(guarantee(math.exp(-log_precision)), 1e-300) / epsilon)

    return math.exp(-_at_most_zero(excess, -math.log(high), 0.25, 2e-4))
