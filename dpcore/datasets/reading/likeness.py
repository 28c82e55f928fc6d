"""How much two files share: a file that is nearly another one is probably about the same people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.datasets.reading import engine
from dpcore.datasets.reading.reader import Reading

_SKETCH = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """``rows`` is the share of equal rows, counted with repeats, among those of the smaller file; ``columns`` likewise
    the share of columns with equal contents in any order. ``same_people`` says that a person should be asked."""

    rows: float
    columns: float

    @property
    def same_people(self) -> bool:
        return self.rows >= 0.2 or self.columns >= 0.5


def likeness(one: Reading, other: Reading) -> Likeness:
    """Compares two files row by row and column by column. Neither's order matters."""
    columns = engine.column_marks(one.frame), engine.column_marks(other.frame)
    rows = engine.row_marks(one.frame), engine.row_marks(other.frame)
    return Likeness(
        rows=_shared(rows[0], rows[1]),
        columns=_shared(np.array(columns[0], dtype=object), np.array(columns[1], dtype=object)),
    )


def sketch(reading: Reading, salt: str) -> tuple[int, ...]:
    """The smallest 256 digests of the file's different rows, keyed by ``salt``: enough to recognise a near-duplicate
    later without keeping the file. Keep the salt secret: with it, a guessed row could be tested."""
    return tuple(int(mark) for mark in np.unique(engine.row_marks(reading.frame, salt))[:_SKETCH])


def sketched_likeness(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The estimated share of different rows that two files have in common (standard error at most 0.032)."""
    smallest = sorted({*one, *other})[:_SKETCH]
    both = set(one) & set(other)
    return sum(mark in both for mark in smallest) / max(len(smallest), 1)


def _shared(one: np.ndarray, other: np.ndarray) -> float:
    values, counts = np.unique(one, return_counts=True)
    others, other_counts = np.unique(other, return_counts=True)
    _, here, there = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    common = np.minimum(counts[here], other_counts[there]).sum()
    return float(common) / max(min(one.size, other.size), 1)
