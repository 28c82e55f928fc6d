"""What accuracy holds for the worst series, by a theorem and exactly, and the design for which it is best.

A run is right to within α when no answer at threshold − α or below raises an alarm and every answer at threshold + α or
above does, while alarms last. The worst series for c alarms among k answers has k − c answers at threshold − α and c at
threshold + α; the chance that a run is right about all of them is one integral. Everything scales with Δ/ε, so designs
are found once, for Δ = ε = 1.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from dpcore.thresholding.likelihood import log_chance, threshold_nodes
from dpcore.thresholding.noise import SHARES, NoisePair, best_share
from dpcore.validate import FloatArray, boolean, in_range, one_of, positive, probability, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """``share`` of ε for the threshold, ``offset`` of the threshold and the exact ``alpha``, both in units of Δ/ε."""

    share: float
    offset: float
    alpha: float


def theorem_alpha(pair: NoisePair, k: int, beta: float, offset: float = 0.0) -> float:
    """The union bound of Dwork & Roth 2014, Theorem 3.24, for any scales, in units of the answers.

    With probability at least 1 − β the threshold's noise stays within half of α and all k queries' noises within the
    other half: α = 2·max(B ln(2/β), A(ln k + ln(2/β))), the theorem's 8(ln k + ln(2/β))Δ/ε at its scales A = 4Δ/ε and
    B = 2Δ/ε. Noise that is never negative needs no halving: it errs on one side only.
    """
    share = math.log(2.0 / probability(beta=beta))
    needed = max(pair.threshold_scale * share, pair.query_scale * (math.log(whole(1, k=k)) + share))
    return (1.0 if pair.one_sided else 2.0) * needed + abs(offset)


def theorem_beta(pair: NoisePair, k: int, distance: FloatArray) -> FloatArray:
    """The failure chance at which ``theorem_alpha`` of k queries and Laplace noise A ≥ B is ``distance``, at most 1."""
    beta: FloatArray = np.minimum(2.0 * k * np.exp(-np.maximum(distance, 0.0) / (2.0 * pair.query_scale)), 1.0)
    return beta


def all_right(pair: NoisePair, k: int, limit: int, alpha: float, offset: float = 0.0) -> float:
    """Chance of being right about k − c answers at threshold − α and c = ``limit`` at threshold + α."""
    low, high = -alpha - offset, alpha - offset
    t, weight = threshold_nodes(pair, np.array([low, high]))
    silent = log_chance(pair, (t - low) / pair.query_scale, alarm=False)
    alarm = log_chance(pair, (t - high) / pair.query_scale, alarm=True)
    if k == limit:
        return float(weight @ np.exp(limit * alarm))
    return float(weight @ np.exp((k - limit) * silent + limit * alarm))


def exact_alpha(pair: NoisePair, k: int, limit: int, beta: float, offset: float = 0.0) -> float:
    """The smallest α at which a run on the worst series is right with probability 1 − β, in units of the answers.

    ``beta`` of at least 1e-9, which the integral resolves. Raises InvalidArgument.
    """
    from scipy.optimize import brentq

    whole(limit, k=k)
    target = 1.0 - in_range(1e-9, 1.0, open_high=True, beta=beta)
    high = pair.query_scale + pair.threshold_scale + abs(offset)
    while all_right(pair, k, limit, high, offset) < target:
        high *= 2.0
    if all_right(pair, k, limit, 0.0, offset) >= target:
        return 0.0
    return float(brentq(lambda alpha: all_right(pair, k, limit, alpha, offset) - target, 0.0, high, rtol=1e-10))


@functools.lru_cache(maxsize=4096)
def best_design(k: int, beta: float, noise: str, limit: int = 1, monotonic: bool = False) -> Design:
    """The share and the offset for which the exact α is smallest, to 0.1 %. Both are free: they depend on no data.

    With no more answers than alarms, where an alarm every time would always be right, one answer more is reckoned with.
    Raises InvalidArgument.
    """
    from scipy.optimize import minimize

    k = max(whole(1, k=k), whole(1, limit=limit) + 1)
    one_of(("laplace", "exponential"), noise=noise)
    boolean(monotonic=monotonic)

    def alpha(point: FloatArray) -> float:
        share, offset = float(np.clip(point[0], *SHARES)), float(point[1])
        pair = NoisePair.of(1.0, 1.0, noise, share, limit, monotonic)
        return exact_alpha(pair, k, limit, beta, offset)

    share = 0.8 * best_share(limit, monotonic=monotonic)
    unit = NoisePair.of(1.0, 1.0, noise, share, limit, monotonic).query_scale
    start = np.array([share, 0.5 * unit * math.log(k) + 0.3 * unit])
    simplex = start + np.array([[0.0, 0.0], [0.15 * share, 0.0], [0.0, unit]])
    found = minimize(
        alpha, start, method="Nelder-Mead", options={"initial_simplex": simplex, "fatol": 2e-4 * unit, "xatol": 1.0}
    )
    return Design(share=float(np.clip(found.x[0], *SHARES)), offset=float(found.x[1]), alpha=float(found.fun))


def margin_when_selecting(
    k: int, epsilon: float, beta: float, sensitivity: float = 1.0, monotonic: bool = False
) -> float:
    """How far the best of k answers must lead the others for permute-and-flip to name it with chance 1 − β.

    The worst case has all others equal: P(best) = (1 − (1−p)^k)/(kp), p = exp(−slope·margin). McKenna & Sheldon 2020.
    """
    from scipy.optimize import brentq

    slope = positive(epsilon=epsilon) / ((1 if boolean(monotonic=monotonic) else 2) * positive(sensitivity=sensitivity))
    target = 1.0 - probability(beta=beta)
    if whole(1, k=k) == 1 or target <= 1.0 / k:
        return 0.0

    def lead(margin: float) -> float:
        p = math.exp(-margin)
        return -math.expm1(k * math.log1p(-p)) / (k * p) - target if p < 1.0 else 1.0 / k - target

    return float(brentq(lead, 0.0, 60.0 + math.log(k))) / slope


def select_instead(
    k: int, epsilon: float, beta: float, *, sensitivity: float = 1.0, monotonic: bool = False
) -> dict[str, float]:
    """Margin by which one of k answers must stand out to be found with chance 1 − ``beta``, in units of the answers.

    When all k questions are known in advance, selecting (``permute_and_flip``) needs far less than asking one by one:
    ``best`` is the best run here (exponential noise, best split and offset), ``book`` the textbook's; a run needs
    twice its exact α, because the threshold must be placed between. Raises InvalidArgument.
    """
    unit = positive(sensitivity=sensitivity) / positive(epsilon=epsilon)
    book = NoisePair.of(epsilon, sensitivity, "laplace", 0.5, 1, False)
    return {
        "permute_and_flip": margin_when_selecting(k, epsilon, beta, sensitivity, monotonic),
        "best": 2.0 * unit * best_design(k, beta, "exponential", 1, monotonic).alpha,
        "book": 2.0 * exact_alpha(book, k, 1, beta),
    }
