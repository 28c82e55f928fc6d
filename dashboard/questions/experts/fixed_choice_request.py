"""The release behind "which one choice costs least": a request made from declared facts and the person's choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dashboard import words
from dashboard.questions.experts.column_costs import UNITS, total_units
from dashboard.words import fixed_choice as said
from dpcore.datasets import Schema, Table
from dpcore.errors import InvalidArgument
from dpcore.releases.draws import Rule
from dpcore.releases.selection import BestScore
from dpcore.validate import FloatArray, IntArray, Neighbours

LONGEST_NAME = 60
LIKELY = 0.05
"""The chance that a forecast is exceeded."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """A request and what it is drawn from. Everything else follows from the request alone, or with the data."""

    request: BestScore
    data: Callable[[], IntArray]

    def law(self) -> FloatArray:
        """The exact chance of each column. For public data only."""
        return self.request.law(self.data())

    def expected(self) -> tuple[float, float]:
        """The chance that a cheapest column is named, and how far its total is above the least on average, in shares of
        the declared range. Exact; for public data only."""
        totals, law = self.data(), self.law()
        above = (totals - totals.min()) / UNITS
        return float(law[above == 0.0].sum()), float(law @ above)

    def bound(self) -> float:
        """How far the total is above the least one at most, except with chance ``LIKELY``, in shares of the range.

        By the union bound over exponential (or Gumbel) noises; from declared numbers alone.
        """
        choice, columns = self.request.choice, len(self.request.candidates)
        scale = (1.0 if choice.monotonic else 2.0) * choice.sensitivity / choice.epsilon
        return float(scale * np.log(columns / LIKELY)) / UNITS


def fixed_choice_request(
    declared: Schema,
    names: tuple[str, ...],
    *,
    released: Callable[[], Table],
    epsilon: float,
    neighbours: Neighbours,
    rule: Rule,
) -> Made | str:
    """The request about these columns, or why it cannot be made, in one sentence."""
    bounds = "; ".join(f"{declared.column(name).low:g} to {declared.column(name).high:g}" for name in names)
    try:
        request = BestScore(
            epsilon=epsilon,
            candidates=tuple(words.visible(name, LONGEST_NAME) for name in names),
            sensitivity=declared.rows_per_person * UNITS,
            neighbours=neighbours,
            monotonic=neighbours == "add_remove",
            smallest=True,
            rule=rule,
            subject=said.subject(bounds),
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))
    return Made(request=request, data=lambda: total_units(released(), names))
