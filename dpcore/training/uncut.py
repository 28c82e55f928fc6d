"""Rows whose numbers and dates are kept as cells of fine public grids, to be cut at private quantiles.

A cell says where on its grid a value lies and no more, and every cut stands at a place of the grid. So whichever cuts
are bought, the steps of a row follow from its cells alone, and a model on steps is a table of points by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.training.coded import CodedRows, Single
from dpcore.training.encoding import Encoding
from dpcore.training.paid_cuts import STEPS, NoisyQuantiles, bits_for, fine_grid, levels_at
from dpcore.training.pairs import Pair
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from numpy.random import Generator

BOUGHT_WIDTH = sum(STEPS)
"""At most how many steps a number has whose cuts are bought, all levels together."""


def is_bought(column: Encoding) -> bool:
    """Whether cuts can be bought for a column: a number or a date without cuts."""
    return column.kind in ("number", "date") and not column.levels


def grid_of(column: Encoding) -> FloatArray:
    """Where a number or date may be cut, from its declared bounds alone, rising; not to be written to."""
    return _grid(column.low, column.high, column.kind == "date")


@lru_cache(maxsize=512)
def _grid(low: float, high: float, days: bool) -> FloatArray:
    found = fine_grid(low, high, days=days)
    found.flags.writeable = False
    return found


def cells_of(column: Encoding, typed: FloatArray) -> IntArray:
    """The cell of the column's grid that each value is in, (n,), from ``Encoding.typed``; −1 where missing."""
    return column.place(typed, grid_of(column))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UncutRows:
    """``cells`` are the rows with a one for every cell, option and cell of a pair, none where a value is missing.

    ``columns`` are those of the table, which come first among the codes of ``cells``, then ``pairs``, then a constant.
    """

    cells: CodedRows
    columns: tuple[Encoding, ...]
    pairs: tuple[Pair, ...] = ()

    @classmethod
    def of(cls, columns: Sequence[Encoding], typed: Sequence[FloatArray], *, pairs: Sequence[Pair] = ()) -> UncutRows:
        """From what each column's ``typed`` gave. Raises InvalidArgument for a column that is cut already."""
        if any(column.levels for column in columns):
            raise InvalidArgument("columns", "must not be cut yet")
        codes, sizes = [], []
        for column, values in zip(columns, typed, strict=True):
            size = grid_of(column).size + 1 if is_bought(column) else column.basis().shape[0] - 1
            own = cells_of(column, values) if is_bought(column) else column.codes(values)
            codes.append(np.where(own < 0, size, own))
            sizes.append(size)
        known = {column.name: values for column, values in zip(columns, typed, strict=True)}
        codes += [pair.codes(*(known[name] for name in pair.names)) for pair in pairs]
        sizes += [pair.cells for pair in pairs]
        return cls(cells=_ones(codes, sizes), columns=tuple(columns), pairs=tuple(pairs))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and how many different ones they have."""
        return self.cells.shape

    def take(self, rows: IntArray) -> UncutRows:
        """Some of the rows, shape (m,) of places."""
        return replace(self, cells=self.cells.take(rows))

    def margins(self, weights: FloatArray | Single) -> Single:
        """x·w for every row and model, ``weights`` (d, models) of the cells, shape (n, models)."""
        return self.cells.margins(weights)

    def bought(self, noise: float, rng: Generator) -> tuple[Encoding, ...]:
        """The columns, cut at private quantiles: one Gaussian release of multiplier ``noise`` for all together."""
        many = sum(is_bought(column) for column in self.columns)
        found = []
        for place, column in enumerate(self.columns):
            if is_bought(column):
                grid = grid_of(column)
                counts = np.bincount(self.cells.codes[:, place], minlength=grid.size + 2)[:-1]
                asked = NoisyQuantiles(bits=bits_for(grid), columns=many, noise=noise)
                column = replace(column, levels=levels_at(asked.draw(counts, rng), grid, column.low, column.high))
            found.append(column)
        return tuple(found)

    def cut(self, columns: Sequence[Encoding]) -> tuple[CodedRows, list[IntArray]]:
        """The rows on the steps of ``columns``, cut at places of their grids, and each code's step by cell."""
        tables, steps = [], []
        for column in columns:
            tables.append(column.basis()[:, :-1])
            if column.levels:
                lowest = np.array([-np.inf, *grid_of(column)])
                step = np.searchsorted(np.array(column.edges), lowest, side="right")
                steps.append(np.append(step, len(column.edges) + 1))
            else:
                steps.append(np.arange(tables[-1].shape[0]))
        tables += [*(pair.basis() for pair in self.pairs), np.ones((1, 1))]
        steps += [np.arange(table.shape[0]) for table in tables[len(steps) :]]
        codes = [step[self.cells.codes[:, place]] for place, step in enumerate(steps)]
        return CodedRows.of(codes, tables), steps

    def by_cell(self, rows: CodedRows, steps: Sequence[IntArray], weights: FloatArray) -> FloatArray:
        """``weights`` (d,) of the ``rows`` that ``cut`` gave with these ``steps``, as weights of ``cells``."""
        points = np.asarray(rows.basis @ weights)
        every = np.concatenate([points[start + step] for start, step in zip(rows.starts, steps, strict=True)])
        return every[np.diff(self.cells.basis.indptr) > 0]


def _ones(codes: Sequence[IntArray], sizes: Sequence[int]) -> CodedRows:
    """A one for each of a column's ``sizes`` codes and none for the next, side by side, and a constant one."""
    from scipy.sparse import csr_array

    present = np.concatenate([np.append(np.ones(size, dtype=np.int32), 0) for size in sizes] + [np.ones(1, np.int32)])
    many = int(present.sum())
    ends = np.concatenate([[0], np.cumsum(present)])
    basis = csr_array((np.ones(many, dtype=np.float32), np.arange(many), ends), shape=(present.size, many))
    starts = np.concatenate([[0], np.cumsum(np.array(sizes) + 1)]).astype(np.int64)
    table = np.stack([*codes, np.zeros_like(codes[0])], axis=1)
    return CodedRows(codes=table.astype(np.uint16), starts=starts, basis=basis)
