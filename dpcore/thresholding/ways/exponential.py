"""Exponential noise, share and offset tuned."""

from __future__ import annotations

from typing import ClassVar

from dpcore.about import About
from dpcore.thresholding.accuracy import Design, best_design
from dpcore.thresholding.noise import NoiseKind


class TunedExponential:
    """Lyu, Su and Li, VLDB 2017, whose proof needs noise in one direction only; share and offset for the exact law."""

    key: ClassVar[str] = "exponential"
    rank: ClassVar[int] = 3
    about: ClassVar[About] = About(
        name="Exponential noise, tuned",
        plain="one noisy line, noise in one direction only",
        how=(
            "The noise on the line and on the numbers only ever goes up, never down, which protects as well and "
            "spreads less. The line is moved to make up for it, and the budget is split in the best way for how "
            "long one watches."
        ),
        source=(
            "Lyu, Su and Li, VLDB 2017, whose proof needs noise in one direction only; share and offset for the "
            "exact law."
        ),
        release="alarm",
    )
    noise: ClassVar[NoiseKind] = "exponential"
    monotonic: ClassVar[bool] = False

    @classmethod
    def design(cls, k: int, limit: int, beta: float) -> Design:
        """Share and offset for which the exact α is smallest. Raises InvalidArgument."""
        return best_design(k, beta, cls.noise, limit, cls.monotonic)
