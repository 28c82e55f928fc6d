"""The different words of a column with how often each occurs, and a guess about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.datasets.at_once import at_once
from dpcore.datasets.different import counted, encoded
from dpcore.datasets.matching import fullmatch
from dpcore.datasets.numerals import PLAIN, tidy
from dpcore.datasets.report import ColumnReading
from dpcore.datasets.schema import MISSING_WORDS, Column, DateOrder, Decimal
from dpcore.validate import BoolArray, IntArray

_TOGETHER = 100_000
MOSTLY = 0.8
"""A type is suggested when at least this share of the cells that are not missing are of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What is known of a column before its cells are looked at.

    ``decimal`` and ``order`` are what a person stated: they go before anything the cells show. ``agreed`` and
    ``agreed_order`` are what other columns of the same file show beyond doubt: they go where the cells show nothing.
    ``commas`` is whether the file's cells end at commas.
    """

    decimal: Decimal | None = None
    order: DateOrder | None = None
    agreed: Decimal | None = None
    agreed_order: DateOrder | None = None
    commas: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Words:
    """Tidied words that are not missing, shape (distinct,), and how often each occurs; the missing ones apart.

    ``plain`` says which words are numbers as computers write them, ``dotted`` which hold a point.
    """

    name: str
    words: pd.Series
    weights: IntArray
    plain: BoolArray
    dotted: BoolArray
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
    stand_in: str = ""


def _counted(cells: pd.Series) -> tuple[pd.Series, IntArray]:
    """The different words of a column without padding, in the order they first occur, and how often each does."""
    words, counts = counted(cells)
    bare = words.str.strip()
    if bare.equals(words):
        return words, counts
    again, merged = encoded(bare)
    summed = np.bincount(again, weights=counts, minlength=len(merged)).astype(np.int64)
    return merged, summed


def words_of(frame: pd.DataFrame, say: Callable[[float], None]) -> list[Words]:
    """The words of every column. Columns with few of them are looked at together: a wide table has many such."""
    width = frame.shape[1]
    counted: list[tuple[pd.Series, IntArray]] = []
    cells = [frame.iloc[:, place] for place in range(width)]
    for found in at_once(_counted, cells, lambda: say(0.6 * len(counted) / width)):
        counted.append(found)
        say(0.6 * len(counted) / width)
    groups: list[list[int]] = [[]]
    size = 0
    for place, (words, _) in enumerate(counted):
        groups[-1].append(place)
        size += len(words)
        if size > _TOGETHER:
            groups.append([])
            size = 0
    names = [str(name) for name in frame.columns]
    looked: list[Words] = []
    full = [group for group in groups if group]
    for part in at_once(
        lambda group: _looked(group, names, counted), full, lambda: say(0.6 + 0.4 * len(looked) / width)
    ):
        looked.extend(part)
        say(0.6 + 0.4 * len(looked) / width)
    return looked


def _looked(group: list[int], names: list[str], counted: list[tuple[pd.Series, IntArray]]) -> list[Words]:
    raw = pd.concat([counted[place][0] for place in group], ignore_index=True)
    absent = raw.str.lower().isin(MISSING_WORDS).to_numpy(dtype=bool)
    tidied = tidy(raw)
    plain = fullmatch(tidied, PLAIN)
    dotted = tidied.str.contains(".", regex=False).to_numpy(dtype=bool)
    found, start = [], 0
    for place in group:
        counts = counted[place][1]
        part = slice(start, start + counts.size)
        here, start = ~absent[part], part.stop
        missing = sorted(zip(raw.iloc[part][~here], counts[~here], strict=True), key=lambda pair: -pair[1])
        found.append(
            Words(
                name=names[place],
                words=tidied.iloc[part][here].reset_index(drop=True),
                weights=counts[here],
                plain=plain[part][here],
                dotted=dotted[part][here],
                missing=tuple((str(word), int(count)) for word, count in missing),
            )
        )
    return found
