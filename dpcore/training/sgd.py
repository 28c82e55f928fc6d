"""Noisy mini-batches: Poisson samples (DP-SGD), and disjoint batches by parallel composition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import gaussian_noise_multiplier, sampled_gaussian_noise_multiplier
from dpcore.events import GaussianEvent, SampledGaussianEvent
from dpcore.training.batches import BatchSums, Rows, disjoint_batches, poisson_batches
from dpcore.training.descent import descend, step_length
from dpcore.training.fit import Fit, checked
from dpcore.training.gradient_sums import Single
from dpcore.training.losses import LOGISTIC, Loss, linear
from dpcore.validate import FloatArray, Neighbours, in_range, one_of, positive, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator

_TOGETHER = 1 << 21  # rows × models whose batches are drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class DpSgd:
    """Each step takes every row with chance ``sampling_rate``, clips their gradients, adds noise to the sum.

    (ε, δ)-DP in total by the privacy loss distribution of the Poisson-sampled Gaussian, rounded up. Abadi et al.,
    CCS 2016. The amplification holds for Poisson samples only, never for shuffled or fixed-size batches. Every
    replica draws batches of its own. n is public. Raises InvalidArgument.

    >>> method = DpSgd(epsilon=1.0, delta=1e-5)
    >>> method.cost.epsilon, method.cost.delta
    (1.0, 1e-05)
    """

    key: ClassVar[str] = "dp_sgd"
    rank: ClassVar[int] = 30
    about: ClassVar[About] = About(
        name="DP-SGD (random mini-batches)",
        plain="many noisy steps, each on a few rows drawn at random",
        how=(
            "Every step takes a few rows drawn at random, cuts what each of them says to a fixed length, adds noise "
            "to the sum, and takes one step. Nobody knows who was drawn, and that counts as protection too."
        ),
        formula=(
            r"w \leftarrow w - \tfrac{\eta}{qn}\Bigl(\sum_{i \in B} g_i \min\bigl(1, \tfrac{C}{\|g_i\|}\bigr) + N(0, "
            r"C^2\sigma^2 I)\Bigr)"
        ),
        source="Abadi et al., CCS 2016.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared", "absolute")

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    sampling_rate: float = 0.05
    steps: int = 200
    clip: float = 0.5
    rate: float | None = None
    momentum: float = 0.9
    tail: float = 0.5
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        in_range(0.0, 1.0, open_low=True, sampling_rate=self.sampling_rate)
        whole(1, steps=self.steps)
        positive(clip=self.clip)
        in_range(0.0, 1.0, open_high=True, momentum=self.momentum)
        in_range(0.0, 1.0, open_low=True, tail=self.tail)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        linear(self.loss)
        if self.rate is not None:
            positive(rate=self.rate)

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation of each step's noise over ``clip``."""
        # losses on a grid in proportion to ε: σ within 0.1 % at any ε, and quick
        return sampled_gaussian_noise_multiplier(
            self.epsilon, self.delta, self.sampling_rate, self.steps, self.neighbours, grid=2e-3 * self.epsilon
        )

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each step's noise on the sum of a batch's gradients."""
        return self.clip * self.noise_multiplier

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            event=SampledGaussianEvent(
                noise_multiplier=self.noise_multiplier,
                sampling_rate=self.sampling_rate,
                count=self.steps,
                neighbours=self.neighbours,
            ),
        )

    def step_length(self, n: int) -> float:
        """The learning rate for n rows: ``rate`` where given, else the rule of ``descent.step_length``."""
        if self.rate is not None:
            return self.rate
        whole_run = self.noise_scale / self.sampling_rate / self.steps**0.5
        return step_length(linear(self.loss), n, whole_run, self.steps, self.momentum)

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings, one after the other: nothing may be shared between them."""

        return [method._fit(X, y, rng, replicas) for method in methods]

    def _fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int) -> Fit:
        def batches(n: int, models: int) -> Iterator[Rows]:
            return poisson_batches(n, self.sampling_rate, self.steps, models, rng)

        return _fit(self, batches, self.sampling_rate, X, y, rng, replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisjointBatches:
    """Every person is in one batch, drawn once; an epoch goes through all batches and costs a single step.

    (ε, δ)-DP in total, exactly: batches are disjoint, so a person meets one Gaussian release an epoch (parallel
    composition, McSherry, SIGMOD 2009), and E epochs are E of them. The batch a person is in never depends on others,
    so batch sizes vary; sums are divided by the public n/batches. Raises InvalidArgument.

    >>> method = DisjointBatches(epsilon=1.0, delta=1e-5)
    >>> method.cost.epsilon, method.cost.delta
    (1.0, 1e-05)
    """

    key: ClassVar[str] = "disjoint_batches"
    rank: ClassVar[int] = 40
    about: ClassVar[About] = About(
        name="Disjoint mini-batches",
        plain="noisy steps, each on its own share of the rows",
        how=(
            "The rows are dealt once into separate shares. Every step looks at one share only, so going through all "
            "of them costs as much privacy as one step."
        ),
        source="Parallel composition: McSherry, SIGMOD 2009.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared", "absolute")

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    batches: int = 5
    epochs: int = 20
    clip: float = 0.5
    rate: float | None = None
    momentum: float = 0.9
    tail: float = 0.5
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        whole(1, batches=self.batches)
        whole(1, epochs=self.epochs)
        positive(clip=self.clip)
        in_range(0.0, 1.0, open_high=True, momentum=self.momentum)
        in_range(0.0, 1.0, open_low=True, tail=self.tail)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        linear(self.loss)
        if self.rate is not None:
            positive(rate=self.rate)

    @property
    def steps(self) -> int:
        return self.batches * self.epochs

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation of each step's noise over ``sensitivity``."""
        return gaussian_noise_multiplier(self.epsilon, self.delta, self.epochs)

    @property
    def sensitivity(self) -> float:
        """How far one person can move the sums of an epoch, in L2; replaced, a person keeps the place of their row."""
        return self.clip * (1 if self.neighbours == "add_remove" else 2)

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each step's noise on the sum of a batch's gradients."""
        return self.sensitivity * self.noise_multiplier

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.epochs / (2.0 * self.noise_multiplier**2),
            event=GaussianEvent(noise_multiplier=self.noise_multiplier, count=self.epochs),
        )

    def step_length(self, n: int) -> float:
        """The learning rate for n rows: ``rate`` where given, else the rule of ``descent.step_length``."""
        if self.rate is not None:
            return self.rate
        whole_run = self.noise_scale * (self.batches / self.epochs) ** 0.5
        return step_length(linear(self.loss), n, whole_run, self.steps, self.momentum)

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings, one after the other: nothing may be shared between them."""

        return [method._fit(X, y, rng, replicas) for method in methods]

    def _fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int) -> Fit:
        def batches(n: int, models: int) -> Iterator[Rows]:
            return disjoint_batches(n, self.batches, self.epochs, models, rng)

        return _fit(self, batches, 1.0 / self.batches, X, y, rng, replicas)


def _fit(
    method: DpSgd | DisjointBatches,
    batches: Callable[[int, int], Iterator[Rows]],
    share: float,
    X: FloatArray,
    y: FloatArray,
    rng: Generator,
    replicas: int,
) -> Fit:
    rows, answers = checked(X, y, method.loss, rng, replicas)
    n, d = rows.shape
    sums = BatchSums(linear(method.loss), rows, answers, method.clip)
    together = max(1, _TOGETHER // n)
    parts = []
    for start in range(0, replicas, together):
        models = min(together, replicas - start)
        drawn = batches(n, models)

        def batch_sums(weights: Single, step: int, drawn: Iterator[Rows] = drawn) -> Single:
            return sums(weights, next(drawn))

        parts.append(
            descend(
                batch_sums,
                d=d,
                n=share * n,
                noise=np.full(models, method.noise_scale),
                rate=np.full(models, method.step_length(n)),
                steps=method.steps,
                momentum=method.momentum,
                tail=method.tail,
                ridge=method.loss.ridge,
                radius=None,
                rng=rng,
            )
        )
    return Fit(weights=np.concatenate(parts), loss=method.loss, method=method.key, cost=method.cost)
