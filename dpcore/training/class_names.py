"""Which classes there are, found privately: a name that only one person has must not appear."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from dpcore.validate import positive, probability

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyClassNames:
    """The names whose noisy count is at least ``threshold``; Gaussian noise of ``noise`` on every count.

    Add/remove, one name a row. Between tables with the same names it is a Gaussian release of L2 sensitivity 1. Where
    the extra row alone has a name, that name appears with chance ``failure`` = Φ((1 − threshold)/noise) and all else is
    the same. Together with releases that make it (ε, δ′)-DP between tables of the first kind, the whole is
    (ε, δ′ + failure/(1 − failure))-DP: a set of outputs without the name has 1/(1 − failure) times the probability
    when the row is left out, which costs at most failure/(1 − failure) where e^ε P ≤ 1, and beyond that the claim is
    trivial. Korolova et al., WWW 2009, for the idea. Raises InvalidArgument.
    """

    noise: float
    failure: float

    def __post_init__(self) -> None:
        positive(noise=self.noise)
        probability(failure=self.failure)

    @property
    def threshold(self) -> float:
        """The noisy count from which on a name is given."""
        return 1.0 - self.noise * float(ndtri(self.failure))

    def chance(self, count: float) -> float:
        """The chance that a name of ``count`` rows is given, exact; 0 for a name nobody has."""
        from scipy.special import ndtr

        return float(ndtr((count - self.threshold) / self.noise)) if count > 0 else 0.0

    def draw(self, counts: Mapping[Hashable, int], rng: Generator) -> list[Hashable]:
        """The names given, in order of the names, which says nothing about who has them.

        Names that are equal, such as 1 and 1.0, are one entry of ``counts``, written as whoever made it wrote it.
        """
        names = sorted(counts, key=_in_order)
        noisy = [counts[name] + self.noise * float(rng.standard_normal()) for name in names]
        return [name for name, count in zip(names, noisy, strict=True) if count >= self.threshold]


def _in_order(name: Any) -> tuple[str, Any]:
    """By kind and then by itself; by its words where names of a kind may have no order, which one name would show."""
    if isinstance(name, tuple):
        return "tuple", tuple(_in_order(part) for part in name)
    if isinstance(name, int | float) and not isinstance(name, bool):
        return "number", name
    return type(name).__name__, name if isinstance(name, bool | str) else repr(name)
