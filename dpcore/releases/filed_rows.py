"""The rows of a source as codes in a file without a name, read again for each step in parts of bounded size.

They are read once, by one query, so every step sees the same rows, whatever becomes of the source meanwhile: one row
more is one row more in all of them, as of rows in memory.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np

from dpcore.datasets.places import Places
from dpcore.training.coded import CodedRows
from dpcore.training.encoding import Encoding
from dpcore.training.features import Features
from dpcore.validate import FloatArray, IntArray

BATCH = 1 << 16
"""Rows that are read from a source at a time."""
_HALF = 1 << 20  # an answer is in units of 2⁻²⁰ from −1 to 1


def places(features: Features) -> Places:
    """What of each row a model of ``features`` sees: its columns, and both of each pair's."""
    return Places(
        target=features.target.name,
        parts=None if features.classifies else 2 * _HALF,
        looks=tuple((column.name, column.edges or None) for column in _looked(features)),
    )


class FiledRows:
    """The rows that have an answer, in a file that has no name and is gone with this object: some bytes a row.

    ``table`` says what codes stand for, and has no rows itself.
    """

    def __init__(self, features: Features, batches: Iterable[IntArray]) -> None:
        self.table: CodedRows = features.coded([np.zeros(0)] * len(features.columns), missing=False)
        self.rows = 0
        self._codes, self._answers = _nameless(), _nameless()
        for file in (self._codes, self._answers):
            weakref.finalize(self, file.close)
        for batch in batches:
            answers = features.answers(_typed(features, batch[:, 0]))
            kept = np.flatnonzero(~np.isnan(answers))
            codes = _codes(features, batch[kept, 1:]).astype(self.table.codes.dtype)
            self._codes.write(codes.tobytes())
            self._answers.write(answers[kept].astype(np.float32).tobytes())  # 21 bits at most: exact
            self.rows += kept.size

    def parts(self, size: int) -> Iterator[tuple[IntArray, FloatArray]]:
        """Codes (rows, columns) and answers (rows,), at most ``size`` rows at a time, always in the same order."""
        width, kind = self.table.codes.shape[1], self.table.codes.dtype
        self._codes.seek(0)
        self._answers.seek(0)
        for start in range(0, self.rows, size):
            rows = min(size, self.rows - start)
            codes = np.frombuffer(self._codes.read(rows * width * kind.itemsize), dtype=kind).astype(np.int64)
            answers = np.frombuffer(self._answers.read(rows * 4), dtype=np.float32)
            yield codes.reshape(rows, width), answers.astype(np.float64)


def _nameless() -> IO[bytes]:
    """A file that only who opened it can read; the system takes it back once it is closed, however that happens."""
    return tempfile.TemporaryFile()


def _looked(features: Features) -> tuple[Encoding, ...]:
    return (*features.columns, *(column for pair in features.pairs for column in (pair.first, pair.second)))


def _typed(features: Features, found: IntArray) -> FloatArray:
    """The target's places as its ``Encoding.typed`` has it."""
    values = found.astype(np.float64)
    values[found < 0] = np.nan
    if not features.classifies:
        return np.asarray(values / _HALF - 1.0)
    return np.asarray(values * 2.0 - 1.0) if features.target.kind == "yes/no" else values


def _codes(features: Features, found: IntArray) -> IntArray:
    """Places as ``encoding.coded`` has them: of each column, each pair, and the constant."""
    looked = _looked(features)
    own = [np.where(found[:, at] < 0, _none(column), found[:, at]) for at, column in enumerate(looked)]
    count = len(features.columns)
    pairs = [pair.cell(own[count + 2 * at], own[count + 2 * at + 1]) for at, pair in enumerate(features.pairs)]
    return np.column_stack([*own[:count], *pairs, np.zeros(found.shape[0], dtype=np.int64)])


def _none(column: Encoding) -> int:
    """The code of what is missing."""
    return len(column.edges) + 1 if column.levels else max(2, len(column.categories))
