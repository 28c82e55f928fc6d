"""Choosing one column outright: the exponential mechanism and permute-and-flip on total costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.experts.linear.choice import Excess, check_method, costs_of, mean_costs
from dpcore.selection import Exponential, PermuteAndFlip, laws
from dpcore.validate import FloatArray, generator

SENSITIVITY = 2.0
"""How far one row moves a column's total, up to a shift that all columns share and no choice sees: a replaced row from
−1 to 1, each column its own way; an added one, whose costs are shares of a range from −1 up, all one way."""


def expected_choice(self: Any, costs: ArrayLike) -> FloatArray:
    """The chance of each column, shape (columns,), exact. Raises InvalidArgument."""
    totals = costs_of(self, costs).sum(axis=0)
    law: FloatArray = _laws(self.mechanism, totals, [self.epsilon], self.one_way)[0]
    return law


def choose(self: Any, costs: ArrayLike, rng: np.random.Generator) -> FloatArray:
    """One simulated answer: 1 for the chosen column, 0 elsewhere, shape (columns,). Raises InvalidArgument."""
    steps = np.cumsum(expected_choice(self, costs))
    place = int(np.searchsorted(steps, generator(rng=rng).random() * steps[-1], side="right"))
    chosen: FloatArray = np.eye(1, steps.size, min(place, steps.size - 1))[0]
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexExponential:
    """Choose column i with probability ∝ exp(−(ε/4) × total cost of i). ε-DP, no δ.

    With ``one_way`` neighbours have one row more or less instead of a changed one, and ε/2 takes the place of ε/4.
    Raises InvalidArgument.

    >>> method = VertexExponential.at(epsilon=1.0, delta=1e-6, rows=20, columns=2)
    >>> [round(float(share), 2) for share in method.expected_choice([[0.1, -0.1]] * 20)]
    [0.27, 0.73]
    """

    key: ClassVar[str] = "vertex_exponential"
    rank: ClassVar[int] = 2
    about: ClassVar[About] = About(
        name="Exponential mechanism on the columns",
        plain="a weighted draw, cheaper columns far likelier",
        how=("One column is drawn at random, with a chance that shrinks exponentially with its total cost."),
        formula=r"\Pr[i] \propto e^{-(\varepsilon / 4) \sum_t c_{t i}}",
        source="McSherry and Talwar, FOCS 2007, on total costs, which one row moves by at most 2.",
        release="exponential",
    )
    mechanism: ClassVar[type[Any]] = Exponential

    epsilon: float
    rows: int
    columns: int
    one_way: bool = False

    def __post_init__(self) -> None:
        check_method(self.epsilon, self.rows, self.columns)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rows: int, columns: int) -> Self:
        return cls(epsilon=epsilon, rows=rows, columns=columns)

    @classmethod
    def excess(cls, runs: Sequence[Self], costs: FloatArray) -> Excess:
        return _excess(cls.mechanism, runs, costs)

    expected_choice = expected_choice
    choose = choose

    @property
    def cost(self) -> Cost:
        return Cost.bounded_range(self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexPermuteAndFlip:
    """Choose a column by permute-and-flip on total costs, which one row moves by at most 2. ε-DP, no δ.

    With ``one_way`` neighbours have one row more or less instead of a changed one, which halves the noise.
    Raises InvalidArgument.

    >>> method = VertexPermuteAndFlip.at(epsilon=1.0, delta=1e-6, rows=20, columns=2)
    >>> [round(float(share), 2) for share in method.expected_choice([[0.1, -0.1]] * 20)]
    [0.18, 0.82]
    """

    key: ClassVar[str] = "vertex_permute_and_flip"
    rank: ClassVar[int] = 1
    about: ClassVar[About] = About(
        name="Permute and flip on the columns",
        plain="one noisy bonus per column",
        how=(
            "Every column's total cost gets its own random bonus: mostly small, now and then large. The cheapest "
            "after that wins, and only its name is published."
        ),
        source="McKenna and Sheldon, NeurIPS 2020, on total costs, which one row moves by at most 2.",
        release="permute_and_flip",
    )
    mechanism: ClassVar[type[Any]] = PermuteAndFlip

    epsilon: float
    rows: int
    columns: int
    one_way: bool = False

    def __post_init__(self) -> None:
        check_method(self.epsilon, self.rows, self.columns)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rows: int, columns: int) -> Self:
        return cls(epsilon=epsilon, rows=rows, columns=columns)

    @classmethod
    def excess(cls, runs: Sequence[Self], costs: FloatArray) -> Excess:
        return _excess(cls.mechanism, runs, costs)

    expected_choice = expected_choice
    choose = choose

    @property
    def cost(self) -> Cost:
        return Cost.pure(self.epsilon)


def _laws(kind: type[Any], totals: FloatArray, epsilons: ArrayLike, one_way: bool) -> FloatArray:
    found: FloatArray = laws(kind, -totals, epsilons, sensitivity=SENSITIVITY, monotonic=one_way)
    return found


def _excess(kind: type[Any], runs: Sequence[VertexExponential | VertexPermuteAndFlip], costs: FloatArray) -> Excess:
    """All runs are of one relation."""
    means = mean_costs(runs, costs)
    gaps = means - means.min(axis=1, keepdims=True)
    levels, rows = np.array([run.cost.epsilon for run in runs]), np.array([run.rows for run in runs])
    chances = np.empty_like(means)
    for size in np.unique(rows):
        same = np.flatnonzero(rows == size)
        chances[same] = _laws(kind, means[same[0]] * size, levels[same], runs[0].one_way)
    mean = (chances * gaps).sum(axis=1)
    return Excess(mean=mean, deviation=np.sqrt(np.maximum((chances * gaps * gaps).sum(axis=1) - mean * mean, 0.0)))
