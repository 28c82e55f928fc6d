"""The column that an index without a name becomes where pandas writes a table by Arrow.

There is one as soon as a row is left out, for rows that are numbered one after the other need none: so whether it is
there hangs on one row, and it is no column of the table. Its name tells it, in a file without pandas' own notes too, as
another program writes it anew, as Parquet, CSV, JSON or a sheet. Where a file has the notes they tell every index,
whatever its name (``pandas_index``); where it has none, one with a name is a column as any other.
"""

from __future__ import annotations

import re

import pandas as pd

from dpcore.errors import UnreadableFile

_NAME = re.compile("__index_level_[0-9]+__(?:[._][0-9]+)?")  # a number behind it where the name stands twice
NOTHING_ELSE = "The file has no column but an index of pandas; write it anew after reset_index()."


def is_unnamed_index(name: str) -> bool:
    """Whether pandas calls an index so that has no name."""
    return _NAME.fullmatch(name.strip()) is not None


def without_unnamed_index(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of a table that are none. Raises UnreadableFile where nothing is left."""
    kept = [place for place, name in enumerate(frame.columns) if not is_unnamed_index(str(name))]
    if not kept:
        raise UnreadableFile(NOTHING_ELSE)
    return frame if len(kept) == frame.shape[1] else frame.iloc[:, kept]
