"""What pictures need of a private quantile's exact law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.selection import QuantileProblem
from dpcore.validate import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LawPicture:
    """``quartiles`` of the answer, between which 95 in 100 are ``likely``, its density on 400 points, and the chances
    that it is too low, near enough, and too high: of ``near`` from one end to the other."""

    quartiles: tuple[float, float]
    likely: tuple[float, float]
    x: FloatArray
    density: FloatArray
    chances: tuple[float, float, float]
    near: tuple[float, float]


def law_picture(problem: QuantileProblem, epsilon: float, tolerance: float) -> LawPicture:
    """The exact law at ``epsilon``, where 99.8 in 100 answers fall; ``tolerance`` is how near is near enough."""
    law = problem.mechanism(epsilon).law(problem.values)
    ends = law.quantiles([0.001, 0.025, 0.25, 0.75, 0.975, 0.999])
    low, high = min(ends[0], problem.truth), max(ends[5], problem.truth)
    if not high > low:
        low, high = problem.low, problem.high
    grid = np.linspace(low, high, 401)
    edges = law.intervals.edges
    steps = np.concatenate([[0.0], np.cumsum(law.probabilities)])
    near = (problem.truth - tolerance, problem.truth + tolerance)
    below, up_to = (float(share) for share in np.interp(near, edges, steps, left=0.0, right=1.0))
    return LawPicture(
        quartiles=(float(ends[2]), float(ends[3])),
        likely=(float(ends[1]), float(ends[4])),
        x=(grid[1:] + grid[:-1]) / 2,
        density=np.diff(np.interp(grid, edges, steps)) / np.diff(grid),
        chances=(below, up_to - below, 1.0 - up_to),
        near=near,
    )


def resized(values: FloatArray, times: float) -> FloatArray:
    """As many values as ``times`` says, with the same shape: quantiles of the observed ones, at (i + ½)/size, the least
    value that so large a share does not exceed. Sorted once: NumPy's own would look for each by itself."""
    size = max(1, round(values.size * times))
    places = -(-values.size * (2 * np.arange(size, dtype=np.int64) + 1) // (2 * size)) - 1
    found: FloatArray = np.sort(values)[places]
    return found
