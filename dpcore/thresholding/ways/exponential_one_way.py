"""Exponential noise for answers that one person moves all one way, share and offset tuned."""

from __future__ import annotations

from typing import ClassVar

from dpcore.about import About
from dpcore.thresholding.accuracy import Design, best_design
from dpcore.thresholding.noise import NoiseKind


class OneWayExponential:
    """Lyu, Su and Li, VLDB 2017, for queries that all move one way, with noise in one direction only."""

    key: ClassVar[str] = "exponential_monotone"
    rank: ClassVar[int] = 5
    about: ClassVar[About] = About(
        name="Exponential noise, one-way counts",
        plain="one noisy line, made for counts: half the noise, upwards only",
        how=(
            "When one person more can only raise counts, the numbers need half the noise; and noise that only "
            "ever goes up spreads less again. Line and split are fitted to how long one watches."
        ),
        source="Lyu, Su and Li, VLDB 2017, for queries that all move one way, with noise in one direction only.",
        release="alarm",
    )
    noise: ClassVar[NoiseKind] = "exponential"
    monotonic: ClassVar[bool] = True

    @classmethod
    def design(cls, k: int, limit: int, beta: float) -> Design:
        """Share and offset for which the exact α is smallest. Raises InvalidArgument."""
        return best_design(k, beta, cls.noise, limit, cls.monotonic)
