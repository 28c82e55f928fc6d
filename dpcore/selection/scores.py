"""Scores as the laws need them: how far each lies below the best, equal ones counted together.

Only differences of scores matter to any mechanism here, and equal scores have equal chances. So every law is worked
out over *groups*: distinct gaps below the best, and how many candidates have each.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, IntArray, boolean, finite_vector, positive

LARGEST = sys.float_info.max / 4  # a gap between the largest floats is cut here instead of becoming infinite
DEEP = 690.0  # e^−690 ≈ 10^−300: deeper gaps are taken as this deep, above underflow, so that no law holds a 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """``gaps`` (d,) below the best, ascending; ``counts`` (d,) candidates at each; ``place`` (k,) their group."""

    gaps: FloatArray
    counts: FloatArray
    place: IntArray

    def spread(self, law: FloatArray) -> FloatArray:
        """Probabilities of groups, shape (…, d), shared out among their candidates, shape (…, k)."""
        each: FloatArray = np.take(law / self.counts, self.place, axis=-1)
        return each


def gaps_below_best(scores: FloatArray) -> FloatArray:
    """How far each of ``scores`` (k,) lies below the largest, all finite."""
    with np.errstate(over="ignore"):
        gaps: FloatArray = np.minimum(scores.max() - scores, LARGEST)
    return gaps


def group(scores: ArrayLike) -> Groups:
    """Groups of equal ``scores`` (k,), and where each candidate went. Raises InvalidArgument."""
    gaps, place, counts = np.unique(
        gaps_below_best(finite_vector(scores=scores)), return_inverse=True, return_counts=True
    )
    return Groups(gaps=gaps, counts=counts.astype(np.float64), place=place.astype(np.int64))


def condense(scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """``(gaps, counts)`` of the groups of ``scores`` (k,) alone, fast. Raises InvalidArgument."""
    gaps = gaps_below_best(finite_vector(scores=scores))
    reach = gaps.max()
    if reach <= 4 * gaps.size and (gaps == np.floor(gaps)).all():
        tally = np.bincount(gaps.astype(np.int64))
        held = np.flatnonzero(tally)
        return held.astype(np.float64), tally[held].astype(np.float64)
    gaps = np.sort(gaps)
    first = np.flatnonzero(np.concatenate(([True], gaps[1:] != gaps[:-1])))
    return gaps[first], np.diff(first, append=gaps.size).astype(np.float64)


def histogram(errors: ArrayLike, counts: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
    """Distinct ``errors`` ascending, their total ``counts``, and where each entry went. Raises InvalidArgument."""
    value = finite_vector(errors=errors)
    count = finite_vector(counts=counts)
    if (value < 0).any():
        raise InvalidArgument("errors", "must be at least 0 everywhere")
    if value.size != count.size:
        raise InvalidArgument("counts", "must have one entry for each of the errors")
    if (count < 0).any() or (count != np.floor(count)).any() or not 0 < count.sum() < LARGEST:
        raise InvalidArgument("counts", "must be whole numbers, none negative, one above 0")
    distinct, place = np.unique(value, return_inverse=True)
    totals: FloatArray = np.bincount(place, weights=count, minlength=distinct.size).astype(np.float64)
    return distinct, totals, place.astype(np.int64)


def logit_slope(epsilon: ArrayLike, sensitivity: float, *, one_way: bool) -> FloatArray:
    """By how much one unit of score may move a log-probability: ε/(2Δ), or ε/Δ when all scores move one way."""
    weight = min((1.0 if one_way else 0.5) / positive(sensitivity=sensitivity), LARGEST)
    with np.errstate(over="ignore"):
        slopes: FloatArray = np.clip(np.asarray(epsilon, dtype=np.float64) * weight, 1 / LARGEST, LARGEST)
    return slopes


def scaled(gaps: FloatArray, slopes: FloatArray) -> FloatArray:
    """Every gap (d,) in units of noise at every slope (m,): shape (m, d), cut at ``DEEP``."""
    with np.errstate(over="ignore"):
        depths: FloatArray = np.minimum(slopes[:, None] * gaps, DEEP)
    return depths


def within_reach(gaps: FloatArray, slope: float) -> int:
    """How many of the ascending ``gaps`` are at most ``DEEP`` units of noise below the best."""
    if slope * float(gaps[-1]) <= DEEP:
        return gaps.size
    return int(np.searchsorted(gaps, DEEP / slope, side="right"))


def check_parameters(epsilon: float, sensitivity: float, monotonic: bool) -> None:
    """The fields that every selection mechanism has. Raises InvalidArgument."""
    positive(epsilon=epsilon)
    positive(sensitivity=sensitivity)
    boolean(monotonic=monotonic)
