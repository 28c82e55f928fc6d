"""Readings side by side: the same cells under different declarations."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import apply
from dpcore.datasets.guessing.words import Words
from dpcore.datasets.report import ColumnReading
from dpcore.datasets.schema import Column, Schema
from dpcore.validate import BoolArray

_SHOWN = 3
_LABELS = {
    ("number", ","): "the comma marks decimals",
    ("number", "."): "the point marks decimals",
    ("integer", ","): "the point marks thousands",
    ("integer", "."): "whole numbers",
}
_ORDERS = {
    "dmy": "day first",
    "mdy": "month first",
    "ymd": "year first",
    "serial": "a spreadsheet's count of days since 1900",
}


def reading(column: Column, words: Words, telling: BoolArray) -> ColumnReading:
    """How the first few telling words read under a declaration."""
    places = np.flatnonzero(telling)[:_SHOWN]
    raw = words.words.iloc[places].reset_index(drop=True)
    typed = apply(Schema(columns=(column,)), pd.DataFrame({column.name: raw})).frame[column.name]
    shown = tuple((str(word), _written(value)) for word, value in zip(raw, typed, strict=True))
    return ColumnReading(label=_label(column, words), column=column, examples=shown)


def _label(column: Column, words: Words) -> str:
    if column.type == "date":
        return _ORDERS[column.date_order]
    if column.type == "text":
        return "names or numbers of rows, kept as text"
    if column.type == "integer" and column.decimal == "." and words.words.str.contains(",", regex=False).any():
        return "the comma marks thousands"
    return _LABELS[column.type, column.decimal]


def _written(value: object) -> str:
    if value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return "unreadable"
    if isinstance(value, pd.Timestamp):
        shown = f"{value.day} {value:%B %Y}"
        return shown if value == value.normalize() else f"{shown} {value:%H:%M}"
    if isinstance(value, float):
        return f"{value:,.10g}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
