"""Permute-and-flip: the best mechanism known here for one answer."""

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
class PermuteAndFlip:
    """Go through the candidates in random order; accept i with probability exp(a·(score_i − best)). McKenna & Sheldon,
    NeurIPS 2020.

    ``sensitivity`` Δ: how far one person can move one score, in score units. a = ε/(2Δ) in general; ``monotonic``
    promises that one person moves all scores the same way (counts, one person added or removed) and doubles a to ε/Δ.
    The same law as noisy max with Exponential noise of scale 1/a (Ding et al., 2021). ε-DP. Its expected loss is never
    above the exponential mechanism's at one answer, and up to 2 times smaller; over many answers that one composes
    better. Raises InvalidArgument.

    >>> chances = PermuteAndFlip(epsilon=1.0).probabilities([5, 3, 0])
    >>> [round(float(chance), 3) for chance in chances]
    [0.785, 0.179, 0.036]
    """

    key: ClassVar[str] = "permute_and_flip"
    rank: ClassVar[int] = 1
    about: ClassVar[About] = About(
        name="Permute and flip",
        plain="one noisy bonus per option",
        how=(
            "Every option's score gets its own random bonus: mostly small, now and then large (an exponential "
            "distribution). The largest total wins, and only the winner's name is published."
        ),
        formula=(
            r"\begin{gathered}\Pr[r] = p_r \int_0^1 \prod_{s \ne r} (1 - p_s t)\, dt \\"
            r"p_i = e^{a (q_i - \max q)}\end{gathered}"
        ),
        source="McKenna and Sheldon, NeurIPS 2020; the same law as report-noisy-max with exponential noise.",
        release="permute_and_flip",
    )
    law: ClassVar[Law] = Race(two_sided=False)

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
        """Exponential noise in score units, shape (size, k): the largest score + noise in a row has this law."""
        shape = check_noise(k, rng, size)
        return rng.exponential(1 / float(self.slopes(self.epsilon, k, self.sensitivity, self.monotonic)), shape)

    def utility_bound(self, k: int, beta: float) -> float:
        """With probability at least 1 − ``beta`` the answer is at most this far below the best, in score units.

        The exponential mechanism's (ln k + ln(1/β))/a holds here too: a candidate z below the best wins with
        probability at most exp(−a·z)/2, and there are k.
        """
        slope = float(self.slopes(self.epsilon, whole(1, k=k), self.sensitivity, self.monotonic))
        return (math.log(k) - math.log(probability(beta=beta))) / slope

    @property
    def cost(self) -> Cost:
        """One answer: ε-DP."""
        return Cost.pure(self.epsilon)
