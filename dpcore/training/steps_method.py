"""What every descent on steps is set by, whatever else its budget buys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from dpcore.accounting import Cost
from dpcore.training.fit import Fit
from dpcore.training.losses import LOGISTIC, Loss
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.validate import FloatArray, Neighbours

if TYPE_CHECKING:
    from numpy.random import Generator

OwnRows = TypeVar("OwnRows")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsMethod(ABC, Generic[OwnRows]):
    """Noisy descent on ``OwnRows``, or on plain rows X (n, d) with ‖x‖ ≤ 1: (ε, δ)-DP in total for ``neighbours``.

    A method fills in ``key``, ``rank`` and ``about``, says by ``descent`` what it spends, and trains by ``fit_all``.
    """

    key: ClassVar[str]
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared")
    coded: ClassVar[bool] = True
    several: ClassVar[bool] = True

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    steps: int = 200
    clip: float | None = None
    momentum: float = 0.9
    tail: float = 0.5
    classes: int = 2
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        self.descent()

    @abstractmethod
    def descent(self) -> ScaledDescent:
        """What trains, the same for any number of classes, with what it all costs. Raises InvalidArgument."""

    @property
    def settings(self) -> dict[str, Any]:
        """What all of these methods are set by."""
        return {field.name: getattr(self, field.name) for field in fields(StepsMethod)}

    @property
    def cost(self) -> Cost:
        return self.descent().cost

    def fit(self, X: FloatArray | OwnRows, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X and answers y (n,). Raises InvalidArgument."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    @abstractmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray | OwnRows, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several ε at once."""
