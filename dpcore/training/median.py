"""The median of many numbers: as loss minimisation, and by its better rival.

The numbers are y in [−1, 1]; X is a single column of ones, so that a weight is a guess of the number. Every law here
is exact, and so is the expected excess loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.rising import rising
from dpcore.selection.quantile import Quantile
from dpcore.training.fit import Fit
from dpcore.training.losses import ABSOLUTE, Absolute, Loss
from dpcore.training.mean import check_fields, numbers, one_number_fit
from dpcore.validate import FloatArray, Neighbours

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMedian:
    """A gap between neighbouring numbers by how far its rank is from the middle, then a uniform point in it: ε-DP.

    Smith, STOC 2011; the law of ``dpcore.selection.Quantile``. Ranks move by ½ when a number is added, whatever its
    size, where losses move by up to 2.

    >>> import numpy as np
    >>> method = IntervalMedian(epsilon=1.0)
    >>> fit = method.fit(np.ones((3, 1)), np.array([0.5, -0.2, 0.3]), np.random.default_rng(0))
    >>> fit.weights.shape, fit.cost.epsilon
    ((1, 1), 1.0)
    """

    key: ClassVar[str] = "interval_median"
    rank: ClassVar[int] = 130
    one_number: ClassVar[bool] = True
    about: ClassVar[About] = About(
        name="Median by ranks",
        plain="a weighted draw by rank, the middle far likelier",
        how=(
            "The numbers cut the range into gaps. A gap is drawn at random, the nearer to the middle the likelier, "
            "and then any point in it."
        ),
        formula=r"\Pr[\text{gap } j] \propto |\text{gap } j| \, e^{-a |j - n/2|}",
        source="Smith, STOC 2011.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("absolute",)

    epsilon: float
    delta: float = 0.0
    loss: Loss = ABSOLUTE
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        check_fields(self, Absolute)

    @property
    def _quantile(self) -> Quantile:
        return Quantile(epsilon=self.epsilon, low=-1.0, high=1.0, relation=self.neighbours)

    @property
    def cost(self) -> Cost:
        return self._quantile.cost

    def expected_excess(self, y: FloatArray, n: float | None = None) -> float:
        """Expected mean |w − yᵢ| above its smallest, for ``n`` numbers spread like y.

        The loss is linear in every gap, so its value in the middle is enough.
        """
        quantile = self._quantile
        intervals = quantile.intervals(y)
        people, slope = np.array([float(len(y) if n is None else n)]), quantile.slopes(np.array([self.epsilon]))
        chances = quantile.laws(intervals, people, np.array([0.5]), slope)[0]
        _, losses = absolute_losses(y, intervals.edges)
        return float(chances @ (losses[1:] + losses[:-1]) / 2.0 - losses.min()) / len(y)

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private medians of y, X a column of ones."""
        return one_number_fit(self, self._quantile.sample(numbers(X, y, self.loss, rng, replicas), rng, replicas))

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings."""
        return [method.fit(X, y, rng, replicas) for method in methods]


@dataclass(frozen=True, slots=True, kw_only=True)
class MedianByLoss:
    """A number w of [−1, 1] with density ∝ exp(−a Σ |w − yᵢ|): ε-DP, the exponential mechanism on absolute loss.

    One number's loss varies by 2 over the interval, so a = ε/2 (ε/4 when one is replaced).

    >>> import numpy as np
    >>> method = MedianByLoss(epsilon=1.0)
    >>> fit = method.fit(np.ones((3, 1)), np.array([0.5, -0.2, 0.3]), np.random.default_rng(0))
    >>> fit.weights.shape, fit.cost.epsilon
    ((1, 1), 1.0)
    """

    key: ClassVar[str] = "median_by_loss"
    rank: ClassVar[int] = 140
    one_number: ClassVar[bool] = True
    about: ClassVar[About] = About(
        name="Median by the exponential mechanism on loss",
        plain="a weighted draw by distance, the middle far likelier",
        how=(
            "Every number could be the answer. One is drawn at random, with a chance that shrinks with the sum of "
            "its distances to all numbers."
        ),
        formula=r"p(w) \propto e^{-a \sum_i |w - y_i|}",
        source="McSherry and Talwar, FOCS 2007, with absolute loss.",
        nearest="noisy_gradient_descent",
    )
    pure: ClassVar[bool] = True
    losses: ClassVar[tuple[str, ...]] = ("absolute",)

    epsilon: float
    delta: float = 0.0
    loss: Loss = ABSOLUTE
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        check_fields(self, Absolute)

    @property
    def slope(self) -> float:
        """a: logits per unit of the summed loss."""
        return self.epsilon / (2.0 if self.neighbours == "add_remove" else 4.0)

    @property
    def cost(self) -> Cost:
        return Cost.bounded_range(self.epsilon)

    def law(self, y: FloatArray, n: float | None = None) -> Pieces:
        """The exact law of the answer, for ``n`` numbers spread like y."""
        ends, losses = absolute_losses(y)
        people = len(y) if n is None else n
        return Pieces(ends=ends, logits=-self.slope * people / len(y) * losses)

    def expected_excess(self, y: FloatArray, n: float | None = None) -> float:
        """Expected mean |w − yᵢ| above its smallest, for ``n`` numbers spread like y."""
        _, losses = absolute_losses(y)
        return self.law(y, n).expectation(losses / len(y)) - float(losses.min()) / len(y)

    def fit(self, X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1) -> Fit:
        """``replicas`` independent private medians of y, X a column of ones."""
        return one_number_fit(self, self.law(numbers(X, y, self.loss, rng, replicas)).sample(rng, replicas))

    @classmethod
    def fit_all(
        cls, methods: Sequence[Self], X: FloatArray, y: FloatArray, rng: Generator, replicas: int = 1
    ) -> list[Fit]:
        """``fit`` for several settings."""
        return [method.fit(X, y, rng, replicas) for method in methods]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pieces:
    """A density on [ends[0], ends[-1]] whose logarithm is linear between ``ends`` (m+1,), up to a constant.

    ``logits`` (m+1,) are its values at the ends.
    """

    ends: FloatArray
    logits: FloatArray

    @property
    def probabilities(self) -> FloatArray:
        """Chance of each piece, shape (m,)."""
        higher = np.maximum(self.logits[1:], self.logits[:-1])
        fall = np.abs(np.diff(self.logits))
        # ∫ e^{−fall·t} over [0, 1], from the higher end down
        shape = np.where(fall > 0.0, -np.expm1(-fall) / np.where(fall > 0.0, fall, 1.0), 1.0)
        masses = np.diff(self.ends) * np.exp(higher - self.logits.max()) * shape
        return np.asarray(masses / masses.sum())

    def expectation(self, values: FloatArray) -> float:
        """Mean of a function that is linear between the ends, from its ``values`` (m+1,) there."""
        rise = np.diff(self.logits)
        size = np.abs(rise)
        safe = np.where(size > 1e-4, size, 1.0)
        # where in a piece the mass lies on average, as a share from its lower end
        with np.errstate(over="ignore"):
            from_high = np.where(size > 1e-4, 1.0 / safe - 1.0 / np.expm1(safe), 0.5 - size / 12.0)
        place = np.where(rise >= 0.0, 1.0 - from_high, from_high)
        return float(self.probabilities @ (values[:-1] + place * np.diff(values)))

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """``size`` exact draws."""
        steps = np.cumsum(self.probabilities)
        chosen = np.minimum(np.searchsorted(steps, rng.random(size) * steps[-1], side="right"), steps.size - 1)
        rise = np.diff(self.logits)[chosen]
        level, fall = rng.random(size), np.abs(rise)
        safe = np.where(fall > 0.0, fall, 1.0)
        from_high = np.where(fall > 0.0, -np.log1p(level * np.expm1(-safe)) / safe, level)
        place = np.where(rise >= 0.0, 1.0 - from_high, from_high)
        return np.asarray(self.ends[chosen] + place * np.diff(self.ends)[chosen])


def absolute_losses(y: FloatArray, ends: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """``ends`` and Σ |w − yᵢ| there; by default −1, 1 and every number between, where alone the sum has corners."""
    values = np.sort(np.clip(np.asarray(y, dtype=np.float64), -1.0, 1.0))
    at = rising(np.concatenate([[-1.0], values, [1.0]])) if ends is None else ends
    below = np.searchsorted(values, at, side="right")
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return at, at * below - sums[below] + (sums[-1] - sums[below]) - at * (values.size - below)
