"""How fast private training is, against plain loops and Opacus, all in one run, in processor time of one core.

Run as ``python -m benchmarks.training``; exits with 1 when a goal is missed. ``--without-peers`` leaves out Opacus,
whose environment is made under build/ the first time.
"""

from __future__ import annotations

import math
import os
import pickle
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.opacus_peer import epoch_seconds
from benchmarks.yardsticks import Goals, best_of
from dashboard.background.jobs import Job
from dashboard.background.lending import Loan
from dashboard.background.workers import Workers, rehearse
from dpcore.datasets import load_sample
from dpcore.training import DpSgd, Features, NoisyGradientDescent, Part, PartResult, Sweep, collect, run_slice
from dpcore.training.gradient_sums import SPARSE_BELOW, GradientSums
from dpcore.training.losses import LOGISTIC
from dpcore.validate import FloatArray

ROWS, COLUMNS, REPLICAS, STEPS = 36_176, 104, 500, 10
SAMPLING = 0.01


def census_like(n: int, d: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Rows of length 1 with no zeros, the hardest case, and labels that depend on them."""
    rng = np.random.Generator(np.random.SFC64(seed))
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    chance = 1.0 / (1.0 + np.exp(-5.0 * X @ rng.standard_normal(d)))
    return X, np.where(rng.random(n) < chance, 1.0, -1.0)


def textbook_step(weights: FloatArray, X: FloatArray, y: FloatArray, clip: float) -> FloatArray:
    """One step's gradient sum as textbooks write it: a gradient for each person, clipped, added up."""

    def gradient(row: FloatArray, label: float) -> FloatArray:
        return np.asarray(-(label * row) / (1.0 + np.exp(label * row.dot(weights))))

    def clipped(vector: FloatArray) -> FloatArray:
        length = np.linalg.norm(vector, ord=2)
        return np.asarray(clip * (vector / length)) if length > clip else vector

    return np.asarray(sum(clipped(gradient(row, label)) for row, label in zip(X, y, strict=True)))


def line(what: str, value: str, note: str = "") -> None:
    """One line of the table that has no goal."""
    print(f"{what:<62} {value:>12}   {note}", flush=True)


def peak() -> float:
    """Single-precision matrix products, in floating-point operations a second."""
    square = np.random.default_rng(0).standard_normal((1500, 1500)).astype(np.float32)
    return 2.0 * 1500.0**3 / best_of(lambda: square @ square, 5)


def full_batch(goals: Goals) -> None:
    X, y = census_like(ROWS, COLUMNS)
    method = NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=STEPS)
    rng = np.random.Generator(np.random.SFC64(1))
    top = peak()
    seconds = best_of(lambda: method.fit(X, y, rng, REPLICAS))
    again = peak()
    weights = 0.1 * rng.standard_normal(COLUMNS)
    loop = STEPS * best_of(lambda: textbook_step(weights, X, y, 0.5), 1)
    operations = 4.0 * ROWS * COLUMNS * REPLICAS * STEPS
    line("full batch, a fit of 10 steps", f"{1e3 * seconds / REPLICAS:.2f} ms", f"{loop:.1f} s the loop")
    goals.at_least("  times the per-person loop", loop / (seconds / REPLICAS), 800.0)
    goals.at_least("  share of matrix-product peak", operations / seconds / max(top, again), 0.5)
    rough, smooth = GradientSums(LOGISTIC, X, y, 0.5)(weights[:, None].astype(np.float32))[:, 0], 0.0
    smooth = float(np.abs(rough - textbook_step(weights, X, y, 0.5)).max() / ROWS)
    line("  mean gradient against the loop", f"{smooth:.1e}", "largest difference")


def growth(goals: Goals) -> None:
    def seconds(n: int, steps: int) -> float:
        X, y = census_like(n, COLUMNS)
        method = NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=steps)
        return best_of(lambda: method.fit(X, y, np.random.Generator(np.random.SFC64(1)), 200))

    rows = math.log(seconds(40_000, 20) / seconds(10_000, 20)) / math.log(4.0)
    steps = math.log(seconds(10_000, 80) / seconds(10_000, 20)) / math.log(4.0)
    goals.at_most("growth exponent in rows", rows, 1.05)
    goals.at_most("growth exponent in steps", steps, 1.05)


def sparse(goals: Goals) -> None:
    """Rows of many categories: sparse products against the same blocks dense."""
    rng = np.random.Generator(np.random.SFC64(3))
    n, d, per_row = 20_000, 600, 12
    X = np.zeros((n, d))
    X[np.arange(n)[:, None], rng.integers(d, size=(n, per_row))] = 1.0 / math.sqrt(per_row)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    weights = rng.standard_normal((d, 100)).astype(np.float32)
    fast, dense = GradientSums(LOGISTIC, X, y, 0.5), GradientSums(LOGISTIC, X, y, 0.5)
    folded = (X * y[:, None]).astype(np.float32)
    dense._blocks = [(folded[at : at + 512], folded[at : at + 512].T) for at in range(0, n, 512)]
    ratio = best_of(lambda: dense(weights)) / best_of(lambda: fast(weights))
    goals.at_least(f"sparse against dense, 600 features, density {per_row / d:.2f} < {SPARSE_BELOW}", ratio, 1.0)


def mini_batches(goals: Goals, peers: bool) -> None:
    X, y = census_like(ROWS, COLUMNS)
    steps = round(1.0 / SAMPLING)
    method = DpSgd(epsilon=1.0, delta=1e-5, sampling_rate=SAMPLING, steps=steps)
    method.cost  # noqa: B018 - finds the noise, which is cached
    replicas = 64
    rng = np.random.Generator(np.random.SFC64(2))
    own = best_of(lambda: method.fit(X, y, rng, replicas)) / replicas
    line("DP-SGD epoch, own batches", f"{1e3 * own:.2f} ms", "a replica")
    other = epoch_seconds(ROWS, COLUMNS, SAMPLING) if peers else "left out"
    if isinstance(other, str):
        line("  Opacus epoch", "none", other)
        return
    line("  Opacus epoch", f"{1e3 * other:.0f} ms", "one thread")
    goals.at_least("  times Opacus", other / own, 40.0)


def default_view(goals: Goals) -> None:
    """The page's first view on its sample, in two warm worker processes."""
    sample = load_sample("town")
    features = Features.of(sample.schema, target="condition")
    levels = tuple(float(level) for level in np.geomspace(0.01, 10.0, 13))
    sweep = Sweep.of(features, features.prepare(sample), epsilon=levels)
    parts = sweep.parts()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        list(pool.map(_warm, range(2)))
        start = time.perf_counter()
        timed = [future.result() for future in [pool.submit(_timed, sweep, part) for part in parts]]
        wall = time.perf_counter() - start
    free, first, methods, results = [0.0, 0.0], math.inf, set(), []
    for result, seconds in timed:  # what two free cores would do: each slice goes to the one that is ready first
        ready = free.index(min(free))
        free[ready] += seconds
        results.append(result)
        methods |= set(collect(sweep, results[-1:]).query("kind == 'simulated'")["method"])
        if len(methods) >= 3:
            first = min(first, max(free))
    line("default view: first three curves", f"{first:.2f} s", "on two free cores")
    line(f"default view: all {len(sweep.methods)} methods, 13 ε, 20 seeds", f"{max(free):.2f} s")
    line("  the same by the clock", f"{wall:.2f} s", f"load {os.getloadavg()[0]:.1f}")
    with threadpool_limits(1):
        step = best_of(lambda: textbook_step(np.zeros(sweep.X.shape[1]), sweep.X, sweep.y, 0.5))
    looped = step * STEPS * len(levels) * sweep.seeds / 2  # of one method, on two cores
    goals.at_least("  first three curves: times faster than the loop's", 3 * looped / first, 100.0)
    goals.at_least("  all methods: times faster than the loop's", len(sweep.methods) * looped / max(free), 30.0)


def lending(goals: Goals) -> None:
    """A census-like table in worker processes: carried along with every slice, and lent once."""
    X, y = census_like(ROWS + 9_000, COLUMNS)
    levels = tuple(float(level) for level in np.geomspace(0.05, 10.0, 9))
    methods = ("book_gradient_descent", "noisy_gradient_descent")
    rows = {"X": X[:ROWS], "y": y[:ROWS], "X_test": X[ROWS:], "y_test": y[ROWS:]}
    sweep = Sweep(**rows, methods=methods, epsilon=levels, seeds=12)
    parts, seconds = sweep.parts(), []
    workers = Workers(2)
    for warm in [workers.submit(rehearse, 0.5) for _ in range(2)]:
        warm.result()
    for shared, what in ((False, "carried along"), (True, "lent")):
        wall, own = time.perf_counter(), time.process_time()
        loan = Loan(sweep, shared=shared)
        work = loan.lent(run_slice)
        job = Job(workers, work, parts, ended=loan.close)
        job.wait(600.0, lambda results: any(one.part.method == methods[1] for one in results))
        first = time.perf_counter() - wall
        job.wait(600.0, lambda results: False)
        seconds.append(time.process_time() - own)
        size = f"{len(pickle.dumps((work, parts[1]))):,} bytes"
        line(f"census-like sweep of {len(parts)} slices, {what}", size, "a slice")
        spent = f"all {time.perf_counter() - wall:.1f} s, the server's own {seconds[-1]:.2f} s"
        line("  first curve by the clock", f"{first:.2f} s", f"{spent}, load {os.getloadavg()[0]:.1f}")
    workers.shutdown()
    goals.at_least("  times less processor time of the server", seconds[0] / seconds[1], 5.0)


def _timed(sweep: Sweep, part: Part) -> tuple[PartResult, float]:
    """A slice and the processor time it took, which other programs on the machine do not change much."""
    start = time.process_time()
    return run_slice(sweep, part), time.process_time() - start


def _one_thread() -> None:
    threadpool_limits(1)


def _warm(_: int) -> None:
    """What a worker of the dashboard has done before: loaded the library, and found noise by PLD once."""
    DpSgd(epsilon=3.0, delta=1e-4, steps=10).cost  # noqa: B018
    time.sleep(0.2)


def main(arguments: list[str]) -> int:
    import logging

    logging.getLogger("absl").setLevel(logging.ERROR)
    goals = Goals()
    with threadpool_limits(1):
        full_batch(goals)
        growth(goals)
        sparse(goals)
        mini_batches(goals, "--without-peers" not in arguments)
    default_view(goals)
    lending(goals)
    return goals.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
