"""What one row of a table probably is: a record, an option with its score, or a step in time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.headings import counts_several, names_group, names_someone, tells_of_one
from dpcore.datasets.report import ReadColumn
from dpcore.datasets.schema import EachRow, Schema
from dpcore.datasets.suitability import counts_time

_FEWEST = 3
"""Rows that could lie evenly apart, or not: fewer tell nothing."""
_EVEN = 0.9
_DAY = 86_400
# Gaps that one calendar step takes, in seconds: months and quarters differ, working days leave the weekend out.
_CALENDAR = ((28 * _DAY, 31 * _DAY), (90 * _DAY, 92 * _DAY), (365 * _DAY, 366 * _DAY))


def each_row(frame: pd.DataFrame, columns: tuple[ReadColumn, ...]) -> EachRow:
    """A step or an option where the headings say that each row counts several; else a step where dates lie evenly
    apart, one in each row, or a day, week or round is counted up beside them; an option where different words stand
    beside numbers alone; else a record. A start for the person to confirm.

    Where the headings tell it no cell does. Neither the order of the rows nor how many they are does, from
    ``_FEWEST`` on. Times alone are no sign of steps: answers to a survey have one each, too."""
    if counted := _by_headings([column.name for column in columns]):
        return counted
    rows = len(frame)
    if rows < _FEWEST:
        return "record"
    for column in columns:
        if column.distinct == rows and column.unparsable == 0 and _lies_evenly(frame, column):
            return "step"
    words = [column for column in columns if column.type in ("text", "category") and column.distinct == rows]
    numeric = [column for column in columns if column.type in ("integer", "number")]
    if len(words) != 1 or len(numeric) not in (1, 2) or len(columns) != 1 + len(numeric):
        return "record"
    name = words[0].name
    if names_someone(name) or tells_of_one(name, options=False):
        return "record"
    numbered = frame[name].str.fullmatch(r"[\W\d_]*").all()  # people by their numbers are no options
    return "record" if numbered else "option"


def _by_headings(names: list[str]) -> EachRow | None:
    """What a row is where headings alone say that it counts several, as “day” and “callers” do, or “district”, “region”
    and “cases”: a step where one is of time, else an option. None where any other heading stands beside these."""
    counts = [name for name in names if counts_several(name)]
    times = [name for name in names if counts_time(name)]
    groups = [name for name in names if names_group(name)]
    if not counts or not (times or groups) or not {*counts, *times, *groups} >= set(names):
        return None
    return "step" if times else "option"


def _lies_evenly(frame: pd.DataFrame, column: ReadColumn) -> bool:
    """In whichever order: files begin with the first day or with the last. Times of a day must rise or fall, for of
    many that come at any minute hardly one is left out."""
    if column.type == "date":
        read = apply(Schema(columns=(column.suggestion,)), frame).frame[column.name]
        times = read.to_numpy(dtype="datetime64[s]").astype(np.int64)
        gaps = np.diff(times if times[0] < times[-1] else times[::-1])
        if not (times % _DAY).any():
            gaps = np.diff(np.sort(times))
        return bool((gaps > 0).all()) and _are_even(gaps)
    if not counts_time(column.name) or not frame[column.name].str.fullmatch(r" *[0-9]{1,9} *").all():
        return False
    apart = np.diff(np.sort(frame[column.name].astype("int64").to_numpy()))
    return bool((apart > 0).all()) and bool((apart == apart[0]).all())


def _are_even(gaps: np.ndarray) -> bool:
    """Whether nearly all gaps are the usual one: a number of seconds, working days, or months, quarters or years."""
    values, counts = np.unique(gaps, return_counts=True)
    usual = int(values[counts.argmax()])
    if (gaps == usual).mean() >= _EVEN:
        return True
    if any(((gaps >= low) & (gaps <= high)).mean() >= _EVEN for low, high in _CALENDAR):
        return True
    return usual == _DAY and bool((gaps % _DAY == 0).all()) and bool((gaps <= 5 * _DAY).mean() >= _EVEN)
