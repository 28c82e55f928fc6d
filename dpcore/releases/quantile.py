"""A private median or quantile: one of the numbers of a public grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.choice import NAMES, Choice, check, of
from dpcore.releases.draws import Rule
from dpcore.validate import FloatArray, IntArray, Neighbours, finite_vector, probability, whole

MOST_POINTS = 10**5
_FINEST = 1024  # units between neighbouring points
_DENOMINATOR = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileValue:
    """The ``q``-quantile (a fraction with denominator up to 1000) of values within ``low`` < ``high``, from a grid.

    The answer is one of ``points`` numbers, evenly spaced from ``low`` to ``high``, chosen by how evenly the values
    split around it: values below and above, those equal to it speak for it. Values outside the bounds are moved to
    them. Bounds, grid and ``rows_per_person`` are declared, never read from the data. It is the grid form of
    ``dpcore.selection.Quantile``; Smith, STOC 2011. ``subject`` names the column: part of the question. Data: the
    values, shape (n,), n ≥ 0, none missing. Raises InvalidArgument.
    """

    key: ClassVar[str] = "quantile"

    epsilon: float
    low: float
    high: float
    q: float = 0.5
    points: int = 1001
    neighbours: Neighbours = "add_remove"
    rows_per_person: int = 1
    rule: Rule = "exponential"
    subject: str = ""

    def __post_init__(self) -> None:
        check(self.epsilon, self.neighbours, self.rule, self.rows_per_person)
        finite_vector(low=[self.low])
        finite_vector(high=[self.high])
        if not 0 < self.high - self.low < np.inf:
            raise InvalidArgument("high", "must be greater than low")
        probability(q=self.q)
        if abs(self.fraction - Fraction(self.q)) > Fraction(1, 10**9):
            raise InvalidArgument("q", "must be a fraction with a denominator of at most 1000")
        whole(2, MOST_POINTS, points=self.points)
        if max(abs(self.low), abs(self.high)) / self.unit > draws.LARGEST or (np.diff(self.grid) <= 0).any():
            raise InvalidArgument("points", "must be fewer: they are too close together to tell apart")

    @property
    def fraction(self) -> Fraction:
        """``q`` as a fraction."""
        return Fraction(self.q).limit_denominator(_DENOMINATOR)

    @property
    def unit(self) -> float:
        """What values are counted in: a power of two, at most a 1024th of the distance between points."""
        return draws.binary_unit((self.high - self.low) / (self.points - 1) / _FINEST)

    @property
    def grid(self) -> FloatArray:
        """The numbers that may come out, shape (points,), ascending."""
        return np.linspace(self.low, self.high, self.points)

    @property
    def choice(self) -> Choice:
        """The noisy maximum over the grid: one record moves a score by max(m, d − m), one replaced by d, q = m/d."""
        part, whole_ = self.fraction.numerator, self.fraction.denominator
        step = max(part, whole_ - part) if self.neighbours == "add_remove" else whole_
        return Choice(epsilon=self.epsilon, sensitivity=step * self.rows_per_person, monotonic=False, rule=self.rule)

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        name = "median" if self.fraction == Fraction(1, 2) else f"{100 * self.q:g} % quantile"
        return f"What is the {name}{of(self.subject)}, between {self.low:g} and {self.high:g}?"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return f"{NAMES[self.rule]} over {self.points:,} points"

    @property
    def cost(self) -> Cost:
        """One answer."""
        return self.choice.cost

    def validate(self, data: ArrayLike) -> None:
        """Refuse values that are not finite numbers. Raises InvalidArgument."""
        finite_vector(values=data, at_least=0)

    def scores(self, data: ArrayLike) -> IntArray:
        """How evenly the values split around each point, shape (points,), 0 at best. Raises InvalidArgument."""
        inside = np.clip(finite_vector(values=data, at_least=0), self.low, self.high)
        return draws.quantile_scores(
            np.sort(draws.to_units(inside, self.unit)),
            draws.to_units(self.grid, self.unit),
            numerator=self.fraction.numerator,
            denominator=self.fraction.denominator,
        )

    def law(self, data: ArrayLike) -> FloatArray:
        """Chance of each point of the grid, shape (points,), exact. Raises InvalidArgument."""
        return self.choice.law(self.scores(data))

    def answer(self, data: ArrayLike) -> dict[str, Any]:
        """The number: ``value``, and its ``index`` on the grid from 0."""
        winner = self.choice.draw(self.scores(data))
        return {"value": float(self.grid[winner]), "index": winner}
