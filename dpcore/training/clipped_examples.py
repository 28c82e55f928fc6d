"""Gradient descent that clips people's rows once instead of their gradients at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, checked
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.losses import LOGISTIC, Logistic, Loss
from dpcore.validate import FloatArray, Neighbours, in_range

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedExamples:
    """Rows longer than ``longest`` are shortened to it once; then noisy descent without clipping of gradients.

    Right only when a bounded row bounds the gradient: the logistic loss has slope at most 1, so ‖gradient‖ ≤ ‖x‖.
    Squared loss is refused: its gradient (xᵀw − y)x grows with the weights however short the row is. A bounded
    *second* derivative is not enough. Guarantee and accounting as ``NoisyGradientDescent``.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = ClippedExamples(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "clipped_examples"
    rank: ClassVar[int] = 50
    about: ClassVar[About] = About(
        name="Noisy gradient descent, rows clipped",
        plain="rows shortened once, then noisy steps",
        how=(
            "Rows that are too long are shortened once, before training. After that no row can say anything too "
            "strong, so nothing needs to be cut at each step, and the steps get noise as usual."
        ),
        source="As noisy gradient descent; a slope of at most 1 bounds the gradient by the row's length.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic",)

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    longest: float = 1.0
    steps: int = 100
    rate: float | None = None
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Logistic):
            raise InvalidArgument(
                "loss", "must be logistic here: clipping rows does not bound the gradient of other losses"
            )
        in_range(0.0, 1.0, open_low=True, longest=self.longest)
        self._descent()

    def _descent(self) -> NoisyGradientDescent:
        # the gradient never passes ``longest`` once the rows do not, so this clip only states the sensitivity
        return NoisyGradientDescent(
            epsilon=self.epsilon,
            delta=self.delta,
            loss=self.loss,
            steps=self.steps,
            clip=self.longest,
            rate=self.rate,
            neighbours=self.neighbours,
        )

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each step's noise on the sum of gradients."""
        return self._descent().noise_scale

    @property
    def cost(self) -> Cost:
        return self._descent().cost

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings at once."""
        rows, answers = checked(X, y, methods[0].loss, rng, replicas)
        found: dict[int, Fit] = {}
        for longest in sorted({method.longest for method in methods}):
            members = [index for index, method in enumerate(methods) if method.longest == longest]
            descents = [methods[index]._descent() for index in members]
            fits = NoisyGradientDescent.fit_all(descents, clipped_rows(rows, longest), answers, rng, replicas)
            found.update(zip(members, (replace(fit, method=cls.key) for fit in fits), strict=True))
        return [found[index] for index in range(len(methods))]


def clipped_rows(X: FloatArray, longest: float) -> FloatArray:
    """Every row of X (n, d) shortened to at most ``longest``; shorter rows stay as they are."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X * np.minimum(1.0, longest / np.maximum(lengths, 1e-300)))
