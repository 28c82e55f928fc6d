"""Objective perturbation: add a random tilt to the loss, release the exact minimum.

Released is argmin Σ ln(1 + exp(−yᵢ xᵢᵀθ)) + (λ/2)‖θ‖² + bᵀθ with a random b. Two proofs with a Gaussian tilt here, the
one without δ in ``pure_perturbation``. They need the exact minimum (``tilted_minima``), a smooth loss, and a ridge λ
that is part of the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy.special import log_ndtr

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import solve
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, Method, checked
from dpcore.training.losses import LOGISTIC, Logistic, Loss
from dpcore.training.tilted import tilted_minima
from dpcore.validate import FloatArray, Neighbours, positive, probability

if TYPE_CHECKING:
    from numpy.random import Generator

CURVATURE = Logistic.smoothness


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectivePerturbation:
    """Gaussian tilt with the smallest standard deviation that the tight privacy profile allows.

    (ε, δ)-DP, add/remove: the privacy loss is at most c + |z| with z ~ N(0, 1/σ²), where c = 1/(2σ²) + ln(1 + ¼/λ)
    holds the change of volume, so δ(ε) = E(1 − e^{ε−c−|z|})₊. Redberg, Koskela & Wang, NeurIPS 2023. ``ridge`` is λ;
    None spends a tenth of ε on the change of volume, λ = ¼/(e^{ε/10} − 1), a rule chosen on a validation part of
    training rows of the census data. Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = ObjectivePerturbation(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "objective_perturbation"
    rank: ClassVar[int] = 20
    about: ClassVar[About] = About(
        name="Objective perturbation",
        plain="the best model for a randomly tilted goal",
        how=(
            "A random tilt is added to what training makes small, and the best model for the tilted goal is found. "
            "The tilt hides what any one row did. This version needs the least noise that can be proved."
        ),
        formula=(r"\arg\min_w \sum_i \ell_i(w) + \tfrac{\lambda}{2}\|w\|^2 + b^\top w, \quad b \sim N(0, \sigma^2 I)"),
        source="Redberg, Koskela and Wang, NeurIPS 2023.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic",)
    neighbours: ClassVar[Neighbours] = "add_remove"

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    ridge: float | None = None

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        plain_logistic(self.loss)
        if self.ridge is not None:
            positive(ridge=self.ridge)
            if math.log1p(CURVATURE / self.ridge) >= self.epsilon:
                raise InvalidArgument("ridge", "is too small: the change of volume alone would cost all of epsilon")

    @property
    def used_ridge(self) -> float:
        """λ, on the scale of the sum of losses."""
        return CURVATURE / math.expm1(0.1 * self.epsilon) if self.ridge is None else self.ridge

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each entry of the tilt."""
        return tight_noise_scale(self.epsilon, self.delta, self.used_ridge)

    @property
    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon, delta=self.delta)

    def tilts(self, d: int, rng: Generator, size: int) -> FloatArray:
        """``size`` random tilts b, shape (size, d)."""
        return self.noise_scale * rng.standard_normal((size, d))

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and labels y (n,) in {−1, 1}."""
        return _fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings at once."""
        return _fit_all(methods, X, y, rng, replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectivePerturbation2012:
    """Gaussian tilt with σ² = (8 ln(2/δ) + 4ε)/ε² and λ = ½/ε.

    (ε, δ)-DP, add/remove. Kifer, Smith & Thakurta, COLT 2012, Algorithm 1 and Theorem 2, with λ ≥ 2β/ε at curvature
    β = ¼ and slope 1. ``ridge`` may be larger. Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = ObjectivePerturbation2012(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "objective_perturbation_2012"
    rank: ClassVar[int] = 70
    about: ClassVar[About] = About(
        name="Objective perturbation, 2012 proof",
        plain="a randomly tilted goal, with the noise of an older proof",
        how=(
            "A random tilt is added to what training makes small, and the best model for the tilted goal is found. "
            "The tilt is as large as the first proof asked for, which is more than is needed."
        ),
        formula=(
            r"\sigma^2 = \frac{8 \ln(2/\delta) + 4\varepsilon}{\varepsilon^2}, \quad \lambda = \frac{1}{2\varepsilon}"
        ),
        source="Kifer, Smith and Thakurta, COLT 2012, Algorithm 1 and Theorem 2.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic",)
    neighbours: ClassVar[Neighbours] = "add_remove"

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    ridge: float | None = None

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        plain_logistic(self.loss)
        if self.ridge is not None and positive(ridge=self.ridge) < 2.0 * CURVATURE / self.epsilon:
            raise InvalidArgument("ridge", "must be at least 1/(2 epsilon) for this proof")

    @property
    def used_ridge(self) -> float:
        """λ, on the scale of the sum of losses."""
        return 2.0 * CURVATURE / self.epsilon if self.ridge is None else self.ridge

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each entry of the tilt."""
        return math.sqrt(8.0 * math.log(2.0 / self.delta) + 4.0 * self.epsilon) / self.epsilon

    @property
    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon, delta=self.delta)

    def tilts(self, d: int, rng: Generator, size: int) -> FloatArray:
        """``size`` random tilts b, shape (size, d)."""
        return self.noise_scale * rng.standard_normal((size, d))

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and labels y (n,) in {−1, 1}."""
        return _fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings at once."""
        return _fit_all(methods, X, y, rng, replicas)


def tight_delta(epsilon: float, ridge: float, noise_scale: float) -> float:
    """The δ at ε of a Gaussian tilt of standard deviation ``noise_scale`` with ridge λ; 1 where nothing is proved."""
    spread = 1.0 / noise_scale
    shift = epsilon - (0.5 * spread**2 + math.log1p(CURVATURE / ridge))
    if shift < 0.0:
        return 1.0
    above, below = float(log_ndtr(-shift / spread)), float(log_ndtr(-shift / spread - spread))
    return 2.0 * math.exp(above) * -math.expm1(min(shift + 0.5 * spread**2 + below - above, 0.0))


@lru_cache(maxsize=4096)
def tight_noise_scale(epsilon: float, delta: float, ridge: float) -> float:
    """The smallest ``noise_scale`` at which ``tight_delta`` is at most δ. Raises InvalidArgument."""
    left = epsilon - math.log1p(CURVATURE / ridge)
    least = math.sqrt(0.5 / left)  # below it the bound proves nothing
    return solve(lambda noise: tight_delta(epsilon, ridge, noise), delta, low=least, high=1e9, increasing=False)


def plain_logistic(loss: Loss) -> None:
    """Raises InvalidArgument unless the loss is logistic without a ridge."""
    if not isinstance(loss, Logistic) or loss.ridge != 0.0:
        raise InvalidArgument("loss", "must be logistic here, without a ridge of its own: the method adds one")


def _fit_all(
    methods: Sequence[ObjectivePerturbation | ObjectivePerturbation2012],
    X: FloatArray,
    y: FloatArray,
    rng: Generator,
    replicas: int,
) -> list[Fit]:
    rows, answers = checked(X, y, LOGISTIC, rng, replicas)
    tilts = [method.tilts(rows.shape[1], rng, replicas) for method in methods]
    return solved(methods, [method.used_ridge for method in methods], tilts, rows, answers)


def solved(
    methods: Sequence[Method], ridges: Sequence[float], tilts: Sequence[FloatArray], X: FloatArray, y: FloatArray
) -> list[Fit]:
    """One fit per method from its ridge and its tilts (replicas, d), all minima found together."""
    replicas = tilts[0].shape[0]
    found = tilted_minima(X, y, np.repeat(ridges, replicas), np.concatenate(tilts)).weights
    return [
        Fit(
            weights=found[index * replicas : (index + 1) * replicas],
            loss=LOGISTIC,
            method=method.key,
            cost=method.cost,
        )
        for index, method in enumerate(methods)
    ]
