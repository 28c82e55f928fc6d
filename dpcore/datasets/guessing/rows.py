"""What one row of a table probably is: a record, an option with its score, or a step in time."""

from __future__ import annotations

import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.report import ReadColumn
from dpcore.datasets.schema import EachRow, Schema

_MOST_OPTIONS, _MOST_STEPS = 60, 100_000


def each_row(frame: pd.DataFrame, columns: tuple[ReadColumn, ...]) -> EachRow:
    """A step where a date column has a different, later date in every row; an option where a few different words
    stand beside numbers alone; else a record. A start for the person to confirm."""
    rows = len(frame)
    if not 3 <= rows <= _MOST_STEPS:
        return "record"
    for column in columns:
        if column.type == "date" and column.distinct == rows and column.unparsable == 0:
            read = apply(Schema(columns=(column.suggestion,)), frame).frame[column.name]
            if bool(read.is_monotonic_increasing):
                return "step"
    words = [column for column in columns if column.type in ("text", "category") and column.distinct == rows]
    numeric = [column for column in columns if column.type in ("integer", "number")]
    few = rows <= _MOST_OPTIONS and len(words) == 1 and len(numeric) in (1, 2)
    return "option" if few and len(columns) == 1 + len(numeric) else "record"
