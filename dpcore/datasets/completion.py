"""Bounds and categories read from the data themselves: for what-if only, and marked so."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.schema import FARTHEST, Column, Schema, closest


def completed_from(schema: Schema, frame: pd.DataFrame) -> Schema:
    """The schema with what is not declared read from the frame; such columns are marked ``from_file``.

    Bounds are the extremes rounded outwards to one significant digit of their range, as far as a declaration could hold
    them: whatever a cell holds, there are some. Categories are in alphabetical
    order, because how often they occur is private. Never for a release: a minimum taken from the data gives that person
    away.
    """
    typed = apply(schema, frame).frame
    return replace(schema, columns=tuple(_completed(column, typed[column.name]) for column in schema.columns))


def _completed(column: Column, values: pd.Series) -> Column:
    present = values.dropna()
    if column.type == "category" and not column.categories:
        return replace(column, categories=_words(column, values), from_file=True)
    if column.bounded or present.empty:
        return column
    if column.is_numeric:
        low, high = _around(column, float(present.min()), float(present.max()))
        return replace(column, low=low, high=high, from_file=True)
    if column.type == "date":
        first, last = _between(column, present.min().date(), present.max().date())
        return replace(column, earliest=first, latest=last, from_file=True)
    return column


def _words(column: Column, values: pd.Series) -> tuple[str, ...]:
    """The words that occur, with what a missing cell counts as."""
    found = tuple(values.cat.categories)
    return found if column.fill is None or column.fill in found else tuple(sorted((*found, str(column.fill))))


def _around(column: Column, least: float, most: float) -> tuple[float, float]:
    """Bounds around these values; one that was declared stays, and the other keeps its distance."""
    low, high = _outwards(least, most)
    if column.low is not None:
        return column.low, high if high - column.low >= closest(column.low, high) else _above(column.low)
    if column.high is not None:
        return low if column.high - low >= closest(low, column.high) else _below(column.high), column.high
    return low, high


def _outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds as a declaration can hold them: numbers beyond its ends move them no further, and as good as equal ones
    have room made between them."""
    low, high = (min(max(one, -FARTHEST), FARTHEST) for one in (low, high))
    if high - low >= closest(low, high):
        unit = 10.0 ** math.floor(math.log10(high - low))
        low, high = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
        return max(low, -FARTHEST), min(high, FARTHEST)
    low = float(math.floor(low))
    high = max(high, _above(low))
    return (low, high) if high <= FARTHEST else (_below(FARTHEST), FARTHEST)


def _above(low: float) -> float:
    """The next bound above one: 1 higher, or as far as bounds of that size must be apart."""
    return low + max(1.0, math.ceil(2.0 * closest(low, low)))


def _below(high: float) -> float:
    """The next bound below one, in the same way."""
    return -_above(-high)


def _between(column: Column, first: date, last: date) -> tuple[date, date]:
    """Days around these; one that was declared stays, unless there is no day beyond it."""
    if column.latest is not None:
        return _in_order(min(first, _moved(column.latest, -1)), column.latest)
    return _in_order(first if column.earliest is None else column.earliest, _moved(last, 1))


def _in_order(first: date, last: date) -> tuple[date, date]:
    if first < last:
        return first, last
    return (first, _moved(first, 1)) if first < date.max else (_moved(first, -1), first)


def _moved(day: date, days: int) -> date:
    """So many days later, or the last day that there is, or the first."""
    return date.fromordinal(min(max(day.toordinal() + days, date.min.toordinal()), date.max.toordinal()))
