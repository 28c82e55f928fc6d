"""What a guarantee means for a person: odds of a guess, and what the best possible attacker can achieve.

The attacker knows everything but one person's row, sees all published answers, and must say whether the row is in.
A *false alarm* is saying "in" of someone who is not; a *miss* the other mistake. Wasserman & Zhou, JASA 2010; Dong,
Roth & Su, JRSS-B 2022. All curves are lower bounds on misses that some mechanism with the guarantee attains; counts
are in whole rows, as releases give them, which tell more than noise on real numbers would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from dpcore.calibration import zcdp_gaussian_noise_multiplier, zcdp_rho
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The laws ``without`` a row and ``within`` it, shape (m,), of the one number that tells most of all answers: the
    farther on, the likelier it is that the row is in. The best test looks at that alone (Neyman & Pearson, 1933)."""

    without: FloatArray
    within: FloatArray

    def misses(self, false_alarms: ArrayLike) -> FloatArray:
        """The fewest misses at each rate of false alarms, shape as given, exactly. Raises InvalidArgument."""
        alarms = np.minimum(np.cumsum(self.without[::-1]), 1.0)
        missed = np.maximum(1.0 - np.cumsum(self.within[::-1]), 0.0)
        curve: FloatArray = np.interp(_rates(false_alarms), [0.0, *alarms, 1.0], [1.0, *missed, 0.0])
        return curve

    @property
    def best_attack(self) -> float:
        """The highest chance of being right about one person, from an even start."""
        return min(0.5 + float(np.abs(self.within - self.without).sum()) / 4, 1.0)


def randomised_responses(epsilon: float, count: int = 1) -> Evidence:
    """Of ``count`` answers of ε each, whatever they are: how many tell for the row in the worst case, m = count + 1.

    That is randomised response (Kairouz, Oh & Viswanath, ICML 2015). A count with discrete Laplace noise tells as much
    of whoever has one row in it: each noisy count is e^ε times likelier in one of both tables. Raises InvalidArgument.
    """
    level, many = positive(epsilon=epsilon), whole(1, 10**6, count=count)
    told = np.arange(many + 1)
    ways = gammaln(many + 1) - gammaln(told + 1) - gammaln(many - told + 1) - many * math.log1p(math.exp(-level))
    return Evidence(without=np.exp(ways - level * told), within=np.exp(ways - level * (many - told)))


def gaussian_counts(epsilon: float, delta: float, count: int = 1) -> Evidence:
    """Of ``count`` counts, of which one row moves each by 1, with discrete Gaussian noise: by their sum.

    ρ-zCDP each with ρ = ``zcdp_rho(epsilon, delta)``, as releases draw them. Cut at ten standard deviations. Raises
    InvalidArgument.
    """
    rho = zcdp_rho(epsilon, in_range(0.0, 1.0, open_low=True, open_high=True, delta=delta))
    scale, many = zcdp_gaussian_noise_multiplier(rho), whole(1, 10**6, count=count)
    reach = math.ceil(10.0 * (scale + 1.0) * math.sqrt(many))
    one = np.exp(-((np.arange(-reach, reach + 1) / scale) ** 2) / 2)
    spectrum = np.fft.rfft(np.fft.ifftshift(one / one.sum())) ** many
    noise = np.maximum(np.fft.fftshift(np.fft.irfft(spectrum, one.size)), 0.0)
    return Evidence(without=np.pad(noise, (0, many)), within=np.pad(noise, (many, 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """How the attacker gains as releases add up: one row of ``misses`` per number of releases."""

    releases: tuple[int, ...]
    false_alarms: FloatArray
    misses: FloatArray  # shape (len(releases), len(false_alarms))
    best_attack: tuple[float, ...]


def widening(evidence: Callable[[int], Evidence], releases: Sequence[int], false_alarms: ArrayLike) -> Widening:
    """The attacker's curves after 1st, 2nd, … of the given numbers of releases, by the ``evidence`` of so many.

    Raises InvalidArgument.
    """
    counts = tuple(whole(1, 10**6, releases=number) for number in releases)
    if not counts:
        raise InvalidArgument("releases", "must not be empty")
    alpha = finite_vector(false_alarms=false_alarms)
    found = [evidence(count) for count in counts]
    return Widening(
        releases=counts,
        false_alarms=alpha,
        misses=np.stack([one.misses(alpha) for one in found]),
        best_attack=tuple(one.best_attack for one in found),
    )


def _rates(values: ArrayLike) -> FloatArray:
    rates = np.asarray(values, dtype=np.float64)
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise InvalidArgument("false_alarms", "must be rates between 0 and 1")
    return rates
