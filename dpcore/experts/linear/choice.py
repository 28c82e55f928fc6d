"""What every way to choose for a linear cost has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.experts.hedge import totals_at
from dpcore.validate import FloatArray, finite_matrix, positive, whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Excess:
    """How far the average cost of m private choices lies above the best column's: ``mean`` and ``deviation``, (m,)."""

    mean: FloatArray
    deviation: FloatArray


class LinearMethod(Protocol):
    """A private choice among ``columns`` from ``rows`` rows of costs in [−1, 1]; all fields are public.

    Neighbours differ in one row, in any way (replace-one).
    """

    key: ClassVar[str]
    about: ClassVar[About]

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rows: int, columns: int) -> Self:
        """The method for an (ε, δ) guarantee."""

    @classmethod
    def excess(cls, runs: Sequence[Self], costs: FloatArray) -> Excess:
        """Exact; each run sees the first ``run.rows`` rows of ``costs`` and is judged on them."""

    def expected_choice(self, costs: ArrayLike) -> FloatArray:
        """The mean weight of each column, shape (columns,), exact. Raises InvalidArgument."""

    def choose(self, costs: ArrayLike, rng: np.random.Generator) -> FloatArray:
        """One simulated choice: the weight of each column, shape (columns,). Raises InvalidArgument."""

    @property
    def cost(self) -> Cost: ...


def check_method(epsilon: float, rows: int, columns: int) -> None:
    """The fields that every method has. Raises InvalidArgument."""
    positive(epsilon=epsilon)
    whole(1, rows=rows)
    whole(2, columns=columns)


def as_costs(costs: Any) -> FloatArray:
    """``costs`` (rows, columns) as numbers within [−1, 1]. Raises InvalidArgument."""
    table = finite_matrix(costs=costs)
    if table.min() < -1.0 or table.max() > 1.0:
        raise InvalidArgument("costs", "must all lie between -1 and 1; rescale them by their declared bounds first")
    return table


def scaled_costs(table: ArrayLike, low: float, high: float, *, clip: bool = False) -> FloatArray:
    """Columns with declared bounds ``low`` < ``high`` rescaled to [−1, 1]; values outside refused, or clipped."""
    numbers = finite_matrix(costs=table)
    if not low < high:
        raise InvalidArgument("bounds", "must have the lower one below the upper one")
    if clip:
        numbers = np.clip(numbers, low, high)
    elif numbers.min() < low or numbers.max() > high:
        raise InvalidArgument("bounds", "must hold every value; widen them, or clip")
    scaled: FloatArray = np.clip((2 * numbers - low - high) / (high - low), -1.0, 1.0)
    return scaled


def costs_of(method: LinearMethod, costs: ArrayLike) -> FloatArray:
    """``costs`` in the method's own shape. Raises InvalidArgument."""
    table = as_costs(costs)
    if table.shape != (method.rows, method.columns):
        raise InvalidArgument("costs", "must have as many rows and columns as declared")
    return table


def mean_costs(runs: Sequence[LinearMethod], costs: FloatArray) -> FloatArray:
    """Average cost of each column over the rows that each run sees, shape (m, columns)."""
    rows = np.array([run.rows for run in runs])
    means: FloatArray = totals_at(costs, rows) / rows[:, None]
    return means
