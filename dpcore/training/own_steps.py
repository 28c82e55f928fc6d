"""Noisy descent where every model first finds something of its own in the rows, for a share of the budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.training.fit import Fit
from dpcore.training.scaled_steps import ScaledSteps
from dpcore.training.steps_method import OwnRows, StepsMethod
from dpcore.validate import FloatArray

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSteps(StepsMethod[OwnRows]):
    """``ScaledSteps`` after something that every model finds for itself in rows of the type ``finds_in``.

    On any other rows there is nothing to find: there it is ``ScaledSteps``.
    """

    finds_in: ClassVar[type[Any]]

    def free(self) -> ScaledSteps:
        """The same with nothing to find."""
        return ScaledSteps(**self.settings)

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray | OwnRows, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several ε. Weights are of all that could be found: each model finds its own."""
        rows: Any = X
        if not isinstance(rows, cls.finds_in):
            free = ScaledSteps.fit_all([method.free() for method in methods], rows, y, rng, replicas)
            return [replace(fit, method=cls.key) for fit in free]
        return [
            Fit(
                weights=np.stack([method.model(rows, y, rng) for _ in range(replicas)]),
                loss=method.loss,
                method=cls.key,
                cost=method.cost,
            )
            for method in methods
        ]

    @abstractmethod
    def model(self, rows: OwnRows, y: FloatArray, rng: Generator) -> FloatArray:
        """One model's weights of all that could be found, (d,) or (d, classes). Raises InvalidArgument."""
