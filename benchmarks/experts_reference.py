"""The reference table of expected regret at ε = 1, δ = 1e-6, T = 100,000, k = 1,000, and the linear cost beside it.

Run as ``python -m benchmarks.experts_reference``; exits with 1 when a number is more than 10 % off (seeds differ).
``--quick`` runs fewer seeds. Losses are simulated: one expert better by .1, and three who take turns at it every T/10.
"""

from __future__ import annotations

import sys

import numpy as np
from threadpoolctl import threadpool_limits

from dpcore.experts import (
    Batched,
    DoublingLeader,
    LinearLearner,
    MatrixFactorisation,
    NonPrivate,
    Scenario,
    UnknownHorizon,
    WeightedMajority,
)
from dpcore.experts.linear import VertexExponential, VertexPermuteAndFlip

ROUNDS, EXPERTS = 100_000, 1000
RUN = {"epsilon": 1.0, "delta": 1e-6, "rounds": ROUNDS, "experts": EXPERTS}
STRATEGIES = {
    "textbook": WeightedMajority(rule="textbook", **RUN),
    "exact accounting": WeightedMajority(**RUN),
    "batched": Batched(hold=34, **RUN),
    "doubling leader": DoublingLeader(epsilon=1.0, rounds=ROUNDS, experts=EXPERTS),
    "non-private": NonPrivate(rounds=ROUNDS, experts=EXPERTS),
}
REFERENCE = {
    "gap": {
        "textbook": 9849,
        "exact accounting": 8591,
        "batched": 1725,
        "doubling leader": 97,
        "non-private": 304,
    },
    "switching": {"textbook": 4076, "exact accounting": 4033, "batched": 1747, "non-private": 319},
}
BEYOND = {"zCDP accounting": WeightedMajority(rule="zcdp", **RUN), "length unknown": UnknownHorizon(**RUN)}


def scenario(story: str, seed: int) -> Scenario:
    return Scenario(story=story, experts=EXPERTS, gap=0.1, period=ROUNDS // 10, seed=seed)


def leader(seeds: int = 60) -> float:
    """Doubling follow-the-leader depends much on the data: the mean over many seeds of its first 8,191 rounds.

    After them it follows the best expert, so its regret stops growing.
    """
    rounds = 8191
    run = DoublingLeader(epsilon=1.0, rounds=rounds, experts=EXPERTS)
    return float(np.mean([run.expected_regret(scenario("gap", seed).losses(rounds)) for seed in range(seeds)]))


def regrets(seeds: int) -> bool:
    kept = True
    for story, row in REFERENCE.items():
        runs = [scenario(story, seed).losses(ROUNDS) for seed in range(seeds)]
        print(f"{story}: expected regret, mean of {seeds} simulated runs")
        for name, strategy in {**STRATEGIES, **BEYOND}.items():
            found = float(np.mean([strategy.expected_regret(losses) for losses in runs]))
            reference = row.get(name)
            if name == "doubling leader" and reference is not None:
                found = leader()
            if reference is None:
                print(f"  {name:18} {found:8,.0f}")
                continue
            off = found / reference - 1
            kept &= abs(off) <= 0.1
            print(f"  {name:18} {found:8,.0f}   reference {reference:6,}   {100 * off:+.1f} %")
    return kept


def few_experts(seeds: int) -> bool:
    """For few experts matrix factorisation beats batching."""
    size = {"rounds": 20_000, "experts": 5}
    fewer = Batched(epsilon=1.0, delta=1e-6, **size)
    matrix = MatrixFactorisation(epsilon=1.0, delta=1e-6, **size)
    pairs = []
    for seed in range(2 * seeds):
        losses = Scenario(story="gap", experts=5, gap=0.1, seed=seed).losses(20_000)
        pairs.append([fewer.expected_regret(losses), matrix.expected_regret(losses)])
    batched, factorised = np.mean(pairs, axis=0)
    print(f"5 experts, T = 20,000: batched {batched:,.0f}, matrix factorisation {factorised:,.0f} (must be less)")
    return bool(factorised < batched)


def linear(seeds: int) -> bool:
    """Best fixed choice, d = 20, n = 1,000, ε = .1: one column cheaper by .2, costs uniform within ±½ of the mean."""
    shape = {"rows": 1000, "columns": 20}
    ways = {
        "exponential mechanism": (VertexExponential(epsilon=0.1, **shape), 0.024),
        "permute-and-flip": (VertexPermuteAndFlip(epsilon=0.1, **shape), 0.013),
        "linear learner": (LinearLearner(epsilon=0.1, delta=1e-6, rule="textbook", **shape), 0.190),
    }
    excess = {name: [] for name in ways}
    for seed in range(20 * seeds):
        costs = np.random.default_rng(seed).uniform(-0.5, 0.5, (1000, 20))
        costs[:, 0] -= 0.2
        mean = costs.mean(axis=0)
        for name, (way, _) in ways.items():
            excess[name].append(way.expected_choice(costs) @ mean - mean.min())
    print(f"best fixed choice, d = 20, n = 1,000, ε = .1: excess cost, mean of {20 * seeds} simulated tables")
    kept = True
    for name, (_, reference) in ways.items():
        off = float(np.mean(excess[name])) / reference - 1
        kept &= abs(off) <= 0.1
        print(f"  {name:22} {np.mean(excess[name]):.4f}   reference {reference:.3f}   {100 * off:+.1f} %")
    return kept


def main() -> int:
    seeds = 1 if "--quick" in sys.argv else 3
    with threadpool_limits(1):
        kept = [regrets(seeds), few_experts(seeds), linear(seeds)]
    print("within 10 %" if all(kept) else "a number is off")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
