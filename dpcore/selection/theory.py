"""The theorems about choosing one of many, as values to be drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpcore.selection.learning import THEOREMS
from dpcore.theorem import Conditions, Theorem, settings
from dpcore.validate import FloatArray


def _utility(
    k: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, sensitivity: ArrayLike = 1.0, c: ArrayLike = 2.0
) -> FloatArray:
    size, level, share, reach, factor = settings(k=k, epsilon=epsilon, beta=beta, sensitivity=sensitivity, c=c)
    return np.asarray(factor * reach / level * (np.log(size) + np.log(1.0 / share)))


_UTILITY = Theorem(
    key="selection_utility",
    name="Utility of the exponential mechanism",
    quantity="how far the chosen score lies below the best",
    statement="loss ≤ (cΔ/ε)·(ln k + ln(1/β)), c = 2, or 1 where all scores move one way",
    conditions=Conditions(
        neighbours="whoever moves a score by at most Δ",
        range="any scores",
        beta="chance β of failure, over the noise",
        needs="exponential mechanism or permute-and-flip (Laplace noise: c twice that)",
        left_out="the error of having drawn these people",
    ),
    source="McSherry & Talwar, FOCS 2007; Dwork & Roth 2014, Corollary 3.12",
    settings=("k", "epsilon", "beta", "sensitivity", "c"),
    formula=_utility,
)


def quantile_rank(
    share: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, sensitivity: ArrayLike = 1.0
) -> FloatArray:
    """By how many people the rank of a private quantile is off beyond r₀: (2s/ε)(ln(1/share) + ln(1/β)).

    ``share`` of the declared range has a rank off by at most r₀; an answer t people worse has at most e^(−εt/(2s)) of
    the weight there, and the range is 1/share times as long. ``sensitivity`` s is ½ for a median where a person is
    added or removed, 1 where one is replaced. Arrays are broadcast together. Smith, STOC 2011. Raises InvalidArgument.
    """
    part, level, failure, reach = settings(share=share, epsilon=epsilon, beta=beta, sensitivity=sensitivity)
    return np.asarray(2.0 * reach / level * np.maximum(np.log(1.0 / part) + np.log(1.0 / failure), 0.0))


_QUANTILE = Theorem(
    key="quantile",
    name="Rank of a private quantile",
    quantity="people by which its rank is off, beyond r₀",
    statement="rank error ≤ r₀ + (2s/ε)·(ln(1/share) + ln(1/β))",
    conditions=Conditions(
        neighbours="a person added or removed (s = max(q, 1 − q)) or replaced (s = 1)",
        range="values within the declared range; share is the part of it whose rank is off by at most r₀",
        beta="chance β of failure, over the mechanism's own randomness",
        left_out="the error of having drawn these people; how far apart values are",
    ),
    source="Smith, STOC 2011, with constants",
    settings=("share", "epsilon", "beta", "sensitivity"),
    formula=quantile_rank,
)


def theorems() -> dict[str, Theorem]:
    """The theorems about choosing one of many, by key."""
    return {theorem.key: theorem for theorem in (_UTILITY, _QUANTILE, *THEOREMS)}
