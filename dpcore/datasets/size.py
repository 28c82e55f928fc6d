"""How large a table of text is, so that none is made for which there is no room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from dpcore.validate import IntArray

_PLACE = 9
"""Bytes of a cell beside its text: where it ends, and whether it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """``rows`` of a table, the ``bytes`` that its cells take in memory, and those of its ``largest`` column."""

    rows: int
    bytes: int
    largest: int

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Self:
        """That of a table that is there."""
        columns = frame.memory_usage(index=False)
        return cls(rows=len(frame), bytes=int(columns.sum()), largest=int(columns.max()) if len(columns) else 0)

    @classmethod
    def expected(cls, rows: int, columns: Iterable[int]) -> Self:
        """That of a table to be made, the cells of each of whose ``columns`` hold so many bytes altogether (UTF-8);
        never below."""
        each = [(rows + 1) * _PLACE + text for text in columns]
        return cls(rows=rows, bytes=sum(each), largest=max(each, default=0))

    def beside(self, other: Self) -> Self:
        """With the columns of another table of as many rows."""
        return type(self)(
            rows=max(self.rows, other.rows),
            bytes=self.bytes + other.bytes,
            largest=max(self.largest, other.largest),
        )


Fits = Callable[[Size], None]
"""Raises NoRoom where a table of this size would be too large."""


def letters(cells: pd.Series) -> IntArray:
    """Bytes of each cell's text (UTF-8), shape (rows,)."""
    import pyarrow as pa  # loads a while, and only steps that multiply rows need it
    import pyarrow.compute as pc

    return np.asarray(
        pc.binary_length(pa.array(cells, type=pa.large_string())).to_numpy(zero_copy_only=False), dtype=np.int64
    )
