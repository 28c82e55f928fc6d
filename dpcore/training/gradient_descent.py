"""Noisy gradient descent on all rows at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.training.descent import descend, step_length
from dpcore.training.fit import Fit, checked
from dpcore.training.gradient_sums import GradientSums
from dpcore.training.losses import LOGISTIC, Loss, linear
from dpcore.validate import FloatArray, Neighbours, in_range, one_of, positive, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyGradientDescent:
    """Every step adds Gaussian noise to the sum of clipped gradients; momentum, and the last iterates averaged.

    (ε, δ)-DP in total, exactly: T Gaussian releases of L2 sensitivity ``clip`` (twice that when one row is replaced)
    are one with noise T^(−1/2) as large, and its ε is closed form (Balle & Wang, ICML 2018). Bassily, Smith &
    Thakurta, FOCS 2014; Song, Chaudhuri & Sarwate, GlobalSIP 2013. n is public.

    ``clip`` is the longest a row's gradient may be; None leaves gradients alone where the loss itself bounds them
    (squared loss: only with ``radius``, the ball the weights stay in, where its gradients are at most 1 + radius and
    XᵀX replaces the rows). ``rate`` None is ``step_length``. Raises InvalidArgument.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> fit = NoisyGradientDescent(epsilon=1.0, delta=1e-5).fit(X, y, np.random.default_rng(0), replicas=5)
    >>> fit.weights.shape, fit.cost.epsilon, fit.cost.delta
    ((5, 1), 1.0, 1e-05)
    """

    key: ClassVar[str] = "noisy_gradient_descent"
    rank: ClassVar[int] = 10
    about: ClassVar[About] = About(
        name="Noisy gradient descent",
        plain="many small noisy steps towards a better model",
        how=(
            "Start at zero. At every step each row says which way would help it; long answers are cut to a fixed "
            "length, so that no one counts for much; noise is added to their sum; then one step is taken. What is "
            "released is an average of the last steps."
        ),
        formula=(
            r"\begin{aligned}w \leftarrow w - \tfrac{\eta}{n}\Bigl(&\sum_i g_i \min\bigl(1, \tfrac{C}{\|g_i\|}\bigr) "
            r"\\ &+ N(0, C^2 T \sigma^2 I)\Bigr)\end{aligned}"
        ),
        source=(
            "Bassily, Smith and Thakurta, FOCS 2014; Song, Chaudhuri and Sarwate, GlobalSIP 2013; T Gaussian steps "
            "are exactly one Gaussian release (Balle and Wang, ICML 2018)."
        ),
        release="model",
    )
    pure: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("logistic", "squared", "absolute")

    epsilon: float
    delta: float
    loss: Loss = LOGISTIC
    steps: int = 100
    clip: float | None = 0.5
    rate: float | None = None
    momentum: float = 0.9
    tail: float = 0.5
    radius: float | None = None
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        whole(1, steps=self.steps)
        in_range(0.0, 1.0, open_high=True, momentum=self.momentum)
        in_range(0.0, 1.0, open_low=True, tail=self.tail)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        for name in ("clip", "rate", "radius"):
            value = getattr(self, name)
            if value is not None:
                positive(**{name: value})
        steepest = linear(self.loss).lipschitz(np.inf)
        if self.clip is None and self.radius is None and steepest == np.inf:
            raise InvalidArgument("clip", "is needed: without it or a radius one row can pull the model without limit")

    @property
    def sensitivity(self) -> float:
        """How far one person can move the sum of clipped gradients, in L2."""
        bound = linear(self.loss).lipschitz(np.inf if self.radius is None else self.radius)
        return min(bound, np.inf if self.clip is None else self.clip) * (1 if self.neighbours == "add_remove" else 2)

    @property
    def noise_multiplier(self) -> float:
        """Standard deviation of each step's noise over ``sensitivity``."""
        return gaussian_noise_multiplier(self.epsilon, self.delta, self.steps)

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each step's noise on the sum of gradients."""
        return self.sensitivity * self.noise_multiplier

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.steps / (2.0 * self.noise_multiplier**2),
            event=GaussianEvent(noise_multiplier=self.noise_multiplier, count=self.steps),
        )

    def step_length(self, n: int) -> float:
        """The learning rate for n rows: ``rate`` where given, else the rule of ``descent.step_length``."""
        if self.rate is not None:
            return self.rate
        whole_run = self.noise_scale / self.steps**0.5
        return step_length(linear(self.loss), n, whole_run, self.steps, self.momentum)

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private models of rows X (n, d), ‖x‖ ≤ 1, and answers y (n,)."""
        return self.fit_all([self], X, y, rng, replicas)[0]

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings at once: those that differ only in noise and rate share every product."""
        groups: dict[tuple[object, ...], list[int]] = {}
        for index, method in enumerate(methods):
            shape = (method.loss, method.steps, method.clip, method.momentum, method.tail, method.radius)
            groups.setdefault(shape, []).append(index)
        found: dict[int, Fit] = {}
        for members in groups.values():
            first = methods[members[0]]
            rows, answers = checked(X, y, first.loss, rng, replicas)
            sums = GradientSums(linear(first.loss), rows, answers, first.clip)
            n = rows.shape[0]
            weights = descend(
                sums,
                d=rows.shape[1],
                n=n,
                noise=np.repeat([methods[index].noise_scale for index in members], replicas),
                rate=np.repeat([methods[index].step_length(n) for index in members], replicas),
                steps=first.steps,
                momentum=first.momentum,
                tail=first.tail,
                ridge=first.loss.ridge,
                radius=first.radius,
                rng=rng,
            )
            for place, index in enumerate(members):
                own = weights[place * replicas : (place + 1) * replicas]
                found[index] = Fit(weights=own, loss=methods[index].loss, method=cls.key, cost=methods[index].cost)
        return [found[index] for index in range(len(methods))]
