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
        edges = np.arange(now + 1) * n
        starts = np.stack([np.searchsorted(own, edges) for own in places])
        yield from _padded(places % n, starts, n)


def disjoint_batches(n: int, batches: int, epochs: int, models: int, rng: Generator) -> Iterator[Rows]:
    """For each step, the rows of every model's batch, shaped as in ``poisson_batches``.

    In each model every row belongs to one batch, drawn once, independently of the other rows, and kept in all epochs:
    so adding or removing one person changes one batch and nobody else's place.
    """
    own = rng.integers(batches, size=(models, n))
    order = np.argsort(own, axis=1, kind="stable")
    sizes = np.stack([np.bincount(places, minlength=batches) for places in own])
    steps = list(_padded(order, np.concatenate([np.zeros((models, 1), int), sizes.cumsum(axis=1)], axis=1), n))
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


def _padded(row: Rows, starts: Rows, n: int) -> Iterator[Rows]:
    """Rows of each step, from all of them in order of step (models, many) and where steps start (models, steps + 1)."""
    for first, after in zip(starts[:, :-1].T, starts[:, 1:].T, strict=True):
        reach = np.arange(int((after - first).max()))
        places = first[:, None] + reach
        inside = places < after[:, None]
        chosen = np.take_along_axis(row, np.minimum(places, row.shape[1] - 1), axis=1)
        yield np.where(inside, chosen, n)


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
            # several times as fast as indexing by a matrix
            chosen = np.take(self._X, some.ravel(), axis=0, mode="clip").reshape(*some.shape, self.d)
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
