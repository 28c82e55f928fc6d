"""Rows in every form that the ways to build a model need, side by side, for a choice among these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.training.choosing_pairs import CHOSEN
from dpcore.training.choosing_ways import BOUGHT, PAIRED, features_for, possible_ways
from dpcore.training.coded import CodedRows, Single
from dpcore.training.features import Features
from dpcore.training.pairable import PairableRows, possible_pairs
from dpcore.training.uncut import UncutRows
from dpcore.validate import FloatArray, IntArray

Rows = CodedRows | PairableRows | UncutRows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChoosableRows:
    """The same rows ``by_way``. Weights of all that could be are those of every way's rows, one way after another."""

    by_way: Mapping[str, Rows]

    @classmethod
    def of(cls, features: Features, typed: Sequence[FloatArray], ways: Sequence[str] | None = None) -> ChoosableRows:
        """From ``features``, whatever their cuts, and what each column's ``typed`` gave; the ways are those that their
        declarations allow unless given, for some of the columns of a larger table. Raises InvalidArgument."""
        chosen = possible_ways(features) if ways is None else ways
        return cls(by_way={way: _rows(features_for(features, way), way, typed) for way in chosen})

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and how many different ones they could have."""
        shapes = [rows.shape for rows in self.by_way.values()]
        return shapes[0][0], sum(width for _, width in shapes)

    def take(self, rows: IntArray) -> ChoosableRows:
        """Some of the rows, shape (m,) of places."""
        return ChoosableRows(by_way={way: own.take(rows) for way, own in self.by_way.items()})

    def spread(self, weights: FloatArray, way: str) -> FloatArray:
        """``weights`` (d, …) of one way's rows as weights of all that could be."""
        found = [
            weights if own == way else np.zeros((rows.shape[1], *weights.shape[1:]))
            for own, rows in self.by_way.items()
        ]
        return np.concatenate(found)

    def margins(self, weights: FloatArray | Single) -> Single:
        """x·w for every row and model, ``weights`` (d, models) of all that could be, shape (n, models)."""
        found, start = np.zeros((self.shape[0], weights.shape[1]), dtype=np.float32), 0
        for rows in self.by_way.values():
            own = weights[start : start + rows.shape[1]]
            start += rows.shape[1]
            models = np.flatnonzero(np.any(own != 0.0, axis=0))
            if models.size:
                found[:, models] += rows.margins(own[:, models])
        return found


def pairable_rows(features: Features, typed: Sequence[FloatArray]) -> PairableRows:
    """The rows of cut ``features`` with the pairs that can be chosen of them, if there are any."""
    try:
        candidates = possible_pairs(features, CHOSEN)
    except InvalidArgument:
        candidates = ()
    return PairableRows.of(features.columns, typed, candidates=candidates, pairs=features.pairs)


def _rows(features: Features, way: str, typed: Sequence[FloatArray]) -> Rows:
    if way == BOUGHT:
        return features.uncut_rows(typed)
    return pairable_rows(features, typed) if way == PAIRED else features.coded(typed, missing=False)
