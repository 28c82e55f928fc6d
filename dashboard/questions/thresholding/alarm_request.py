"""The release behind an alarm: a request made from declared facts and the person's own entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard import words
from dashboard.questions.thresholding.watched import Watched, counted, entries, in_whole_numbers, labels, sensitivity_of
from dashboard.words import alarm as said
from dpcore.datasets import Schema, Table
from dpcore.errors import InvalidArgument
from dpcore.releases.alarm import AlarmRun
from dpcore.thresholding.accuracy import theorem_alpha
from dpcore.thresholding.methods import family
from dpcore.thresholding.problem import AlarmProblem, Outcomes
from dpcore.validate import FloatArray, Neighbours

LONGEST_SUBJECT = 60
FINENESS = 1000
"""Into how many steps the reach of one person is cut where entries are not whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """A request, and what it is drawn from."""

    request: AlarmRun
    data: Callable[[], Any]

    def outcomes(self, problem: AlarmProblem) -> Outcomes:
        """How the release ends on its data, exactly, judged as ``problem`` is (for public data only)."""
        request = self.request
        return problem.drawn_outcomes(request.scales, request.in_units(self.data()), request.bar)

    def law(self, problem: AlarmProblem) -> FloatArray:
        """Where the alarm that counts falls, exactly (for public data only)."""
        request = self.request
        return problem.drawn_law(request.scales, request.in_units(self.data()), request.bar)

    def told_apart(self, beta: float) -> float:
        """How far from the line answers are told apart except with chance ``beta``, from declared facts alone.

        Dwork & Roth 2014, Theorem 3.24, for discrete noise: a discrete Laplace tail is at most twice the continuous
        one; line and answers are rounded by up to a unit and a half together.
        """
        request = self.request
        level = beta * (0.5 if request.noise == "laplace" else 1.0)
        far = theorem_alpha(request.scales, request.entries, level, request.offset / request.unit) + 1.5
        return far * request.unit


def alarm_request(
    declared: Schema,
    watched: Watched,
    *,
    released: Callable[[], Table],
    line: float,
    epsilon: float,
    neighbours: Neighbours,
    method: str,
    limit: int,
    beta: float,
    looked: bool,
) -> Made | str:
    """The request about ``watched`` by ``method``, or why it cannot be made, in one sentence.

    ``looked``: the line was chosen after looking at the data, which the receipt then says.
    """
    column = declared.column(watched.column)
    if watched.kind == "column":
        reach = sensitivity_of(declared, column)
        if reach is None:
            return said.declare_sensitivity(column.name)
        names = labels(released())  # how many rows there are, and what they are called, is public
        counts, whole = column.counts, in_whole_numbers(column, reach)
    else:
        reach, counts, whole = float(declared.rows_per_person), True, True
        names = _days_or_options(declared, watched)
    try:
        fitted = family(method, len(names), limit, beta)
        request = AlarmRun(
            epsilon=epsilon,
            threshold=line,
            entries=len(names),
            sensitivity=reach,
            neighbours=neighbours,
            one_way=counts and neighbours == "add_remove" and fitted.way.monotonic,
            limit=limit,
            noise=fitted.way.noise,
            threshold_share=fitted.share,
            offset=fitted.offset_factor * reach / epsilon,
            resolution=None if whole else reach / FINENESS,
            labels=names,
            subject=said.subject(
                words.visible(said.series(declared, watched.kind, watched.column, watched.yes), LONGEST_SUBJECT), looked
            ),
        )
    except InvalidArgument as error:
        return said.cannot_release(str(error))
    return Made(request=request, data=lambda: answers(released(), watched))


def answers(table: Table, watched: Watched) -> FloatArray:
    """What the release looks at, shape (entries,)."""
    column = table.schema.column(watched.column)
    return entries(table, column) if watched.kind == "column" else counted(table, column, watched.yes)


def _days_or_options(declared: Schema, watched: Watched) -> tuple[str, ...]:
    """The declared days or options of a column, which name themselves."""
    column = declared.column(watched.column)
    if column.type == "date":
        days = np.arange(np.datetime64(column.earliest, "D"), np.datetime64(column.latest, "D") + 1)
        return tuple(day.strftime(said.DAY) for day in days.tolist())
    return tuple(words.visible(name) for name in column.categories)
