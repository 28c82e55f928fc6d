"""Rows of plain numbers, for what otherwise works on ``CodedRows``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpcore.validate import FloatArray

Single = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class DenseRows:
    """Rows X (n, d) of length at most 1. What has a count in ``CodedRows`` is here a sum of squares.

    One row moves the sums of squares by at most 1 in L2, since Σ x⁴ ≤ (Σ x²)². n is public, as in every ``Method``.
    """

    X: FloatArray
    single: Single = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "single", self.X.astype(np.float32))

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def most_ones(self) -> int:
        """The square of how far one row can move ``counts`` in L2."""
        return 1

    @property
    def people(self) -> int | None:
        """How many rows there are, as it is public."""
        return self.shape[0]

    def counts(self) -> FloatArray:
        """Σ over rows of x², exact, shape (d,)."""
        return np.asarray(np.einsum("ij,ij->j", self.X, self.X))

    def table(self, weights: Single) -> Single:
        """The weights (d, models)."""
        return np.ascontiguousarray(weights, dtype=np.float32)

    def blocks(self, size: int) -> Iterator[tuple[slice, Single]]:
        """``size`` rows at a time."""
        for start in range(0, self.shape[0], size):
            part = slice(start, min(start + size, self.shape[0]))
            yield part, self.single[part]

    def gather(self, block: Single, table: Single, out: Single) -> None:
        """``out`` (rows, models) becomes the margins of a ``block``."""
        np.matmul(block, table, out=out)

    def squares(self, block: Single, table: Single, out: Single) -> None:
        """The same for Σ x² w."""
        np.matmul(block * block, table, out=out)

    def scatter(self, block: Single, slopes: Single, total: Single) -> None:
        """Adds slope × x of every row of a ``block`` to ``total`` (d, models)."""
        total += block.T @ slopes

    def folded(self, total: Single) -> Single:
        """``total`` as it is."""
        return total
