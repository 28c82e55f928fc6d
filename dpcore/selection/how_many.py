"""How many people learning asks for: the theorems' sizes and the exact ones, against ε or against accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpcore.selection.finite_class import FiniteClass
from dpcore.selection.learning import (
    exact_agnostic_size,
    exact_realizable_size,
    learning_constant,
    learning_size,
    query_size,
    realizable_size,
    sharp_size,
)
from dpcore.theorem import settings
from dpcore.validate import Neighbours, one_of, whole

LINES = {
    "pac": "without privacy, agnostic",
    "private": "private, agnostic (textbook theorem)",
    "private_sharp": "private, agnostic (sharper theorem)",
    "queries": "asking for every error rate (statistical queries)",
    "data_exact": "to be near-best on the data alone, exact",
    "exact_agnostic": "private, agnostic, exact in one world",
    "pac_realizable": "without privacy, realizable",
    "private_realizable": "private, realizable",
    "exact_realizable": "private, realizable, exact in one world",
}


def people_curves(
    k: int,
    *,
    epsilon: ArrayLike,
    alpha: ArrayLike,
    beta: float = 0.05,
    method: str = "exponential",
    relation: Neighbours = "replace_one",
) -> pd.DataFrame:
    """How many people each of ``LINES`` asks for: columns ``line, epsilon, alpha, n, kind``.

    ``epsilon`` and ``alpha`` broadcast together, so either may be the axis. ``kind`` is ``bound`` or ``exact``; n is
    rounded up. ``method`` is ``exponential`` or ``permute_and_flip``. Raises InvalidArgument.
    """
    one_of(("permute_and_flip", "exponential"), method=method)
    size = whole(2, k=k)
    levels, targets = np.broadcast_arrays(*(np.atleast_1d(a) for a in settings(epsilon=epsilon, alpha=alpha)))
    c = learning_constant(method, relation, 2)
    pairs = list(zip(levels.tolist(), targets.tolist(), strict=True))
    found: dict[str, Any] = {
        "pac": sharp_size(size, targets, np.inf, beta, c),
        "private": learning_size(size, targets, levels, beta, c),
        "private_sharp": sharp_size(size, targets, levels, beta, c),
        "queries": query_size(size, targets / 2.0, levels, beta),
        "data_exact": FiniteClass(epsilon=1.0, relation=relation, method=method).worst_lead(size, beta)
        / (levels * targets),
        "exact_agnostic": [
            exact_agnostic_size(size, a, one, beta, method=method, relation=relation) for one, a in pairs
        ],
        "pac_realizable": realizable_size(size, targets, np.inf, beta, c),
        "private_realizable": realizable_size(size, targets, levels, beta, c),
        "exact_realizable": [
            exact_realizable_size(size, a, one, beta, method=method, relation=relation) for one, a in pairs
        ],
    }
    parts = [
        pd.DataFrame(
            {
                "line": line,
                "epsilon": levels,
                "alpha": targets,
                "n": np.ceil(np.broadcast_to(np.asarray(found[line], dtype=np.float64), levels.shape) * (1 - 1e-12)),
                "kind": "exact" if "exact" in line else "bound",
            }
        )
        for line in LINES
    ]
    return pd.concat(parts, ignore_index=True)
