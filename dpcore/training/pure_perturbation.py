"""Objective perturbation without δ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, checked, no_delta
from dpcore.training.losses import LOGISTIC, Loss
from dpcore.training.objective_perturbation import CURVATURE, plain_logistic, solved
from dpcore.validate import FloatArray, Neighbours, one_of, positive

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class PureObjectivePerturbation:
    """Tilt of gamma-distributed length in a random direction: ε-DP without δ.

    Density ∝ exp(−‖b‖/``noise_scale``) with noise_scale = 2/(ε − 2 ln(1 + ¼/λ)) when a row is replaced (Chaudhuri,
    Monteleoni & Sarwate, JMLR 2011, Algorithm 2), 1/(ε − ln(1 + ¼/λ)) when one is added or removed. ``ridge`` is λ;
    None balances what the ridge and the tilt each do to the model (see ``ridge_for``). Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = PureObjectivePerturbation(epsilon=1.0).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 0.0)
    """

    key: ClassVar[str] = "objective_perturbation_pure"
    rank: ClassVar[int] = 75
    about: ClassVar[About] = About(
        name="Objective perturbation, no δ",
        plain="a randomly tilted goal, with a promise that never fails",
        how=(
            "A random tilt is added to what training makes small, and the best model for the tilted goal is found. "
            "The tilt points in any direction, and is long enough that the promise holds without any chance of "
            "failure."
        ),
        formula=r"p(b) \propto e^{-\|b\| / s}",
        source="Chaudhuri, Monteleoni and Sarwate, JMLR 2011, Algorithm 2.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("logistic",)

    epsilon: float
    delta: float = 0.0
    loss: Loss = LOGISTIC
    ridge: float | None = None
    neighbours: Neighbours = "replace_one"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        no_delta(self.delta)
        plain_logistic(self.loss)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        if self.ridge is not None:
            positive(ridge=self.ridge)
            if self._changes * math.log1p(CURVATURE / self.ridge) >= self.epsilon:
                raise InvalidArgument("ridge", "is too small: the change of volume alone would cost all of epsilon")

    @property
    def _changes(self) -> int:
        return 1 if self.neighbours == "add_remove" else 2

    def ridge_for(self, n: int, d: int) -> float:
        """λ for n rows of d columns: ``ridge``, or a fixed rule from these public numbers."""
        if self.ridge is not None:
            return self.ridge
        length = self._changes * d / (0.8 * self.epsilon)
        balance = 0.1 * math.cbrt(n * length**2 / d)
        return max(CURVATURE / math.expm1(0.2 * self.epsilon / self._changes), balance)

    def noise_scale_for(self, ridge: float) -> float:
        """Scale of the tilt's length, whose law is Gamma(d, scale)."""
        return self._changes / (self.epsilon - self._changes * math.log1p(CURVATURE / ridge))

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
        """``fit`` for several settings at once."""
        rows, answers = checked(X, y, LOGISTIC, rng, replicas)
        n, d = rows.shape
        ridges = [method.ridge_for(n, d) for method in methods]
        tilts = [
            gamma_vectors(method.noise_scale_for(ridge), d, rng, replicas)
            for method, ridge in zip(methods, ridges, strict=True)
        ]
        return solved(methods, ridges, tilts, rows, answers)


def gamma_vectors(scale: float, d: int, rng: Generator, size: int) -> FloatArray:
    """``size`` vectors with density ∝ exp(−‖b‖₂/scale), shape (size, d)."""
    directions = rng.standard_normal((size, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(directions * rng.gamma(d, scale, size=(size, 1)))
