"""The gap between winner and runner-up that permute-and-flip's noise shows along with the winner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.selection.permute_and_flip import PermuteAndFlip
from dpcore.selection.scores import DEEP, Groups, group, scaled
from dpcore.validate import FloatArray, IntArray, finite_vector

_REACH = 45.0  # e^−45 is below rounding
_PANEL = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeGap:
    """Noisy max with Exponential noise that also tells by how much the winner's noisy score beat the runner-up's.

    Fields as for ``PermuteAndFlip``. That the gap costs nothing more than the winner has been checked by its exact law
    on many random neighbours, but we know of no proof for this noise: it is for simulations, not for releases.
    (Ding, Wang, Zhang & Kifer, VLDB 2020, prove it for Laplace noise.) Raises InvalidArgument.
    """

    epsilon: float
    sensitivity: float = 1.0
    monotonic: bool = False

    def __post_init__(self) -> None:
        PermuteAndFlip(epsilon=self.epsilon, sensitivity=self.sensitivity, monotonic=self.monotonic)

    @property
    def winner(self) -> PermuteAndFlip:
        """The mechanism that names the winner alone; same law of the winner."""
        return PermuteAndFlip(epsilon=self.epsilon, sensitivity=self.sensitivity, monotonic=self.monotonic)

    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int) -> tuple[IntArray, FloatArray]:
        """Winners (size,) and their gaps (size,) in score units, for ``scores`` (k,), k ≥ 2. Raises InvalidArgument."""
        vector = finite_vector(scores=scores, at_least=2)
        noisy = vector + self.winner.noise(vector.size, rng, size)
        winners = noisy.argmax(axis=1)
        two = np.partition(noisy, vector.size - 2, axis=1)[:, -2:]
        return winners.astype(np.int64), two[:, 1] - two[:, 0]

    def survival(self, scores: ArrayLike, gaps: ArrayLike) -> FloatArray:
        """Chance that candidate i wins by more than each of ``gaps`` (g,), shape (k, g), for ``scores`` (k,), k ≥ 2.

        A candidate that is not alone at the top beats the best score itself when it wins, and from there its noise
        forgets: gap ~ Exponential(a). A lone best wins by more than γ as if its score were γ lower, down to the second
        best; further down the same forgetting holds. Raises InvalidArgument.
        """
        groups, depths = self._depths(scores)
        wanted = finite_vector(gaps=gaps)
        if (wanted < 0).any():
            raise InvalidArgument("gaps", "must be at least 0 everywhere")
        law = PermuteAndFlip.law
        fall = np.exp(-np.minimum(wanted * self._slope, DEEP))
        chances = law.rows(depths[None, :], groups.counts)[0][:, None] * fall
        if groups.counts[0] == 1.0:
            lowered = np.minimum(wanted * self._slope, depths[1])
            rows = np.maximum(depths - lowered[:, None], 0.0)
            rows[:, 0] = 0.0
            chances[0] = law.rows(rows, groups.counts)[:, 0] * fall * np.exp(lowered)
        survival: FloatArray = groups.spread(chances.T).T
        return survival

    def mean_gap(self, scores: ArrayLike) -> float:
        """The expected gap in score units, exact: 1/a + E[how far the best of the others stays below a lone best].

        ``scores`` (k,), k ≥ 2. Raises InvalidArgument.
        """
        groups, depths = self._depths(scores)
        behind = 0.0
        if groups.counts[0] == 1.0:
            # ∫ P(all others below the best by u) du for u from 0 to the second best's depth; 1 far from its end
            others, number = depths[1:], groups.counts[1:]
            end = float(others[0])
            rough = min(end, _REACH + float(np.log(number.sum())))
            nodes, weights = np.polynomial.legendre.leggauss(16)
            panels = max(1, int(np.ceil(rough / _PANEL)))
            length = rough / panels
            behind = end - rough
            for j in range(panels):
                points = end - length * (j + (nodes + 1) / 2)
                stays = np.exp(number @ np.log(-np.expm1(np.minimum(points - others[:, None], -1e-300))))
                behind += float(weights @ stays) * length / 2
        return (1.0 + behind) / self._slope

    @property
    def _slope(self) -> float:
        return float(PermuteAndFlip.slopes(self.epsilon, 1, self.sensitivity, self.monotonic))

    def _depths(self, scores: ArrayLike) -> tuple[Groups, FloatArray]:
        groups = group(finite_vector(scores=scores, at_least=2))
        return groups, scaled(groups.gaps, np.array([self._slope]))[0]
