"""What one row of a table probably is: a record, an option with its score, or a step in time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.report import ReadColumn
from dpcore.datasets.schema import EachRow, Schema
from dpcore.datasets.suitability import counts_time

_MOST_OPTIONS, _MOST_STEPS = 60, 100_000
_EVEN = 0.9
_DAY = 86_400
# Gaps that one calendar step takes, in seconds: months and quarters differ, working days leave the weekend out.
_CALENDAR = ((28 * _DAY, 31 * _DAY), (90 * _DAY, 92 * _DAY), (365 * _DAY, 366 * _DAY))


def each_row(frame: pd.DataFrame, columns: tuple[ReadColumn, ...]) -> EachRow:
    """A step where dates rise evenly, one in each row, or a day, week or round is counted up beside them; an option
    where a few different words stand beside numbers alone; else a record. A start for the person to confirm.

    Rising times alone are no sign of steps: answers to a survey are sorted by when they came in, too."""
    rows = len(frame)
    if not 3 <= rows <= _MOST_STEPS:
        return "record"
    for column in columns:
        if column.distinct == rows and column.unparsable == 0 and _rises_evenly(frame, column):
            return "step"
    words = [column for column in columns if column.type in ("text", "category") and column.distinct == rows]
    numeric = [column for column in columns if column.type in ("integer", "number")]
    few = rows <= _MOST_OPTIONS and len(words) == 1 and len(numeric) in (1, 2)
    if not few or len(columns) != 1 + len(numeric):
        return "record"
    numbered = frame[words[0].name].str.fullmatch(r"[\W\d_]*").all()  # people by their numbers are no options
    return "record" if numbered else "option"


def _rises_evenly(frame: pd.DataFrame, column: ReadColumn) -> bool:
    if column.type == "date":
        read = apply(Schema(columns=(column.suggestion,)), frame).frame[column.name]
        gaps = np.diff(read.to_numpy(dtype="datetime64[s]")).astype(np.int64)
        return bool((gaps > 0).all()) and _are_even(gaps)
    if not counts_time(column.name) or not frame[column.name].str.fullmatch(r" *[0-9]{1,9} *").all():
        return False
    gaps = np.diff(frame[column.name].astype("int64").to_numpy())
    return bool((gaps > 0).all()) and bool((gaps == gaps[0]).all())


def _are_even(gaps: np.ndarray) -> bool:
    """Whether nearly all gaps are the usual one: a number of seconds, working days, or months, quarters or years."""
    values, counts = np.unique(gaps, return_counts=True)
    usual = int(values[counts.argmax()])
    if (gaps == usual).mean() >= _EVEN:
        return True
    if any(((gaps >= low) & (gaps <= high)).mean() >= _EVEN for low, high in _CALENDAR):
        return True
    return usual == _DAY and bool((gaps % _DAY == 0).all()) and bool((gaps <= 5 * _DAY).mean() >= _EVEN)
