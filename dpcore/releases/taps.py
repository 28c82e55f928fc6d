"""An alarm that listens to a room while phones tap, and goes off at a noisy line: AboveThreshold, look by look."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpcore.costs import Cost
from dpcore.datasets.declaration import shown
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.thresholding.discrete import discrete_alarm_law
from dpcore.thresholding.noise import NoisePair, best_share
from dpcore.validate import FloatArray, IntArray, positive, whole

MOST_LOOKS, MOST_PHONES = 1000, 10**4


class Taps(Protocol):
    """What is listened to: at each look, how many phones have tapped so far. Never fewer than before."""

    def counts(self) -> Iterator[int]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TapAlarm:
    """Names the first of ``looks`` looks at which at least ``line`` phones have tapped, with noise on both.

    A phone taps once and does not take it back. Neighbours differ in whether and when one phone taps
    (``replace_one``): that moves every count by at most 1, and all that it moves the same way, since a phone that taps
    earlier only adds. So the noise is that of a *monotonic* series: ρ geometric of scale 1/ε₁ on the line, drawn once
    and kept secret, and ν geometric of scale 1/ε₂ at every look, ε₁ + ε₂ = ε. ε-DP for the whole listening, however
    many looks are silent (Lyu, Su & Li, VLDB 2017; one-sided discrete noise). Raises InvalidArgument.
    """

    subject: str
    line: int
    looks: int
    epsilon: float
    neighbours: str = "replace_one"

    def __post_init__(self) -> None:
        if self.neighbours != "replace_one":
            raise InvalidArgument("neighbours", "must be replace_one: the number of phones is public")
        whole(1, MOST_PHONES, line=self.line)
        whole(1, MOST_LOOKS, looks=self.looks)
        positive(epsilon=self.epsilon)
        if max(self.scales.query_scale, self.scales.threshold_scale) > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small: the noise would not fit")

    @property
    def scales(self) -> NoisePair:
        """Of the two noises, rounded up until 1/ρ's scale + 1/ν's scale is at most ε, exactly."""
        pair = NoisePair.of(self.epsilon, 1.0, "exponential", best_share(1, monotonic=True), 1, True)
        bar, query = pair.threshold_scale, pair.query_scale
        while 1 / Fraction(bar) + 1 / Fraction(query) > Fraction(self.epsilon):
            bar, query = math.nextafter(bar, math.inf), math.nextafter(query, math.inf)
        return NoisePair(threshold_scale=bar, query_scale=query, one_sided=True)

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        return f"Which of {self.looks:,} looks is the first with {self.line:,} taps on “{shown(self.subject)}”"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return "AboveThreshold with geometric noise, one alarm"

    @property
    def cost(self) -> Cost:
        """The whole listening."""
        return Cost.pure(self.epsilon)

    def law(self, counts: IntArray) -> FloatArray:
        """The chance that the alarm goes off at each look of ``counts`` (looks,), then that it stays silent; exact."""
        law: FloatArray = discrete_alarm_law(self.scales, counts, self.line).position[0]
        return law

    def answer(self, rows: Taps) -> dict[str, Any]:
        """Listen until the alarm goes off or all looks are done: ``look``, from 1, or None; as long as that takes."""
        pair = self.scales
        secret = self.line + int(draws.geometric_noise(1, pair.threshold_scale)[0])
        noise = draws.geometric_noise(self.looks, pair.query_scale)
        for place, count in zip(range(self.looks), rows.counts(), strict=False):
            if count + int(noise[place]) >= secret:
                return {"look": place + 1, "looks": self.looks}
        return {"look": None, "looks": self.looks}
