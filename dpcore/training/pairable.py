"""Rows of steps and options of which some pairs are to be chosen: each candidate pair's cell beside the codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InvalidArgument
from dpcore.training.coded import CodedRows, Single
from dpcore.training.encoding import Encoding, coded
from dpcore.training.pairs import MOST_CELLS, Pair, all_pairs
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    from dpcore.training.features import Features


def candidate_pairs(
    columns: Sequence[Encoding], taken: Sequence[Pair] = (), *, most_cells: int = MOST_CELLS
) -> tuple[Pair, ...]:
    """The pairs that can be chosen from, by what is declared alone: those of at most ``most_cells`` that are not
    ``taken``. Raises InvalidArgument where there is none."""
    known = {frozenset(pair.names) for pair in taken}
    found = [pair for pair in all_pairs(columns) if pair.cells <= most_cells and frozenset(pair.names) not in known]
    if not found:
        raise InvalidArgument("pairs", "cannot be chosen: no two columns have few enough steps and options")
    return tuple(found)


def possible_pairs(features: Features, many: int) -> tuple[Pair, ...]:
    """The pairs of cut ``features`` of which any ``many`` can be chosen without making too many numbers of a row.

    By what is declared alone. Raises InvalidArgument where there is none.
    """
    return candidate_pairs(features.columns, features.pairs, most_cells=min(MOST_CELLS, features.room // many))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairableRows:
    """``singles`` are the rows without a choice, a constant one last; ``cells`` (n, candidates) says where each row is
    in each of the ``candidates``, the number of its cells where it is in none.

    Weights of all that could be are those of ``singles`` and then every candidate's cells. Raises InvalidArgument.
    """

    singles: CodedRows
    candidates: tuple[Pair, ...]
    cells: NDArray[np.uint16]

    @classmethod
    def of(
        cls,
        columns: Sequence[Encoding],
        typed: Sequence[FloatArray],
        *,
        candidates: Sequence[Pair],
        pairs: Sequence[Pair] = (),
        missing: bool = False,
    ) -> PairableRows:
        """From what each cut column's ``typed`` gave; ``pairs`` are there already, ``missing`` as in ``coded``."""
        known = {column.name: values for column, values in zip(columns, typed, strict=True)}
        short = {one.name: one for pair in candidates for one in (pair.first, pair.second)}
        own = {name: one.codes(known[name]) for name, one in short.items()}
        cells = np.empty((typed[0].shape[0], len(candidates)), dtype=np.uint16)
        for place, pair in enumerate(candidates):
            cells[:, place] = pair.cell(*(own[name] for name in pair.names))
        return cls(
            singles=coded(columns, typed, missing=missing, pairs=pairs), candidates=tuple(candidates), cells=cells
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and how many different ones they could have."""
        return self.singles.shape[0], self.singles.shape[1] + sum(pair.cells for pair in self.candidates)

    def take(self, rows: IntArray) -> PairableRows:
        """Some of the rows, shape (m,) of places."""
        return replace(self, singles=self.singles.take(rows), cells=self.cells[rows])

    def with_pairs(self, chosen: Sequence[int]) -> CodedRows:
        """The rows with the candidates at these places, before the constant one."""
        from scipy.sparse import block_diag, csr_array

        if not len(chosen):
            return self.singles
        singles = self.singles
        end = int(singles.starts[-1])  # the constant one's
        basis = singles.basis
        tables = [csr_array(self.candidates[place].basis().astype(np.float32)) for place in chosen]
        sizes = [table.shape[0] for table in tables]
        starts = end + np.concatenate([[0], np.cumsum(sizes)])
        codes = np.column_stack([singles.codes[:, :-1], self.cells[:, list(chosen)], singles.codes[:, -1:]])
        return CodedRows(
            codes=codes.astype(np.uint16),
            starts=np.concatenate([singles.starts[:-1], starts]).astype(np.int64),
            basis=csr_array(block_diag([basis[:end, :-1], *tables, basis[end:, -1:]], format="csr")),
        )

    def spread(self, weights: FloatArray, chosen: Sequence[int]) -> FloatArray:
        """``weights`` (d, …) of ``with_pairs(chosen)`` as weights of all that could be."""
        first = self.singles.shape[1] - 1
        found = np.zeros((self.shape[1], *weights.shape[1:]))
        found[:first], found[first] = weights[:first], weights[-1]
        starts = first + 1 + np.concatenate([[0], np.cumsum([pair.cells for pair in self.candidates])])
        at = first
        for place in chosen:
            many = self.candidates[place].cells
            found[starts[place] : starts[place] + many] = weights[at : at + many]
            at += many
        return found

    def margins(self, weights: FloatArray | Single) -> Single:
        """x·w for every row and model, ``weights`` (d, models) of all that could be, shape (n, models)."""
        start = self.singles.shape[1]
        found = self.singles.margins(weights[:start])
        for place, pair in enumerate(self.candidates):
            own = weights[start : start + pair.cells]
            start += pair.cells
            models = np.flatnonzero(np.any(own != 0.0, axis=0))
            if models.size:
                table = np.vstack([own[:, models], np.zeros((1, models.size))]).astype(np.float32)
                found[:, models] += table[self.cells[:, place]]
        return found
