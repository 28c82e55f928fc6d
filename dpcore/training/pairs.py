"""Pairs: two columns that act together, by a one for every step or option of the first with every one of the second.

A pair is one more coded column: its code says in which cell a row is, and no cell has more than public constants say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.training.encoding import Encoding, cut
from dpcore.validate import FloatArray, IntArray

MOST_CUTS = 20
"""In a pair a number has the steps of its finest level of at most so many cuts, else of its coarsest."""
MOST_CELLS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two columns, each with one level of steps or its options, and a one for each of their ``cells``.

    A row with a missing or unknown value in either is in no cell. Raises InvalidArgument.
    """

    first: Encoding
    second: Encoding

    def __post_init__(self) -> None:
        if self.first.name == self.second.name:
            raise InvalidArgument("pairs", f"must be of two different columns: “{self.first.name}” is there twice")
        if self.cells > MOST_CELLS:
            raise InvalidArgument(
                "pairs",
                f"cannot include “{self.first.name}” with “{self.second.name}”: that makes {self.cells:,} cells and "
                f"at most {MOST_CELLS:,} can be used",
            )

    @classmethod
    def of(cls, first: Encoding, second: Encoding) -> Self:
        """Of two columns; a number or date without cuts has its public ones here (``encoding.cut``)."""
        return cls(first=_one_level(first), second=_one_level(second))

    @property
    def names(self) -> tuple[str, str]:
        """The two columns."""
        return self.first.name, self.second.name

    @property
    def sizes(self) -> tuple[int, int]:
        """How many steps or options each has."""
        return _known(self.first), _known(self.second)

    @property
    def cells(self) -> int:
        """How many ones it becomes, of which a row has at most one."""
        first, second = self.sizes
        return first * second

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each of its cells."""
        first, second = (_words(column) for column in (self.first, self.second))
        return tuple(f"{one}, {other}" for one in first for other in second)

    def codes(self, first: FloatArray, second: FloatArray) -> IntArray:
        """The cell of every row (n,), and the number after the last where there is none, from ``Encoding.typed``."""
        return self.cell(self.first.codes(first), self.second.codes(second))

    def cell(self, one: IntArray, other: IntArray) -> IntArray:
        """The same from each column's ``Encoding.codes``."""
        sizes = self.sizes
        inside = (one < sizes[0]) & (other < sizes[1])
        return np.where(inside, one * sizes[1] + other, self.cells)

    def spread(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """A one for the cell of every row, zeros else, (n, cells), from ``Encoding.typed``."""
        return np.asarray(self.codes(first, second)[:, None] == np.arange(self.cells), dtype=np.float64)

    def basis(self) -> FloatArray:
        """The zeros and ones that each of ``codes`` stands for, (cells + 1, cells); the last has none."""
        return np.vstack([np.eye(self.cells), np.zeros((1, self.cells))])


def check_pairs(columns: Sequence[Encoding], names: Sequence[Sequence[str]]) -> None:
    """Refuses what are not different pairs of these columns, by their ``names`` alone. Raises InvalidArgument."""
    known = {column.name for column in columns}
    for pair in names:
        if isinstance(pair, str) or len(pair) != 2:
            raise InvalidArgument("pairs", "must each be two names of columns")
        for name in pair:
            if name not in known:
                raise InvalidArgument("pairs", f"must be of declared columns: “{name}” is not one")
    if len({frozenset(pair) for pair in names}) != len(names):
        raise InvalidArgument("pairs", "must all be different")


def declared_pairs(columns: Sequence[Encoding], names: Sequence[Sequence[str]]) -> tuple[Pair, ...]:
    """The pairs of these ``names`` of columns. Raises InvalidArgument."""
    check_pairs(columns, names)
    known = {column.name: column for column in columns}
    return tuple(Pair.of(known[first], known[second]) for first, second in names)


def all_pairs(columns: Sequence[Encoding]) -> tuple[Pair, ...]:
    """All pairs of these columns that have few enough cells, in the columns' order."""
    short = [_one_level(column) for column in columns]
    return tuple(
        Pair(first=one, second=other)
        for one, other in combinations(short, 2)
        if _known(one) * _known(other) <= MOST_CELLS
    )


def _one_level(column: Encoding) -> Encoding:
    if not column.levels:
        if column.kind not in ("number", "date"):
            return column
        column = cut(column)
    short = [level for level in column.levels if len(level) <= MOST_CUTS]
    return replace(column, levels=(max(short, key=len) if short else column.levels[0],))


def _known(column: Encoding) -> int:
    return len(column.edges) + 1 if column.levels else max(2, len(column.categories))


def _words(column: Encoding) -> list[str]:
    if column.levels:
        own = column.steps(column.edges)
    else:
        own = list(column.categories) if column.categories else ["no", "yes"]
    return [f"{column.name}: {word}" for word in own]
