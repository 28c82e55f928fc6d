"""Output perturbation: find the best model with a ridge, then add noise to its weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.training.fit import Fit, checked
from dpcore.training.losses import LOGISTIC, Logistic, Loss, Squared
from dpcore.training.pure_perturbation import gamma_vectors
from dpcore.training.tilted import tilted_minima
from dpcore.validate import FloatArray, Neighbours, in_range, one_of, positive

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPerturbation:
    """argmin Σ loss + (λ/2)‖w‖² plus noise on the weights.

    One person moves that minimum by at most L/λ, 2L/λ when replaced, with L the slope of the loss. Chaudhuri,
    Monteleoni & Sarwate, JMLR 2011. Gaussian noise, (ε, δ)-DP exactly; with ``delta`` 0 noise of density
    ∝ exp(−ε‖z‖λ/L), ε-DP. Squared loss is minimised over ‖w‖ ≤ ``radius``, where its slope is at most 1 + radius.
    ``ridge`` is λ; None balances ridge against noise (``ridge_for``). Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = OutputPerturbation(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "output_perturbation"
    rank: ClassVar[int] = 80
    about: ClassVar[About] = About(
        name="Output perturbation",
        plain="the best model, then noise on its weights",
        how=(
            "The best model is found, kept from leaning on any single row by a penalty on large weights. Then noise "
            "is added to the weights themselves."
        ),
        formula=(r"\arg\min_w \sum_i \ell_i(w) + \tfrac{\lambda}{2}\|w\|^2 \; + \; \text{noise} \propto L/\lambda"),
        source="Chaudhuri, Monteleoni and Sarwate, JMLR 2011.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared")

    epsilon: float
    delta: float = 0.0
    loss: Loss = LOGISTIC
    ridge: float | None = None
    radius: float = 1.0
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        in_range(0.0, 1.0, open_high=True, delta=self.delta)
        positive(radius=self.radius)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        if not isinstance(self.loss, Logistic | Squared) or self.loss.ridge != 0.0:
            raise InvalidArgument(
                "loss", "must be logistic or squared here, without a ridge of its own: the method adds one"
            )
        if self.ridge is not None:
            positive(ridge=self.ridge)

    @property
    def slope(self) -> float:
        """How far one person can move the minimum, times λ."""
        return self.loss.lipschitz(self.radius) * (1 if self.neighbours == "add_remove" else 2)

    def _spread(self, d: int) -> float:
        """Standard deviation of one entry of the noise, over ``slope``/λ."""
        if self.delta == 0.0:
            return math.sqrt(d + 1) / self.epsilon
        return gaussian_noise_multiplier(self.epsilon, self.delta)

    def ridge_for(self, n: int, d: int) -> float:
        """λ for n rows of d columns: ``ridge``, or a fixed rule from these public numbers.

        A ridge costs about λ‖w‖²/(2n) of loss, noise of deviation s = slope × spread/λ about s² × curvature/2: their
        sum is smallest at λ ∝ (n (slope × spread)²)^(1/3).
        """
        if self.ridge is not None:
            return self.ridge
        curvature = 1.0 if isinstance(self.loss, Squared) else 0.25
        return 0.25 * math.cbrt(4.0 * curvature * n * (self.slope * self._spread(d)) ** 2)

    def noise_scale_for(self, ridge: float) -> float:
        """Standard deviation of each weight's Gaussian noise; with ``delta`` 0 the scale of its gamma length."""
        sensitivity = self.slope / ridge
        if self.delta == 0.0:
            return sensitivity / self.epsilon
        return sensitivity * gaussian_noise_multiplier(self.epsilon, self.delta)

    @property
    def cost(self) -> Cost:
        if self.delta == 0.0:
            return Cost.pure(self.epsilon)
        multiplier = gaussian_noise_multiplier(self.epsilon, self.delta)
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=1.0 / (2.0 * multiplier**2),
            event=GaussianEvent(noise_multiplier=multiplier),
        )

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings; the minimum of each is found once for all replicas."""
        found = []
        logistic = [method for method in methods if isinstance(method.loss, Logistic)]
        rows, answers = checked(X, y, methods[0].loss, rng, replicas)
        n, d = rows.shape
        centres: dict[float, FloatArray] = {}
        if logistic:
            ridges = np.unique([method.ridge_for(n, d) for method in logistic])
            minima = tilted_minima(rows, answers, ridges, np.zeros((ridges.size, d))).weights
            centres = dict(zip(ridges.tolist(), minima, strict=True))
        square, cross = rows.T @ rows, rows.T @ answers
        for method in methods:
            ridge = method.ridge_for(n, d)
            squared = isinstance(method.loss, Squared)
            centre = ridge_in_ball(square, cross, ridge, method.radius) if squared else centres[ridge]
            scale = method.noise_scale_for(ridge)
            if method.delta == 0.0:
                noise = gamma_vectors(scale, d, rng, replicas)
            else:
                noise = scale * rng.standard_normal((replicas, d))
            found.append(Fit(weights=centre + noise, loss=method.loss, method=cls.key, cost=method.cost))
        return found


def ridge_in_ball(square: FloatArray, cross: FloatArray, ridge: float, radius: float) -> FloatArray:
    """argmin of ½wᵀ``square``w − ``cross``ᵀw + (ridge/2)‖w‖² over ‖w‖ ≤ radius, shape (d,).

    Outside the ball the constraint acts as a larger ridge, found by bisection on its logarithm.
    """
    sizes, basis = np.linalg.eigh(square)
    pull = basis.T @ cross
    sizes = np.maximum(sizes, 0.0)

    def length(at: float) -> float:
        return float(np.linalg.norm(pull / (sizes + at)))

    low = high = ridge
    if length(low) > radius:
        while length(high) > radius:
            high *= 4.0
        for _ in range(200):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if length(middle) > radius else (low, middle)
    return np.asarray(basis @ (pull / (sizes + high)))
