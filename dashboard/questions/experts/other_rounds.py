"""Had other rounds come: how often another choice would be the best one."""

from __future__ import annotations

import numpy as np

from dpcore.validate import FloatArray

DRAWS = 1000
"""Times the rounds are drawn anew."""
MOST_ROUNDS, MOST_VALUES = 20_000, 10**6
"""Sizes up to which they are."""


def few_enough(values: FloatArray) -> bool:
    """Whether ``values`` (rounds, choices) are drawn anew while a page waits."""
    return len(values) <= MOST_ROUNDS and values.size <= MOST_VALUES


def another_best(values: FloatArray, seed: int) -> float:
    """How often, of ``DRAWS`` draws of as many rounds from these, a choice costs least that does not cost least now.

    ``values``: what each choice costs in each round, shape (rounds, choices). Every round is drawn for itself, with
    replacement (the bootstrap of Efron, 1979). From 0 to 1.

    >>> another_best(np.array([[0.0, 1.0]] * 20), seed=1)
    0.0
    """
    rng, rounds = np.random.Generator(np.random.PCG64(seed)), len(values)
    costs = np.asarray(values, np.float64)
    now = costs.sum(axis=0)
    best = now <= now.min() + 1e-9
    other = 0
    for _ in range(DRAWS):
        often = np.bincount(rng.integers(rounds, size=rounds), minlength=rounds)
        total = often @ costs
        other += bool(total[~best].min(initial=np.inf) < total[best].min() - 1e-9)
    return other / DRAWS
