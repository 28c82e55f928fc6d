"""Noisy gradient descent with the settings for which its excess risk is proved, constants and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.training.fit import Fit, checked
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.losses import LOGISTIC, Loss, linear
from dpcore.training.plan import RADIUS
from dpcore.training.rates import descent_bound, proved_descent
from dpcore.validate import FloatArray, Neighbours, one_of, positive, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedDescent:
    """Noisy gradient descent as its theorem has it: see ``rates.proved_descent`` and ``rates.descent_bound``.

    Nothing is clipped; every step ends in the ball of ``radius``, over which the loss is Lipschitz; all places are
    averaged, and the rate is the proof's. (ε, δ)-DP in total, exactly, as ``NoisyGradientDescent``; slower to learn in
    practice, which is the price of a promise made before the data are seen. Zinkevich, ICML 2003; Bassily, Smith &
    Thakurta, FOCS 2014. n is public. Raises InvalidArgument.

    >>> ProvedDescent(epsilon=1.0, delta=1e-5).descent(n=500, d=3).steps
    400
    """

    key: ClassVar[str] = "proved_descent"
    rank: ClassVar[int] = 15
    about: ClassVar[About] = About(
        name="Noisy gradient descent, as proved",
        plain="noisy steps with the settings of a theorem",
        how=(
            "Noisy gradient descent with nothing cut, every step brought back into a ball, and all places averaged: "
            "settings for which a theorem says in advance how good it is on average. Others learn more in practice."
        ),
        source="Zinkevich, ICML 2003; Bassily, Smith and Thakurta, FOCS 2014.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared", "absolute")

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    steps: int = 400
    radius: float = RADIUS
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        whole(1, steps=self.steps)
        positive(radius=self.radius)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        linear(self.loss)

    def descent(self, n: int, d: int) -> NoisyGradientDescent:
        """The method for n rows of d columns."""
        return proved_descent(
            linear(self.loss),
            d=d,
            n=n,
            epsilon=self.epsilon,
            delta=self.delta,
            steps=self.steps,
            radius=self.radius,
            neighbours=self.neighbours,
        )

    def excess_bound(self, n: int, d: int) -> float:
        """The mean excess risk over the ball is at most this, whatever the rows. Raises InvalidArgument."""
        return float(
            descent_bound(
                d=d,
                n=n,
                epsilon=self.epsilon,
                delta=self.delta,
                steps=self.steps,
                radius=self.radius,
                lipschitz=linear(self.loss).lipschitz(self.radius),
                neighbours=self.neighbours,
            )
        )

    @property
    def cost(self) -> Cost:
        return self.descent(2, 1).cost

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings at once, as ``NoisyGradientDescent.fit_all``."""
        for method in methods:
            rows, _ = checked(X, y, method.loss, rng, replicas)
        runs = [method.descent(*rows.shape) for method in methods]
        fits = NoisyGradientDescent.fit_all(runs, X, y, rng, replicas)
        return [
            Fit(weights=fit.weights, loss=fit.loss, method=cls.key, cost=method.cost)
            for fit, method in zip(fits, methods, strict=True)
        ]
