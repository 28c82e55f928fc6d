"""The exact part of the audit, for experts: how far one play's law moves between neighbouring losses.

For plays that promise bounded range this is the range of the log-ratios over experts, which is never less than the
largest of them; for the others the largest log-ratio. Run as ``python -m tests.audit.experts_exact`` it prints a table:
what each play promises, the largest loss found for it, and the same for broken twins, which must be found out. What
many plays cost together is in ``tests/experts/test_learning_rates.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dpcore.experts import Batched, DoublingLeader, WeightedMajority
from dpcore.experts.linear import LinearLearner, VertexExponential, VertexPermuteAndFlip
from tests.audit.selection_exact import Finding, report

Laws = Callable[[np.ndarray], np.ndarray]  # losses or costs (rounds, experts) → laws of plays (draws, experts)
ROUNDS, EXPERTS = 9, 4


def neighbours(low: float, high: float, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of tables that differ in one row, which may hold anything from ``low`` to ``high``."""
    for trial in range(120):
        table = rng.choice([low, high], (ROUNDS, EXPERTS)) if trial % 2 else rng.uniform(low, high, (ROUNDS, EXPERTS))
        # worst case: one row turns a single expert from best to worst against all others, who start far behind or level
        if trial % 3 == 0:
            table[:] = (low + high) / 2
            table[1:6, 1:] = rng.choice([high, (low + high) / 2])
        other = table.copy()
        row = trial % 2
        table[row], other[row] = low, high
        single = rng.integers(EXPERTS)
        table[row, single], other[row, single] = high, low
        yield table, other
        yield other, table


def largest_loss(laws: Laws, *, ranged: bool, low: float = 0.0, high: float = 1.0, seed: int = 0) -> float:
    """Of r = ln P(D) − ln P(D′) over experts, max r − min r when ``ranged``, else max |r|; the worst of all plays."""
    worst = 0.0
    for table, other in neighbours(low, high, np.random.default_rng(seed)):
        ratios = np.log(laws(table)) - np.log(laws(other))
        worst = max(worst, float((np.ptp(ratios, axis=1) if ranged else np.abs(ratios)).max()))
    return worst


def hedge_laws(rate: float) -> Laws:
    """Weighted majority as it is written down, at any rate, on losses of any scale: for the twins."""

    def laws(losses: np.ndarray) -> np.ndarray:
        before = np.vstack([np.zeros(losses.shape[1]), np.cumsum(losses, axis=0)[:-1]])
        weights = np.exp(-rate * before)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    return laws


def findings(epsilon: float = 1.0, delta: float = 1e-3) -> list[Finding]:
    """Every play that is right, its broken twins, and the textbook's linear learner as printed."""
    size = {"rounds": ROUNDS, "experts": EXPERTS}
    lines = []

    def add(
        name: str, promised: float, laws: Laws, *, broken: bool = False, low: float = 0.0, ranged: bool = True
    ) -> None:
        found = largest_loss(laws, ranged=ranged, low=low)
        lines.append(Finding(mechanism=name, scores="one round", promised=promised, found=found, broken=broken))

    for rule in ("textbook", "zcdp", "bounded_range"):
        run = WeightedMajority(epsilon=epsilon, delta=delta, rule=rule, **size)
        add(f"weighted majority, {rule}", 2 * run.rate, run.weights)
        add(f"weighted majority, {rule}, η / 0.8", 2 * run.rate, hedge_laws(run.rate / 0.8), broken=True)
        add(
            f"weighted majority, {rule}, losses to 2",
            2 * run.rate,
            lambda x, r=run.rate: hedge_laws(r)(2 * x),
            broken=True,
        )
    batched = Batched(epsilon=epsilon, delta=delta, hold=2, **size)
    add("batched, hold 2", 2 * batched.rate, batched.weights)
    leader = DoublingLeader(epsilon=epsilon, **size)
    add("doubling leader", epsilon, leader.weights, ranged=False)
    add(
        "doubling leader, ε / 0.8",
        epsilon,
        DoublingLeader(epsilon=epsilon / 0.8, **size).weights,
        broken=True,
        ranged=False,
    )

    shape = {"rows": ROUNDS, "columns": EXPERTS}
    learner = LinearLearner(epsilon=epsilon, delta=delta, **shape)
    rate = learner.majority.rate
    add("linear learner, rescaled", 2 * rate, lambda x: hedge_laws(rate)((1 + x) / 2), low=-1.0)
    add("linear learner as printed", 2 * rate, hedge_laws(rate), low=-1.0, broken=True)
    for kind in (VertexExponential, VertexPermuteAndFlip):
        for name, level, broken in (
            (kind.about.name, epsilon, False),
            (f"{kind.about.name}, Δ = 1", 2 * epsilon, True),
        ):
            chooser = kind(epsilon=level, **shape)
            add(
                name,
                epsilon,
                lambda x, c=chooser: c.expected_choice(x)[None],
                broken=broken,
                low=-1.0,
                ranged=kind is VertexExponential,
            )
    return lines


def main() -> int:
    """Print the table; 1 when a promise was broken or a broken twin was not found out."""
    lines = findings()
    print(report(lines))
    return 0 if all(line.passed for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
