"""The exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.costs import Cost
from dpcore.selection.laws import Law, check_noise, draw, probabilities
from dpcore.selection.scores import check_parameters, logit_slope
from dpcore.selection.softmax import Softmax
from dpcore.validate import FloatArray, IntArray, probability, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """Name candidate i with probability proportional to exp(a·score_i). McSherry & Talwar, FOCS 2007.

    ``sensitivity`` Δ: how far one person can move one score, in score units. a = ε/(2Δ) in general; ``monotonic``
    promises that one person moves all scores the same way (counts, one person added or removed) and doubles a to ε/Δ.
    The same law as noisy max with Gumbel noise of scale 1/a. ε-DP and ε-bounded range, so ε²/8-zCDP: of the
    mechanisms here it composes best. Raises InvalidArgument.

    >>> chances = Exponential(epsilon=1.0).probabilities([5, 3, 0])
    >>> [round(float(chance), 3) for chance in chances]
    [0.69, 0.254, 0.057]
    """

    key: ClassVar[str] = "exponential"
    rank: ClassVar[int] = 2
    about: ClassVar[About] = About(
        name="Exponential mechanism",
        plain="a weighted draw, better options far likelier",
        how=(
            "One option is drawn at random, with a chance that grows exponentially with its score. That is the same as "
            "adding a random number (Gumbel noise) to every score and naming the largest total."
        ),
        formula=r"\Pr[r] = \frac{e^{a q_r}}{\sum_s e^{a q_s}}",
        source="McSherry and Talwar, FOCS 2007.",
        textbook=True,
        release="exponential",
    )
    law: ClassVar[Law] = Softmax()

    epsilon: float
    sensitivity: float = 1.0
    monotonic: bool = False

    def __post_init__(self) -> None:
        check_parameters(self.epsilon, self.sensitivity, self.monotonic)

    @classmethod
    def slopes(cls, epsilons: ArrayLike, k: int, sensitivity: float, monotonic: bool) -> FloatArray:
        """a at each of ``epsilons`` (m,), per score unit, shape (m,)."""
        return logit_slope(epsilons, sensitivity, one_way=monotonic)

    def probabilities(self, scores: ArrayLike) -> FloatArray:
        """The exact law on ``scores`` (k,), shape (k,). Raises InvalidArgument."""
        return probabilities(self, scores)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int) -> IntArray:
        """Indices of ``size`` simulated answers, shape (size,), by inversion of the law. Raises InvalidArgument."""
        return draw(self, scores, rng, size)

    def noise(self, k: int, rng: np.random.Generator, size: int) -> FloatArray:
        """Gumbel noise in score units, shape (size, k): the largest score + noise in a row has this law."""
        shape = check_noise(k, rng, size)
        return rng.gumbel(0.0, 1 / float(self.slopes(self.epsilon, k, self.sensitivity, self.monotonic)), shape)

    def utility_bound(self, k: int, beta: float) -> float:
        """With probability at least 1 − ``beta`` the answer is at most this far below the best, in score units.

        (2Δ/ε)(ln k + ln(1/β)), half of it when monotonic: Dwork & Roth 2014, Corollary 3.12.
        """
        slope = float(self.slopes(self.epsilon, whole(1, k=k), self.sensitivity, self.monotonic))
        return (math.log(k) - math.log(probability(beta=beta))) / slope

    @property
    def cost(self) -> Cost:
        """One answer: ε-bounded range."""
        return Cost.bounded_range(self.epsilon)
