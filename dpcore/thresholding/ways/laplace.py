"""Laplace noise, share and offset tuned."""

from __future__ import annotations

from typing import ClassVar

from dpcore.about import About
from dpcore.thresholding.accuracy import Design, best_design
from dpcore.thresholding.noise import NoiseKind


class TunedLaplace:
    """Lyu, Su and Li, VLDB 2017, with share and offset chosen for the exact law."""

    key: ClassVar[str] = "laplace"
    rank: ClassVar[int] = 2
    about: ClassVar[About] = About(
        name="Laplace noise, tuned",
        plain="one noisy line, the budget split as is best",
        how=(
            "As in the textbook, but the budget is split between line and numbers in the best way for how long "
            "one watches, and the line is moved by a fixed amount to balance early against missed alarms. Both "
            "are free: they depend on no data."
        ),
        source="Lyu, Su and Li, VLDB 2017, with share and offset chosen for the exact law.",
        release="alarm",
    )
    noise: ClassVar[NoiseKind] = "laplace"
    monotonic: ClassVar[bool] = False

    @classmethod
    def design(cls, k: int, limit: int, beta: float) -> Design:
        """Share and offset for which the exact α is smallest. Raises InvalidArgument."""
        return best_design(k, beta, cls.noise, limit, cls.monotonic)
