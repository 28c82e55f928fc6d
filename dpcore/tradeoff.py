"""Sweeps over ε and over sample size, and their inversion: one tidy frame for every question.

A *problem* is a question together with its data: it knows how good each method's private answer is at a privacy
level ε and a sample size n. The four packages of mechanisms each define theirs, as subclasses of ``Problem``;
everything here works on all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from dpcore.about import About
from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, finite_vector, positive, probability

Kind = Literal["exact", "simulated", "bound"]
COLUMNS = ("method", "epsilon", "n", "metric", "value", "low", "high", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """``value`` of a metric at m settings, shape (m,), with a band ``low``..``high``, equal to it where there is none.

    ``kind`` says where it comes from: an ``exact`` law, a ``simulated`` mean, or a theorem's ``bound``.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    kind: Kind

    @classmethod
    def exact(cls, value: FloatArray, low: FloatArray | None = None, high: FloatArray | None = None) -> Estimate:
        return cls(value=value, low=value if low is None else low, high=value if high is None else high, kind="exact")

    @classmethod
    def bound(cls, value: FloatArray) -> Estimate:
        return cls(value=value, low=value, high=value, kind="bound")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Something that can be measured about a private answer, and what a page needs to draw it.

    ``name``: for a control, in sentence case; ``title``: for an axis, saying the unit. A value times ``factor`` is what
    the title speaks of, and ``unit`` follows it in a sentence; with ``natural`` the value is in the data's own unit,
    which only the page knows. ``share``: a chance, so the axis ends at 100. ``narrow``: what matters lies in a small
    part of the axis, so it need not start at 0.

    >>> late = Metric(key="late", name="Late alarms", title="late alarms in 100", better="lower", factor=100.0)
    >>> late.higher
    False
    """

    key: str
    name: str
    title: str
    better: Literal["higher", "lower"]
    factor: float = 1.0
    unit: str = ""
    natural: bool = False
    share: bool = False
    narrow: bool = False

    @property
    def higher(self) -> bool:
        """Whether more of it is better."""
        return self.better == "higher"


def keyed(*metrics: Metric) -> Mapping[str, Metric]:
    """Metrics by key, in their order; read-only."""
    return MappingProxyType({metric.key: metric for metric in metrics})


class Problem(Protocol):
    """A question with its data, ready to be evaluated. Subclasses are frozen and hold no random state."""

    __slots__ = ()

    @property
    def n(self) -> int:
        """People (or rounds) in the data as they are."""

    @property
    def abouts(self) -> Mapping[str, About]:
        """What can answer it, by key, and what each says about itself: mechanisms first, then theorems' bounds (their
        estimates have kind ``bound``)."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What can be measured, by key; the first is what a page shows first."""

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """The metric at m settings: ``epsilon`` and ``n`` of shape (m,) each. Raises InvalidArgument."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The keys of ``abouts``."""
        return tuple(self.abouts)

    @property
    def labels(self) -> dict[str, str]:
        """The field's name of every method, by key."""
        return {key: about.name for key, about in self.abouts.items()}

    @property
    def central(self) -> Problem:
        """The same without bands, in less time, where there are any: for maps and searches."""
        return self


def sweep_epsilon(
    problem: Problem,
    epsilon: Sequence[float] | FloatArray,
    *,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    n: int | None = None,
) -> pd.DataFrame:
    """Every method and metric against privacy level ε at one sample size (the data's own unless given).

    Returns one row per method, metric and ε with the columns ``COLUMNS``. Raises InvalidArgument.
    """
    levels = _settings(epsilon=epsilon)
    sizes = np.full_like(levels, problem.n if n is None else positive(n=n))
    return _frame(problem, levels, sizes, methods, metrics)


def sweep_size(
    problem: Problem,
    n: Sequence[float] | FloatArray,
    *,
    epsilon: float,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Every method and metric against sample size n at one ε. Returns and raises as ``sweep_epsilon``."""
    sizes = _settings(n=n)
    return _frame(problem, np.full_like(sizes, positive(epsilon=epsilon)), sizes, methods, metrics)


def sweep_both(
    problem: Problem,
    epsilon: Sequence[float] | FloatArray,
    n: Sequence[float] | FloatArray,
    *,
    method: str,
    metric: str,
) -> pd.DataFrame:
    """One method and metric over the grid ε × n, sizes varying slowest; without bands where a problem can do without.

    Returns and raises as ``sweep_epsilon``.
    """
    levels, sizes = np.meshgrid(_settings(epsilon=epsilon), _settings(n=n))
    return _frame(problem.central, levels.ravel(), sizes.ravel(), [method], [metric])


def epsilon_for(
    target: float,
    problem: Problem,
    *,
    method: str,
    metric: str,
    n: int | None = None,
    low: float = 1e-4,
    high: float = 100.0,
) -> float | None:
    """The smallest ε in [low, high] at which ``method`` reaches ``target``, or None when none does.

    To one part in a million, never too small. The metric must be monotone in ε, which holds for every exact law here.
    Raises InvalidArgument.
    """
    _bracket(target, low, high)
    size = float(problem.n if n is None else positive(n=n))
    problem = problem.central

    def reached(levels: FloatArray) -> np.ndarray:
        return _reached(problem, method, metric, target, levels, np.full_like(levels, size))

    return _smallest(reached, low, high)


def epsilon_for_most(
    target: float,
    problem: Problem,
    *,
    method: str,
    metric: str,
    n: int | None = None,
    low: float = 1e-4,
    high: float = 100.0,
) -> float | None:
    """The ε in [low, high] from which on the worse edge of ``problem``'s band reaches ``target``, or None.

    With a band of .8 nine of ten answers are no worse than that edge. It need not be monotone in ε, since answers
    differ most in between: 91 levels are looked at, and the place after the last that fails is found to one part in
    a million. Raises InvalidArgument.
    """
    _bracket(target, low, high)
    size = float(problem.n if n is None else positive(n=n))

    def reached(levels: FloatArray) -> np.ndarray:
        found = _evaluated(problem, method, metric, levels, np.full_like(levels, size))
        return found.low >= target if problem.metrics[metric].higher else found.high <= target

    levels = np.geomspace(low, high, 91)
    missed = np.flatnonzero(~reached(levels))
    if not missed.size:
        return float(low)
    last = int(missed[-1])
    return None if last == levels.size - 1 else _smallest(reached, float(levels[last]), float(levels[last + 1]))


def share_above(target: float, mean: float, high: float, band: float) -> float:
    """The share of runs above ``target``, by the normal law whose central share ``band`` ends at ``high``.

    Raises InvalidArgument unless ``high`` is more than ``mean`` and ``band`` between 0 and 1.

    >>> round(share_above(12.0, 10.0, 12.0, 0.8), 3)
    0.1
    """
    within = probability(band=band)
    deviation = positive(high=high - mean) / float(ndtri((1.0 + within) / 2.0))
    return float(ndtr((mean - target) / deviation))


def size_for(
    target: float,
    problem: Problem,
    *,
    method: str,
    metric: str,
    epsilon: float,
    low: int = 1,
    high: int = 10**9,
) -> int | None:
    """The smallest whole n in [low, high] at which ``method`` reaches ``target``, or None when none does.

    Exact for a metric that is monotone in n; a loss in units of the scores is not, its share per person is.
    Raises InvalidArgument.
    """
    _bracket(target, low, high)
    level = positive(epsilon=epsilon)
    problem = problem.central

    def reached(sizes: FloatArray) -> np.ndarray:
        whole_sizes = np.ceil(sizes)
        return _reached(problem, method, metric, target, np.full_like(sizes, level), whole_sizes)

    found = _smallest(reached, float(low), float(high), whole=True)
    return None if found is None else int(found)


def _reached(
    problem: Problem, method: str, metric: str, target: float, epsilon: FloatArray, n: FloatArray
) -> np.ndarray:
    value = _evaluated(problem, method, metric, epsilon, n).value
    return value >= target if problem.metrics[metric].higher else value <= target


def _evaluated(problem: Problem, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
    if metric not in problem.metrics:
        raise InvalidArgument("metric", "must be one of " + ", ".join(problem.metrics))
    return problem.evaluate(method, metric, epsilon, n)


def _bracket(target: float, low: float, high: float) -> None:
    finite_vector(target=[target])
    if positive(high=high) < positive(low=low):
        raise InvalidArgument("high", "must be at least low")


def _smallest(
    reached: Callable[[FloatArray], np.ndarray], low: float, high: float, *, whole: bool = False
) -> float | None:
    """Bracketing on a log grid, some points a step: laws are vectorised, what they are calibrated by often is not."""
    while True:
        grid = np.geomspace(low, high, 7)
        grid[0], grid[-1] = low, high
        if whole:
            grid = np.unique(np.floor(grid))
        hits = np.flatnonzero(reached(grid))
        if hits.size == 0:
            return None
        first = int(hits[0])
        if first == 0:
            return float(grid[0])
        low, high = float(grid[first - 1]), float(grid[first])
        if (high - low <= 1.0) if whole else (high / low <= 1.000001):
            return high


def _settings(**named: Any) -> FloatArray:
    array = finite_vector(**named)
    if (array <= 0).any():
        raise InvalidArgument(next(iter(named)), "must be greater than 0 everywhere")
    return array


def _frame(
    problem: Problem,
    epsilon: FloatArray,
    n: FloatArray,
    methods: Sequence[str] | None,
    metrics: Sequence[str] | None,
) -> pd.DataFrame:
    chosen = problem.methods if methods is None else tuple(methods)
    measured = tuple(problem.metrics) if metrics is None else tuple(metrics)
    found = [problem.evaluate(method, metric, epsilon, n) for method in chosen for metric in measured]
    size = epsilon.size
    # one array per column at once: a frame per line and a concatenation cost more than the laws
    columns = {
        "method": np.repeat(np.array(chosen, dtype=object), size * len(measured)),
        "epsilon": np.tile(epsilon, len(found)),
        "n": np.tile(n, len(found)),
        "metric": np.tile(np.repeat(np.array(measured, dtype=object), size), len(chosen)),
        "value": np.concatenate([estimate.value for estimate in found]),
        "low": np.concatenate([estimate.low for estimate in found]),
        "high": np.concatenate([estimate.high for estimate in found]),
        "kind": np.repeat(np.array([estimate.kind for estimate in found], dtype=object), size),
    }
    return pd.DataFrame(columns, columns=list(COLUMNS))
