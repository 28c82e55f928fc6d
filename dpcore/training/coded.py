"""Rows kept as small codes, one per column, instead of as many zeros and a few ones.

A column of categories or cuts takes finitely many values, so a row is one code per column and what a code stands for is
a public table: ``basis``. Margins are sums of table entries and gradients are sums by code: no row of d numbers is ever
built, and 50 columns take 50 to 100 bytes a row whatever d is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Single = NDArray[np.float32]
Codes = NDArray[np.uint8] | NDArray[np.uint16]
MOST_CODES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedRows:
    """n rows of d zeros and ones: row i is the sum over columns c of row ``starts[c] + codes[i, c]`` of ``basis``.

    ``codes`` (n, columns) are unsigned, ``starts`` (columns,) where each column's codes begin among all of them, and
    ``basis`` (all codes, d) is sparse and holds zeros and ones; columns share none of the d numbers.
    """

    codes: Codes
    starts: IntArray
    basis: csr_array

    @classmethod
    def of(cls, columns: Sequence[IntArray], tables: Sequence[FloatArray]) -> CodedRows:
        """From each column's codes (n,) and the zeros and ones they stand for (codes, width), put side by side.

        Raises InvalidArgument.
        """
        from scipy.sparse import block_diag, csr_array

        sizes = [table.shape[0] for table in tables]
        if not sizes or max(sizes) > MOST_CODES:
            raise InvalidArgument("columns", f"must each have at most {MOST_CODES:,} different values")
        if not all(np.isin(table, (0.0, 1.0)).all() for table in tables):
            raise InvalidArgument("tables", "must hold zeros and ones only")
        codes = np.empty((columns[0].shape[0], len(columns)), dtype=np.uint8 if max(sizes) <= 256 else np.uint16)
        for place, (own, size) in enumerate(zip(columns, sizes, strict=True)):
            if own.size and not 0 <= int(own.min()) <= int(own.max()) < size:
                raise InvalidArgument("columns", "must hold codes of their tables")
            codes[:, place] = own
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        basis = block_diag([csr_array(table.astype(np.float32)) for table in tables], format="csr")
        return cls(codes=codes, starts=starts, basis=basis)

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], int(self.basis.shape[1])

    @property
    def most_ones(self) -> int:
        """At most how many ones a row has, whoever it is about: from the tables alone."""
        ones = np.diff(self.basis.indptr)
        ends = np.append(self.starts[1:], ones.size)
        return int(sum(ones[start:end].max() for start, end in zip(self.starts, ends, strict=True)))

    @property
    def people(self) -> int | None:
        """How many rows there are, where that is public: not here, a noisy count says it."""
        return None

    def take(self, rows: IntArray) -> CodedRows:
        """Some of the rows, shape (m,) of places."""
        return CodedRows(codes=self.codes[rows], starts=self.starts, basis=self.basis)

    def dense(self) -> FloatArray:
        """The rows as (n, d) numbers."""
        total = np.zeros(self.shape)
        for column, start in enumerate(self.starts):
            total += self.basis[start + self.codes[:, column].astype(np.int64)].toarray()
        return total

    def table(self, weights: Single) -> Single:
        """What every code adds to a row's margin at ``weights`` (d, models), shape (all codes, models)."""
        return np.ascontiguousarray(self.basis @ weights, dtype=np.float32)

    def margins(self, weights: FloatArray | Single) -> Single:
        """x·w for every row and model, ``weights`` (d, models), shape (n, models)."""
        out = np.empty((self.codes.shape[0], weights.shape[1]), dtype=np.float32)
        self.gather(self.codes, self.table(weights.astype(np.float32)), out)
        return out

    def gather(self, block: Codes, table: Single, out: Single) -> None:
        """``out`` (rows, models) becomes the margins of a ``block`` at what ``table(weights)`` gave."""
        from dpcore.training.kernel.codes import gather

        gather(block, self.starts, table, out)

    squares = gather
    """The same for Σ x² w: a one is its own square."""

    def scatter(self, block: Codes, slopes: Single, total: Single) -> None:
        """Adds slope × x of every row of a ``block`` to ``total``, which is shaped as a ``table``."""
        from dpcore.training.kernel.codes import scatter

        scatter(block, self.starts, slopes, total)

    def folded(self, total: Single) -> Single:
        """What ``scatter`` added up, by each of the d numbers, (d, models)."""
        return np.asarray(self.basis.T @ total)

    def counts(self) -> FloatArray:
        """How many rows have each of the d ones, exact, shape (d,)."""
        by_code = np.zeros(self.basis.shape[0])
        for column, start in enumerate(self.starts):
            own = np.bincount(self.codes[:, column])
            by_code[start : start + own.size] += own
        return np.asarray(self.basis.T.astype(np.float64) @ by_code)

    def blocks(self, size: int) -> Iterator[tuple[slice, Codes]]:
        """The codes of ``size`` rows at a time."""
        for start in range(0, self.codes.shape[0], size):
            part = slice(start, min(start + size, self.codes.shape[0]))
            yield part, self.codes[part]
