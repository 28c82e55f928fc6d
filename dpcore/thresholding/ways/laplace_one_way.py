"""Laplace noise for answers that one person moves all one way, share and offset tuned."""

from __future__ import annotations

from typing import ClassVar

from dpcore.about import About
from dpcore.thresholding.accuracy import Design, best_design
from dpcore.thresholding.noise import NoiseKind


class OneWayLaplace:
    """Lyu, Su and Li, VLDB 2017, for queries that all move one way."""

    key: ClassVar[str] = "laplace_monotone"
    rank: ClassVar[int] = 4
    about: ClassVar[About] = About(
        name="Laplace noise, one-way counts",
        plain="one noisy line, made for counts: half the noise",
        how=(
            "When one person more can only raise counts, never lower some and raise others, the numbers need "
            "half the noise. Line and split are fitted to how long one watches."
        ),
        source="Lyu, Su and Li, VLDB 2017, for queries that all move one way.",
        release="alarm",
    )
    noise: ClassVar[NoiseKind] = "laplace"
    monotonic: ClassVar[bool] = True

    @classmethod
    def design(cls, k: int, limit: int, beta: float) -> Design:
        """Share and offset for which the exact α is smallest. Raises InvalidArgument."""
        return best_design(k, beta, cls.noise, limit, cls.monotonic)
