"""The alarm as it is drawn: charts, dots and searches have the law of the very release, which counts in whole units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dashboard.charts.theme import ENDINGS
from dashboard.view import EPSILON_HIGH, EPSILON_LOW
from dpcore.about import About
from dpcore.thresholding.alarm_problem import AlarmProblem
from dpcore.tradeoff import Estimate, Metric, Problem
from dpcore.validate import FloatArray

SHORT = 4_000
"""Answers up to which a whole curve is of the release: of a longer series each level alone is, beside the chart."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Released(Problem):
    """``problem``, of whose method ``main`` the chances are those that ``ends`` gives of the release at an ε.

    Within the scale of ε, of the data's own people. Elsewhere, of other methods, and where nothing is released, they
    are the problem's own, by the continuous law. A band stays where it was, and holds the value.
    """

    problem: AlarmProblem
    main: str
    ends: Callable[[str, float], float | None]

    @property
    def n(self) -> int:
        return self.problem.n

    @property
    def abouts(self) -> Mapping[str, About]:
        return self.problem.abouts

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return self.problem.metrics

    @property
    def central(self) -> Released:
        return replace(self, problem=self.problem.central)

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        found = self.problem.evaluate(method, metric, epsilon, n)
        alone = np.size(epsilon) == 1
        if method != self.main or metric not in ENDINGS or not (alone or self.problem.answers.size <= SHORT):
            return found
        here = (n == self.n) & (epsilon >= EPSILON_LOW) & (epsilon <= EPSILON_HIGH)
        value = found.value.copy()
        for place in np.flatnonzero(here):
            drawn = self.ends(metric, float(epsilon[place]))
            value[place] = value[place] if drawn is None else drawn
        if self.problem.band == 0.0:
            return Estimate.exact(value)
        return Estimate.exact(value, np.minimum(found.low, value), np.maximum(found.high, value))
