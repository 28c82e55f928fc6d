"""What a released run is counted in: answers, line and offset in whole units, and the scales of its discrete noises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpcore.in_units import FARTHEST, LARGEST, to_units
from dpcore.thresholding.noise import FARTHEST_OFFSET, NoiseKind, NoisePair
from dpcore.validate import FloatArray, IntArray

_HAIR = 1e-9  # of a unit: products of whole numbers and a ratio come out a little below whole ones


@dataclass(frozen=True, slots=True)
class Units:
    """Units of ``unit``; ``rounded``: answers are rounded to them, where they are not whole by their declaration."""

    unit: float = 1.0
    rounded: bool = False

    def steps(self, sensitivity: float) -> int:
        """``sensitivity`` in units, never too few."""
        return math.ceil(Fraction(sensitivity) / Fraction(self.unit)) + int(self.rounded)

    def bar(self, line: float) -> int:
        """``line`` in units, upward: an answer is a whole number of units."""
        return math.ceil(Fraction(line) / Fraction(self.unit))

    def offset(self, offset: float) -> float:
        """``offset`` as the nearest whole number of units, half a unit to 0: one rounded up is missed by answers on the
        line, and the more surely the less noise there is."""
        nearest = min(math.ceil(abs(offset) / self.unit - 0.5), math.floor(FARTHEST_OFFSET / self.unit))
        return math.copysign(nearest, offset) * self.unit

    def above(self, answers: FloatArray, line: float, ratio: float = 1.0) -> IntArray:
        """How many whole units each of ``answers`` lies above ``line``, both times ``ratio``; 0 or more reach it."""
        within = np.clip(answers, -FARTHEST * self.unit, FARTHEST * self.unit)
        counted = to_units(within, self.unit) if self.rounded else within / self.unit
        away = np.clip((counted - line / self.unit) * ratio, -LARGEST, LARGEST)
        return np.floor(away + _HAIR).astype(np.int64)

    def met(self, line: float) -> float:
        """Where continuous noise meets the line as whole noise does: half a unit below the first whole answer that
        reaches it, and never above it. Answers that are rounded meet it where it is."""
        return line if self.rounded else min(line, (math.ceil(line / self.unit) - 0.5) * self.unit)

    def spent(self, pair: NoisePair, steps: int, limit: int, one_way: bool) -> Fraction:
        """The guarantee of discrete noises of these scales, exactly: one step of ρ, and of ν one or two per alarm."""
        moves = (1 if one_way else 2) * limit * steps
        return Fraction(steps) / Fraction(pair.threshold_scale) + Fraction(moves) / Fraction(pair.query_scale)

    def scales(
        self, epsilon: float, sensitivity: float, noise: NoiseKind, share: float, limit: int, one_way: bool
    ) -> NoisePair:
        """Scales of the discrete noises in units: rounded up until the guarantee they give is at most ε, exactly."""
        steps = self.steps(sensitivity)
        pair = NoisePair.of(epsilon, float(steps), noise, share, limit, one_way)
        while self.spent(pair, steps, limit, one_way) > Fraction(epsilon):
            bar, query = math.nextafter(pair.threshold_scale, math.inf), math.nextafter(pair.query_scale, math.inf)
            pair = NoisePair(threshold_scale=bar, query_scale=query, one_sided=pair.one_sided)
        return pair
