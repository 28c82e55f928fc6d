"""The different words of a column with how often each occurs, and a guess about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.datasets.numerals import tidy
from dpcore.datasets.report import ColumnReading
from dpcore.datasets.schema import MISSING_WORDS, Column, DateOrder, Decimal
from dpcore.validate import BoolArray, IntArray

MOSTLY = 0.8
"""A type is suggested when at least this share of the cells that are not missing are of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What other columns of the same file show beyond doubt."""

    decimal: Decimal | None = None
    order: DateOrder | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """Tidied words that are not missing, shape (distinct,), and how often each occurs; the missing ones apart."""

    name: str
    words: pd.Series
    weights: IntArray
    missing: tuple[tuple[str, int], ...]

    @property
    def present(self) -> int:
        return int(self.weights.sum())

    @property
    def distinct(self) -> int:
        return len(self.words)

    def share(self, chosen: BoolArray) -> float:
        """The share of cells whose word is chosen."""
        return float(self.weights[chosen].sum()) / max(self.present, 1)

    def cells(self, chosen: BoolArray) -> int:
        return int(self.weights[chosen].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guess:
    """A suggested column, why, which words it cannot hold (shape (distinct,)), and readings to choose from."""

    column: Column
    reason: str
    bad: BoolArray
    readings: tuple[ColumnReading, ...] = ()
    notes: tuple[str, ...] = ()
    identifier: bool = False


def words_of(name: str, text: pd.Series) -> Words:
    codes, different = pd.factorize(text.str.strip())
    raw = pd.Series(different, dtype=text.dtype)
    weights = np.bincount(codes, minlength=len(raw)).astype(np.int64)
    absent = raw.str.lower().isin(MISSING_WORDS).to_numpy(dtype=bool)
    missing = sorted(zip(raw[absent], weights[absent], strict=True), key=lambda pair: -pair[1])
    return Words(
        name=name,
        words=tidy(raw[~absent]).reset_index(drop=True),
        weights=weights[~absent],
        missing=tuple((str(word), int(count)) for word, count in missing),
    )
