"""Ways to watch a series: each module holds one, a class of constants that says how a run is set up.

A way is a class with ``key``, ``rank``, ``about``, the ``noise`` (``laplace`` or ``exponential``), whether it needs
answers that one person moves all the same way (``monotonic``), and ``design(k, limit, beta)``. The mechanism itself,
``AboveThreshold`` or ``Sparse``, is the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from dpcore.about import About
from dpcore.discovery import discover
from dpcore.thresholding.accuracy import Design
from dpcore.thresholding.noise import NoiseKind


class Way(Protocol):
    """What every entry of the catalogue is."""

    key: ClassVar[str]
    about: ClassVar[About]
    noise: ClassVar[NoiseKind]
    monotonic: ClassVar[bool]

    @classmethod
    def design(cls, k: int, limit: int, beta: float) -> Design:
        """Share and offset for ``k`` queries, ``limit`` alarms and failure chance ``beta``, and the exact α they give,
        in units of Δ/ε. They depend on no data. Raises InvalidArgument."""


def catalog() -> dict[str, type[Way]]:
    """Ways by ``key``, in the order pages show them."""
    kinds: Mapping[str, Any] = discover("dpcore.thresholding.ways")
    return dict(kinds)
