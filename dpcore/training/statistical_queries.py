"""Learning from noisy averages alone: naive Bayes by Laplace noise, as any statistical-query algorithm can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, checked, no_delta
from dpcore.training.losses import LOGISTIC, Logistic, Loss
from dpcore.validate import FloatArray, positive, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.training.features import Features


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalQueries:
    """Naive Bayes from 2d + 1 averages, each with Laplace noise paid by an equal share of ε.

    Asked are the share of rows with y = 1 and, for every column and label, the mean of u over all rows with that
    label, u = (x − low)/(high − low) in [0, 1]; each moves by at most 1/n (add/remove, n public), so its noise has
    scale (2d + 1)/(εn). Then u is treated as the chance of a one: weights are differences of log-odds. Kearns 1998 for
    the model; Blum, Dwork, McSherry & Nissim, PODS 2005 for its private form. ε-DP.

    ``low`` and ``high`` are public bounds of the columns, for all or for each. With ``intercept`` the last column is
    the constant ``high`` and takes the prior; it is not asked about. Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = StatisticalQueries(epsilon=1.0).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 0.0)
    """

    key: ClassVar[str] = "statistical_queries"
    rank: ClassVar[int] = 90
    about: ClassVar[About] = About(
        name="Naive Bayes from noisy averages",
        plain="a simple model from noisy averages",
        how=(
            "The average of every column is asked for each of the two classes, and each gets noise. The model is "
            "built from these averages alone, as if columns had nothing to do with each other."
        ),
        source="Kearns, 1998; Blum, Dwork, McSherry and Nissim, PODS 2005.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("logistic",)

    epsilon: float
    delta: float = 0.0
    loss: Loss = LOGISTIC
    low: float | tuple[float, ...] = -1.0
    high: float | tuple[float, ...] = 1.0
    intercept: bool = False

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        no_delta(self.delta)
        if not isinstance(self.loss, Logistic):
            raise InvalidArgument("loss", "must be logistic here: naive Bayes tells two classes apart")
        if not bool((np.asarray(self.high) > np.asarray(self.low)).all()):
            raise InvalidArgument("high", "must be greater than low")

    @classmethod
    def settings_for(cls, features: Features) -> dict[str, Any]:
        """The public bounds of every column."""
        low, high = features.bounds
        return {"low": low, "high": high, "intercept": features.intercept}

    def queries(self, d: int) -> int:
        """How many averages are asked for d columns."""
        return 2 * (d - int(self.intercept)) + 1

    def noise_scale_for(self, d: int) -> float:
        """Scale of the Laplace noise on every sum over the rows."""
        return self.queries(d) / self.epsilon

    @property
    def cost(self) -> Cost:
        return Cost.pure(self.epsilon)

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and labels y (n,) in {−1, 1}."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings."""
        rows, answers = checked(X, y, LOGISTIC, rng, replicas)
        return [method._fit(rows, answers, rng, replicas) for method in methods]

    def averages(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int) -> tuple[FloatArray, FloatArray]:
        """All that is released, times n: rows with y = 1 (replicas,) and sums of u by label (replicas, 2, asked)."""
        d = X.shape[1]
        low, high = np.broadcast_to(self.low, d), np.broadcast_to(self.high, d)
        units = np.clip((X - low) / (high - low), 0.0, 1.0)[:, : d - 1 if self.intercept else d]
        sums = np.stack([units[y > 0].sum(axis=0), units[y < 0].sum(axis=0)])
        scale = self.noise_scale_for(d)
        positives = (y > 0).sum() + rng.laplace(scale=scale, size=replicas)
        return positives, sums + rng.laplace(scale=scale, size=(replicas, *sums.shape))

    def _fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int) -> Fit:
        n, d = X.shape
        low, high = np.broadcast_to(self.low, d), np.broadcast_to(self.high, d)
        positives, sums = self.averages(X, y, rng, replicas)
        positives = np.clip(positives, 1.0, n - 1.0)
        people = np.stack([positives, n - positives], axis=1)[:, :, None]
        # half a row of each kind keeps the odds finite
        shares = (np.clip(sums, 0.0, people) + 0.5) / (people + 1.0)
        odds = np.log(shares) - np.log1p(-shares)
        lift = odds[:, 0] - odds[:, 1]
        asked = lift.shape[1]
        weights = np.zeros((replicas, d))
        weights[:, :asked] = lift / (high - low)[:asked]
        if self.intercept:
            prior = np.log(positives) - np.log(n - positives)
            off = (np.log1p(-shares[:, 0]) - np.log1p(-shares[:, 1])).sum(axis=1)
            start = (weights[:, :-1] * low[:-1]).sum(axis=1)
            weights[:, -1] = (prior + off - start) / high[-1]
        return Fit(weights=weights, loss=self.loss, method=self.key, cost=self.cost)


def sample_size(queries: int, *, alpha: float, beta: float = 0.05, epsilon: float | None = None) -> int:
    """Rows enough for all averages to be within ``alpha`` of the population's with chance 1 − ``beta``.

    Sampling takes half of alpha and beta: n ≥ 2 ln(4m/β)/α² (Hoeffding). With ``epsilon`` the Laplace noise of scale
    m/(εn) takes the other half: n ≥ 2m ln(2m/β)/(εα). Without it, sampling takes all: n ≥ ln(2m/β)/(2α²).
    """
    count = whole(1, queries=queries)
    width, chance = probability(alpha=alpha), probability(beta=beta)
    if epsilon is None:
        return math.ceil(math.log(2.0 * count / chance) / (2.0 * width**2))
    sampling = 2.0 * math.log(4.0 * count / chance) / width**2
    noise = 2.0 * count * math.log(2.0 * count / chance) / (positive(epsilon=epsilon) * width)
    return math.ceil(max(sampling, noise))
