"""Private PAC learning over a finite class: choose a hypothesis by its error count."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.conversions import smallest
from dpcore.costs import Cost
from dpcore.selection.laws import Selector, find
from dpcore.selection.learning import learning_bound, learning_constant, learning_size
from dpcore.selection.scores import DEEP, histogram, scaled
from dpcore.validate import FloatArray, IntArray, Neighbours, generator, in_range, one_of, positive, probability, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteClass:
    """Choose one of k hypotheses by its number of errors on the data; Kasiviswanathan et al., FOCS 2008.

    ``method`` is any mechanism of the catalogue on the scores −errors, of which one person moves each by at most 1:
    all one way with ``relation`` add_remove, not with replace_one. A class is given by its histogram: ``errors``
    (d,) with ``counts`` (d,) hypotheses each, 1 unless given, so that a class of 2⁴⁰ hypotheses is exact too.
    Counts, not rates: errors / n has no sensitivity 1/n when n itself is private. ε-DP. Raises InvalidArgument.
    """

    epsilon: float
    relation: Neighbours = "replace_one"
    method: str = "exponential"

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        one_of(("add_remove", "replace_one"), relation=self.relation)
        find(self.method)

    @property
    def mechanism(self) -> Selector:
        """The mechanism on the scores −errors."""
        return find(self.method)(epsilon=self.epsilon, monotonic=self.relation == "add_remove")

    @property
    def cost(self) -> Cost:
        """One hypothesis: what ``mechanism`` costs."""
        return self.mechanism.cost

    def law(self, errors: ArrayLike, counts: ArrayLike | None = None) -> FloatArray:
        """Probability that a hypothesis of each entry is chosen, shape (d,); sums to 1. Raises InvalidArgument."""
        levels, total, place, each = self._histogram(errors, counts)
        slope = self._slopes(total.sum(), np.array([self.epsilon]))
        chances = find(self.method).law.rows(scaled(levels - levels[0], slope), total)[0]
        law: FloatArray = (chances / np.maximum(total, 1e-300))[place] * each
        return law

    def expected_errors(self, errors: ArrayLike, counts: ArrayLike | None = None) -> float:
        """Mean number of errors of the chosen hypothesis on these data; exact. Raises InvalidArgument."""
        return float(self.law(errors, counts) @ np.asarray(errors, dtype=np.float64))

    def success(self, errors: ArrayLike, at_most: float, counts: ArrayLike | None = None) -> float:
        """Chance of a hypothesis with no more than ``at_most`` errors; exact. Raises InvalidArgument."""
        return float(self.law(errors, counts)[np.asarray(errors, dtype=np.float64) <= at_most].sum())

    def sample(
        self, errors: ArrayLike, rng: np.random.Generator, size: int, counts: ArrayLike | None = None
    ) -> IntArray:
        """Entries of ``size`` simulated choices, shape (size,). Raises InvalidArgument."""
        steps = np.cumsum(self.law(errors, counts))
        drawn = np.searchsorted(steps, generator(rng=rng).random(whole(0, size=size)) * steps[-1], side="right")
        indices: IntArray = np.minimum(drawn, steps.size - 1).astype(np.int64, copy=False)
        return indices

    def excess_bound(self, k: float, n: float, beta: float) -> float:
        """With probability at least 1 − ``beta`` the chosen hypothesis' error rate on the data is at most this above
        the best of ``k``, on ``n`` people: (c/(εn))(ln k + ln(1/β)), c of the method. Raises InvalidArgument.
        """
        size, people = in_range(1.0, math.inf, k=k), positive(n=n)
        return self.constant(k) * (math.log(size) - math.log(probability(beta=beta))) / (self.epsilon * people)

    def learning_bound(self, k: float, n: float, beta: float) -> float:
        """With probability at least 1 − ``beta``, over the people and the noise, the chosen hypothesis' true error rate
        is at most this above the best of ``k``: ``learning.learning_bound`` with this method's c. Raises
        InvalidArgument.
        """
        return float(learning_bound(k, n, self.epsilon, beta, self.constant(k)))

    def constant(self, k: float) -> float:
        """c of the method and relation: see ``learning.learning_constant``. Raises InvalidArgument."""
        return learning_constant(self.method, self.relation, k)

    def sample_size_bound(self, k: float, alpha: float, beta: float) -> dict[str, int]:
        """People that theorems ask for to be within ``alpha`` of the best rate with probability 1 − ``beta``.

        ``privacy``: within α on the data at hand, c(ln k + ln(1/β))/(εα); ``sampling``: for the people alone, without
        any privacy, 2 ln(2k/β)/α² (Hoeffding, both sides of the comparison); ``both``: for the true error rate of the
        private choice, where ``learning_bound`` is α. Raises InvalidArgument.
        """
        share = in_range(0.0, 1.0, open_low=True, alpha=alpha)
        size, failure, c = in_range(1.0, math.inf, k=k), probability(beta=beta), self.constant(k)
        return {
            "privacy": _whole(c * (math.log(size) - math.log(failure)) / (self.epsilon * share)),
            "sampling": _whole(2.0 * math.log(2.0 * size / failure) / share**2),
            "both": _whole(float(learning_size(size, share, self.epsilon, failure, c))),
        }

    def sample_size(self, k: float, alpha: float, beta: float) -> int:
        """People that suffice exactly, in place of the bound's ``privacy``, whatever the data.

        The worst case is one hypothesis without errors and k − 1 with α·n: the smallest n at which the first is
        chosen with probability at least 1 − ``beta``. Raises InvalidArgument.
        """
        share = in_range(0.0, 1.0, open_low=True, alpha=alpha)
        return _whole(self.worst_lead(k, beta) / share)

    def worst_lead(self, k: float, beta: float) -> float:
        """By how many errors the best of ``k`` must lead all others, who are level, to be chosen with probability
        1 − ``beta``; exact. Raises InvalidArgument."""
        size = in_range(1.0, 1e200, k=k)
        wanted = 1 - probability(beta=beta)
        if size == 1.0:
            return 0.0
        law, gaps, counts = find(self.method).law, np.array([0.0, 1.0]), np.array([1.0, size - 1])

        def reached(depth: float) -> bool:
            return bool(law.summary(gaps, counts, np.array([depth]))[0][0] >= wanted)

        depth = smallest(reached, 1e-12, DEEP)
        return depth / float(self._slopes(size, np.array([self.epsilon]))[0])

    def _slopes(self, k: float, epsilons: FloatArray) -> FloatArray:
        return find(self.method).slopes(epsilons, max(1, int(k)), 1.0, self.relation == "add_remove")

    def _histogram(
        self, errors: ArrayLike, counts: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
        each = np.ones(np.size(errors)) if counts is None else np.asarray(counts, dtype=np.float64)
        levels, total, place = histogram(errors, each)
        held = np.flatnonzero(total > 0)
        # levels that no hypothesis holds cannot be chosen, nor be the best
        seat = np.cumsum(total > 0) - 1
        return levels[held], total[held], np.maximum(seat, 0)[place], each


def _whole(n: float) -> int:
    """Up to the next whole number of people, forgiving rounding."""
    return max(1, math.ceil(n * (1 - 1e-12)))
