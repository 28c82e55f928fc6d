"""The gentle entry: a mean, a median, a straight line, as questions of ``dpcore.tradeoff``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from dpcore.about import About
from dpcore.errors import InvalidArgument
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.training.ball import Ball
from dpcore.training.losses import ABSOLUTE, SQUARED
from dpcore.training.mean import LaplaceMean, MeanByLoss
from dpcore.training.median import IntervalMedian, MedianByLoss
from dpcore.training.optimum import minimise
from dpcore.training.plan import Sweep
from dpcore.training.training_problem import METRICS, TrainingProblem, abouts
from dpcore.validate import FloatArray, finite_vector, one_of

Statistic = Literal["mean", "median"]
_KINDS: dict[str, tuple[type[LaplaceMean | MeanByLoss | IntervalMedian | MedianByLoss], ...]] = {
    "mean": (LaplaceMean, MeanByLoss),
    "median": (IntervalMedian, MedianByLoss),
}
LINE_RADIUS = 2.0
_LINE_METHODS = ("adassp", "noisy_gradient_descent", "output_perturbation")


ABOUT_THEORY = About(
    name="What theory promises",
    plain="what a theorem is sure of",
    how=(
        "A theorem about the exponential mechanism says how much more than the best its answer may lose, whatever the "
        "numbers are. It must hold for the worst ones, so the truth is better."
    ),
    source="McSherry and Talwar, FOCS 2007; Bassily, Smith and Thakurta, FOCS 2014.",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneNumberProblem(Problem):
    """The mean or median of ``values`` (n,) in [−1, 1] as loss minimisation, exact: expected excess loss.

    At other sizes their distribution stays. ``theory`` is the bound for the exponential mechanism on the loss
    (``Ball.excess_bound``). Raises InvalidArgument.

    >>> import numpy as np
    >>> ages = OneNumberProblem(values=np.linspace(-0.5, 0.5, 50), statistic="mean")
    >>> ages.evaluate("laplace_mean", "excess_risk", np.array([1.0]), np.array([50.0])).value.round(5).tolist()
    [0.0004]
    """

    values: FloatArray
    statistic: Statistic

    def __post_init__(self) -> None:
        one_of(("mean", "median"), statistic=self.statistic)
        _within(values=self.values)

    @property
    def n(self) -> int:
        return int(self.values.shape[0])

    @property
    def abouts(self) -> Mapping[str, About]:
        """The two ways to find it, and ``theory``."""
        return abouts(kind.key for kind in _KINDS[self.statistic]) | {"theory": ABOUT_THEORY}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return keyed(METRICS["excess_risk"])

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``."""
        one_of(self.methods, method=method)
        one_of(("excess_risk",), metric=metric)
        pairs = zip(epsilon.tolist(), n.tolist(), strict=True)
        if method == "theory":
            loss = SQUARED if self.statistic == "mean" else ABSOLUTE
            return Estimate.bound(np.array([Ball(epsilon=one, loss=loss).excess_bound(int(m), 1) for one, m in pairs]))
        kind = next(kind for kind in _KINDS[self.statistic] if kind.key == method)
        return Estimate.exact(np.array([kind(epsilon=one).expected_excess(self.values, m) for one, m in pairs]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineProblem(Problem):
    """The straight line y ≈ a + b·x through points with x and y (n,) in [−1, 1], by squared error.

    Rows are (1, x)/√2, so a weight w is (√2 a, √2 b), in the ball of radius 2 for every method. The exponential
    mechanism over it is exact, on its grid; other methods are simulated, ``seeds`` lines each. ``theory`` bounds the
    former. Raises InvalidArgument.

    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 40)
    >>> line = LineProblem(x=x, y=0.5 * x, seeds=2)
    >>> line.evaluate("ball", "excess_risk", np.array([5.0]), np.array([40.0])).value.round(3).tolist()
    [0.022]
    """

    x: FloatArray
    y: FloatArray
    seeds: int = 40
    delta: float = 1e-5
    _simulated: TrainingProblem = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _within(x=self.x)
        _within(y=self.y)
        if len(self.x) != len(self.y):
            raise InvalidArgument("y", "must have one entry for every x")
        sweep = Sweep(
            X=self.rows,
            y=np.asarray(self.y, dtype=np.float64),
            X_test=self.rows,
            y_test=np.asarray(self.y, dtype=np.float64),
            methods=_LINE_METHODS,
            epsilon=(1.0,),
            delta=self.delta,
            loss=SQUARED,
            seeds=self.seeds,
            radius=LINE_RADIUS,
        )
        object.__setattr__(self, "_simulated", TrainingProblem(sweep=sweep))

    @property
    def rows(self) -> FloatArray:
        """(1, x)/√2, shape (n, 2)."""
        columns = [np.ones(len(self.x)), np.asarray(self.x, dtype=np.float64)]
        return np.asarray(np.stack(columns, axis=1) / np.sqrt(2.0))

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def abouts(self) -> Mapping[str, About]:
        """Simulated methods, the exact ball, and ``theory``."""
        return abouts((*_LINE_METHODS, "ball")) | {"theory": ABOUT_THEORY}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return keyed(METRICS["excess_risk"])

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``."""
        one_of(self.methods, method=method)
        one_of(("excess_risk",), metric=metric)
        if method in _LINE_METHODS:
            return self._simulated.evaluate(method, metric, epsilon, n)
        ball = partial(Ball, loss=SQUARED, radius=LINE_RADIUS)
        pairs = list(zip(epsilon.tolist(), n.tolist(), strict=True))
        if method == "theory":
            return Estimate.bound(np.array([ball(epsilon=one).excess_bound(int(m), 2) for one, m in pairs]))
        least = minimise(SQUARED, self.rows, self.y, radius=LINE_RADIUS).objective
        found = [ball(epsilon=one).expected_excess(self.rows, self.y, least, m) for one, m in pairs]
        return Estimate.exact(np.array(found))


def _within(**named: FloatArray) -> None:
    name, values = next(iter(named.items()))
    if float(np.abs(finite_vector(at_least=2, **{name: values})).max()) > 1.0:
        raise InvalidArgument(name, "must lie between −1 and 1: scale by public bounds first")
