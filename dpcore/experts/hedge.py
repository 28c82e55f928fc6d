"""Hedge on fixed losses, exactly: the law of the total loss at many learning rates in one pass over the rounds.

Expert i is played in round t with probability p_ti ∝ exp(−η L_ti), L_t the losses of the rounds before t. The losses
do not depend on the plays, so the total loss is a sum of independent draws with mean Σ⟨p_t, ℓ_t⟩ and variance
Σ(⟨p_t, ℓ_t²⟩ − ⟨p_t, ℓ_t⟩²): nothing is simulated.

Weights are exponentials of the totals once in a stride of up to 128 rounds; within it each round multiplies them by
exp(−ηℓ), which on [0, most] is a polynomial of the loss to 1e-10 (exactly linear where losses are 0 or 1). A stride
ends before weights could leave the range of floats, and errors do not outlive it. So a round costs the same few
multiplications at every rate, slow or fast. Only the loop over rounds is compiled: NumPy needs an exponential for
each round, expert and rate as soon as rates are large, and takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, FloatArray, IntArray, finite_vector

Losses = NDArray[Any]  # (rounds, experts) within [0, 1]: float64, float32, uint8 or bool

_BLOCK = 1 << 18  # numbers in the largest working array: 2 MB
_CACHE = 1 << 14  # numbers that stay in cache while all rates go over them: 128 KB
_STRIDE = 128  # rounds between exponentials
_FALL = 300.0  # by how much logarithms of weights may fall in a stride
_DEGREE = 8  # of the polynomial, good to 1e-10 up to a steepness of 1
_STEEP = 10.0
_SMALLEST_LOGIT = -700.0  # below it exp would leave the normal numbers, and the fast path of the processor


def expected_regret(losses: ArrayLike, learning_rates: ArrayLike) -> FloatArray:
    """Expected total regret of randomised weighted majority, exact, one value for each learning rate.

    ``losses`` has shape (rounds, experts), every entry in [0, 1]; float64, float32, bool or integers 0 and 1.
    ``learning_rates`` has shape (m,), each η ≥ 0. The regret is Σ_t ⟨p_t, ℓ_t⟩ − min_i Σ_t ℓ_ti with
    p_ti ∝ exp(−η Σ_{s<t} ℓ_si). Losses are read a block at a time (a memory map will do) and working memory stays
    under 10 MB. Littlestone & Warmuth, Information and Computation 1994. Raises InvalidArgument.
    """
    table = as_losses(losses)
    rates = finite_vector(learning_rates=learning_rates)
    if (rates < 0).any():
        raise InvalidArgument("learning_rates", "must be at least 0 everywhere")
    rounds = np.full(rates.shape, table.shape[0], dtype=np.int64)
    mean, _ = hedge_moments(table, rates, rounds, variance=False)
    regret: FloatArray = mean - totals_at(table, rounds[:1]).min()
    return regret


def as_losses(losses: ArrayLike) -> Losses:
    """``losses`` as an array (rounds, experts) in a type the engine works with, not copied where it can be helped.

    Raises InvalidArgument when they are not a table of numbers within [0, 1].
    """
    table = np.asanyarray(losses)
    if table.dtype.kind not in "fiub":
        raise InvalidArgument("losses", "must hold numbers only")
    if table.ndim != 2 or 0 in table.shape:
        raise InvalidArgument("losses", "must be a table with a row for each round and a column for each expert")
    if table.dtype.kind == "f" and table.dtype.itemsize not in (4, 8):
        table = table.astype(np.float32 if table.dtype.itemsize < 4 else np.float64)
    if not (table.min() >= 0 and table.max() <= 1):  # NaN fails both
        raise InvalidArgument("losses", "must all lie between 0 and 1; rescale them by their declared bounds first")
    return table.astype(np.uint8) if table.dtype.kind == "i" else table


def hedge_moments(
    losses: Losses, rates: FloatArray, stops: IntArray, *, hold: int = 1, variance: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the total loss over the first ``stops`` rounds at ``rates``, each of shape (m,).

    A play is held for ``hold`` rounds. A last one that is cut short counts where all stop at the end of ``losses``, and
    is left out otherwise. With ``variance`` False the variances are left at 0.
    """
    from dpcore.experts.kernel.run import moments

    rounds, experts = losses.shape
    draws = -(-stops // hold) if (stops == rounds).all() else stops // hold
    mean, spread = np.zeros(rates.shape), np.zeros(rates.shape)
    zero_one = hold == 1 and losses.dtype.kind in "ub"
    plan = _plan(np.ascontiguousarray(rates, dtype=np.float64), float(hold), zero_one=zero_one)
    totals, room = np.zeros(experts), np.zeros((3, experts))
    last = int(draws.max(initial=0))
    chunk = min(max(_CACHE // experts, 8), _STRIDE)
    step = max(_BLOCK // experts // chunk, 1) * chunk
    block = np.zeros((min(step, last), experts))
    for first in range(0, last, step):
        size = min(step, last - first)
        _read(losses, first, size, hold, block)
        left = np.maximum(draws - first, 0).astype(np.int64)
        moments(
            block[:size],
            totals,
            plan.rates,
            left,
            plan.strides,
            plan.coefficients,
            plan.linear,
            plan.squarings,
            mean,
            spread,
            variance,
            chunk,
            room[0],
            room[1],
            room[2],
        )
    return mean, np.maximum(spread, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Plan:
    """How ``kernel.run.moments`` is to take each rate."""

    rates: FloatArray
    strides: IntArray
    coefficients: FloatArray
    linear: BoolArray
    squarings: IntArray


def _plan(rates: FloatArray, most: float, *, zero_one: bool) -> _Plan:
    """Strides, and polynomials in a loss of at most ``most`` for exp(−rate × loss / 2^squarings)."""
    steepness = rates * most
    strides = np.clip(_FALL / np.maximum(steepness, 1e-300), 1, _STRIDE).astype(np.int64)
    squarings = np.maximum(np.ceil(np.log2(np.maximum(steepness, 1e-300))), 0.0).astype(np.int64)
    # 1 − (1 − e^−η) keeps e^−η to 1e-11 only while it is not too small
    linear = (rates <= _STEEP) & zero_one
    places = (np.polynomial.chebyshev.chebpts1(_DEGREE + 1) + 1.0) / 2.0
    to_powers = np.linalg.inv(np.vander(places, increasing=True))
    powers = np.exp(-(steepness / 2.0**squarings)[:, None] * places) @ to_powers.T
    coefficients = powers / most ** np.arange(_DEGREE + 1.0)
    coefficients[linear, 0] = -np.expm1(-rates[linear])
    return _Plan(rates=rates, strides=strides, coefficients=coefficients, linear=linear, squarings=squarings)


def _read(losses: Losses, first: int, size: int, hold: int, out: FloatArray) -> None:
    """Sums over ``hold`` rounds each of ``size`` draws from number ``first``, into the first rows of ``out``."""
    taken = losses[first * hold : (first + size) * hold]
    if hold == 1:
        out[:size] = taken
    else:
        np.add.reduceat(taken, np.arange(0, taken.shape[0], hold), axis=0, dtype=np.float64, out=out[:size])


def totals_at(losses: Losses, ends: IntArray) -> FloatArray:
    """Total losses of each expert over the first ``ends`` rounds, shape (m, experts), in one pass."""
    points, place = np.unique(ends, return_inverse=True)
    totals: FloatArray = np.cumsum(sums_between(losses, points), axis=0)[place]
    return totals


def sums_between(losses: Losses, points: IntArray) -> FloatArray:
    """Losses of each expert from one of the ascending ``points`` to the next, the first from round 0, (m, experts)."""
    sums = np.zeros((points.size, losses.shape[1]))
    before = 0
    for index, point in enumerate(points.tolist()):
        sums[index] = losses[before:point].sum(axis=0, dtype=np.float64)
        before = point
    return sums


def _weights(totals: FloatArray, rates: FloatArray | float) -> FloatArray:
    """exp(−rate × total), the least total of each last axis taken as 0."""
    below = totals - totals.min(axis=-1, keepdims=True)
    weights: FloatArray = below * -np.asarray(rates)
    if float(below.max()) * float(np.max(rates)) > -_SMALLEST_LOGIT:
        np.maximum(weights, _SMALLEST_LOGIT, out=weights)
    return np.exp(weights, out=weights)


def hedge_chances(losses: Losses, rate: float, hold: int = 1) -> Iterator[FloatArray]:
    """The chances of each expert at every draw, block after block: arrays (draws of the block, experts)."""
    rounds, experts = losses.shape
    draws = -(-rounds // hold)
    total = np.zeros(experts)
    step = max(1, _BLOCK // experts)
    for first in range(0, draws, step):
        taken = losses[first * hold : (first + step) * hold]
        sums = np.add.reduceat(taken, np.arange(0, taken.shape[0], hold), axis=0, dtype=np.float64)
        after = total + np.cumsum(sums, axis=0)
        before = np.vstack([total, after[:-1]])
        total = after[-1]
        weights = _weights(before, rate)
        yield weights / weights.sum(axis=1, keepdims=True)
