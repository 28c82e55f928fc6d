"""Hedge on fixed losses, exactly: the law of the total loss at many learning rates in one pass over the rounds.

Expert i is played in round t with probability p_ti ∝ exp(−η L_ti), L_t the losses of the rounds before t. The losses
do not depend on the plays, so the total loss is a sum of independent draws with mean Σ⟨p_t, ℓ_t⟩ and variance
Σ(⟨p_t, ℓ_t²⟩ − ⟨p_t, ℓ_t⟩²): nothing is simulated.

Rounds are taken in strides. The weights are computed by exponentials at the middle of a stride only; elsewhere in it
exp(−η L_t) = exp(−η L_mid) exp(−η c) with a small drift c, and the second factor is summed as a power series until
what is left of it is below 1e-8 of the weight. Powers of c serve every η, and the sums over experts become matrix
products. When ηc is not small the stride is one round and the series one term.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, IntArray, finite_vector

Losses = NDArray[Any]  # (rounds, experts) within [0, 1]: float64, float32, uint8 or bool

_REMAINDER = 1e-8
_BLOCK = 1 << 18  # numbers in the largest working array: 2 MB
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
    rounds, experts = losses.shape
    draws = -(-stops // hold) if (stops == rounds).all() else stops // hold
    mean, spread = np.zeros(rates.shape), np.zeros(rates.shape)
    order = np.argsort(-rates, kind="stable")
    total = np.zeros(experts)
    first, last = 0, int(draws.max(initial=0))
    while first < last:
        active = order[draws[order] > first]
        stride = _stride(float(rates[active[0]]) * hold, last - first, experts * active.size)
        widest = max(experts * active.size, 3 * stride * max(experts, active.size))
        size = min(max(1, _BLOCK // widest) * stride, last - first)
        strides = -(-size // stride)
        block = np.zeros((strides * stride, experts))  # draws after the last one lose nothing and add nothing
        _read(losses, first, size, hold, block)
        block = block.reshape(strides, stride, experts)
        means, spreads, total = _block_moments(block, total, rates[active], variance=variance)
        inside = draws[active] - first
        if inside.min() < size:
            kept = np.arange(strides * stride).reshape(strides, 1, stride) < inside[None, :, None]
            means *= kept
            spreads *= kept
        mean[active] += means.sum(axis=(0, 2))
        spread[active] += spreads.sum(axis=(0, 2))
        first += size
    return mean, np.maximum(spread, 0.0)


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


def _stride(steepness: float, rounds: int, width: int) -> int:
    """Rounds per exponential: so many that the series needs about six terms, and matrix products stay small.

    ``width`` is rates × experts. Products of up to a million terms take a path of their own in BLAS, twice as fast.
    """
    for stride in (32, 24, 16, 8, 4):
        if steepness * stride <= 1.28 and stride <= rounds and width * stride <= 1_000_000:
            return stride
    return 1


def _block_moments(
    block: FloatArray, before: FloatArray, rates: FloatArray, *, variance: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means and variances in a block (strides, stride, experts), shape (strides, rates, stride), and totals after it.

    ``rates`` descend.
    """
    stride = block.shape[1]
    after = before + np.cumsum(block.sum(axis=1), axis=0)
    middle = block[:, : stride // 2].sum(axis=1)
    middle[0] += before
    middle[1:] += after[:-1]
    weights = _weights(middle[:, None, :], rates[:, None])

    # sums over experts of weight × ℓ^kind × exp(−ηc), shape (strides, rates, stride) each
    sums = [np.repeat(weights.sum(axis=2, keepdims=True), stride, axis=2), weights @ block.transpose(0, 2, 1)]
    if variance:
        sums.append(weights @ (block * block).transpose(0, 2, 1))
    if stride > 1:
        _add_drift(sums, weights, block, rates)
    means = sums[1] / sums[0]
    spreads = sums[2] / sums[0] - means * means if variance else np.zeros_like(means)
    return means, spreads, after[-1]


def _add_drift(sums: list[FloatArray], weights: FloatArray, block: FloatArray, rates: FloatArray) -> None:
    """Add the terms (−ηc)^m/m!, m ≥ 1, of the series to ``sums``; single precision is enough for corrections."""
    stride = block.shape[1]
    single = block.astype(np.float32)
    drift = np.empty_like(single)
    drift[:, 0] = 0.0
    for step in range(1, stride):
        np.add(drift[:, step - 1], single[:, step - 1], out=drift[:, step])
    drift -= drift[:, stride // 2, None].copy()
    low, high = drift.min(axis=2, keepdims=True), drift.max(axis=2, keepdims=True)
    drift -= (low + high) / 2  # common to all experts, so without effect on the probabilities
    farthest = float((high - low).max()) / 2

    powers = [drift.copy()]
    for _ in sums[1:]:
        powers.append(powers[-1] * single)
    light = weights.astype(np.float32)
    corrections = [np.zeros(part.shape, dtype=np.float32) for part in sums]
    factor, remainder = np.ones(rates.size), np.ones(rates.size)
    term = 0
    while True:
        term += 1
        remainder *= rates * (farthest / term)
        needed = int(np.count_nonzero(remainder > _REMAINDER))  # rates descend: the first ones need it longest
        if needed == 0:
            break
        factor *= -rates / term
        scale = factor[:needed, None].astype(np.float32)
        for power, correction in zip(powers, corrections, strict=True):
            if term > 1:
                power *= drift
            added = light[:, :needed] @ power.transpose(0, 2, 1)
            added *= scale
            correction[:, :needed] += added
    for part, correction in zip(sums, corrections, strict=True):
        part += correction


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
