"""The textbook's noisy gradient descent, as it stands, so that what better accounting and settings buy can be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost, compose
from dpcore.errors import InvalidArgument
from dpcore.training.descent import descend
from dpcore.training.fit import Fit, checked
from dpcore.training.gradient_sums import GradientSums
from dpcore.training.losses import LOGISTIC, Logistic, Loss
from dpcore.validate import FloatArray, in_range, positive, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.training.features import Features


@dataclass(frozen=True, slots=True, kw_only=True)
class BookGradientDescent:
    """Ten steps at rate 1, gradients clipped at 5, a noisy count of rows, budgets added up by basic composition.

    Near & Abuah, "Programming Differential Privacy", the chapter on machine learning. Add/remove neighbours. Every
    step has ε/(steps + 1) and δ/steps, the count the rest; a step's noise is the classical Gaussian mechanism's,
    clip × √(2 ln(1.25/δ′))/ε′, proved for ε′ < 1 only. ``epsilon`` and ``delta`` are the total by that sum; what the
    same noise really costs is ``true_epsilon``, much less. The book's rows are one-hot rows of length 2.8 to 3.3:
    ``row_norm`` takes rows of the unit ball back there. Raises InvalidArgument.

    >>> run = BookGradientDescent(epsilon=1.0, delta=1e-5)
    >>> run.cost.epsilon, round(run.true_epsilon, 2)  # what is said, and what the same noise really costs
    (1.0, 0.26)
    """

    key: ClassVar[str] = "book_gradient_descent"
    rank: ClassVar[int] = 60
    about: ClassVar[About] = About(
        name="Textbook noisy gradient descent",
        plain="ten noisy steps, as the textbook counts their cost",
        how=(
            "Ten steps, each with noise on the summed answers of all rows, and a noisy count of rows. The privacy of "
            "every step is simply added up, which asks for far more noise than is needed."
        ),
        formula=(
            r"\sigma = \frac{C \sqrt{2 \ln(1.25/\delta')}}{\varepsilon'}, \quad \varepsilon' = \frac{\varepsilon}{T + "
            r"1}, \; \delta' = \frac{\delta}{T}"
        ),
        source="Near and Abuah, Programming Differential Privacy, chapter on machine learning.",
        textbook=True,
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic",)

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    steps: int = 10
    clip: float = 5.0
    rate: float = 1.0
    row_norm: float = 3.34

    def __post_init__(self) -> None:
        whole(1, steps=self.steps)
        in_range(0.0, self.steps + 1.0, open_low=True, open_high=True, epsilon=self.epsilon)
        probability(delta=self.delta)
        positive(clip=self.clip)
        positive(rate=self.rate)
        positive(row_norm=self.row_norm)
        if not isinstance(self.loss, Logistic):
            raise InvalidArgument("loss", "must be logistic here, as in the book")

    @classmethod
    def settings_for(cls, features: Features) -> dict[str, Any]:
        """How long the book's rows are."""
        return {"row_norm": features.scale}

    @property
    def step_epsilon(self) -> float:
        """ε of one step, and of the count."""
        return self.epsilon / (self.steps + 1)

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation of each step's noise over the clip."""
        return classical_noise_multiplier(self.step_epsilon, self.delta / self.steps)

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each step's noise on the sum of gradients."""
        return self.clip * self.noise_multiplier

    @property
    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon, delta=self.delta)

    @property
    def true_epsilon(self) -> float:
        """The ε that the steps and the count really cost together at ``delta``, by exact (PLD) accounting."""
        steps = Cost.gaussian(self.noise_multiplier, self.delta, self.steps)
        return compose([steps, Cost.laplace(1.0 / self.step_epsilon)], self.delta)["best"]

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and labels y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings at once: those with the same steps, clip and rows share every product."""
        groups: dict[tuple[float, ...], list[int]] = {}
        for index, method in enumerate(methods):
            groups.setdefault((method.steps, method.clip, method.row_norm), []).append(index)
        found: dict[int, Fit] = {}
        for members in groups.values():
            own = [methods[index] for index in members]
            first = own[0]
            rows, answers = checked(X, y, first.loss, rng, replicas)
            sums = GradientSums(LOGISTIC, rows * first.row_norm, answers, first.clip)
            count_noise = rng.laplace(size=(len(own), replicas)) / np.array([[m.step_epsilon] for m in own])
            weights = descend(
                sums,
                d=rows.shape[1],
                n=(rows.shape[0] + count_noise).ravel(),
                noise=np.repeat([method.noise_scale for method in own], replicas),
                rate=np.repeat([method.rate for method in own], replicas),
                steps=first.steps,
                momentum=0.0,
                tail=1e-9,
                ridge=first.loss.ridge,
                radius=None,
                rng=rng,
            )
            for place, index in enumerate(members):
                # weights for rows of the unit ball: xᵀw with x = row × row_norm
                part = weights[place * replicas : (place + 1) * replicas] * first.row_norm
                found[index] = Fit(weights=part, loss=first.loss, method=cls.key, cost=methods[index].cost)
        return [found[index] for index in range(len(methods))]


def classical_noise_multiplier(epsilon: float, delta: float) -> float:
    """√(2 ln(1.25/δ))/ε, the textbook Gaussian mechanism, for ε < 1. Dwork & Roth 2014, Theorem A.1."""
    return math.sqrt(2.0 * math.log(1.25 / probability(delta=delta))) / positive(epsilon=epsilon)
