"""The exact part of the audit, for thresholding: the largest log-ratio of an outcome between neighbouring series.

Run as ``python -m tests.audit.thresholding_exact`` it prints a table: what each mechanism promises, the largest loss
found for it, and the same for broken twins and the catalogue of broken variants, which must be found out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dpcore.thresholding import Sparse, broken_catalog
from tests.audit.selection_exact import Finding, moves, report

LogProbability = Callable[[np.ndarray, Sequence[int]], float]


def pairs(limit: int, one_way: bool, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray, list]]:
    """Series, what one person moves in each (units of the sensitivity), and outcomes to compare."""
    # Worst case: many silent queries that move up, then all alarms on queries that do not follow (or move down).
    for quiet in (8, 60):
        raised = np.repeat([False, True], [quiet, limit])
        for level in (0.0, -3.0, 4.0):
            yield (
                np.full(raised.size, level),
                np.where(raised, 0.0 if one_way else -1.0, 1.0),
                [np.flatnonzero(raised).tolist()],
            )
    # Generated: short series, all outcomes, all corners of what one person can do.
    for scale in (0.0, 1.0, 4.0):
        k = limit + 1 if limit > 1 else 3
        series = np.round(rng.normal(size=k) * scale, 2)
        outcomes = [list(c) for alarms in range(limit + 1) for c in itertools.combinations(range(k), alarms)]
        corners = moves(k, one_way)
        for move in corners[rng.permutation(len(corners))[:8]]:
            yield series, move, outcomes


def largest_loss(
    log_probability: LogProbability, *, limit: int, sensitivity: float, one_way: bool, seed: int = 0
) -> float:
    """max |ln P(D) − ln P(D′)| over outcomes, series and neighbours."""
    worst = 0.0
    for series, move, outcomes in pairs(limit, one_way, np.random.default_rng(seed)):
        for outcome in outcomes:
            here = log_probability(series * sensitivity, outcome)
            there = log_probability((series + move) * sensitivity, outcome)
            worst = max(worst, abs(here - there))
    return worst


def findings(epsilon: float = 1.0, sensitivity: float = 1.0) -> list[Finding]:
    """Every right variant, its broken twins, and the catalogue of broken variants."""
    lines = []
    for noise, one_way, limit in itertools.product(("laplace", "exponential"), (False, True), (1, 3)):

        def kept(promise: float, monotonic: bool, *, noise: str = noise, limit: int = limit) -> Sparse:
            return Sparse(
                epsilon=promise, limit=limit, sensitivity=sensitivity, noise=noise, monotonic=monotonic, offset=0.5
            )

        name = f"{noise}, {limit} alarm{'s' if limit > 1 else ''}"
        twins = {name: (kept(epsilon, one_way), False), f"{name}, noise × 0.8": (kept(epsilon / 0.8, one_way), True)}
        if not one_way:
            twins[f"{name}, one-way noise"] = (kept(epsilon, True), True)
        for label, (mechanism, broken) in twins.items():
            found = largest_loss(
                lambda series, outcome, mechanism=mechanism: mechanism.log_probability(series, 0.5, outcome),
                limit=limit,
                sensitivity=sensitivity,
                one_way=one_way,
            )
            kind = "one way" if one_way else "general"
            lines.append(Finding(mechanism=label, scores=kind, promised=epsilon, found=found, broken=broken))
    for variant in broken_catalog().values():
        verdict = variant.verdict(epsilon, 4)
        lines.append(
            Finding(mechanism=variant.label, scores="general", promised=epsilon, found=verdict.realised, broken=True)
        )
    return lines


def main() -> int:
    """Print the table; 1 when a promise was broken or a broken twin was not found out."""
    lines = findings()
    print(report(lines))
    return 0 if all(line.passed for line in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
