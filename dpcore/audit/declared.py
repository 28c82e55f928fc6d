"""Declarations at their extremes: bounds, stand-ins and words that a person could state, drawn for a question.

What a file may hold is drawn by ``files``; this draws what may be said about it. Whatever a declaration accepts must
leave an answer on every file, and the same one before a draw on neighbouring ones.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from dpcore.audit.files import Question
from dpcore.datasets.schema import CLOSEST, FARTHEST, MISSING_WORDS, NO_WORDS, YES_WORDS, Column
from dpcore.errors import InvalidArgument

_TRIES = 20
_HALF = "\ud800"  # half a sign: JSON can name it, and no text holds it
BOUNDS: dict[str, tuple[tuple[Any, Any], ...]] = {
    "number": ((0.0, 10.0), (-FARTHEST, FARTHEST), (0.0, CLOSEST), (-1e15, 1e15), (0.1, 0.3)),
    "integer": ((0.0, 10.0), (0.0, 1.0), (0.5, 0.7), (0.5, 1.5), (-FARTHEST, FARTHEST), (1e18, FARTHEST)),
    "date": (
        (date(2024, 1, 1), date(2024, 1, 5)),
        (date(2024, 1, 1), date(2024, 1, 2)),
        (date.min, date(1, 1, 5)),
        (date(9999, 12, 27), date.max),
    ),
}
FILLS: dict[str, tuple[str | float | None, ...]] = {
    "number": (None, 0.0, 10.0, -0.0, 1e30, -1e308, float("nan"), "7", "1e400", 5e-324),
    "integer": (None, 0.0, 10.0, 3.7, 1e18, 1e19, 1e30, -1e308, 2.0**63, float("inf"), "7", "9" * 400),
    "date": (None, "2024-01-01", "2024-01-05", "20240102", "2024-W01-1", "0001-01-01", "9999-12-31", "2024-02-30"),
    "category": (None, "a", "c", "zebra", "", _HALF),
    "yes/no": (None, "yes", "no", "YES", "perhaps", _HALF),
    "text": (None, "-", "one", _HALF),
}
WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "missing_words": (MISSING_WORDS, (), ("",), ("a", "yes"), ("0", "zebra"), (_HALF,)),
    "categories": (("a", "b", "c"), ("b",), ("", "a", "n/a"), ("a", "A", " a"), (_HALF, "a")),
    "yes_words": (YES_WORDS, (), ("zebra",), ("No", "maybe")),
    "no_words": (NO_WORDS, (), ("",), ("NO",)),
}
_OF_TYPE = {"category": ("missing_words", "categories"), "yes/no": ("missing_words", "yes_words", "no_words")}


def redeclared(question: Question, rng: np.random.Generator) -> Question:
    """The question with its columns declared anew, each as drawn, or as it was where no draw is accepted.

    Of entries that people move, what a cell says stays: there the distance is declared between cells as they are read.
    """
    moved = question.moves == "entries"
    columns = tuple(_drawn(column, rng, words=not moved) for column in question.schema.columns)
    return replace(question, schema=replace(question.schema, columns=columns), any_declaration=True)


def _drawn(column: Column, rng: np.random.Generator, *, words: bool) -> Column:
    for _ in range(_TRIES):
        try:
            return replace(column, **_changes(column, rng, words=words))
        except InvalidArgument:
            continue
    return column


def _changes(column: Column, rng: np.random.Generator, *, words: bool) -> dict[str, Any]:
    changes: dict[str, Any] = {"fill": _one(FILLS[column.type], rng)}
    if column.bounded and column.type in BOUNDS:
        names = ("earliest", "latest") if column.type == "date" else ("low", "high")
        changes |= zip(names, _one(BOUNDS[column.type], rng), strict=True)
    for name in _OF_TYPE.get(column.type, ("missing_words",)) if words else ():
        changes[name] = _one(WORDS[name], rng)
    return changes


def _one(several: tuple[Any, ...], rng: np.random.Generator) -> Any:
    return several[rng.integers(len(several))]
