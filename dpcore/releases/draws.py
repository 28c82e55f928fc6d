"""All randomness of published answers: OpenDP's exact integer samplers, seeded by the operating system.

Everything is an integer (i64): a number is turned into whole *units* first (``to_units``), sensitivities are counted
in the same units, and noise is added there, so that no floating-point noise is ever drawn. OpenDP's own privacy map
is asked after each construction and must agree with the guarantee that was ordered. Beyond this file nothing in a
release is random.

Traps of the library that are closed here: NaN and floats never reach it; a scale of 0 is refused; its default i32,
which saturates, is never used; the two rules of noisy max are called by their right names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument, ReleaseRefused
from dpcore.in_units import LARGEST, to_units
from dpcore.validate import FloatArray, IntArray, Neighbours, finite_vector, one_of, positive, whole

LARGEST_SCALE = 2.0**50
MOST_DRAWS = 10**7

Rule = Literal["permute_and_flip", "exponential"]


@dataclass(frozen=True, slots=True)
class _Library:
    domains: Any
    measurements: Any
    measures: Any
    metrics: Any


@cache
def _opendp() -> _Library:
    # its prelude would import scikit-learn, which takes seconds
    from opendp import domains, measurements, measures, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    return _Library(domains, measurements, measures, metrics)


def from_units(units: IntArray, unit: float) -> FloatArray:
    """Units back as numbers; only for what has its noise already."""
    numbers: FloatArray = np.asarray(units, dtype=np.int64).astype(np.float64) * positive(unit=unit)
    return numbers


def clamped_total(values: ArrayLike, low: float, high: float, unit: float) -> int:
    """The sum in units of ``values`` (m,), each clamped to [low, high] first. See ``clamped_sensitivity``."""
    bounds = to_units([low, high], unit)
    units = to_units(np.clip(finite_vector(values=values, at_least=0), low, high), unit)
    if units.size * int(np.abs(bounds).max()) > LARGEST:
        raise InvalidArgument("unit", "must be larger: the sum would not fit")
    return int(units.sum(dtype=np.int64))


def clamped_sensitivity(low: float, high: float, unit: float, neighbours: Neighbours) -> int:
    """How far one record moves ``clamped_total``, in whole units, exactly: rounding keeps the order of values."""
    bottom, top = (int(bound) for bound in to_units([low, high], unit))
    if bottom >= top:
        raise InvalidArgument("unit", "must be smaller than the range from low to high")
    one_of(("add_remove", "replace_one"), neighbours=neighbours)
    return top - bottom if neighbours == "replace_one" else max(abs(bottom), abs(top))


def _integers(name: str, values: ArrayLike) -> list[int]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and not (array.size == 0):
        raise InvalidArgument(name, "must be whole numbers; turn them into units first")
    if array.ndim != 1 or array.size > MOST_DRAWS:
        raise InvalidArgument(name, "must be a one-dimensional list of at most ten million numbers")
    if array.size and (int(array.max()) > LARGEST or int(array.min()) < -LARGEST):
        raise InvalidArgument(name, "must be smaller: at most 2^60 units")
    return [int(value) for value in array]


def _scale(value: float) -> float:
    if positive(scale=value) > LARGEST_SCALE:
        raise InvalidArgument("scale", "must be smaller: the noise would not fit; use larger units")
    return value


def _vectors() -> Any:
    domains = _opendp().domains
    return domains.vector_domain(domains.atom_domain(T="i64"))


@dataclass(frozen=True, slots=True)
class _Noise:
    """A sampler, and what OpenDP's privacy map promises for neighbours at the distance it was built for."""

    draw: Any
    promised: float

    def meets(self, ordered: float) -> _Noise:
        """Itself, if the promise is what was ordered; OpenDP rounds up, so to 1e-9 relative. Raises ReleaseRefused."""
        if not self.promised <= ordered * (1 + 1e-9):
            raise ReleaseRefused("the noise library's own privacy check did not agree; no answer was drawn")
        return self


# Building one takes longer than drawing from it. They hold parameters only, never data.
@lru_cache(maxsize=64)
def _laplace(scale: float, distance: int) -> _Noise:
    dp = _opendp()
    made = dp.measurements.make_laplace(_vectors(), dp.metrics.l1_distance(T="i64"), scale=scale)
    return _Noise(made, made.map(distance))


@lru_cache(maxsize=64)
def _gaussian(scale: float, distance: float) -> _Noise:
    dp = _opendp()
    made = dp.measurements.make_gaussian(_vectors(), dp.metrics.l2_distance(T="f64"), scale=scale)
    return _Noise(made, made.map(distance))


@lru_cache(maxsize=64)
def _chooser(scale: float, distance: int, monotonic: bool, rule: Rule) -> _Noise:
    dp = _opendp()
    metric = dp.metrics.linf_distance(T="i64", monotonic=monotonic)
    flips = rule == "permute_and_flip"
    measure = dp.measures.max_divergence() if flips else dp.measures.zero_concentrated_divergence()
    made = dp.measurements.make_noisy_max(_vectors(), metric, measure, scale=scale)
    return _Noise(made, made.map(distance))


def laplace(values: ArrayLike, *, sensitivity: int, epsilon: float) -> IntArray:
    """``values`` (m,) plus discrete Laplace noise, P(x) ∝ exp(−|x|·ε/sensitivity), as int64 (m,): ε-DP.

    ``sensitivity`` is the L1 distance between neighbours in units. Ghosh, Roughgarden & Sundararajan, STOC 2009.
    Raises InvalidArgument, ReleaseRefused.
    """
    inputs = _integers("values", values)
    step = whole(1, LARGEST, sensitivity=sensitivity)
    noise = _laplace(_scale(step / positive(epsilon=epsilon)), step).meets(epsilon)
    return np.array(noise.draw(inputs), dtype=np.int64)


def gaussian(values: ArrayLike, *, sensitivity: float, rho: float) -> IntArray:
    """``values`` (m,) plus discrete Gaussian noise of parameter σ = sensitivity/√(2ρ), as int64 (m,): ρ-zCDP.

    ``sensitivity`` is the L2 distance between neighbours in units. Canonne, Kamath & Steinke, NeurIPS 2020.
    Raises InvalidArgument, ReleaseRefused.
    """
    inputs = _integers("values", values)
    step = positive(sensitivity=sensitivity)
    noise = _gaussian(_scale(step / math.sqrt(2 * positive(rho=rho))), step).meets(rho)
    return np.array(noise.draw(inputs), dtype=np.int64)


def noisy_max(
    scores: ArrayLike, *, sensitivity: int, epsilon: float, monotonic: bool = False, rule: Rule = "permute_and_flip"
) -> int:
    """The index of the best of ``scores`` (k,) with noise: ε-DP.

    ``permute_and_flip`` (exponential noise; McKenna & Sheldon, NeurIPS 2020) or ``exponential`` (Gumbel noise, which
    is the exponential mechanism; McSherry & Talwar, FOCS 2007; ε-bounded range, ε²/8-zCDP). ``sensitivity`` of one
    score in units; ``monotonic`` when all scores move the same way between neighbours, at half the noise.
    Raises InvalidArgument, ReleaseRefused.
    """
    inputs = _integers("scores", scores)
    if not inputs:
        raise InvalidArgument("scores", "must not be empty")
    one_of(("permute_and_flip", "exponential"), rule=rule)
    step = whole(1, LARGEST, sensitivity=sensitivity)
    scale = _scale((1 if monotonic else 2) * step / positive(epsilon=epsilon))
    chooser = _chooser(scale, step, bool(monotonic), rule)
    ordered = epsilon if rule == "permute_and_flip" else epsilon * epsilon / 8
    return int(chooser.meets(ordered).draw(inputs))


def laplace_noise(size: int, scale: float) -> IntArray:
    """``size`` draws of discrete Laplace noise, P(x) ∝ exp(−|x|/scale), int64; for mechanisms built on top."""
    return np.array(_laplace(_scale(scale), 1).draw([0] * whole(0, MOST_DRAWS, size=size)), dtype=np.int64)


def gaussian_noise(size: int, scale: float) -> IntArray:
    """``size`` draws of discrete Gaussian noise, P(x) ∝ exp(−x²/(2·scale²)), int64; for mechanisms built on top."""
    return np.array(_gaussian(_scale(scale), 1.0).draw([0] * whole(0, MOST_DRAWS, size=size)), dtype=np.int64)


def geometric_noise(size: int, scale: float) -> IntArray:
    """``size`` draws of one-sided noise, P(x) ∝ exp(−x/scale) for x = 0, 1, 2, …, int64.

    The discrete form of exponential noise: discrete Laplace noise given that it is not negative, by rejection
    (a little over half is kept), so it is exact.
    """
    wanted = whole(0, MOST_DRAWS, size=size)
    kept = np.empty(0, dtype=np.int64)
    while kept.size < wanted:
        missing = wanted - kept.size
        drawn = laplace_noise(2 * missing + 16 if missing < MOST_DRAWS // 4 else missing, scale)
        kept = np.concatenate([kept, drawn[drawn >= 0]])
    return kept[:wanted]


def quantile_scores(
    sorted_values: IntArray,
    candidates: IntArray,
    *,
    numerator: int,
    denominator: int,
    sizes: IntArray | None = None,
) -> IntArray:
    """Scores −|(d−m)·below − m·above| of public ``candidates`` for the quantile m/d, int64; higher is better.

    ``below`` counts values under the candidate, ``above`` those over it; values equal to it speak for it. One record
    added or removed moves a score by at most max(m, d − m); one replaced by at most d. ``sizes`` says how many records
    have each value, shape of ``sorted_values``; one each where it is left out.
    """
    if not 0 < whole(1, numerator=numerator) < whole(2, denominator=denominator):
        raise InvalidArgument("numerator", "must be between 0 and the denominator")
    values, points = np.asarray(sorted_values), np.asarray(candidates)
    for name, array in (("sorted_values", values), ("candidates", points)):
        if array.dtype != np.int64 or array.ndim != 1:
            raise InvalidArgument(name, "must be a one-dimensional list of whole numbers")
    if (np.diff(values) < 0).any() or (np.diff(points) <= 0).any():
        raise InvalidArgument("candidates", "and values must be in rising order")
    each = np.ones(values.size, dtype=np.int64) if sizes is None else np.asarray(sizes)
    if each.shape != values.shape or each.dtype != np.int64:
        raise InvalidArgument("sizes", "must be a whole number for each value")
    up_to = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(each)])
    below = up_to[np.searchsorted(values, points, side="left")]
    above = up_to[-1] - up_to[np.searchsorted(values, points, side="right")]
    scores: IntArray = -np.abs((denominator - numerator) * below - numerator * above)
    return scores
