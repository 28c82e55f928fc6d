"""What a model is trained to make small, and by how much one person can change it.

Every loss is about one row x (‖x‖₂ ≤ 1) and its answer y, and ``objective`` is its mean over the rows plus
(ridge/2)‖w‖². The three linear losses depend on x only through the margin xᵀw, so a row's gradient is slope × x:
clipping it to norm C is one multiplication per row, and no per-row gradient is ever stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, non_negative

Answers = Literal["two_classes", "number", "none"]
_MARGINS = 1 << 17  # rows × models at a time: 1 MB, so that they stay in cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Logistic:
    """ln(1 + exp(−y xᵀw)) for y in {−1, 1}: slope at most 1, curvature at most ¼."""

    name: ClassVar[str] = "logistic"
    label: ClassVar[str] = "Logistic loss (yes or no)"
    answers: ClassVar[Answers] = "two_classes"
    smoothness: ClassVar[float] = 0.25
    ridge: float = 0.0

    def __post_init__(self) -> None:
        non_negative(ridge=self.ridge)

    def lipschitz(self, radius: float) -> float:
        """The steepest a row's loss can be while ‖w‖₂ ≤ radius."""
        return 1.0

    def spread(self, radius: float) -> float:
        """How far one row's loss can vary over ‖w‖₂ ≤ radius: max minus min, for the worst row."""
        return radius  # ln(1 + e^r) − ln(1 + e^−r), exactly: half of what the slope alone allows

    def values(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Loss per row and model, ``margins`` and ``y`` broadcast together."""
        wrong = -y * margins
        # as exact as logaddexp to 1e-16 absolutely, and several times faster
        return np.asarray(np.maximum(wrong, 0.0) + np.log(1.0 + np.exp(-np.abs(wrong))))

    def slopes(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Derivative by the margin."""
        return np.asarray(-y * expit(-y * margins))

    def curvatures(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Second derivative by the margin."""
        chance = expit(margins)
        return np.asarray(chance * (1.0 - chance))


@dataclass(frozen=True, slots=True, kw_only=True)
class Squared:
    """½(xᵀw − y)² for y in [−1, 1]: slope at most 1 + ‖w‖₂ (unbounded over all w), curvature 1."""

    name: ClassVar[str] = "squared"
    label: ClassVar[str] = "Squared error (a number; its mean)"
    answers: ClassVar[Answers] = "number"
    smoothness: ClassVar[float] = 1.0
    ridge: float = 0.0

    def __post_init__(self) -> None:
        non_negative(ridge=self.ridge)

    def lipschitz(self, radius: float) -> float:
        """The steepest a row's loss can be while ‖w‖₂ ≤ radius."""
        return 1.0 + radius

    def spread(self, radius: float) -> float:
        """How far one row's loss can vary over ‖w‖₂ ≤ radius: max minus min, for the worst row."""
        # y = 1: from ½(1 + r)² down to 0, or to ½(1 − r)² when the ball is too small to reach y
        return 0.5 * (1.0 + radius) ** 2 - 0.5 * max(0.0, 1.0 - radius) ** 2

    def values(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Loss per row and model, ``margins`` and ``y`` broadcast together."""
        return np.asarray(0.5 * (margins - y) ** 2)

    def slopes(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Derivative by the margin."""
        return margins - y

    def curvatures(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Second derivative by the margin."""
        return np.ones(np.broadcast_shapes(np.shape(margins), np.shape(y)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Absolute:
    """|xᵀw − y| for y in [−1, 1]: slope −1 or 1, no curvature; with x = 1 its minimum is the median."""

    name: ClassVar[str] = "absolute"
    label: ClassVar[str] = "Absolute error (a number; its median)"
    answers: ClassVar[Answers] = "number"
    smoothness: ClassVar[float] = np.inf
    ridge: float = 0.0

    def __post_init__(self) -> None:
        non_negative(ridge=self.ridge)

    def lipschitz(self, radius: float) -> float:
        """The steepest a row's loss can be while ‖w‖₂ ≤ radius."""
        return 1.0

    def spread(self, radius: float) -> float:
        """How far one row's loss can vary over ‖w‖₂ ≤ radius: max minus min, for the worst row."""
        return (1.0 + radius) - max(0.0, 1.0 - radius)

    def values(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Loss per row and model, ``margins`` and ``y`` broadcast together."""
        return np.asarray(np.abs(margins - y))

    def slopes(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """A subgradient by the margin: the sign."""
        return np.sign(margins - y)

    def curvatures(self, margins: FloatArray, y: FloatArray) -> FloatArray:
        """Zero wherever it exists."""
        return np.zeros(np.broadcast_shapes(np.shape(margins), np.shape(y)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """½‖w − x‖² or, not ``squared``, ‖w − x‖: how far w is from the point x; y is not looked at.

    Its minimum is the mean of the points, or their geometric median (in one dimension the median).
    """

    name: ClassVar[str] = "distance"
    label: ClassVar[str] = "Distance to a point"
    answers: ClassVar[Answers] = "none"
    squared: bool = True
    ridge: float = 0.0

    def __post_init__(self) -> None:
        non_negative(ridge=self.ridge)

    def lipschitz(self, radius: float) -> float:
        """The steepest a row's loss can be while ‖w‖₂ ≤ radius."""
        return 1.0 + radius if self.squared else 1.0

    def spread(self, radius: float) -> float:
        """How far one row's loss can vary over ‖w‖₂ ≤ radius: max minus min, for the worst row."""
        nearest = max(0.0, 1.0 - radius)
        if self.squared:
            return 0.5 * (1.0 + radius) ** 2 - 0.5 * nearest**2
        return 1.0 + radius - nearest

    def values_at(self, weights: FloatArray, X: FloatArray) -> FloatArray:
        """Loss per row and model, shape (rows, models), for ``weights`` (models, d)."""
        squares = (X**2).sum(axis=1)[:, None] - 2.0 * X @ weights.T + (weights**2).sum(axis=1)
        squares = np.maximum(squares, 0.0)
        return np.asarray(0.5 * squares if self.squared else np.sqrt(squares))


Loss = Logistic | Squared | Absolute | Distance
LinearLoss = Logistic | Squared | Absolute
LOGISTIC, SQUARED, ABSOLUTE = Logistic(), Squared(), Absolute()


def linear(loss: Loss) -> LinearLoss:
    """``loss`` when it depends on xᵀw alone. Raises InvalidArgument otherwise."""
    if isinstance(loss, Distance):
        raise InvalidArgument("loss", "must be logistic, squared or absolute here: distance to a point has no margin")
    return loss


def objective(loss: Loss, weights: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
    """Mean loss plus ridge of every model: ``weights`` (models, d), X (n, d), y (n,) → shape (models,)."""
    total = np.zeros(weights.shape[0])
    for rows in _blocks(X.shape[0], weights.shape[0]):
        if isinstance(loss, Distance):
            total += loss.values_at(weights, X[rows]).sum(axis=0)
        else:
            total += loss.values(X[rows] @ weights.T, y[rows, None]).sum(axis=0)
    return np.asarray(total / X.shape[0] + 0.5 * loss.ridge * (weights**2).sum(axis=1))


def gradient(loss: Loss, weights: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:
    """Gradient of ``objective`` for every model, shape (models, d); a subgradient for absolute values."""
    total = np.zeros_like(weights)
    for rows in _blocks(X.shape[0], weights.shape[0]):
        if isinstance(loss, Distance):
            pull = np.ones((weights.shape[0], X[rows].shape[0]))
            if not loss.squared:
                away = np.sqrt(np.maximum(2.0 * Distance().values_at(weights, X[rows]).T, 0.0))
                pull = np.divide(1.0, away, out=np.zeros_like(away), where=away > 0.0)
            total += weights * pull.sum(axis=1, keepdims=True) - pull @ X[rows]
        else:
            total += loss.slopes(X[rows] @ weights.T, y[rows, None]).T @ X[rows]
    return np.asarray(total / X.shape[0] + loss.ridge * weights)


def _blocks(n: int, models: int) -> list[slice]:
    size = max(16, _MARGINS // max(1, models))
    return [slice(start, start + size) for start in range(0, n, size)]
