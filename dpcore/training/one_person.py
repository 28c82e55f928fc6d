"""Change one person: what the noisy gradient sums of a descent tell of them, in two worlds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.conversions import gaussian_delta
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray, positive, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SumWorlds:
    """The mean of ``steps`` noisy gradient sums along the direction in which one person moves each of them.

    In units of the clip: Gaussian around 0 without the person and around ``moved`` with them (1: as far as clipping
    allows), with deviation ``noise_multiplier``/√steps. Neighbours have one person more or less; a replaced row moves
    a sum by two clips and the multiplier is of both. The mean holds all that these sums tell of the person, so this
    is exact for the steps together. Balle and Wang, ICML 2018, Theorem 8. Raises InvalidArgument.

    >>> round(SumWorlds(noise_multiplier=4.0, steps=16).delta(1.0), 4)
    0.1269
    """

    noise_multiplier: float
    steps: int
    moved: float = 1.0

    def __post_init__(self) -> None:
        positive(noise_multiplier=self.noise_multiplier)
        whole(1, steps=self.steps)
        positive(moved=self.moved)

    @property
    def deviation(self) -> float:
        """Of the mean, in clips."""
        return self.noise_multiplier / math.sqrt(self.steps)

    def delta(self, epsilon: float) -> float:
        """The part of the chances in which one world is more than e^ε times as likely as the other, beyond that."""
        return gaussian_delta(self.deviation / self.moved, epsilon)

    def at(self, places: FloatArray, epsilon: float) -> TwoWorlds:
        """Densities at ``places`` (m,), in clips; the log-ratio passes ``epsilon`` in the tails, which δ covers."""
        constant = -math.log(self.deviation * math.sqrt(2.0 * math.pi))
        first, second = (constant - 0.5 * ((places - at) / self.deviation) ** 2 for at in (0.0, self.moved))
        return TwoWorlds(
            before=np.exp(first), after=np.exp(second), promised=epsilon, log_before=first, log_after=second
        )
