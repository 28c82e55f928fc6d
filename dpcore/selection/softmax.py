"""The law of the exponential mechanism: every candidate's chance is proportional to exp(−depth)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.selection.scores import DEEP, scaled, within_reach
from dpcore.validate import FloatArray

_SMALL = 1 << 16


@dataclass(frozen=True, slots=True)
class Softmax:
    """Law over groups, from depths below the best in units of noise. Also the law of noisy max with Gumbel noise."""

    def rows(self, depths: FloatArray, counts: FloatArray) -> FloatArray:
        """Probability of each group, shape (m, d), for ``depths`` (m, d) with a 0 in each row, ``counts`` (d,)."""
        law = np.exp(-np.minimum(depths, DEEP))
        law *= counts
        law /= law.sum(axis=1, keepdims=True)
        return law

    def summary(self, gaps: FloatArray, counts: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance of a best candidate and expected gap, (m,) each; ``gaps`` (d,) ascend from 0, ``slopes`` (m,)."""
        if slopes.size * gaps.size <= _SMALL:
            law = self.rows(scaled(gaps, slopes), counts)
            return law[:, 0], law @ gaps
        success, loss = np.empty(slopes.size), np.empty(slopes.size)
        weighted = None if (counts == 1.0).all() else counts
        buffer = np.empty_like(gaps)
        for i, slope in enumerate(slopes.tolist()):
            # one row at a time stays in the cache; underflowing tails are left out, they would cost most of the time
            size = within_reach(gaps, slope)
            part = np.multiply(gaps[:size], -slope, out=buffer[:size])
            np.exp(part, out=part)
            if weighted is not None:
                part *= weighted[:size]
            total = part.sum()
            success[i], loss[i] = part[0] / total, (part @ gaps[:size]) / total
        return success, loss
