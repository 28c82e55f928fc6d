"""What training returns, and how good it is.

A method is a frozen class with ``key``, ``about``, public fields (``epsilon`` and ``delta``, the rest with fixed
defaults that never look at data), ``cost``, ``fit(X, y, rng, replicas)`` and ``fit_all``, which trains several
settings of the same method together. The number of rows n is public; who is protected is the field ``neighbours``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.losses import SQUARED, Loss, objective
from dpcore.training.optimum import minimise
from dpcore.validate import BoolArray, FloatArray, finite_matrix, finite_vector, generator, in_range, positive, whole

if TYPE_CHECKING:
    from numpy.random import Generator

NORM_SLACK = 1e-6  # rows kept in single precision may stick out of the unit ball by rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Independent private models of the same data: ``weights`` of shape (replicas, d), or (replicas, d, classes) where
    more than two classes are told apart.

    ``loss`` is what they were trained to make small; ``cost`` the privacy cost of releasing one of them.
    """

    weights: FloatArray
    loss: Loss
    method: str
    cost: Cost


class Method(Protocol):
    """What every class in ``dpcore.training.catalog()`` offers.

    ``pure``: ε-DP without δ, to be constructed with ``delta`` 0. ``losses``: keys of the losses it can train for.

    A class may also have ``most_columns``, where it can train for no more; ``one_number`` True, where it estimates a
    number and takes a single column of ones; and a class method ``settings_for(features)``: fields that follow from the
    public constants of the features.
    """

    key: ClassVar[str]
    about: ClassVar[About]
    pure: ClassVar[bool]
    losses: ClassVar[tuple[str, ...]]

    @property
    def epsilon(self) -> float: ...

    @property
    def loss(self) -> Loss: ...

    @property
    def cost(self) -> Cost: ...

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit: ...

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]: ...


def checked(X: FloatArray, y: FloatArray, loss: Loss, rng: Generator, replicas: int) -> tuple[FloatArray, FloatArray]:
    """What every ``fit`` is given, checked: the rows and answers as ``checked_rows``. Raises InvalidArgument."""
    generator(rng=rng)
    whole(1, replicas=replicas)
    return checked_rows(X, y, loss)


def checked_rows(X: FloatArray, y: FloatArray, loss: Loss) -> tuple[FloatArray, FloatArray]:
    """The rows and answers as float64. Raises InvalidArgument for anything outside what the proofs cover.

    Rows have ‖x‖₂ ≤ 1; answers are −1 or 1 for logistic loss and within [−1, 1] otherwise.
    """
    rows = finite_matrix(at_least=2, X=X)
    answers = finite_vector(y=y)
    if answers.shape[0] != rows.shape[0]:
        raise InvalidArgument("y", "must have one entry for every row of X")
    if float(np.einsum("ij,ij->i", rows, rows).max()) > (1.0 + NORM_SLACK) ** 2:
        raise InvalidArgument("X", "must have rows of length at most 1: scale them by public bounds first")
    if loss.answers == "two_classes" and not np.isin(answers, (-1.0, 1.0)).all():
        raise InvalidArgument("y", "must be −1 or 1 everywhere for logistic loss")
    if float(np.abs(answers).max()) > 1.0 + NORM_SLACK:
        raise InvalidArgument("y", "must lie between −1 and 1: scale it by public bounds first")
    return rows, answers


def checked_classes(X: FloatArray, y: FloatArray, classes: int) -> tuple[FloatArray, FloatArray]:
    """As ``checked_rows``, where answers are the numbers of ``classes`` from 0. Raises InvalidArgument."""
    answers = finite_vector(y=y)
    rows, _ = checked_rows(X, np.zeros(answers.size), SQUARED)
    if not np.isin(answers, np.arange(classes)).all():
        raise InvalidArgument("y", "must be the numbers of classes from 0")
    return rows, answers


def no_delta(delta: float) -> None:
    """Raises InvalidArgument unless ``delta`` is 0: a pure method has no use for one."""
    if in_range(0.0, 1.0, open_high=True, delta=delta) > 0.0:
        raise InvalidArgument("delta", "must be 0: this method is ε-differentially private without it")


def projected(weights: FloatArray, radius: float) -> FloatArray:
    """``weights`` (replicas, d) moved to the nearest point of the ball of ``radius``: costs no privacy."""
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    return np.asarray(weights * np.minimum(1.0, positive(radius=radius) / np.maximum(lengths, 1e-300)))


def excess_risk(fit: Fit, X: FloatArray, y: FloatArray, radius: float | None = None) -> FloatArray:
    """Mean loss of each model minus the smallest possible on these rows, shape (replicas,), at least 0.

    Over the ball of ``radius``, into which models are moved first; over all weights unless given. Rates and bounds
    hold over a ball only: without one the best model may be as long as it likes. The smallest is found by
    ``minimise`` to its stated gradient norm.
    """
    rows, answers = checked_rows(X, y, fit.loss)
    best = minimise(fit.loss, rows, answers, radius=radius).objective
    weights = fit.weights if radius is None else projected(fit.weights, radius)
    return np.maximum(objective(fit.loss, weights, rows, answers) - best, 0.0)


def accuracy(fit: Fit, X: FloatArray, y: FloatArray) -> FloatArray:
    """Share of rows whose side of 0 each model gets right, shape (replicas,); y is −1 or 1."""
    return np.asarray(told_right(fit, X, y).mean(axis=0))


def told_right(fit: Fit, X: FloatArray, y: FloatArray) -> BoolArray:
    """Of which rows each model gets the side of 0 right, shape (rows, replicas); y is −1 or 1."""
    rows, answers = finite_matrix(X=X), finite_vector(y=y)
    if answers.shape[0] != rows.shape[0]:
        raise InvalidArgument("y", "must have one entry for every row of X")
    if not np.isin(answers, (-1.0, 1.0)).all():
        raise InvalidArgument("y", "must be −1 or 1 everywhere to count right answers")
    margins = rows.astype(np.float32) @ fit.weights.T.astype(np.float32)
    return np.asarray((margins > 0.0) == (answers[:, None] > 0.0))


def mean_squared_error(fit: Fit, X: FloatArray, y: FloatArray) -> FloatArray:
    """Mean of (xᵀw − y)² for each model, shape (replicas,), predictions moved into [−1, 1] first."""
    rows, answers = finite_matrix(X=X), finite_vector(y=y)
    if answers.shape[0] != rows.shape[0]:
        raise InvalidArgument("y", "must have one entry for every row of X")
    predicted = np.clip(rows @ fit.weights.T, -1.0, 1.0)
    return np.asarray(((predicted - answers[:, None]) ** 2).mean(axis=0))
