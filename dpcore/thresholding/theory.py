"""Accuracy of watching a series: α against the number of queries, where it comes from, and the two ways to be wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpcore.theorem import Conditions, Theorem, settings
from dpcore.thresholding.accuracy import all_right, exact_alpha, theorem_alpha
from dpcore.thresholding.likelihood import log_chance, threshold_nodes
from dpcore.thresholding.noise import NoisePair
from dpcore.validate import FloatArray, probability, whole


class Watcher(Protocol):
    """What these functions need of ``AboveThreshold``, ``Sparse`` and ``NumericSparse``."""

    @property
    def scales(self) -> NoisePair: ...

    @property
    def offset(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaSplit:
    """The α of one series, in units of the answers, and what it would be with one of its two noises alone.

    ``threshold``: with the queries' noise taken away; ``queries``: with the threshold's. ``exact`` is that of both, the
    smallest that holds on the worst series, ``theorem`` the union bound, ``theorem_threshold`` and ``theorem_queries``
    what it sets aside for each noise: α is twice the larger one for noise of either sign (an offset comes on top).
    """

    k: int
    exact: float
    threshold: float
    queries: float
    theorem: float
    theorem_threshold: float
    theorem_queries: float


def alpha_split(watcher: Watcher, k: int, beta: float = 0.05) -> AlphaSplit:
    """Where the α of ``k`` queries at failure chance β comes from, exactly. Raises InvalidArgument."""
    pair, offset, limit = watcher.scales, watcher.offset, _limit(watcher)
    whole(limit, k=k)
    share = float(np.log(2.0 / probability(beta=beta)))
    return AlphaSplit(
        k=k,
        exact=exact_alpha(pair, k, limit, beta, offset),
        threshold=_alone(pair, k, limit, beta, offset, of_threshold=True),
        queries=_alone(pair, k, limit, beta, offset, of_threshold=False),
        theorem=theorem_alpha(pair, k, beta, offset),
        theorem_threshold=pair.threshold_scale * share,
        theorem_queries=pair.query_scale * (float(np.log(k)) + share),
    )


def alpha_against_queries(watcher: Watcher, queries: Iterable[int], beta: float = 0.05) -> pd.DataFrame:
    """``alpha_split`` at each of ``queries``, up to 10⁹: its fields as columns. Raises InvalidArgument."""
    found = [alpha_split(watcher, int(k), beta) for k in queries]
    return pd.DataFrame({name: [getattr(one, name) for one in found] for name in AlphaSplit.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorKinds:
    """The two ways a run is wrong about answers α away from the line, on the worst series.

    ``false_alarm``: an answer at threshold − α or below raises one. ``missed``: no false alarm, but an answer at
    threshold + α or above raises none. (α, β)-accurate means that together they are at most β.
    """

    false_alarm: float
    missed: float

    @property
    def either(self) -> float:
        return self.false_alarm + self.missed


def error_kinds(watcher: Watcher, k: int, alpha: float) -> ErrorKinds:
    """Both chances at ``alpha`` for ``k`` queries, exact, on k − c answers at threshold − α and c at threshold + α."""
    pair, offset, limit = watcher.scales, watcher.offset, _limit(watcher)
    low = -alpha - offset
    t, weight = threshold_nodes(pair, np.array([low]))
    lows = whole(limit, k=k) - limit
    silent = (
        1.0 if lows == 0 else float(weight @ np.exp(lows * log_chance(pair, (t - low) / pair.query_scale, alarm=False)))
    )
    right = all_right(pair, k, limit, alpha, offset)
    return ErrorKinds(false_alarm=max(0.0, 1.0 - silent), missed=max(0.0, silent - right))


def _limit(watcher: Watcher) -> int:
    return int(getattr(watcher, "limit", 1))


def _alone(pair: NoisePair, k: int, limit: int, beta: float, offset: float, *, of_threshold: bool) -> float:
    """The exact α of one noise alone: the run is right when the noise lies between −(α + offset) and α − offset for the
    threshold, and each query's on its own side of the line."""
    from scipy.optimize import brentq

    scale = pair.threshold_scale if of_threshold else pair.query_scale

    def log_right(alpha: float) -> float:
        if of_threshold:  # lows stay below: ρ > −α − offset; highs stay at or above: ρ ≤ α − offset
            low = _tail(pair, -(alpha + offset) / scale)
            high = _tail(pair, (alpha - offset) / scale)
            return float(np.log(np.maximum(low - high, 1e-300))) if k > limit else float(np.log1p(-high + 1e-300))
        up = np.array([(alpha + offset) / scale])
        down = np.array([(offset - alpha) / scale])
        silent = float(log_chance(pair, up, alarm=False)[0])
        alarm = float(log_chance(pair, down, alarm=True)[0])
        return ((k - limit) * silent if k > limit else 0.0) + limit * alarm

    wanted = float(np.log1p(-beta))
    high = scale + abs(offset)
    while log_right(high) < wanted:
        high *= 2.0
    if log_right(0.0) >= wanted:
        return 0.0
    return float(brentq(lambda alpha: log_right(alpha) - wanted, 0.0, high, rtol=1e-10))


def _tail(pair: NoisePair, x: float) -> float:
    """Chance that noise of scale 1 is above x."""
    if pair.one_sided:
        return 1.0 if x <= 0.0 else float(np.exp(-x))
    return float(0.5 * np.exp(-x)) if x >= 0.0 else float(1.0 - 0.5 * np.exp(x))


def textbook_alpha(
    k: ArrayLike, epsilon: ArrayLike, beta: ArrayLike = 0.05, sensitivity: ArrayLike = 1.0
) -> FloatArray:
    """8(ln k + ln(2/β))Δ/ε, arrays broadcast together."""
    size, level, share, reach = settings(k=k, epsilon=epsilon, beta=beta, sensitivity=sensitivity)
    return np.asarray(8.0 * reach / level * (np.log(size) + np.log(2.0 / share)))


_THEOREMS = (
    Theorem(
        key="above_threshold",
        name="Accuracy of AboveThreshold",
        quantity="α, in units of the answers",
        statement="α = 8(ln k + ln(2/β))Δ/ε",
        conditions=Conditions(
            neighbours="whoever moves each answer by at most Δ, all of them if need be",
            range="any answers",
            beta="chance β of any wrong decision about an answer at least α from the line",
            needs="Laplace noise 2Δ/ε on the threshold and 4Δ/ε on answers; at most one answer close to the line",
            left_out="answers closer to the line than α: nothing is promised about them",
        ),
        source="Dwork & Roth 2014, Theorem 3.24",
        settings=("k", "epsilon", "beta", "sensitivity"),
        formula=textbook_alpha,
    ),
)


def theorems() -> dict[str, Theorem]:
    """The theorems about watching a series, by key."""
    return {theorem.key: theorem for theorem in _THEOREMS}
