"""The index with a name whose numbers are one after the other, which pandas writes as a rule and not as a column.

As soon as a row between two others is left out it is a column, so it is read as one either way: its owner gave it a
name. It is told by pandas' own note in the file. Where that does not fit the rows, as after another program left some
out, none is there: which number is whose row's is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpcore.datasets.reading.bounds import check_size

NOTE = b"pandas"
"""Under which the metadata of a Parquet or Arrow file hold it."""
_LARGEST = 2**62


def with_range_index(frame: pd.DataFrame, note: bytes, named: Callable[[list[str]], Sequence[str]]) -> pd.DataFrame:
    """The columns of a table of text, and behind them what ``note`` states of an index as a rule. ``named`` are these
    names as a reader has them where all are columns. Raises UnreadableFile for too many columns."""
    for name, numbers in _stated(note):
        if name not in frame.columns and _many(numbers) == len(frame):
            check_size(len(frame), frame.shape[1] + 1)
            cells = pd.Series(np.arange(numbers.start, numbers.stop, numbers.step), index=frame.index)
            whole = pd.concat([frame, cells.astype("str").astype(frame.dtypes.iloc[0])], axis=1)
            return whole.set_axis(pd.Index(named([*frame.columns, name])), axis=1)
    return frame


def _stated(note: bytes) -> list[tuple[str, range]]:
    """A note that none can read says nothing."""
    try:
        indexes = json.loads(note)["index_columns"]
        return [(_written(one["name"]), _range(one)) for one in indexes if one["name"] is not None]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []


def _written(name: Any) -> str:
    """As pandas writes the name of a column: JSON has no tuples."""
    return str(tuple(name) if isinstance(name, list) else name)


def _range(stated: dict[str, Any]) -> range:
    """Raises ValueError, LookupError or TypeError where it is none."""
    numbers = [stated[name] for name in ("start", "stop", "step")]
    if any(abs(number) > _LARGEST for number in numbers):
        raise ValueError
    return range(*numbers)


def _many(numbers: range) -> int:
    return max(0, -((numbers.start - numbers.stop) // numbers.step))
