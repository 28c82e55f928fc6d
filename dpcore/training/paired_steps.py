"""Scaled noisy descent on steps with pairs of columns that a private choice finds, for a stated share of the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.training.choosing_pairs import CHOSEN, PAIRS_SHARE, chosen_places
from dpcore.training.fit import Fit
from dpcore.training.losses import LOGISTIC, Loss
from dpcore.training.pairable import PairableRows
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.training.scaled_steps import ScaledSteps
from dpcore.validate import FloatArray, Neighbours, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSteps:
    """``ScaledSteps`` with ``many`` pairs of columns, the choice of which ``pairs_share`` of 1/σ² buys.

    (ε, δ)-DP in total, exactly: ``ScaledDescent`` counts the choice among its Gaussian releases, and ``chosen_places``
    is one of multiplier σ/√share: a first model, a noisy sum of squares, and draws of bounded range by the exponential
    mechanism. Where a ``Sweep`` has its rows as ``PairableRows`` each model chooses its own pairs. Plain rows X have no
    columns to pair: there it is ``ScaledSteps``. Raises InvalidArgument.

    >>> PairedSteps(epsilon=1.0, delta=1e-5).descent().pairs_share
    0.25
    """

    key: ClassVar[str] = "paired_steps"
    rank: ClassVar[int] = 17
    about: ClassVar[About] = About(
        name="Noisy descent on bought pairs",
        plain="points for ranges and options, and for three pairs found privately",
        how=(
            "A quarter of the budget buys which columns act together: a first, rougher model says of everybody what "
            "single columns get wrong, and for every pair of columns it is added up where in their table these errors "
            "pile up. Three pairs are drawn by the exponential mechanism, the largest piles most likely, and get "
            "points for every cell. Worth it where there are many people and columns that matter only together; "
            "pairs that a person names from knowledge cost nothing."
        ),
        formula=(
            r"P(p) \propto \exp\Bigl(\tfrac{\varepsilon_0}{2\Delta} \sum_{c \in p} "
            r"\bigl(\bigl\|\textstyle\sum_{i \in c} r_i\bigr\| - t\bigr)_+\Bigr)"
        ),
        source=(
            "The exponential mechanism is McSherry and Talwar, FOCS 2007; its bounded range is Dong, Durfee and "
            "Rogers, ICML 2020; Gaussian releases add up exactly (Dong, Roth and Su, JRSS B 2022)."
        ),
        release="paired_model",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared")
    coded: ClassVar[bool] = True
    several: ClassVar[bool] = True
    paired: ClassVar[bool] = True

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    steps: int = 200
    clip: float | None = None
    momentum: float = 0.9
    tail: float = 0.5
    classes: int = 2
    many: int = CHOSEN
    pairs_share: float = PAIRS_SHARE
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        probability(pairs_share=self.pairs_share)
        whole(1, many=self.many)
        self.descent()

    def without(self) -> ScaledSteps:
        """The same without buying pairs."""
        return ScaledSteps(
            epsilon=self.epsilon,
            delta=self.delta,
            loss=self.loss,
            steps=self.steps,
            clip=self.clip,
            momentum=self.momentum,
            tail=self.tail,
            classes=self.classes,
            neighbours=self.neighbours,
        )

    def descent(self) -> ScaledDescent:
        """What trains, with what it all costs."""
        return replace(self.without().descent(), pairs_share=self.pairs_share)

    @property
    def cost(self) -> Cost:
        return self.descent().cost

    def fit(self, X: FloatArray | PairableRows, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, or pairable ones, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray | PairableRows, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several ε. Weights of pairable rows are of all that could be: each model has its own pairs."""
        if not isinstance(X, PairableRows):
            free = ScaledSteps.fit_all([method.without() for method in methods], X, y, rng, replicas)
            return [replace(fit, method=cls.key) for fit in free]
        return [
            Fit(
                weights=np.stack([method._model(X, y, rng) for _ in range(replicas)]),
                loss=method.loss,
                method=cls.key,
                cost=method.cost,
            )
            for method in methods
        ]

    def _model(self, rows: PairableRows, y: FloatArray, rng: Generator) -> FloatArray:
        """One model's weights of all that could be, (d,) or (d, classes)."""
        descent = self.descent()
        chosen = chosen_places(descent, rows, y, many=self.many, rng=rng)
        fit = descent.fit(rows.with_pairs(chosen), y, rng)
        weights = rows.spread(fit.weights[0] * fit.factors[0], chosen)
        return weights[:, 0] if weights.shape[1] == 1 else weights
