"""The contrast the textbooks draw: publish every score with noise, and read the winner off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.costs import Cost
from dpcore.selection.laws import Law, check_noise, draw, probabilities
from dpcore.selection.race import Race
from dpcore.selection.scores import check_parameters, logit_slope
from dpcore.validate import FloatArray, IntArray, probability, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveLaplace:
    """Publish all k scores with Laplace noise of scale kΔ/ε, each at ε/k, and name the largest.

    ``sensitivity`` Δ: how far one person can move one score, in score units. The budget is split because one person
    may move all scores (votes for many options, a table of scores); ``monotonic`` changes nothing, since the noisy
    scores themselves are public. ε-DP by basic composition. For counts of which a person is in one only, splitting is
    not needed when one person is added or removed: that is ``NoisyMaxLaplace`` with ``monotonic``, whose noisy counts
    may be published too. Raises InvalidArgument.

    >>> chances = NaiveLaplace(epsilon=1.0).probabilities([5, 3, 0])
    >>> [round(float(chance), 3) for chance in chances]
    [0.597, 0.302, 0.101]
    """

    key: ClassVar[str] = "naive_laplace"
    rank: ClassVar[int] = 4
    about: ClassVar[About] = About(
        name="Noise on every score",
        plain="publish all scores with noise, then read the winner off",
        how=(
            "Every score is published with Laplace noise, so the budget is split over all of them. The winner is read "
            "off. It costs as much as publishing everything, because it is."
        ),
        formula=r"\text{scale } = k / a",
        source="The contrast that the textbooks draw.",
        nearest="permute_and_flip",
    )
    law: ClassVar[Law] = Race(two_sided=True)

    epsilon: float
    sensitivity: float = 1.0
    monotonic: bool = False

    def __post_init__(self) -> None:
        check_parameters(self.epsilon, self.sensitivity, self.monotonic)

    @classmethod
    def slopes(cls, epsilons: ArrayLike, k: int, sensitivity: float, monotonic: bool) -> FloatArray:
        """1 / scale = ε/(kΔ) at each of ``epsilons`` (m,), per score unit, shape (m,)."""
        return logit_slope(np.asarray(epsilons, dtype=np.float64) / k, sensitivity, one_way=True)

    def probabilities(self, scores: ArrayLike) -> FloatArray:
        """The exact law of the name read off, on ``scores`` (k,), shape (k,). Raises InvalidArgument."""
        return probabilities(self, scores)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int) -> IntArray:
        """Indices of ``size`` simulated answers, shape (size,), by inversion of the law. Raises InvalidArgument."""
        return draw(self, scores, rng, size)

    def noise(self, k: int, rng: np.random.Generator, size: int) -> FloatArray:
        """Laplace noise in score units, shape (size, k): the largest score + noise in a row has this law."""
        shape = check_noise(k, rng, size)
        return rng.laplace(0.0, 1 / float(self.slopes(self.epsilon, k, self.sensitivity, self.monotonic)), shape)

    def utility_bound(self, k: int, beta: float) -> float:
        """With probability at least 1 − ``beta`` the answer is at most this far below the best, in score units.

        2·scale·ln(k/β) with scale kΔ/ε: with that probability no noise is larger than scale·ln(k/β) either way.
        """
        slope = float(self.slopes(self.epsilon, whole(1, k=k), self.sensitivity, self.monotonic))
        return 2 * (math.log(k) - math.log(probability(beta=beta))) / slope

    @property
    def cost(self) -> Cost:
        """All k noisy scores, and the name read off them: ε-DP."""
        return Cost.pure(self.epsilon)
