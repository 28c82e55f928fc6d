"""Report noisy max with Laplace noise."""

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
class NoisyMaxLaplace:
    """Add Laplace noise of scale 1/a to every score and name the largest. Dwork & Roth 2014, section 3.3.

    ``sensitivity`` Δ: how far one person can move one score, in score units. Scale 2Δ/ε in general; Δ/ε only when
    ``monotonic``, that is when one person moves all scores the same way (counts, one person added or removed): at
    Δ/ε on general scores three candidates are enough to lose up to 2ε. ε-DP. Raises InvalidArgument.

    >>> chances = NoisyMaxLaplace(epsilon=1.0).probabilities([5, 3, 0])
    >>> [round(float(chance), 3) for chance in chances]
    [0.692, 0.257, 0.051]
    """

    key: ClassVar[str] = "noisy_max_laplace"
    rank: ClassVar[int] = 3
    about: ClassVar[About] = About(
        name="Noisy max (Laplace)",
        plain="noise up or down on every option",
        how=(
            "Every score is moved up or down at random (Laplace noise). The largest total wins, and the totals "
            "themselves stay secret."
        ),
        formula=(
            r"\begin{gathered}\Pr[r] = \int f(x - q_r) \prod_{s \ne r} F(x - q_s)\, dx \\ "
            r"\text{scale } 1/a\end{gathered}"
        ),
        source="Dwork and Roth, 2014, section 3.3, with the scale that holds for every kind of score.",
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
        """1 / scale at each of ``epsilons`` (m,), per score unit, shape (m,)."""
        return logit_slope(epsilons, sensitivity, one_way=monotonic)

    def probabilities(self, scores: ArrayLike) -> FloatArray:
        """The exact law on ``scores`` (k,), shape (k,). Raises InvalidArgument."""
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

        2·scale·ln(k/β): with that probability no noise is larger than scale·ln(k/β) either way (union bound).
        """
        slope = float(self.slopes(self.epsilon, whole(1, k=k), self.sensitivity, self.monotonic))
        return 2 * (math.log(k) - math.log(probability(beta=beta))) / slope

    @property
    def cost(self) -> Cost:
        """One answer: ε-DP."""
        return Cost.pure(self.epsilon)
