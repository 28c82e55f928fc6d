"""Laplace noise, half of ε for the threshold, no offset: the textbook's algorithm as it stands."""

from __future__ import annotations

from typing import ClassVar

from dpcore.about import About
from dpcore.thresholding.accuracy import Design, exact_alpha
from dpcore.thresholding.noise import NoiseKind, NoisePair


class Textbook:
    """Laplace noise, half of ε for the threshold, no offset: the textbook's algorithm as it stands."""

    key: ClassVar[str] = "book"
    rank: ClassVar[int] = 1
    about: ClassVar[About] = About(
        name="Textbook",
        plain="one noisy line, half the budget on it",
        how=(
            "The line gets noise once, and each number gets noise of its own, up or down. Half of the budget "
            "goes to the line, half to the numbers, as the textbook has it; neither is fitted to how long one "
            "watches."
        ),
        source="Dwork and Roth, 2014, Algorithm 1.",
        textbook=True,
        release="alarm",
    )
    noise: ClassVar[NoiseKind] = "laplace"
    monotonic: ClassVar[bool] = False

    @classmethod
    def design(cls, k: int, limit: int, beta: float) -> Design:
        """Half of ε, no offset, and the exact α of that. Raises InvalidArgument."""
        pair = NoisePair.of(1.0, 1.0, cls.noise, 0.5, limit, cls.monotonic)
        return Design(share=0.5, offset=0.0, alpha=exact_alpha(pair, k, limit, beta))
