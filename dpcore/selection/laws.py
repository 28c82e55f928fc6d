"""Laws of selection mechanisms: over candidates, over many privacy levels at once, and in numbers people can read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.costs import Cost
from dpcore.discovery import discover
from dpcore.errors import InvalidArgument
from dpcore.selection.scores import condense, gaps_below_best, group, scaled
from dpcore.validate import FloatArray, IntArray, finite_vector, generator, one_of, positive, whole


class Law(Protocol):
    """How groups of equal scores share the chance to win, given depths below the best in units of noise."""

    def rows(self, depths: FloatArray, counts: FloatArray) -> FloatArray:
        """Probability of each group, shape (m, d), for ``depths`` (m, d) with a 0 in each row, ``counts`` (d,)."""

    def summary(self, gaps: FloatArray, counts: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance of a best candidate and expected gap, (m,) each; ``gaps`` (d,) ascend from 0, ``slopes`` (m,)."""


class Selector(Protocol):
    """What every entry of the catalogue is: a frozen dataclass with these fields, constants and methods."""

    key: ClassVar[str]
    about: ClassVar[About]
    law: ClassVar[Law]

    @property
    def epsilon(self) -> float: ...
    @property
    def sensitivity(self) -> float: ...
    @property
    def monotonic(self) -> bool: ...

    def __init__(self, *, epsilon: float, sensitivity: float = 1.0, monotonic: bool = False) -> None: ...

    @classmethod
    def slopes(cls, epsilons: ArrayLike, k: int, sensitivity: float, monotonic: bool) -> FloatArray:
        """One over the scale of the noise on a score, in score units, at each ε; ``k`` candidates."""

    def probabilities(self, scores: ArrayLike) -> FloatArray: ...
    def sample(self, scores: ArrayLike, rng: np.random.Generator, size: int) -> IntArray: ...
    def noise(self, k: int, rng: np.random.Generator, size: int) -> FloatArray: ...
    def utility_bound(self, k: int, beta: float) -> float:
        """How far below the best the answer may be, except with chance ``beta``: (ln k + ln(1/β)) times a length.

        The length depends on ε, k and the scores' sensitivity, not on β (see ``promised_slopes``).
        """

    @property
    def cost(self) -> Cost: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """``success`` (m,): chance of a candidate with the best score; ``expected_loss`` (m,): mean gap to it."""

    success: FloatArray
    expected_loss: FloatArray


def promised_slopes(
    kind: type[Selector], epsilons: ArrayLike, k: int, sensitivity: float, monotonic: bool
) -> FloatArray:
    """One over the length in the mechanism's own utility theorem at each of ``epsilons`` (m,), shape (m,).

    With a such a slope, the loss exceeds (ln k + s)/a with chance at most e^−s, for every s ≥ 0. Raises
    InvalidArgument.
    """
    one = kind(epsilon=1.0, sensitivity=sensitivity, monotonic=monotonic)
    slope = float(kind.slopes(1.0, k, sensitivity, monotonic))
    share = (math.log(k) - math.log(0.5)) / (one.utility_bound(k, 0.5) * slope)
    slopes: FloatArray = kind.slopes(epsilons, k, sensitivity, monotonic) * share
    return slopes


def find(method: str | type[Any]) -> type[Selector]:
    """A mechanism by its key in the catalogue, or the class itself. Raises InvalidArgument."""
    if isinstance(method, type):
        return method
    mechanisms = discover("dpcore.selection")
    return mechanisms[one_of(tuple(mechanisms), method=method)]


def abouts() -> dict[str, About]:
    """What every mechanism of the catalogue says about itself, by key."""
    kinds: Mapping[str, Any] = discover("dpcore.selection")
    return {key: kind.about for key, kind in kinds.items()}


def probabilities(mechanism: Selector, scores: ArrayLike) -> FloatArray:
    """The exact law of ``mechanism`` on ``scores`` (k,), shape (k,): sums to 1, equal scores get equal chances."""
    law: FloatArray = laws(
        type(mechanism),
        scores,
        [mechanism.epsilon],
        sensitivity=mechanism.sensitivity,
        monotonic=mechanism.monotonic,
    )[0]
    return law


def laws(
    method: str | type[Any],
    scores: ArrayLike,
    epsilons: ArrayLike,
    *,
    sensitivity: float = 1.0,
    monotonic: bool = False,
) -> FloatArray:
    """Exact laws of a mechanism (key or class) on ``scores`` (k,) at ``epsilons`` (m,), shape (m, k).

    Probabilities under 1e-300 are given as about 1e-300. Raises InvalidArgument.
    """
    kind = find(method)
    groups = group(scores)
    slopes = kind.slopes(_levels(epsilons), groups.place.size, sensitivity, monotonic)
    law: FloatArray = groups.spread(kind.law.rows(scaled(groups.gaps, slopes), groups.counts))
    return law


def summaries(
    method: str | type[Any],
    scores: ArrayLike,
    epsilons: ArrayLike,
    *,
    sensitivity: float = 1.0,
    monotonic: bool = False,
) -> Summary:
    """``laws`` in two numbers per ε, exact, without building them: fast for many candidates. Raises InvalidArgument."""
    kind = find(method)
    gaps, counts = condense(scores)
    slopes = kind.slopes(_levels(epsilons), int(counts.sum()), sensitivity, monotonic)
    success, loss = kind.law.summary(gaps, counts, slopes)
    return Summary(success=success, expected_loss=loss)


def _levels(epsilons: ArrayLike) -> FloatArray:
    levels = finite_vector(epsilons=epsilons)
    if (levels <= 0).any():
        raise InvalidArgument("epsilons", "must be greater than 0 everywhere")
    return levels


def expected_loss(mechanism: Selector, scores: ArrayLike) -> float:
    """How far the chosen score lies below the best on average, in units of ``scores`` (k,); exact."""
    gaps = gaps_below_best(finite_vector(scores=scores))
    return float(mechanism.probabilities(scores) @ gaps)


def draw(mechanism: Selector, scores: ArrayLike, rng: np.random.Generator, size: int) -> IntArray:
    """Indices drawn from the exact law by inversion, shape (size,). For simulation only."""
    generator(rng=rng)
    whole(0, size=size)
    steps = np.cumsum(mechanism.probabilities(scores))
    drawn = np.searchsorted(steps, rng.random(size) * steps[-1], side="right")
    indices: IntArray = np.minimum(drawn, steps.size - 1).astype(np.int64, copy=False)
    return indices


def check_noise(k: int, rng: np.random.Generator, size: int) -> tuple[int, int]:
    """The shape (size, k) of the noise of ``size`` draws over ``k`` scores. Raises InvalidArgument."""
    generator(rng=rng)
    return whole(0, size=size), whole(1, k=k)


def times_in_hundred(law: ArrayLike, out_of: int = 100) -> IntArray:
    """A ``law`` (k,) in whole times out of 100 that add up to 100: largest remainders. Raises InvalidArgument."""
    chances = finite_vector(law=law)
    if (chances < 0).any() or positive(law=chances.sum()) > 1 + 1e-9:
        raise InvalidArgument("law", "must be probabilities that add up to 1")
    shares = chances / chances.sum() * whole(1, out_of=out_of)
    times: IntArray = np.floor(shares).astype(np.int64)
    short = out_of - int(times.sum())
    times[np.argsort(times - shares, kind="stable")[:short]] += 1
    return times
