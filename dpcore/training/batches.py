"""Mini-batches, a different one for every model: who is in each, and their clipped gradient sums.

Models that shared their batches would be correlated, and error bars over them would lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.training.gradient_sums import Single
from dpcore.training.losses import Absolute, LinearLoss, Logistic
from dpcore.validate import FloatArray

if TYPE_CHECKING:
    from numpy.random import Generator

Rows = NDArray[np.int64]
_GATHERED = 1 << 18  # numbers copied out of X at a time: 1 MB, so that they are still in cache when used


def poisson_batches(n: int, rate: float, steps: int, models: int, rng: Generator) -> Iterator[Rows]:
    """For each step, the rows of every model's batch: shape (models, longest), filled up with n.

    Each row is in each batch with probability ``rate``, independently of everything else. Instead of a coin for every
    row, the gaps between chosen rows are drawn, which are geometric; about 1/rate steps at a time.
    """
    if rate >= 1.0:
        everyone = np.broadcast_to(np.arange(n), (models, n))
        for _ in range(steps):
            yield everyone
        return
    together = max(1, min(steps, round(1.0 / rate)))
    for start in range(0, steps, together):
        now = min(together, steps - start)
        length = n * now
        places = _skips(rate, length, models, rng)
        step, row = np.divmod(places, n)
        yield from _padded(np.where(places < length, step, now), row, now, n)


def disjoint_batches(n: int, batches: int, epochs: int, models: int, rng: Generator) -> Iterator[Rows]:
    """For each step, the rows of every model's batch, shaped as in ``poisson_batches``.

    In each model every row belongs to one batch, drawn once, independently of the other rows, and kept in all epochs:
    so adding or removing one person changes one batch and nobody else's place.
    """
    own = rng.integers(batches, size=(models, n))
    order = np.argsort(own, axis=1, kind="stable")
    steps = list(_padded(np.take_along_axis(own, order, axis=1), order, batches, n))
    for _ in range(epochs):
        yield from steps


def _skips(rate: float, length: int, models: int, rng: Generator) -> Rows:
    """Increasing places of successes of a coin of chance ``rate``, (models, many), beyond ``length`` at the end."""
    expected = rate * length
    many = int(expected + 6.0 * np.sqrt(expected) + 16.0)
    per_coin = -np.log1p(-rate)
    last, parts = np.full((models, 1), -1, dtype=np.int64), []
    while True:
        gaps = (rng.standard_exponential((models, many)) / per_coin).astype(np.int64) + 1
        parts.append(np.cumsum(gaps, axis=1) + last)
        last = parts[-1][:, -1:]
        if int(last.min()) >= length:
            return np.concatenate(parts, axis=1)


def _padded(step: Rows, row: Rows, steps: int, n: int) -> Iterator[Rows]:
    """Rows grouped by step, from (models, many) arrays in order of step; step ``steps`` means in none."""
    models = step.shape[0]
    counts = np.zeros((models, steps + 1), dtype=np.int64)
    np.add.at(counts, (np.arange(models)[:, None], step), 1)
    starts = np.cumsum(counts, axis=1) - counts
    for now in range(steps):
        longest = int(counts[:, now].max())
        reach = np.arange(longest)
        places = np.minimum(starts[:, now, None] + reach, row.shape[1] - 1)
        yield np.where(reach < counts[:, now, None], np.take_along_axis(row, places, axis=1), n)


class BatchSums:
    """``sums(weights, rows)``: Σ of clipped gradients over each model's own rows, (d, models) float32."""

    def __init__(self, loss: LinearLoss, X: FloatArray, y: FloatArray, clip: float) -> None:
        self.n, self.d = X.shape
        self._loss = loss
        folded = X * y[:, None] if isinstance(loss, Logistic) else X
        # row n is 0: it fills up short batches and adds nothing
        self._X: Single = np.vstack([folded, np.zeros((1, self.d))]).astype(np.float32)
        self._y: Single = np.append(y, 0.0).astype(np.float32)
        lengths = np.append(np.linalg.norm(X, axis=1), 0.0)
        caps = np.divide(clip, lengths, out=np.full_like(lengths, np.inf), where=lengths > 0.0)
        self._caps: Single = caps.astype(np.float32)

    def __call__(self, weights: Single, rows: Rows) -> Single:
        total = np.empty_like(weights)
        together = max(1, _GATHERED // max(1, rows.shape[1] * self.d))
        for start in range(0, rows.shape[0], together):
            some = rows[start : start + together]
            chosen = self._X[some]
            columns = np.ascontiguousarray(weights[:, start : start + together].T)
            margins = np.matmul(chosen, columns[:, :, None])[:, :, 0]
            slopes = self._slopes(margins, some)
            total[:, start : start + together] = np.matmul(slopes[:, None, :], chosen)[:, 0, :].T
        return total

    def _slopes(self, margins: Single, rows: Rows) -> Single:
        caps = self._caps[rows]
        if isinstance(self._loss, Logistic):
            np.multiply(margins, np.float32(0.5), out=margins)
            np.tanh(margins, out=margins)
            margins -= np.float32(1.0)
            margins *= np.float32(0.5)
            return np.maximum(margins, -caps, out=margins)
        margins -= self._y[rows]
        if isinstance(self._loss, Absolute):
            np.sign(margins, out=margins)
        return np.clip(margins, -caps, caps, out=margins)
