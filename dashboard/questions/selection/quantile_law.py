"""What pictures need of a private quantile's exact law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.selection import QuantileProblem
from dpcore.validate import FloatArray

_AROUND = 3  # numbers shown beyond those that come out


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LawPicture:
    """``quartiles`` of the answer, between which 95 in 100 are ``likely``, the chance of ``each`` of the ``numbers``
    that it may be, and of those that are too low, near enough, and too high: ``near`` from one end to the other."""

    quartiles: tuple[float, float]
    likely: tuple[float, float]
    numbers: FloatArray
    each: FloatArray
    chances: tuple[float, float, float]
    near: tuple[float, float]


def law_picture(problem: QuantileProblem, epsilon: float, tolerance: float) -> LawPicture:
    """The exact law at ``epsilon``, where 99.8 in 100 answers fall; ``tolerance`` is how near is near enough."""
    law = problem.mechanism(epsilon).law(problem.values)
    ends = law.quantiles([0.001, 0.025, 0.25, 0.75, 0.975, 0.999])
    near = (problem.truth - tolerance, problem.truth + tolerance)
    within = float(law.probabilities @ law.intervals.share_within(problem.truth, tolerance))
    below = min(float(law.below([near[0]])[0]), 1.0 - within)
    numbers, around = law.intervals.ends[0], _AROUND * law.intervals.widths[0]
    seen = (numbers >= min(ends[0], problem.truth) - around) & (numbers <= max(ends[5], problem.truth) + around)
    return LawPicture(
        quartiles=(float(ends[2]), float(ends[3])),
        likely=(float(ends[1]), float(ends[4])),
        numbers=numbers[seen],
        each=law.probabilities[seen],
        chances=(below, within, max(1.0 - within - below, 0.0)),
        near=near,
    )


def resized(values: FloatArray, times: float) -> FloatArray:
    """As many values as ``times`` says, with the same shape: quantiles of the observed ones, at (i + ½)/size, the least
    value that so large a share does not exceed. Sorted once: NumPy's own would look for each by itself."""
    size = max(1, round(values.size * times))
    places = -(-values.size * (2 * np.arange(size, dtype=np.int64) + 1) // (2 * size)) - 1
    found: FloatArray = np.sort(values)[places]
    return found
