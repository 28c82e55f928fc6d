"""Exact laws of alarms over 100,000 queries at 50 privacy levels, against ``np.exp``, simulation and plain NumPy.

Run as ``python -m benchmarks.thresholding``; exits with 1 when a goal is missed. All in one run, in processor time of
one thread, which other programs lengthen less.
"""

from __future__ import annotations

import csv
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.yardsticks import Goals, best_of, exp_seconds
from dpcore.thresholding import AboveThreshold, NoisePair, stop_laws
from dpcore.thresholding.alarm_problem import AlarmProblem
from dpcore.thresholding.likelihood import threshold_nodes
from dpcore.tradeoff import sweep_both, sweep_epsilon
from dpcore.validate import FloatArray

LEVELS, QUERIES, TRIALS = 50, 100_000, 1_000
MOST_EXPONENTIALS, LEAST_RATIO, LEAST_VIEW, LEAST_GAIN = 25.0, 2_000.0, 150.0, 10.0


def long_series() -> FloatArray:
    """Counts around 20, and from nine tenths of the way on around 150."""
    rng = np.random.default_rng(1)
    quiet = QUERIES * 9 // 10
    return np.r_[rng.poisson(20, quiet), rng.poisson(150, QUERIES - quiet)].astype(np.float64)


def simulate(answers: list[float], threshold: float, epsilon: float, trial: random.Random) -> int:
    """One run as one would write it in Python: draw, compare, stop. Laplace noise is a difference of exponentials."""
    draw = trial.expovariate
    bar = threshold + (draw(epsilon / 2) - draw(epsilon / 2))
    rate = epsilon / 4
    for place, answer in enumerate(answers):
        if answer + draw(rate) - draw(rate) >= bar:
            return place
    return len(answers)


def simulation_seconds(answers: FloatArray, threshold: float, levels: FloatArray) -> float:
    """What ``TRIALS`` runs at every level would take: at each, runs are timed until a tenth of a second has passed.

    A run stops at its alarm; the mean of the runs timed is what is scaled up.
    """
    plain, trial, total = answers.tolist(), random.Random(1), 0.0
    for epsilon in levels.tolist():
        start, runs = time.process_time(), 0
        while time.process_time() - start < 0.1 or runs < 3:
            simulate(plain, threshold, epsilon, trial)
            runs += 1
        total += (time.process_time() - start) / runs * TRIALS
    return total


def numpy_law(pair: NoisePair, answers: FloatArray, threshold: float) -> FloatArray:
    """The same integral at the same nodes in plain NumPy: one row of chances for each query."""
    t, weight = threshold_nodes(pair, answers - threshold)
    x = (threshold + t[None, :] - answers[:, None]) / pair.query_scale
    chance = np.where(x > 0, 0.5 * np.exp(-np.maximum(x, 0)), 1 - 0.5 * np.exp(np.minimum(x, 0)))
    kept = np.cumprod(1 - chance, axis=0)
    before = np.vstack([np.ones_like(t), kept[:-1]])
    return np.append((before * chance) @ weight, kept[-1] @ weight)


def long_sweeps(goals: Goals) -> None:
    """50 × 100,000, at two thresholds and with both noises."""
    answers, levels = long_series(), np.geomspace(0.05, 5.0, LEVELS)
    bare = exp_seconds(LEVELS * QUERIES)
    print(f"{LEVELS} privacy levels × {QUERIES:,} queries     law, s   {TRIALS:,} runs each in Python, s     ratio")
    for threshold in (85.0, 110.0):
        looped = simulation_seconds(answers, threshold, levels)
        for noise in ("laplace", "exponential"):
            mechanism = AboveThreshold(epsilon=1.0, noise=noise, threshold_share=0.5)
            stop_laws(mechanism, levels[:1], answers[:100], threshold)  # compiled and loaded
            exact = best_of(partial(stop_laws, mechanism, levels, answers, threshold))
            speed = looped / exact
            print(f"  threshold {threshold:4.0f}, {noise:12}      {exact:6.3f}   {looped:10.0f}      {speed:20,.0f}")
            case = f"{noise}, threshold {threshold:g}"
            goals.at_most(f"{case}: times np.exp of the size", exact / bare, MOST_EXPONENTIALS)
            goals.at_least(f"{case}: times faster than the simulation", speed, LEAST_RATIO)


def compiled_gain(goals: Goals, answers: FloatArray) -> None:
    """One law of the bundled series, compiled against NumPy: the reason to compile at all."""
    mechanism = AboveThreshold(epsilon=0.5)
    compiled = best_of(lambda: [mechanism.stop_law(answers, 50.0) for _ in range(50)]) / 50
    plain = best_of(lambda: [numpy_law(mechanism.scales, answers, 50.0) for _ in range(10)]) / 10
    apart = np.abs(mechanism.stop_law(answers, 50.0) - numpy_law(mechanism.scales, answers, 50.0)).max()
    print(f"one law of {answers.size} queries: compiled {compiled * 1e3:.2f} ms, NumPy {plain * 1e3:.2f} ms")
    goals.at_least("compiled: times faster than NumPy", plain / compiled, LEAST_GAIN)
    goals.at_most("compiled and NumPy: apart by", float(apart), 1e-8)


def default_view(goals: Goals, answers: FloatArray) -> None:
    """What the page computes when it opens: every method against ε, one law, and the map of ε and people."""
    problem = AlarmProblem(answers=answers, threshold=50.0, people=int(answers.sum()), monotonic=True, early_by=2)
    levels, sizes = np.geomspace(0.01, 10, 60), np.geomspace(problem.n / 20, problem.n * 20, 40)
    parts: dict[str, Callable[[], object]] = {
        "every method at 60 levels": lambda: sweep_epsilon(problem, levels, metrics=["on_time"]),
        "the law at one level": lambda: problem.law("exponential_monotone", 0.5),
        "the map, 40 × 40": lambda: sweep_both(
            problem, np.geomspace(0.01, 10, 40), sizes, method="exponential_monotone", metric="on_time"
        ),
    }
    total = 0.0
    for name, work in parts.items():
        work()
        seconds = best_of(work, 5)
        total += seconds
        print(f"  {name:28} {seconds * 1e3:6.1f} ms")
    print(f"default view                   {total * 1e3:6.1f} ms")
    pair, laws_in_view = AboveThreshold(epsilon=0.5).scales, len(problem.methods) * levels.size + 1 + 40 * 40
    looped = laws_in_view * best_of(lambda: numpy_law(pair, answers, 50.0))
    goals.at_least("default view: times faster than as many laws in NumPy", looped / total, LEAST_VIEW)


def main() -> int:
    """Print the tables; 1 when a goal was missed."""
    path = Path(__file__).parents[1] / "data" / "outbreak.csv"
    with path.open(encoding="utf-8") as file:
        outbreak = np.array([float(row["cases"]) for row in csv.DictReader(file)])
    with threadpool_limits(1):
        goals = Goals()
        long_sweeps(goals)
        compiled_gain(goals, outbreak)
        default_view(goals, outbreak)
    return goals.end()


if __name__ == "__main__":
    sys.exit(main())
