"""Exact regret of weighted majority at 30 learning rates, against the textbook's loop; and the default view.

Run as ``python -m benchmarks.experts``; exits with 1 when a goal is missed. All in one run, in processor time of one
thread, which other programs lengthen less. ``--quick`` leaves out the largest size.
"""

from __future__ import annotations

import math
import sys
import tracemalloc

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.yardsticks import Goals, best_of, exp_seconds
from dpcore.experts import ExpertsProblem, Scenario, expected_regret, hedge_rate, learning_rate
from dpcore.experts.hedge import hedge_moments
from dpcore.tradeoff import epsilon_for, sweep_both, sweep_epsilon, sweep_size
from dpcore.validate import FloatArray

LEVELS = np.geomspace(0.01, 10.0, 30)
DELTA = 1e-6


def textbook_loop(losses: list[list[int]], rate: float) -> float:
    """One learning rate, round by round and expert by expert, as the textbook writes it."""
    totals, suffered = [0.0] * len(losses[0]), 0.0
    for loss in losses:
        best = min(totals)
        weights = [math.exp(-rate * (total - best)) for total in totals]
        whole = sum(weights)
        chances = [weight / whole for weight in weights]
        suffered += sum(chance * lost for chance, lost in zip(chances, loss, strict=True))
        totals = [total + lost for total, lost in zip(totals, loss, strict=True)]
    return suffered - min(totals)


def numpy_loop(losses: FloatArray, rate: float) -> float:
    """One learning rate, round by round, with NumPy over the experts."""
    totals, suffered = np.zeros(losses.shape[1]), 0.0
    for loss in losses:
        weights = np.exp(-rate * (totals - totals.min()))
        suffered += float(weights @ loss) / float(weights.sum())
        totals += loss
    return suffered - float(totals.min())


def rates(rounds: int, experts: int) -> FloatArray:
    """The exact account's rates at ``LEVELS``, capped as the strategies cap them."""
    cap = hedge_rate(rounds, experts)
    return np.array([min(learning_rate(epsilon, DELTA, rounds), cap) for epsilon in LEVELS])


def against_loops(goals: Goals, rounds: int = 10_000, experts: int = 100) -> None:
    """Pages' own rates, and rates from 10⁻⁴ to 1, on losses of 0 and 1 and between: as fast at large rates as small."""
    simple = Scenario(story="gap", experts=experts).losses(rounds)
    mixed = np.random.default_rng(0).random((rounds, experts))
    wide = np.geomspace(1e-4, 1.0, LEVELS.size)
    cases = {
        "the pages' own rates": (simple, rates(rounds, experts)),
        "rates from .0001 to 1": (simple, wide),
        "the same, losses between 0 and 1": (mixed, wide),
        "all rates 1, losses between 0 and 1": (mixed, np.ones(LEVELS.size)),
    }
    expected_regret(simple[:64], wide)  # compiled before anything is timed
    picked = (4, 25)
    print(f"{LEVELS.size} rates × T = {rounds:,} × k = {experts}, ns per (rate, round, expert)")
    for name, (losses, eta) in cases.items():
        found = expected_regret(losses, eta)
        ours = best_of(lambda losses=losses, eta=eta: expected_regret(losses, eta), 7)
        every = np.full(eta.size, rounds)
        spread = best_of(lambda losses=losses, eta=eta, every=every: hedge_moments(losses, eta, every), 3)
        plain, doubles = losses.tolist(), losses.astype(np.float64)
        scale = eta.size / len(picked)
        loop = scale * best_of(lambda eta=eta, plain=plain: [textbook_loop(plain, eta[index]) for index in picked], 2)
        numpy_ = scale * best_of(lambda eta=eta, rows=doubles: [numpy_loop(rows, eta[index]) for index in picked], 2)
        off = max(abs(textbook_loop(plain, eta[index]) / found[index] - 1) for index in picked)
        cells = eta.size * rounds * experts
        print(
            f"  {name}: {1e3 * ours:.1f} ms, {1e9 * ours / cells:.2f} ns; with the variance {1e3 * spread:.1f} ms; "
            f"agrees with the loop to {off:.0e}"
        )
        print(
            f"    the textbook's loop ({len(picked)} of them timed) {loop:.1f} s; "
            f"with NumPy over the experts {numpy_:.1f} s: {numpy_ / ours:,.0f} times"
        )
        goals.at_least("times faster than the textbook's loop", loop / ours, 300.0)
        goals.at_most("apart from the loop, relatively", off, 1e-6)


def large(goals: Goals, rounds: int = 100_000, experts: int = 1000) -> None:
    """The largest size that a page simulates at once, against ``np.exp`` of it, and its memory."""
    losses = Scenario(story="gap", experts=experts).losses(rounds)
    eta = rates(rounds, experts)
    seconds = best_of(lambda: expected_regret(losses, eta), 3)
    tracemalloc.start()
    expected_regret(losses[:2000], eta)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    cells = eta.size * rounds * experts
    size = f"{eta.size} ε × T = {rounds:,} × k = {experts:,}"
    print(f"{size}: {seconds:.2f} s, {1e9 * seconds / cells:.2f} ns per (ε, t, i)")
    goals.at_most("times np.exp of the size in single precision", seconds / exp_seconds(cells, np.float32), 1.0)
    goals.at_most("memory beyond the losses, whatever T, in MB", peak, 10.0)


def default_view(goals: Goals) -> None:
    """What a page computes for 40 ε: all strategies with bands, a sweep over T, a map and two inversions."""
    problem = ExpertsProblem.simulated(Scenario(story="gap", experts=10), 1000, assumption="independent")
    levels, sizes = np.geomspace(0.01, 10, 40), np.unique(np.geomspace(10, 2000, 25).round())
    ask = {"method": "batched", "metric": "regret_per_round"}
    parts = {
        "all methods against ε": lambda: sweep_epsilon(problem, levels, metrics=["regret_per_round"]),
        "all methods against T": lambda: sweep_size(problem, sizes, epsilon=1.0, metrics=["regret_per_round"]),
        "map 20 × 20": lambda: sweep_both(problem, levels[::2], sizes[:20], **ask),
        "smallest ε": lambda: epsilon_for(0.03, problem, **ask),
    }
    total = 0.0
    for name, work in parts.items():
        first, again = best_of(work, 1), best_of(work, 7)
        total += again
        print(f"  {name}: first {1e3 * first:.0f} ms, again {1e3 * again:.1f} ms")
    print(f"default view, T = 1,000, k = 10: {1e3 * total:.0f} ms with calibrations cached")
    losses = Scenario(story="gap", experts=10).losses(1000).tolist()
    rounds = len(problem.methods) * (levels.size * 1000 + float(sizes.sum())) + 20 * float(sizes[:20].sum())
    looped = rounds / 1000 * best_of(lambda: textbook_loop(losses, 0.01))
    goals.at_least("default view: times faster than as many rounds of the textbook's loop", looped / total, 10.0)


def main() -> int:
    with threadpool_limits(1):
        goals = Goals()
        against_loops(goals)
        if "--quick" not in sys.argv:
            large(goals)
        default_view(goals)
    return goals.end()


if __name__ == "__main__":
    raise SystemExit(main())
