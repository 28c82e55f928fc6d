"""A private median or quantile: one of the numbers of a public grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.datasets.declaration import Declaration
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument
from dpcore.in_units import to_units
from dpcore.releases import draws
from dpcore.releases.asked import ErrorBound
from dpcore.releases.cells import bound_rule, check_scores
from dpcore.releases.choice import NAMES, Choice, Chosen, of
from dpcore.releases.draws import Rule
from dpcore.selection.places import USUAL_POINTS, Grid, points_between
from dpcore.validate import FloatArray, IntArray, Neighbours, probability
from dpcore.written import exact, hundredths

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

_DENOMINATOR = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileValue(Chosen):
    """The ``q``-quantile (a fraction with denominator up to 1000) of a column of numbers within its declared bounds.

    The answer is one of ``points`` numbers, evenly spaced between the bounds, chosen by how evenly the values split
    around it: values below and above, those equal to it speak for it. It is the grid form of
    ``dpcore.selection.Quantile``; Smith, STOC 2011. Raises InvalidArgument.
    """

    key: ClassVar[str] = "quantile"

    column: str
    q: float = 0.5
    points: int = USUAL_POINTS
    rule: Rule = "exponential"

    def __post_init__(self) -> None:
        self.check()
        if not 0 < self.high - self.low < np.inf:
            raise InvalidArgument("high", "must be greater than low")
        probability(q=self.q)
        if not 0 < self.fraction < 1 or abs(self.fraction - Fraction(self.q)) > Fraction(1, 10**9):
            raise InvalidArgument("q", "must be a fraction with a denominator of at most 1000")
        _ = self._grid
        _ = self.choice

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        column: str,
        *,
        epsilon: float,
        q: float = 0.5,
        points: int | None = None,
        neighbours: Neighbours | None = None,
        rule: Rule = "exponential",
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about a declared column of numbers; ``points`` are as many as ``points_of`` says unless given.

        Raises InvalidArgument.
        """
        declared = declaration.bounded(column)
        check_scores(declared)
        return cls(
            epsilon=epsilon,
            reads=declaration.reads_rows(column, neighbours=neighbours or declaration.hidden),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            column=column,
            q=q,
            points=points_of(declared) if points is None else points,
            rule=rule,
        )

    @property
    def counts_alone(self) -> bool:
        """It needs no more than how many rows have each value, in its own units."""
        return True

    @property
    def instead_of(self) -> tuple[QuantileValue, ...]:
        """Among 1,001 numbers, as columns of whole numbers were asked about before."""
        own = points_of(self._declared)
        return (replace(self, points=USUAL_POINTS),) if self.points == own < USUAL_POINTS else ()

    @property
    def _declared(self) -> Column:
        return self.reads.column(self.column)

    @property
    def low(self) -> float:
        """The lower bound."""
        return float(self._declared.low or 0.0)

    @property
    def high(self) -> float:
        """The upper bound."""
        return float(self._declared.high or 0.0)

    @property
    def fraction(self) -> Fraction:
        """``q`` as a fraction."""
        return Fraction(self.q).limit_denominator(_DENOMINATOR)

    @property
    def _grid(self) -> Grid:
        return Grid(low=self.low, high=self.high, points=self.points)

    @property
    def unit_of_values(self) -> float:
        """What values are counted in: a power of two, at most a 1024th of the distance between points."""
        return self._grid.unit

    @property
    def grid(self) -> FloatArray:
        """The numbers that may come out, shape (points,), ascending."""
        return self._grid.numbers

    def shortest(self, value: float) -> float:
        """The number with the fewest decimal places that counts as ``value``, one of the grid: what is proved of the
        one holds of the other, since rows are counted in the same units."""
        places = -math.floor(math.log10(self._grid.step)) - 1
        while to_units(round(value, places), self.unit_of_values) != to_units(value, self.unit_of_values):
            places += 1
        return round(value, places) + 0.0  # without the sign of a 0

    @property
    def choice(self) -> Choice:
        """The noisy maximum over the grid: one record moves a score by max(m, d − m), one replaced by d, q = m/d."""
        part, whole_ = self.fraction.numerator, self.fraction.denominator
        step = max(part, whole_ - part) if self.neighbours == "add_remove" else whole_
        return Choice(epsilon=self.epsilon, sensitivity=step * self.rows_per_person, monotonic=False, rule=self.rule)

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        name = "median" if self.fraction == Fraction(1, 2) else f"{_percent(self.fraction)} quantile"
        return f"What is the {name}{of(self.column)}, between {exact(self.low)} and {exact(self.high)}?"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return f"{NAMES[self.rule]} over {self.points:,} points"

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        fill = self._declared.fill
        missing = "counts for none" if fill is None else f"counts as {exact(float(fill))}"
        return (bound_rule(self._declared), f"A missing or unreadable cell {missing}.", *self.person_rules)

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How far the answer's rank is from the wanted one, beyond the best point of the grid's, at most.

        Raises InvalidArgument.
        """
        return ErrorBound(
            number=self.choice.behind(self.points, beta) / self.fraction.denominator,
            unit="rows",
            confidence=1.0 - beta,
            about="the answer's rank among the rows as they count is at most this many farther off than that of the "
            "best point of the grid",
        )

    def read(self, rows: PrivateRows) -> IntArray:
        """How evenly the values split around each point, shape (points,), 0 at best."""
        values, sizes = self.opened(rows).number_counts(self.column, unit=self.unit_of_values)
        return draws.quantile_scores(
            self._grid.units(values),
            to_units(self.grid, self.unit_of_values),
            numerator=self.fraction.numerator,
            denominator=self.fraction.denominator,
            sizes=sizes,
        )

    def draw(self, scores: IntArray) -> dict[str, Any]:
        """The number: ``value``, one of the grid."""
        return {"value": float(self.grid[self.choice.draw(scores)])}


def points_of(column: Column) -> int:
    """Of how many numbers an answer about a bounded ``column`` is one: its whole ones, where it has no others and they
    are at most 1,001; else 1,001."""
    return points_between(float(column.low or 0.0), float(column.high or 0.0), whole=column.type == "integer")


def _percent(fraction: Fraction) -> str:
    """A part of 100 where that has an end, else the fraction itself."""
    if _DENOMINATOR % fraction.denominator:
        return str(fraction)
    return f"{hundredths(float(fraction))} %"
