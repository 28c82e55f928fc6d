"""A lower bound on ε from answers about two neighbouring data sets, wrong with chance at most ``ALPHA``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from scipy.stats import beta, chi2

ALPHA = 1e-3

Outcomes = Sequence[Hashable]


def epsilon_bound(here: Outcomes, there: Outcomes, delta: float = 0.0) -> float:
    """The largest ε that the answers rule out, for (ε, δ)-DP; at least 0.

    The event to bet on is chosen on one half of the answers, by likelihood ratio; the other half gives its chances,
    bounded by Clopper–Pearson. Both directions are tried.
    """
    return max(_one_way(here, there, delta), _one_way(there, here, delta), 0.0)


def _one_way(likely: Outcomes, other: Outcomes, delta: float) -> float:
    half = len(likely) // 2
    event = _best_event(likely[:half], other[:half])
    seen = sum(outcome in event for outcome in likely[half:])
    crossed = sum(outcome in event for outcome in other[half:])
    low = _low(seen, len(likely) - half)
    high = _high(crossed, len(other) - half)
    return math.log((low - delta) / high) if low > delta else 0.0


def _best_event(likely: Outcomes, other: Outcomes) -> set[Hashable]:
    """Outcomes taken in order of likelihood ratio, as many as give the highest bound on this half."""
    ours, theirs = Counter(likely), Counter(other)
    order = sorted(ours, key=lambda outcome: -(ours[outcome] / (theirs[outcome] + 0.5)))
    best, chosen = -math.inf, 0
    seen = crossed = 0
    for count, outcome in enumerate(order, start=1):
        seen, crossed = seen + ours[outcome], crossed + theirs[outcome]
        low = _low(seen, len(likely))
        bound = math.log(low / _high(crossed, len(other))) if low > 0.0 else -math.inf
        if bound > best:
            best, chosen = bound, count
    return set(order[:chosen])


def _low(count: int, size: int) -> float:
    return float(beta.ppf(ALPHA / 2, count, size - count + 1)) if count else 0.0


def _high(count: int, size: int) -> float:
    return float(beta.ppf(1 - ALPHA / 2, count + 1, size - count)) if count < size else 1.0


def scale_bound(noise: Sequence[float], claimed: float) -> float:
    """How much smaller than ``claimed`` the standard deviation of Gaussian noise may be: an upper bound on the ratio.

    From the χ² law of the sum of squares; a ratio below 1 says that there is too little noise.
    """
    squares = sum((value / claimed) ** 2 for value in noise)
    return math.sqrt(squares / float(chi2.ppf(ALPHA, len(noise))))
