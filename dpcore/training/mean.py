"""The mean of many numbers: as loss minimisation, and by its better rival.

The numbers are y in [−1, 1]; X is a single column of ones, so that a weight is a guess of the number. Every law here
is exact, and so is the expected excess loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, Method, checked, no_delta
from dpcore.training.losses import SQUARED, Loss, Squared
from dpcore.validate import FloatArray, Neighbours, one_of, positive

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceMean:
    """The sum plus Laplace noise, divided by the public n: ε-DP. Dwork, McSherry, Nissim & Smith, TCC 2006.

    The sum moves by at most 1 when a number is added or removed, 2 when one is replaced.

    >>> import numpy as np
    >>> method = LaplaceMean(epsilon=1.0)
    >>> fit = method.fit(np.ones((3, 1)), np.array([0.5, -0.2, 0.3]), np.random.default_rng(0))
    >>> fit.weights.shape, fit.cost.epsilon
    ((1, 1), 1.0)
    """

    key: ClassVar[str] = "laplace_mean"
    rank: ClassVar[int] = 110
    one_number: ClassVar[bool] = True
    about: ClassVar[About] = About(
        name="Mean by Laplace noise",
        plain="the average, with noise on the sum",
        how=("All numbers are added up, noise is added to the sum, and the sum is divided by how many there are."),
        formula=r"\tfrac{1}{n}\bigl(\sum_i y_i + \mathrm{Lap}(1/\varepsilon)\bigr)",
        source="Dwork, McSherry, Nissim and Smith, TCC 2006.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("squared",)

    epsilon: float
    delta: float = 0.0
    loss: Loss = SQUARED
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        check_fields(self, Squared)

    @property
    def noise_scale(self) -> float:
        """Scale of the Laplace noise on the sum."""
        return (1.0 if self.neighbours == "add_remove" else 2.0) / self.epsilon

    @property
    def cost(self) -> Cost:
        return Cost.laplace(1.0 / self.epsilon)

    def expected_excess(self, y: FloatArray, n: float | None = None) -> float:
        """Expected ½(w − mean)²: half the variance of the noise. For ``n`` numbers spread like y."""
        return (self.noise_scale / (len(y) if n is None else n)) ** 2

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private means of y, X a column of ones."""
        answers = numbers(X, y, self.loss, rng, replicas)
        n = answers.shape[0]
        return one_number_fit(self, answers.mean() + rng.laplace(scale=self.noise_scale / n, size=replicas))

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings."""
        return [method.fit(X, y, rng, replicas) for method in methods]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanByLoss:
    """A number w of [−1, 1] with density ∝ exp(−a Σ ½(w − yᵢ)²): ε-DP, the exponential mechanism on squared loss.

    One number's loss varies by 2 over the interval, so a = ε/2 (ε/4 when one is replaced). The law is a normal one
    around the mean with variance 1/(an), cut to the interval: far more noise than ``LaplaceMean``.

    >>> import numpy as np
    >>> method = MeanByLoss(epsilon=1.0)
    >>> fit = method.fit(np.ones((3, 1)), np.array([0.5, -0.2, 0.3]), np.random.default_rng(0))
    >>> fit.weights.shape, fit.cost.epsilon
    ((1, 1), 1.0)
    """

    key: ClassVar[str] = "mean_by_loss"
    rank: ClassVar[int] = 120
    one_number: ClassVar[bool] = True
    about: ClassVar[About] = About(
        name="Mean by the exponential mechanism",
        plain="a weighted draw around the average",
        how=(
            "Every number could be the answer. One is drawn at random, with a chance that shrinks with the sum of "
            "its squared distances to all numbers."
        ),
        formula=r"p(w) \propto e^{-a \sum_i (w - y_i)^2 / 2}",
        source="McSherry and Talwar, FOCS 2007, with squared loss.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("squared",)

    epsilon: float
    delta: float = 0.0
    loss: Loss = SQUARED
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        check_fields(self, Squared)

    @property
    def slope(self) -> float:
        """a: logits per unit of the summed loss."""
        return self.epsilon / (2.0 if self.neighbours == "add_remove" else 4.0)

    @property
    def cost(self) -> Cost:
        return Cost.bounded_range(self.epsilon)

    def expected_excess(self, y: FloatArray, n: float | None = None) -> float:
        """Expected ½(w − mean)², by the cut normal law's second moment. For ``n`` numbers spread like y."""
        scale = 1.0 / math.sqrt(self.slope * (len(y) if n is None else n))
        low, high = (-1.0 - float(np.mean(y))) / scale, (1.0 - float(np.mean(y))) / scale
        inside = float(ndtr(high) - ndtr(low))
        edges = high * math.exp(-0.5 * high**2) - low * math.exp(-0.5 * low**2)
        return 0.5 * scale**2 * (1.0 - edges / (math.sqrt(2.0 * math.pi) * inside))

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private means of y, X a column of ones."""
        answers = numbers(X, y, self.loss, rng, replicas)
        mean, scale = float(answers.mean()), 1.0 / math.sqrt(self.slope * answers.shape[0])
        low, high = ndtr((-1.0 - mean) / scale), ndtr((1.0 - mean) / scale)
        drawn = mean + scale * ndtri(low + (high - low) * rng.random(replicas))
        return one_number_fit(self, np.clip(drawn, -1.0, 1.0))

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings."""
        return [method.fit(X, y, rng, replicas) for method in methods]


class SingleNumber(Protocol):
    """The fields that the methods for one number share."""

    @property
    def epsilon(self) -> float: ...

    @property
    def delta(self) -> float: ...

    @property
    def loss(self) -> Loss: ...

    @property
    def neighbours(self) -> Neighbours: ...


def check_fields(method: SingleNumber, loss: type[Loss]) -> None:
    """Raises InvalidArgument for what no method for one number accepts."""
    positive(epsilon=method.epsilon)
    no_delta(method.delta)
    one_of(("add_remove", "replace_one"), neighbours=method.neighbours)
    if not isinstance(method.loss, loss) or method.loss.ridge != 0.0:
        raise InvalidArgument("loss", f"must be {loss.name} without a ridge here")


def numbers(X: FloatArray, y: FloatArray, loss: Loss, rng: Generator, replicas: int) -> FloatArray:
    """The answers y, where X is the column of ones that makes a weight a guess of them. Raises InvalidArgument."""
    rows, answers = checked(X, y, loss, rng, replicas)
    if rows.shape[1] != 1 or not bool((rows == 1.0).all()):
        raise InvalidArgument("X", "must be a single column of ones: this method estimates one number")
    return answers


def one_number_fit(method: Method, values: FloatArray) -> Fit:
    """A fit whose only weight is the number, from ``values`` (replicas,)."""
    return Fit(weights=values[:, None], loss=method.loss, method=method.key, cost=method.cost)
