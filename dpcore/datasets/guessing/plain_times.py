"""Columns of many times of one form: told from their bytes in whole arrays, without a list of their different words.

What ``words`` and ``dates`` would find in such a column follows from its values alone. That is exact where every cell
is a real day with the year in front, a time or none, the same marks at the same places, and the same signs behind the
seconds: then two words are the same if their values are. Whatever else a column holds is left to ``words``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from dpcore.datasets.guessing.dates import CLEAR, ZONED, dated
from dpcore.datasets.guessing.plain_cells import plain_cells
from dpcore.datasets.guessing.words import Guess, Hint
from dpcore.datasets.plain_words import OFFSET
from dpcore.datasets.written_dates import SECOND, read_signs, signs_of
from dpcore.validate import IntArray

_BEHIND = rf"(?:[.,][0-9]{{1,9}})?{OFFSET}?"
_FORM = re.compile(rf"[0-9]{{4}}([-/])[0-9]{{2}}\1[0-9]{{2}}(?:[T ][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}{_BEHIND})?)?")
_ZERO = ord("0")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainTimes:
    """What ``Words`` would tell of such a column, whose cells that are not missing are ``present``."""

    name: str
    present: int
    distinct: int
    missing: tuple[tuple[str, int], ...]
    zoned: bool

    def guess(self, hint: Hint) -> Guess:
        """As ``dates.guess``, which here depends on no other column."""
        return dated(self.name, hint.order or "ymd", CLEAR, bad=np.zeros(0, dtype=bool), rest=0, zoned=self.zoned)


def plain_times(cells: pd.Series) -> PlainTimes | None:
    """None where a column of text is anything else."""
    found = plain_cells(cells, lambda words: all(map(_FORM.fullmatch, words)))
    if found is None:
        return None
    pattern = found.start[0]
    values = [_values(chunk, pattern) for chunk in found.present.chunks if len(chunk)]
    if any(part is None for part in values):
        return None
    ordered = np.sort(np.concatenate([part for part in values if part is not None]))
    return PlainTimes(
        name=str(cells.name),
        present=ordered.size,
        distinct=int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1,
        missing=found.missing,
        zoned=re.search(f"{ZONED}$", pattern) is not None,
    )


def _values(cells: pa.LargeStringArray, pattern: str) -> IntArray | None:
    """Seconds since 1970; None where a cell differs from the pattern in more than digits of its date and time."""
    if cells.null_count or cells.type != pa.large_string():
        return None
    signs, lengths = signs_of(cells)
    if not (lengths == len(pattern)).all():
        return None
    if not _in_places(signs, pattern[:SECOND].encode()):
        return None
    if not _ends_with(cells, pattern[SECOND:].encode()):
        return None
    read = read_signs(signs, "ymd")
    return None if np.isnat(read).any() else read.view(np.int64)


def _in_places(signs: np.ndarray, pattern: bytes) -> bool:
    """Whether every cell has digits where the pattern has some, and the same marks between them."""
    for place, sign in enumerate(pattern):
        fits = signs[place] - _ZERO <= 9 if chr(sign).isdigit() else signs[place] == sign
        if not fits.all():
            return False
    return True


def _ends_with(cells: pa.LargeStringArray, end: bytes) -> bool:
    """Whether all cells, of one length, hold the same behind their seconds."""
    if not end:
        return True
    _, places, content = cells.buffers()
    first, last = np.frombuffer(places, dtype=np.int64)[[cells.offset, cells.offset + len(cells)]]
    table = np.frombuffer(content, dtype=np.uint8)[first:last].reshape(len(cells), -1)
    return bool((table[:, SECOND:] == np.frombuffer(end, dtype=np.uint8)).all())
