"""Sums of clipped per-row gradients for many models at once: the data is read once for all of them.

For a linear loss a row's gradient is slope × x, so clipping it to norm C is capping |slope| at C/‖x‖: no per-row
gradient is built, and the sum for all models is two matrix products. Rows go through in blocks small enough that the
margins of all models stay in cache. Single precision: the rounding is far below the noise (see tests).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InvalidArgument
from dpcore.training.losses import Absolute, LinearLoss, Logistic, Squared
from dpcore.validate import FloatArray, positive

Single = NDArray[np.float32]
BLOCK = 512
SPARSE_BELOW = 0.08  # share of entries that are not 0 under which sparse products win (benchmarks/training.py)


class GradientSums:
    """``sums(weights)``: Σ over rows of clip(∇loss, C) for every model; the ridge is not part of it.

    X (n, d), y (n,); ``clip`` is C, or None for no clipping; ``weights`` and the result are (d, models) float32. All
    rows count at every ``step``.
    Labels of the logistic loss are folded into the rows, which leaves one tanh and, only where the clip can bind,
    one comparison per row and model. Without clipping the squared loss needs only XᵀX and Xᵀy.
    """

    def __init__(self, loss: LinearLoss, X: FloatArray, y: FloatArray, clip: float | None) -> None:
        if clip is not None:
            positive(clip=clip)
        self.n, self.d = X.shape
        self._loss = loss
        self._gram: tuple[FloatArray, FloatArray] | None = None
        if isinstance(loss, Squared) and clip is None:
            self._gram = (X.T @ X, X.T @ y)
            return
        self._logistic = isinstance(loss, Logistic)
        rows = (X * y[:, None] if self._logistic else X).astype(np.float32)
        lengths = np.linalg.norm(X, axis=1)
        self._y = y.astype(np.float32)[:, None]
        steepest = 1.0 if isinstance(loss, Logistic | Absolute) else np.inf
        self._caps: Single | None = None
        if clip is not None and float(lengths.max(initial=0.0)) * steepest > clip:
            caps = np.divide(clip, lengths, out=np.full_like(lengths, np.inf), where=lengths > 0.0)
            self._caps = (1.0 - 2.0 * caps if self._logistic else caps).astype(np.float32)[:, None]
        self._blocks: list[tuple[Any, Any]] = list(_blocks(rows))

    def __call__(self, weights: Single, step: int = 0) -> Single:
        if weights.shape[0] != self.d:
            raise InvalidArgument("weights", "must have one row for every column of X")
        if self._gram is not None:
            square, cross = self._gram
            return cast(Single, (square @ weights - cross[:, None]).astype(np.float32))
        total = np.zeros_like(weights)
        scratch = np.empty_like(weights)
        margins = np.empty((BLOCK, weights.shape[1]), dtype=np.float32)
        scaled = weights * np.float32(0.5) if self._logistic else weights
        start = 0
        for rows, columns in self._blocks:
            stop = start + rows.shape[0]
            if isinstance(rows, np.ndarray):
                slopes = np.matmul(rows, scaled, out=margins[: stop - start])
            else:
                slopes = rows @ scaled
            self._to_slopes(slopes, slice(start, stop))
            if isinstance(columns, np.ndarray):
                total += np.matmul(columns, slopes, out=scratch)
            else:
                total += columns @ slopes
            start = stop
        return total * np.float32(0.5) if self._logistic else total

    def _to_slopes(self, margins: Single, rows: slice) -> None:
        """Clipped slopes in place of margins; for the logistic loss twice the slopes in place of half the margins."""
        caps = None if self._caps is None else self._caps[rows]
        if self._logistic:
            # with labels folded in, −σ(−m) = (tanh(m/2) − 1)/2, and the cap −C/‖x‖ on it is 1 − 2C/‖x‖ on the tanh
            np.tanh(margins, out=margins)
            if caps is not None:
                np.maximum(margins, caps, out=margins)
            margins -= np.float32(1.0)
            return
        margins -= self._y[rows]
        if isinstance(self._loss, Absolute):
            np.sign(margins, out=margins)
        if caps is not None:
            np.clip(margins, -caps, caps, out=margins)


def _blocks(rows: Single) -> Iterator[tuple[Any, Any]]:
    """Pairs (block, its transpose), dense or, where most entries are 0, sparse."""
    if np.count_nonzero(rows) < SPARSE_BELOW * rows.size:
        from scipy.sparse import csr_array

        for start in range(0, rows.shape[0], BLOCK):
            sparse = csr_array(rows[start : start + BLOCK])
            yield sparse, sparse.T.tocsr()
        return
    for start in range(0, rows.shape[0], BLOCK):
        block = rows[start : start + BLOCK]
        yield block, block.T
