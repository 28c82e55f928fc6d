"""Laws of selection at 50 privacy levels × 100,000 candidates, against ``np.exp``, a loop over ε and other libraries.

Run as ``python -m benchmarks.selection``; exits with 1 when a goal is missed. All in one run, in processor time of one
thread, which other programs lengthen less. ``--without-peers`` leaves out diffprivlib, whose environment is made under
build/ the first time.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from scipy.special import log_softmax
from threadpoolctl import threadpool_limits

from benchmarks.diffprivlib_peer import draw_seconds
from benchmarks.yardsticks import Goals, best_of, exp_seconds
from dpcore.in_units import to_units
from dpcore.releases import draws
from dpcore.selection import MostCommon, QuantileProblem, catalog, laws, summaries
from dpcore.tradeoff import epsilon_for, size_for, sweep_both, sweep_epsilon
from dpcore.validate import FloatArray

LEVELS, CANDIDATES, DRAWS, VALUES = 50, 100_000, 200_000, 1_000_000
EXPONENTIALS = {"exponential": 3.0, "permute_and_flip": 20.0}  # at most as many times np.exp of the size


def softmax_loop(gaps: FloatArray, slope: float) -> tuple[float, float]:
    """One level of the exponential mechanism by NumPy as one would write it."""
    law = np.exp(log_softmax(-slope * gaps))
    return float(law[gaps == 0].sum()), float(law @ gaps)


def flip_loop(gaps: FloatArray, slope: float) -> tuple[float, float]:
    """One level of permute-and-flip by NumPy: a Gauss–Legendre rule of 48 nodes over all candidates."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    p = np.exp(-slope * gaps)
    reach = min(1.0, 40 / p.sum())
    law = np.zeros_like(p)
    for t, w in zip((nodes + 1) / 2 * reach, weights / 2 * reach, strict=True):
        stays = 1 - p * t
        law += w * math.exp(np.log(stays).sum()) * p / stays
    return float(law[gaps == 0].sum()), float(law @ gaps)


def laplace_loop(gaps: FloatArray, slope: float) -> tuple[float, float]:
    """One level of noisy max with Laplace noise by NumPy: 400 values of the winner's total, good to 1e-4."""
    x = slope * gaps
    law = np.zeros_like(x)
    for z in np.linspace(-12, 28, 400):
        away = z + x
        side = np.exp(-np.abs(away)) / 2
        below = np.where(away < 0, side, 1 - side)
        law += 0.1 * math.exp(np.log(below).sum()) * side / below
    return float(law[gaps == 0].sum()), float(law @ gaps)


def python_softmax(gaps: list[float], slope: float) -> float:
    """One level of the exponential mechanism in plain Python."""
    weights = [math.exp(-slope * gap) for gap in gaps]
    total = sum(weights)
    return sum(gap * weight / total for gap, weight in zip(gaps, weights, strict=True))


LOOPS = {"exponential": softmax_loop, "permute_and_flip": flip_loop, "noisy_max_laplace": laplace_loop}


def candidate_sweeps(goals: Goals) -> None:
    """50 × 100,000: every mechanism against a loop over ε, and the sums of its laws."""
    scores = np.random.default_rng(0).normal(size=CANDIDATES) * 30
    levels = np.geomspace(0.01, 10, LEVELS)
    gaps = scores.max() - scores
    bare = exp_seconds(LEVELS * CANDIDATES)
    print(f"{LEVELS} levels of ε × {CANDIDATES:,} candidates (success and expected loss at each)")
    print(f"  {'np.exp alone, same size':28} {bare * 1e3:9.1f} ms")
    for key, kind in catalog().items():
        seconds = best_of(lambda key=key: summaries(key, scores, levels), 5)
        loop, slope_of = LOOPS.get(key, laplace_loop), kind.slopes
        few = levels[:: LEVELS // 5]
        slopes = [float(slope) for slope in slope_of(few, CANDIDATES, 1.0, False)]
        plain = best_of(lambda loop=loop, slopes=slopes: [loop(gaps, slope) for slope in slopes], 1) * LEVELS / len(few)
        sums = np.abs(laws(key, scores, few).sum(axis=1) - 1).max()
        print(
            f"  {kind.about.name:28} {seconds * 1e3:9.1f} ms   NumPy per ε {plain * 1e3:8.0f} ms"
            f"   ×{plain / seconds:6.1f}   |sum − 1| ≤ {sums:.0e}"
        )
        if key in EXPONENTIALS:
            goals.at_most(f"{key}: times np.exp of the size", seconds / bare, EXPONENTIALS[key])
        if sums > 1e-12:
            goals.at_most(f"{key}: probabilities add up to 1, off by", sums, 1e-12)
    listed = gaps.tolist()
    python = best_of(lambda: python_softmax(listed, 0.1), 1) * LEVELS
    print(f"  {'exponential, plain Python':28} {python * 1e3:9.0f} ms")
    counts = np.random.default_rng(1).poisson(100, size=CANDIDATES).astype(float)
    seconds = best_of(lambda: summaries("exponential", counts, levels), 5)
    print(f"  {'the same on whole counts':28} {seconds * 1e3:9.1f} ms")


def draws_for_pictures(goals: Goals, peers: bool) -> None:
    """One draw among 100,000, when many are wanted, against libraries that draw one at a time."""
    scores = np.random.default_rng(0).normal(size=CANDIDATES) * 30
    units = to_units(scores, 1 / 1024)
    found = draw_seconds(CANDIDATES) if peers else "diffprivlib was left out"
    print(f"one draw among {CANDIDATES:,} candidates, of {DRAWS:,}")
    for key in ("exponential", "permute_and_flip"):
        mechanism, rng = catalog()[key](epsilon=1.0), np.random.default_rng(2)
        ours = best_of(lambda mechanism=mechanism, rng=rng: mechanism.sample(scores, rng, DRAWS)) / DRAWS
        opendp = best_of(lambda key=key: draws.noisy_max(units, sensitivity=1024, epsilon=1.0, rule=key))
        print(f"  {key:28} {ours * 1e6:9.3f} µs   OpenDP {opendp * 1e3:7.1f} ms  ×{opendp / ours:9.0f}", end="")
        ratios = {"OpenDP": opendp / ours}
        if isinstance(found, dict):
            ratios["diffprivlib"] = found[key] / ours
            print(f"   diffprivlib {found[key] * 1e3:7.1f} ms  ×{found[key] / ours:9.0f}", end="")
        print()
        for name, ratio in ratios.items():
            goals.at_least(f"{key}: times faster than {name}", ratio, 1e4)
    if isinstance(found, str):
        print(f"  {found}")


def quantile_of_many(goals: Goals) -> None:
    """A median of a million different values over ε × people, with the band, against ``np.exp`` of the values' number
    at each of the settings."""
    problem = QuantileProblem(values=np.random.default_rng(0).normal(size=VALUES), low=-5.0, high=5.0)
    levels, people = (g.ravel() for g in np.meshgrid(np.geomspace(0.01, 10, 41), np.geomspace(VALUES / 10, VALUES, 41)))
    bare = exp_seconds(VALUES) * levels.size * 3
    seconds = best_of(lambda: problem.evaluate("quantile", "expected_error", levels, people), 2)
    print(
        f"a median of {VALUES:,} values at {levels.size} settings with the band: {seconds:.2f} s, np.exp {bare:.0f} s"
    )
    goals.at_most("a median of many values: times np.exp of all of them", seconds / bare, 0.3)


def default_view(goals: Goals) -> None:
    """What the Selection page recomputes when ε moves: seven options, all methods, two metrics, the map, inversions."""
    problem = MostCommon(scores=np.array([96.0, 83, 50, 38, 22, 15, 12]))
    levels = np.geomspace(0.01, 10, 60)
    main = "permute_and_flip"
    parts = {
        "lines with bands, 5 methods × 2 metrics × 60 ε": lambda: sweep_epsilon(
            problem, levels, metrics=["success", "expected_loss"]
        ),
        "map of 40 × 40": lambda: sweep_both(
            problem, np.geomspace(0.01, 10, 40), np.geomspace(30, 30_000, 40), method=main, metric="success"
        ),
        "smallest ε": lambda: epsilon_for(0.95, problem, method=main, metric="success"),
        "smallest n": lambda: size_for(0.95, problem, method=main, metric="success", epsilon=0.2),
    }
    seconds = {name: best_of(work, 7) for name, work in parts.items()}
    print("the default view, seven options")
    for name, took in seconds.items():
        print(f"  {name:48} {took * 1e3:6.1f} ms")
    gaps = problem.scores.max() - problem.scores
    looped = 0.0
    for key, count in {**dict.fromkeys(problem.methods, 60), main: 60 + 40 * 40}.items():
        loop = LOOPS.get(key, laplace_loop)
        looped += count * best_of(lambda loop=loop: loop(gaps, 0.1))
    goals.at_least(
        "default view: times faster than as many laws by the NumPy loops", looped / sum(seconds.values()), 40.0
    )


def main(arguments: list[str]) -> int:
    """Print all tables; 1 when a goal was missed."""
    with threadpool_limits(1):
        goals = Goals()
        candidate_sweeps(goals)
        draws_for_pictures(goals, "--without-peers" not in arguments)
        quantile_of_many(goals)
        default_view(goals)
    return goals.end()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
