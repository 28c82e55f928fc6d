"""What a guarantee means for a person: odds of a guess, and what the best possible attacker can achieve.

The attacker knows everything but one person's row, sees all published answers, and must say whether the row is in.
A *false alarm* is saying "in" of someone who is not; a *miss* the other mistake. Wasserman & Zhou, JASA 2010; Dong,
Roth & Su, JRSS-B 2022. All curves are lower bounds on misses that some mechanism with the guarantee attains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpcore.accounting import RunningTotal
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, finite_vector, in_range, non_negative, positive, probability, whole


def guess_chance(epsilon: float, prior: float = 0.5) -> float:
    """The highest chance of a right guess that ε-DP allows someone whose guess was right with chance ``prior``.

    p e^ε / (p e^ε + 1 − p): 0.731 at ε = 1 from an even chance. Raises InvalidArgument.
    """
    level, before = non_negative(epsilon=epsilon), probability(prior=prior)
    return before / (before + (1 - before) * math.exp(-level))


def right_at_most(epsilon: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """How often in 100, at most, a guess is right that was right with chance ``prior`` ≥ ½; rounded up to a tenth.

    100 × (1 − (1 − δ)(1 − ``guess_chance``)), from an even start 100 × (e^ε + δ)/(1 + e^ε): wrong guesses one way or
    the other weigh at least (1 − δ) × min(1 − p, 1/(1 + e^ε)) together (``misses`` at its corners). δ does not say how
    often the privacy loss exceeds ε, which for Gaussian noise is many times δ. Raises InvalidArgument.
    """
    share = 1.0 - in_range(0.0, 1.0, delta=delta)
    before = in_range(0.5, 1.0, open_high=True, prior=prior)
    chance = 1.0 - share * (1.0 - guess_chance(epsilon, before))
    return min(100.0, math.ceil(1000.0 * chance - 1e-9) / 10.0)


def right_in_hundred(epsilon: float, prior: float = 0.5) -> int:
    """``guess_chance`` as a whole number of times in 100, to the nearest (half up)."""
    return math.floor(100 * guess_chance(epsilon, prior) + 0.5)


def misses(false_alarms: ArrayLike, *, epsilon: float, delta: float = 0.0) -> FloatArray:
    """The fewest misses at each rate of false alarms under (ε, δ)-DP, shape as given.

    max(0, 1 − δ − e^ε α, e^−ε (1 − δ − α)). Raises InvalidArgument.
    """
    alpha = _rates(false_alarms)
    level = min(non_negative(epsilon=epsilon), 700.0)
    share = 1.0 - in_range(0.0, 1.0, delta=delta)
    steep, flat = share - math.exp(level) * alpha, math.exp(-level) * (share - alpha)
    return np.maximum(0.0, np.maximum(steep, flat))


def gaussian_misses(false_alarms: ArrayLike, *, noise_multiplier: float, count: int = 1) -> FloatArray:
    """The fewest misses under ``count`` Gaussian releases, exactly: Φ(Φ⁻¹(1 − α) − √count/σ)."""
    alpha = _rates(false_alarms)
    shift = math.sqrt(whole(1, count=count)) / positive(noise_multiplier=noise_multiplier)
    curve: FloatArray = ndtr(ndtri(1.0 - alpha) - shift)
    return curve


def laplace_misses(false_alarms: ArrayLike, *, noise_multiplier: float) -> FloatArray:
    """The fewest misses under one Laplace release of scale b × sensitivity, exactly, with ε = 1/b.

    1 − e^ε α below e^−ε/2, e^−ε/(4α) up to ½, e^−ε (1 − α) above.
    """
    alpha = _rates(false_alarms)
    level = 1.0 / positive(noise_multiplier=noise_multiplier)
    low = math.exp(-level) / 2
    with np.errstate(divide="ignore"):
        middle = np.where(alpha > 0.0, math.exp(-level) / (4 * np.maximum(alpha, 1e-300)), np.inf)
    steep = 1.0 - np.exp(np.minimum(level, 700.0)) * alpha
    flat = math.exp(-level) * (1.0 - alpha)
    curve: FloatArray = np.where(alpha < low, steep, np.where(alpha <= 0.5, middle, flat))
    return curve


def composed_misses(false_alarms: ArrayLike, total: RunningTotal) -> FloatArray:
    """The fewest misses after all releases of ``total``, by their privacy losses (for plans fixed in advance).

    The upper envelope of the (ε, δ(ε)) lines, on 1,200 values of ε; as a lower bound it can only be too low.
    Raises UnsupportedEvent.
    """
    alpha = _rates(false_alarms)
    levels = np.concatenate([[0.0], np.geomspace(1e-3, 60.0, 1199)])
    share = 1.0 - np.clip(total.deltas(levels), 0.0, 1.0)
    steep = share[:, None] - np.exp(levels)[:, None] * alpha.ravel()[None, :]
    flat = np.exp(-levels)[:, None] * (share[:, None] - alpha.ravel()[None, :])
    envelope: FloatArray = np.maximum(np.maximum(steep, flat).max(axis=0), 0.0).reshape(alpha.shape)
    return envelope


def best_attack(total: RunningTotal) -> float:
    """The highest chance of being right about one person, from an even start, after all releases: (1 + δ(0)) / 2."""
    return 0.5 + 0.5 * float(total.deltas(np.zeros(1))[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """How the attacker gains as releases add up: one row of ``misses`` per number of releases."""

    releases: tuple[int, ...]
    false_alarms: FloatArray
    misses: FloatArray  # shape (len(releases), len(false_alarms))
    best_attack: tuple[float, ...]


def widening(cost: Cost, releases: Sequence[int], false_alarms: ArrayLike) -> Widening:
    """The attacker's curves after 1st, 2nd, … of the given numbers of releases of ``cost``.

    Raises InvalidArgument, UnsupportedEvent.
    """
    counts = tuple(whole(1, 10**6, releases=number) for number in releases)
    if not counts:
        raise InvalidArgument("releases", "must not be empty")
    alpha = finite_vector(false_alarms=false_alarms)
    totals = [RunningTotal().add(cost, number) for number in counts]
    return Widening(
        releases=counts,
        false_alarms=alpha,
        misses=np.stack([composed_misses(alpha, total) for total in totals]),
        best_attack=tuple(best_attack(total) for total in totals),
    )


def _rates(values: ArrayLike) -> FloatArray:
    rates = np.asarray(values, dtype=np.float64)
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise InvalidArgument("false_alarms", "must be rates between 0 and 1")
    return rates
