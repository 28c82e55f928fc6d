"""The likelihood of one exact outcome of a run, however rare: what a privacy check compares."""

from __future__ import annotations

import math

import numpy as np

from dpcore.rising import rising
from dpcore.thresholding.laws import REACH, thinned
from dpcore.thresholding.noise import NoisePair
from dpcore.validate import BoolArray, FloatArray


def threshold_nodes(pair: NoisePair, margins: FloatArray, reach: float = REACH) -> tuple[FloatArray, FloatArray]:
    """The finest nodes and weights of the threshold's noise for queries at ``margins`` (answer − threshold)."""
    from dpcore.thresholding.kernel.run import fill, room

    kink = rising(margins)
    t = np.empty(room(pair.threshold_scale, pair.query_scale, kink.size, reach))
    weight = np.empty_like(t)
    used = fill(t, weight, kink, pair.threshold_scale, pair.query_scale, pair.one_sided, reach, 2)
    return t[:used], weight[:used]


def log_probability(
    pair: NoisePair, answers: FloatArray, threshold: float, raised: BoolArray, *, highest: float = math.inf
) -> float:
    """Logarithm of the chance that exactly the queries marked in ``raised`` (k,) raise an alarm, all k being asked.

    Accurate for very rare outcomes too, which a privacy check has to compare; −∞ for what only threshold noise beyond
    700 scales could bring about. Kinks are thinned beyond ``MOST_KINKS``. ``highest``: the chance that the threshold's
    noise is at most that as well.
    """
    margins = answers - threshold
    distinct, where = np.unique(np.stack([margins, raised]), axis=1, return_inverse=True)
    times = np.bincount(where.ravel()).astype(np.float64)
    bends = thinned(rising(distinct[0]))
    if math.isfinite(highest):
        bends = rising(np.append(bends, highest))
    reach = REACH + float(np.abs(bends).max()) / pair.threshold_scale
    t, weight = threshold_nodes(pair, bends, min(reach, 700.0))
    weight[t > highest] = 0.0
    with np.errstate(divide="ignore"):
        total = np.log(weight)
    for margin, alarm, count in zip(distinct[0], distinct[1], times, strict=True):
        total += count * log_chance(pair, (t - margin) / pair.query_scale, alarm=bool(alarm))
    return log_sum(total)


def log_sum(terms: FloatArray) -> float:
    """ln Σ exp(terms), −∞ when there is nothing."""
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum())) if math.isfinite(top) else top


def log_chance(pair: NoisePair, x: FloatArray, *, alarm: bool) -> FloatArray:
    """Logarithm of the chance of an alarm, or of none, for a query ``x`` of its scales below the noisy threshold."""
    above, below = np.maximum(x, 0.0), np.minimum(x, 0.0)
    with np.errstate(divide="ignore"):
        if pair.one_sided:
            chance = -above if alarm else np.log(-np.expm1(-above))
        elif alarm:
            chance = np.where(x > 0.0, np.log(0.5) - above, np.log1p(-0.5 * np.exp(below)))
        else:
            chance = np.where(x > 0.0, np.log1p(-0.5 * np.exp(-above)), np.log(0.5) + below)
    return np.asarray(chance)
