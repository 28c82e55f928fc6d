"""The law of what a release really does: whole numbers, discrete noise, no rounding anywhere.

Same walk as the continuous law, with sums over the integers in place of integrals. Noise of scale s: P(x) ∝ exp(−|x|/s)
(discrete Laplace; Ghosh, Roughgarden & Sundararajan, STOC 2009) or, one-sided, exp(−x/s) for x ≥ 0 (geometric).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.thresholding.laws import REACH, AlarmLaw, RunLaws, run_laws
from dpcore.thresholding.likelihood import log_sum
from dpcore.thresholding.noise import NoisePair
from dpcore.validate import BoolArray, FloatArray, IntArray, whole

MOST_NODES = 10**6


def discrete_alarm_law(pair: NoisePair, answers: ArrayLike, threshold: int, limit: int = 1) -> AlarmLaw:
    """Exact law of a run on whole ``answers`` (k,), with ``pair`` read as scales of discrete noise.

    An alarm is answer + ν ≥ threshold + ρ. Raises InvalidArgument, also for scales of more than about 20,000 units,
    where the continuous law serves as well.
    """
    series = _whole(answers)
    run = _walked(pair, series, threshold, limit, np.arange(series.size), series.size)
    return AlarmLaw(position=np.column_stack([run.alarm[0], np.cumsum(run.left[0])]))


def discrete_run_laws(
    pair: NoisePair, answers: ArrayLike, threshold: int, limit: int, column: IntArray, restart: int
) -> RunLaws:
    """As ``laws.run_laws`` at one setting, of a run on whole ``answers`` (k,) with discrete noise.

    For scales of more than about 20,000 units the continuous law stands in: there a unit is next to nothing beside the
    noise. Raises InvalidArgument.
    """
    series = _whole(answers)
    if math.ceil(REACH * pair.threshold_scale) <= MOST_NODES:
        return _walked(pair, series, threshold, limit, column, restart)
    return run_laws(
        series,
        one_sided=pair.one_sided,
        threshold=np.array([float(threshold)]),
        threshold_scale=np.array([pair.threshold_scale]),
        query_scale=np.array([pair.query_scale]),
        limit=limit,
        column=column,
        restart=restart,
        fine=True,
    )


def _walked(pair: NoisePair, series: FloatArray, threshold: int, limit: int, column: IntArray, restart: int) -> RunLaws:
    from dpcore.thresholding.kernel.run import walk

    whole(1, series.size, limit=limit)
    t, weight = _integer_nodes(pair, REACH)
    above, below = _edges(pair)
    columns = column.astype(np.int64)
    alarm, left = np.zeros((limit, int(columns.max()) + 1)), np.zeros(limit)
    line = float(threshold)
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
