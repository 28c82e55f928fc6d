"""The exponential mechanism over a ball of weights: the lecture's algorithm, exact on a grid in up to 3 dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, checked, checked_rows, no_delta
from dpcore.training.losses import LOGISTIC, Loss, objective
from dpcore.training.theory import ball_bound
from dpcore.validate import FloatArray, Neighbours, one_of, positive, whole

if TYPE_CHECKING:
    from numpy.random import Generator

MOST_DIMENSIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """Weights w of the ball ‖w‖ ≤ ``radius`` with chance ∝ exp(−a Σ loss(w)), on a grid that no data decides.

    ε-DP, a = ε/s when a row is added or removed, ε/(2s) when one is replaced, with s how far one row's loss can vary
    over the ball (``loss.spread``; up to 2GR for a G-Lipschitz loss, not GR). Bassily, Smith & Thakurta, FOCS 2014;
    McSherry & Talwar, FOCS 2007. A grid fixed in advance costs no privacy; it adds at most slope × half a cell's
    diagonal to the loss. Only for d ≤ 3: in higher dimensions the law cannot be drawn from exactly, and a sampler
    that is off by τ in total variation would add (1 + e^ε)τ of δ. ``points`` is about how many the grid has. Raises
    InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> round(float(Ball(epsilon=1.0).probabilities(X, y).sum()), 6)
    1.0
    """

    key: ClassVar[str] = "ball"
    rank: ClassVar[int] = 85
    most_columns: ClassVar[int] = MOST_DIMENSIONS
    about: ClassVar[About] = About(
        name="Exponential mechanism over the ball",
        plain="a weighted draw among models, better ones far likelier",
        how=(
            "Thousands of models are laid out in advance. One is drawn at random, with a chance that shrinks "
            "exponentially with its total loss. Only for models with up to three weights."
        ),
        formula=r"\Pr[w] \propto e^{-a \sum_i \ell_i(w)}",
        source="Bassily, Smith and Thakurta, FOCS 2014; McSherry and Talwar, FOCS 2007.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared", "absolute", "distance")

    epsilon: float
    delta: float = 0.0
    loss: Loss = LOGISTIC
    radius: float = 1.0
    points: int = 8000
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        no_delta(self.delta)
        positive(radius=self.radius)
        whole(2, points=self.points)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        if self.loss.ridge != 0.0:
            raise InvalidArgument("loss", "must have no ridge here: the ball keeps the weights small")

    @property
    def slope(self) -> float:
        """a: logits per unit of the summed loss."""
        halves = 1 if self.neighbours == "add_remove" else 2
        return self.epsilon / (halves * self.loss.spread(self.radius))

    @property
    def cost(self) -> Cost:
        return Cost.bounded_range(self.epsilon)

    def candidates(self, d: int) -> FloatArray:
        """The grid's points inside the ball, shape (m, d). Raises InvalidArgument for d > 3."""
        if d > MOST_DIMENSIONS:
            raise InvalidArgument(
                "X", f"must have at most {MOST_DIMENSIONS} columns for the exponential mechanism over the ball"
            )
        return self.radius * _grid(d, self.points)

    def probabilities(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """The exact chance of every candidate, shape (m,)."""
        rows, answers = checked_rows(X, y, self.loss)
        return _law(self, rows.shape[0] * objective(self.loss, self.candidates(rows.shape[1]), rows, answers))

    def expected_excess(self, X: FloatArray, y: FloatArray, minimum: float, n: float | None = None) -> float:
        """Expected mean loss above ``minimum``, exact, for ``n`` rows spread like these."""
        rows, answers = checked_rows(X, y, self.loss)
        losses = objective(self.loss, self.candidates(rows.shape[1]), rows, answers)
        return float(_law(self, (rows.shape[0] if n is None else n) * losses) @ losses) - minimum

    def excess_bound(self, n: int, d: int, beta: float = 0.05) -> float:
        """What theory promises: with chance 1 − β the mean loss over the whole ball's minimum is at most this.

        (s/2)(r + t), r = 2d/(nε), t = (2/(nε))(d ln(nε/d) + ln(1/β)), ε halved when a row is replaced; s/2 is GR at
        worst. Infinite unless nε ≥ d. For the continuous ball; the grid adds its half cell.
        """
        halves = 1.0 if self.neighbours == "add_remove" else 2.0
        return float(ball_bound(n, d, self.epsilon, beta, self.loss.spread(self.radius), halves))

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), d ≤ 3, ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings: the grid's losses are computed once for each loss, radius and grid."""
        totals: dict[tuple[Loss, float, int], FloatArray] = {}
        found = []
        for method in methods:
            rows, answers = checked(X, y, method.loss, rng, replicas)
            candidates = method.candidates(rows.shape[1])
            which = (method.loss, method.radius, method.points)
            if which not in totals:
                totals[which] = rows.shape[0] * objective(method.loss, candidates, rows, answers)
            below = np.cumsum(_law(method, totals[which]))
            chosen = np.searchsorted(below, rng.random(replicas) * below[-1], side="right")
            weights = candidates[np.minimum(chosen, candidates.shape[0] - 1)]
            found.append(Fit(weights=weights, loss=method.loss, method=cls.key, cost=method.cost))
        return found


def _law(method: Ball, totals: FloatArray) -> FloatArray:
    chances = np.exp(-method.slope * (totals - totals.min()))
    return np.asarray(chances / chances.sum())


@lru_cache(maxsize=16)
def _grid(d: int, points: int) -> FloatArray:
    """About ``points`` points of the unit ball, in a square lattice that has 0 among them, shape (m, d)."""
    volume = {1: 2.0, 2: math.pi, 3: 4.0 * math.pi / 3.0}[d]
    half = max(1, round(0.5 * points ** (1.0 / d) * (2.0**d / volume) ** (1.0 / d)))
    axis = np.arange(-half, half + 1) / half
    lattice = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    kept = lattice[(lattice**2).sum(axis=1) <= 1.0 + 1e-12]
    kept.setflags(write=False)
    return np.asarray(kept)
