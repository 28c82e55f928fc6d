"""Bounds and categories read from the data themselves: for what-if only, and marked so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.schema import Column, Schema


def completed_from(schema: Schema, frame: pd.DataFrame) -> Schema:
    """The schema with what is not declared read from the frame; such columns are marked ``from_file``.

    Bounds are the extremes rounded outwards to one significant digit of their range; categories are in alphabetical
    order, because how often they occur is private. Never for a release: a minimum taken from the data gives that person
    away.
    """
    typed = apply(schema, frame).frame
    return replace(schema, columns=tuple(_completed(column, typed[column.name]) for column in schema.columns))


def _completed(column: Column, values: pd.Series) -> Column:
    present = values.dropna()
    if column.type == "category" and not column.categories:
        return replace(column, categories=tuple(values.cat.categories), from_file=True)
    if column.bounded or present.empty:
        return column
    if column.is_numeric:
        low, high = _outwards(float(present.min()), float(present.max()))
        low = low if column.low is None else column.low
        high = high if column.high is None else column.high
        return replace(column, low=low, high=max(high, low + 1.0) if high <= low else high, from_file=True)
    if column.type == "date":
        first, last = present.min().date(), present.max().date() + timedelta(days=1)
        return replace(
            column, earliest=column.earliest or first, latest=column.latest or max(last, first), from_file=True
        )
    return column


def _outwards(low: float, high: float) -> tuple[float, float]:
    width = high - low
    if not np.isfinite(width) or width <= 0:
        return np.floor(low), np.floor(low) + 1.0
    unit = 10.0 ** np.floor(np.log10(width))
    return float(np.floor(low / unit) * unit), float(np.ceil(high / unit) * unit)
