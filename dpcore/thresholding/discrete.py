"""The law of what a release really does: whole numbers, discrete noise, no rounding anywhere.

Same walk as the continuous law, with sums over the integers in place of integrals. Noise of scale s: P(x) ∝ exp(−|x|/s)
(discrete Laplace; Ghosh, Roughgarden & Sundararajan, STOC 2009) or, one-sided, exp(−x/s) for x ≥ 0 (geometric).
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.rising import rising
from dpcore.thresholding.laws import REACH, AlarmLaw, RunLaws, kinks
from dpcore.thresholding.likelihood import log_sum
from dpcore.thresholding.noise import NoisePair
from dpcore.validate import BoolArray, FloatArray, IntArray, whole

MOST_NODES = 10**6
FLAT = 40.0  # scales of a query's noise from the threshold at which it is certain to within 1e-17
LONGEST = 2.0  # widest panel, in units of the smaller of the two noise scales
_NODES = 16  # of a panel, at most


def discrete_alarm_law(pair: NoisePair, answers: ArrayLike, threshold: int, limit: int = 1) -> AlarmLaw:
    """Exact law of a run on whole ``answers`` (k,), with ``pair`` read as scales of discrete noise.

    An alarm is answer + ν ≥ threshold + ρ. Raises InvalidArgument.
    """
    series = _whole(answers)
    run = discrete_run_laws(pair, answers, threshold, limit, np.arange(series.size), series.size)
    return AlarmLaw(position=np.column_stack([run.alarm[0], np.cumsum(run.left[0])]))


def discrete_run_laws(
    pair: NoisePair, answers: ArrayLike, threshold: int, limit: int, column: IntArray, restart: int
) -> RunLaws:
    """As ``laws.run_laws`` at one setting, of a run on whole ``answers`` (k,) with discrete noise. Raises
    InvalidArgument."""
    from dpcore.thresholding.kernel.run import walk

    series = _whole(answers)
    whole(1, series.size, limit=limit)
    line = float(threshold)
    t, weight = _panel_nodes(pair, kinks(series, limit, pair.one_sided) - line)
    above, below = _edges(pair)
    columns = column.astype(np.int64)
    alarm, left = np.zeros((limit, int(columns.max()) + 1)), np.zeros(limit)
    walk(t, weight, series, 1.0, line, pair.query_scale, above, below, restart, columns, alarm, left)
    return RunLaws(alarm=alarm[None], left=left[None])


def discrete_log_probability(pair: NoisePair, answers: ArrayLike, threshold: int, raised: BoolArray) -> float:
    """Logarithm of the chance that exactly the queries in ``raised`` (k,) raise an alarm, all k being asked."""
    series = _whole(answers)
    margins, where = np.unique(np.stack([series - float(threshold), raised]), axis=1, return_inverse=True)
    times = np.bincount(where.ravel()).astype(np.float64)
    reach = REACH + float(np.abs(margins[0]).max()) / pair.threshold_scale
    t, weight = _integer_nodes(pair, reach)
    above, below = _edges(pair)
    with np.errstate(divide="ignore"):
        total = np.log(weight)
        for margin, alarm, count in zip(margins[0], margins[1], times, strict=True):
            x = (t - margin) / pair.query_scale
            rare = above * np.exp(-np.maximum(x, 0.0))
            common = below * np.exp(np.minimum(x, 0.0))
            if alarm:
                chance = np.where(x >= 0.0, math.log(above) - np.maximum(x, 0.0), np.log1p(-common))
            else:
                chance = np.where(x >= 0.0, np.log1p(-rare), np.log(common))
            total += count * chance
    return log_sum(total)


def _edges(pair: NoisePair) -> tuple[float, float]:
    """The constants of the walk: P(ν ≥ x) is the first times p^x for x ≥ 0, P(ν < x) the second times p^−x else."""
    if pair.one_sided:
        return 1.0, 0.0
    p = math.exp(-1.0 / pair.query_scale)
    return 1.0 / (1.0 + p), p / (1.0 + p)


def _panel_nodes(pair: NoisePair, kinks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes of the threshold's noise, ascending, and the chance that each stands for, summed over whole numbers.

    Panels as in the continuous law, split before 0 and before each of ``kinks`` (answers minus the threshold,
    ascending). One of up to 16 numbers holds each of them; of a longer one the 16 nodes are Gauss's for a sum.
    """
    scale, far = pair.threshold_scale, FLAT * pair.query_scale
    low = 0.0 if pair.one_sided else np.floor(max(-REACH * scale, min(kinks[0], 0.0) - far))
    high = np.ceil(max(min(REACH * scale, max(kinks[-1], 0.0) + far), low + 1.0))
    step = max(1.0, np.floor(LONGEST * min(scale, pair.query_scale)))
    inside = np.concatenate([[0.0], kinks])
    edges = rising(np.concatenate([np.arange(low, high, step), [high], inside[(inside > low) & (inside < high)]]))
    starts, sizes = edges[:-1], np.diff(edges)
    gone = -math.expm1(-1.0 / scale)
    share = gone if pair.one_sided else gone / (2.0 - gone)
    t, weight = [], []
    for size in rising(sizes).tolist():
        places, each = _summing_rule(size)
        at = starts[sizes == size][:, None] + places
        t.append(at.ravel())
        weight.append((share * each * np.exp(-np.abs(at) / scale)).ravel())
    below = [] if pair.one_sided else [share / gone * math.exp((low - 1.0) / scale)]
    ends = [*([] if pair.one_sided else [low - 1.0]), high]  # all that lies beyond, where every query is certain
    found = np.concatenate([*t, ends])
    chances = np.concatenate([*weight, below, [share / gone * math.exp(-high / scale)]])
    order = np.argsort(found)
    return found[order], chances[order]


@functools.lru_cache(maxsize=4096)
def _summing_rule(size: float) -> tuple[FloatArray, FloatArray]:
    """Nodes from 0 to ``size`` − 1 and weights: the sum of f(0), …, f(size − 1), exact for polynomials up to degree 31.

    Golub and Welsch, 1969, for the discrete Chebyshev (Gram) polynomials.
    """
    if size <= _NODES:
        return np.arange(size), np.ones(int(size))
    k = np.arange(1.0, _NODES)
    beside = np.sqrt(k**2 * (size**2 - k**2) / (4.0 * (4.0 * k**2 - 1.0)))
    nodes, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return nodes + (size - 1) / 2.0, size * vectors[0] ** 2


def _integer_nodes(pair: NoisePair, reach: float) -> tuple[FloatArray, FloatArray]:
    """The integers within ``reach`` scales and the chance of each as the threshold's noise."""
    last = math.ceil(reach * pair.threshold_scale)
    if last > MOST_NODES:
        raise InvalidArgument("unit", "must be larger: the noise is too many units wide for this law")
    t = np.arange(0 if pair.one_sided else -last, last + 1, dtype=np.float64)
    gone = -math.expm1(-1.0 / pair.threshold_scale)
    share = gone if pair.one_sided else gone / (2.0 - gone)
    return t, share * np.exp(-np.abs(t) / pair.threshold_scale)


def _whole(answers: ArrayLike) -> FloatArray:
    series: IntArray = np.asarray(answers)
    if series.dtype.kind not in "iu" or series.ndim != 1 or series.size == 0:
        raise InvalidArgument("answers", "must be a one-dimensional list of whole numbers")
    return series.astype(np.float64)
