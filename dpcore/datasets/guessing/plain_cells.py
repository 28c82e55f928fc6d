"""The cells of a large column as Arrow holds them, without those that are missing, where its first cells suit.

What is told from bytes in whole arrays (``plain_numbers``, ``plain_times``) begins here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.different import among, counted
from dpcore.datasets.schema import MISSING_WORDS

LEAST = 20_000
"""Rows from which on this pays: below, the different words are soon listed."""
FEWEST = 500
"""Different words that its first cells must hold, for the same reason; at least 3, or it may be yes and no."""
_FIRST = 2000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainCells:
    """``present`` are the cells that are not missing, ``missing`` the words of the others with how often each occurs.

    ``start`` holds the different words of the first cells.
    """

    present: pa.ChunkedArray
    missing: tuple[tuple[str, int], ...]
    start: tuple[str, ...]


def plain_cells(cells: pd.Series, suits: Callable[[list[str]], bool]) -> PlainCells | None:
    """None for a small column, one that is no text, and one whose first different words do not suit.

    A missing word that none of the first cells holds is left among the others.
    """
    if len(cells) < LEAST or not isinstance(cells.dtype, pd.StringDtype):
        return None
    column = _as_arrow(cells)
    first = [str(word) for word in column.slice(0, _FIRST).to_pylist()]
    absent = {word for word in first if word.isascii() and word.lower() in MISSING_WORDS}
    start = [word for word in dict.fromkeys(first) if word not in absent]
    if len(start) < FEWEST or not suits(start):
        return None
    missing: tuple[tuple[str, int], ...] = ()
    if absent or pc.min(pc.binary_length(column)).as_py() == 0:
        gone = among(cells, sorted({"", *absent})) >= 0
        missing = _counted(cells[gone])
        column = column.filter(pa.array(~gone))
    return PlainCells(present=column, missing=missing, start=tuple(start))


def _as_arrow(cells: pd.Series) -> pa.ChunkedArray:
    """The cells as Arrow holds them, not copied."""
    found = pa.array(cells)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def _counted(cells: pd.Series) -> tuple[tuple[str, int], ...]:
    """The commonest first, of two as common the one that comes first."""
    found = zip(*counted(cells), strict=True)
    return tuple(sorted(((str(word), int(count)) for word, count in found), key=lambda pair: -pair[1]))
