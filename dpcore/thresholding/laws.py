"""Exact laws of runs, by one integral over the threshold's noise.

Given ρ = t the queries are independent coins, so a run is a walk that counts alarms up to the limit (a stopped
Poisson-binomial law); the walk is averaged over t. All kinds of noise share one form. With X = exp(−x/A), where x is
how far the answer lies below the noisy threshold,

    chance of an alarm = above · X        where the answer lies below the noisy threshold (X ≤ 1),
                         1 − below / X    where it lies above,

with above = below = ½ for Laplace noise, 1 and 0 for exponential noise, 1/(1+p) and p/(1+p) with p = exp(−1/A) for
discrete Laplace noise, 1 and 0 for geometric noise. X is a product of a number of the query and a number of the node:
the inner loop holds no exponential and no logarithm. It is compiled: on 120 queries NumPy takes twenty times as long.

The integrand is smooth but for kinks at 0 and where t carries the threshold across an answer. Gauss-Legendre panels
between the kinks give single laws to 1e-9 relative down to probabilities of 1e-12, and sweeps to 1e-6.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.rising import rising
from dpcore.thresholding.noise import FARTHEST, NoisePair
from dpcore.validate import FloatArray, IntArray, finite_vector, in_range

REACH = 46.0  # scales of the threshold's noise that single laws look at: beyond lies less than 1e-20
QUICK_REACH = 24.0  # 1e-10: sweeps promise 1e-6
MOST_KINKS = 512
LARGEST_ANSWER = 1e15
LARGEST_LAW = 10**8  # numbers in one result
_HALVINGS = 44  # so many earlier answers above the noisy threshold leave survival below 1e-13


class Watcher(Protocol):
    """What every mechanism here is to the functions that work on all of them: a frozen dataclass with these."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def offset(self) -> float: ...
    @property
    def scales(self) -> NoisePair: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmLaw:
    """Law of one run over k queries with at most c alarms.

    ``position`` of shape (c, k+1): row j is the law of the place of alarm j+1, the last entry that there is none.
    """

    position: FloatArray

    @property
    def per_query(self) -> FloatArray:
        """Probability of an alarm at each query, shape (k,)."""
        chance: FloatArray = self.position[:, :-1].sum(axis=0)
        return chance

    @property
    def count(self) -> FloatArray:
        """Law of the number of alarms, shape (c+1,)."""
        fewer = np.concatenate([[0.0], self.position[:, -1], [1.0]])
        law: FloatArray = np.diff(fewer)
        return law


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLaws:
    """``alarm`` (m, c, columns): chance that alarm j+1 falls in a column; ``left`` (m, c): that j alarms were all."""

    alarm: FloatArray
    left: FloatArray


def check_series(answers: ArrayLike, threshold: float, limit: int = 1) -> tuple[FloatArray, float]:
    """A series of answers and the threshold it meets, checked. Raises InvalidArgument."""
    series = finite_vector(answers=answers)
    if np.abs(series).max() > LARGEST_ANSWER:
        raise InvalidArgument("answers", "must be numbers of at most 10^15")
    if limit > series.size:
        raise InvalidArgument("limit", "must be at most the number of answers")
    return series, in_range(-LARGEST_ANSWER, LARGEST_ANSWER, threshold=threshold)


def alarm_law(pair: NoisePair, answers: FloatArray, threshold: float, limit: int) -> AlarmLaw:
    """The law of one run, finely."""
    k = answers.size
    run = run_laws(
        answers,
        one_sided=pair.one_sided,
        threshold=np.array([threshold]),
        threshold_scale=np.array([pair.threshold_scale]),
        query_scale=np.array([pair.query_scale]),
        limit=limit,
        fine=True,
    )
    position = np.empty((limit, k + 1))
    position[:, :k] = run.alarm[0]
    position[:, k] = np.cumsum(run.left[0])
    return AlarmLaw(position=position)


def prepare() -> None:
    """Load the compiled loops, a second or two once in a process, so that the first page need not wait for them."""
    single = np.zeros(1)
    alarm_law(NoisePair(threshold_scale=1.0, query_scale=1.0, one_sided=False), single, 0.0, 1)


def run_laws(
    answers: FloatArray,
    *,
    one_sided: bool,
    threshold: FloatArray,
    threshold_scale: FloatArray,
    query_scale: FloatArray,
    ratio: FloatArray | None = None,
    limit: int = 1,
    column: IntArray | None = None,
    restart: int | None = None,
    fine: bool = False,
) -> RunLaws:
    """Laws of runs over the same ``answers`` (k,) at m settings, each given by arrays of shape (m,).

    Setting i meets ``answers`` × ``ratio`` with ``threshold``. ``column`` (k,) says which column of the result the
    alarms of a query are added to (each its own unless given). From query ``restart`` on only the next alarm counts,
    whatever came before: it is added to row 0. Raises InvalidArgument when the result would be too large.
    """
    from dpcore.thresholding.kernel.run import sweep

    k, m = answers.size, threshold.size
    columns = np.arange(k) if column is None else column
    width = int(columns.max()) + 1
    if m * limit * width > LARGEST_LAW:
        raise InvalidArgument("limit", "times the number of answers is too large for one exact law")
    scales = np.stack([threshold_scale, query_scale, np.ones(m) if ratio is None else ratio])
    if not (np.isfinite(threshold).all() and (scales > 1.0 / FARTHEST).all() and (scales < FARTHEST).all()):
        raise InvalidArgument("epsilon", "and sample sizes must be greater than 0 and not extreme")
    alarm, left = np.zeros((m, limit, width)), np.zeros((m, limit))
    sweep(
        answers,
        kinks(answers, limit, one_sided),
        scales[2],
        threshold,
        threshold_scale,
        query_scale,
        one_sided,
        REACH if fine else QUICK_REACH,
        int(fine),
        k if restart is None else restart,
        columns.astype(np.int64),
        alarm,
        left,
    )
    return RunLaws(alarm=alarm, left=left)


def stop_laws(mechanism: Watcher, epsilon: ArrayLike, answers: ArrayLike, threshold: float) -> FloatArray:
    """``stop_law`` at many ``epsilon`` (m,) in one call, to 1e-6: shape (m, k+1), the last column "never".

    Of several alarms it is the last. ``mechanism`` gives everything but ε. 50 levels over 100,000 answers take about a
    third of a second. Raises InvalidArgument.
    """
    levels = finite_vector(epsilon=epsilon)
    pairs = [replace(mechanism, epsilon=float(level)).scales for level in levels]
    limit = getattr(mechanism, "limit", 1)
    series, line = check_series(answers, threshold, limit)
    run = run_laws(
        series,
        one_sided=pairs[0].one_sided,
        threshold=np.full(levels.size, line + mechanism.offset),
        threshold_scale=np.array([pair.threshold_scale for pair in pairs]),
        query_scale=np.array([pair.query_scale for pair in pairs]),
        limit=limit,
    )
    return np.column_stack([run.alarm[:, -1], run.left.sum(axis=1)])


def kinks(answers: FloatArray, limit: int, one_sided: bool) -> FloatArray:
    """Answers at which the integrand bends noticeably, ascending, at most ``MOST_KINKS``.

    Where many earlier answers lie higher, the run is all but surely over when the threshold's noise is so low. With
    one-sided noise an answer above the noisy threshold is a certain alarm: only the ``limit`` highest so far matter.
    """
    depth = limit if one_sided else limit + _HALVINGS
    if answers.size <= depth:
        found = rising(answers)
    else:
        highest = np.sort(answers[:depth]).tolist()
        relevant = set(highest)
        for answer in answers[depth:].tolist():
            if answer > highest[0]:
                heapq.heapreplace(highest, answer)
                relevant.add(answer)
        found = np.array(sorted(relevant))
    return thinned(found)


def thinned(found: FloatArray) -> FloatArray:
    """At most ``MOST_KINKS`` of them, evenly by rank."""
    if found.size <= MOST_KINKS:
        return found
    kept: FloatArray = found[np.linspace(0, found.size - 1, MOST_KINKS).round().astype(np.int64)]
    return kept
