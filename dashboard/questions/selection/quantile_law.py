"""What pictures need of a private quantile's exact law."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dashboard import words
from dpcore.selection import QuantileProblem
from dpcore.validate import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LawPicture:
    """``quartiles`` of the answer, its density on 400 points, and chances of a few readable ranges."""

    quartiles: tuple[float, float]
    x: FloatArray
    density: FloatArray
    ranges: dict[str, float]
    true_range: str


def law_picture(problem: QuantileProblem, epsilon: float) -> LawPicture:
    """The exact law at ``epsilon``, where 99.8 in 100 answers fall."""
    law = problem.mechanism(epsilon).law(problem.values)
    ends = law.quantiles([0.001, 0.25, 0.75, 0.999])
    low, high = min(ends[0], problem.truth), max(ends[3], problem.truth)
    if not high > low:
        low, high = problem.low, problem.high
    grid = np.linspace(low, high, 401)
    edges = law.intervals.edges
    steps = np.concatenate([[0.0], np.cumsum(law.probabilities)])
    step = _nice_step((high - low) / 5)
    cuts = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    names = [f"{words.number(a)} to {words.number(b)}" for a, b in pairwise(cuts)]
    place = int(np.clip(np.searchsorted(cuts, problem.truth, side="right") - 1, 0, len(names) - 1))
    chances = np.diff(np.interp(cuts, edges, steps, left=0.0, right=1.0))
    return LawPicture(
        quartiles=(float(ends[1]), float(ends[2])),
        x=(grid[1:] + grid[:-1]) / 2,
        density=np.diff(np.interp(grid, edges, steps)) / np.diff(grid),
        ranges=dict(zip(names, chances.tolist(), strict=True)),
        true_range=names[place],
    )


def resized(values: FloatArray, times: float) -> FloatArray:
    """As many values as ``times`` says, with the same shape: quantiles of the observed ones, at (i + ½)/size, the least
    value that so large a share does not exceed. Sorted once: NumPy's own would look for each by itself."""
    size = max(1, round(values.size * times))
    places = -(-values.size * (2 * np.arange(size, dtype=np.int64) + 1) // (2 * size)) - 1
    found: FloatArray = np.sort(values)[places]
    return found


def _nice_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, at least ``rough``."""
    scale = 10.0 ** np.floor(np.log10(max(rough, 1e-12)))
    return float(next(step * scale for step in (1, 2, 5, 10) if step * scale >= rough * 0.999))
