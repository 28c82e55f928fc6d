"""Entries that count people: what one person moves is what is read, not what is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.selection import BestScore

VOTES = Column(name="votes", type="integer", low=0, high=2000, sensitivity=1.0, counts=True)
PARTY = Column(name="party", type="category", categories=("A", "B", "C"))
EPSILON = 0.5
ONE_MORE: tuple[tuple[dict[str, Any], tuple[str, str]], ...] = (
    ({}, ("16", "17")),
    ({}, ("", "1")),
    ({}, ("#DIV/0!", "1")),
    ({"missing_words": ("", "17")}, ("16", "17")),
    ({"missing_words": ("", "١٧")}, ("16", "١٧")),
    ({"missing_words": ("", "16 ")}, ("16", "17")),
    ({"missing_words": ("", "true")}, ("1", "2")),
    ({"missing_words": ("", "True "), "counts": False}, ("1", "0")),
    ({"fill": 90.0}, ("", "1")),
    ({"fill": 0.0}, ("", "1")),
)
"""What the column says of its cells, and one entry without and with one person."""


def rows(cell: str) -> PrivateRows:
    return PrivateRows(pd.DataFrame({"party": ["A", "B", "C"], "votes": [cell, "16", "3"]}, dtype="str"))


def best(column: Column) -> BestScore:
    return BestScore.of(
        Declaration(columns=(PARTY, column), each_row="option"), option="party", score="votes", epsilon=EPSILON
    )


def alarm(column: Column) -> AlarmRun:
    return AlarmRun.of(
        Declaration(columns=(column,), each_row="step"), "votes", threshold=15.5, epsilon=EPSILON, entries=3
    )


def loss(asked: BestScore | AlarmRun, cells: tuple[str, str]) -> float:
    """The largest |ln P/P′| of any answer with one person less and one more."""
    here, there = (np.ravel(asked.law(rows(cell))) for cell in cells)
    seen = (here > 1e-12) | (there > 1e-12)
    return float(np.abs(np.log(here[seen]) - np.log(there[seen])).max())


@pytest.mark.parametrize(("says", "cells"), ONE_MORE)
def test_one_person_more_keeps_the_promise_however_entries_are_read(
    says: dict[str, Any], cells: tuple[str, str]
) -> None:
    column = replace(VOTES, **says)
    for asked in (best(column), alarm(column)):
        assert loss(asked, cells) <= EPSILON + 1e-9
        assert ("over its whole declared range of 0 to 2000" in asked.promise) == (column.moved is None)
        if not column.reads_as_counts and column.sensitivity is None:
            assert "over its whole declared range of 0 to 2000" in asked.promise


def test_taken_for_what_is_written_they_would_break_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Column, "reads_plainly", True)
    broken = [loss(best(replace(VOTES, **says)), cells) > 1.5 * EPSILON for says, cells in ONE_MORE]
    assert broken == [False, False, False, True, True, False, True, False, True, False]


def test_a_receipt_says_that_it_is_what_is_read() -> None:
    for asked in (best(VOTES), alarm(VOTES)):
        assert "can move an entry of “votes”, as it is read for this answer, by at most 1 was stated" in asked.promise
    with pytest.raises(ValueError, match="sensitivity"):
        best(replace(VOTES, low=None, high=None, fill=90.0))


@pytest.mark.parametrize("visits", [1, 5, 100])
@pytest.mark.parametrize("each_row", ["step", "option"])
def test_how_many_rows_one_person_has_says_nothing_of_one_entry(each_row: Any, visits: int) -> None:
    """Whoever came ten times on one day has one row of days: it was taken for once in an entry, and ε was ten times as
    much."""
    column = Column(name="votes", type="integer", low=0, high=100, counts=True)
    declared = Declaration(columns=(PARTY, column), each_row=each_row, rows_per_person=1)
    cells = ("0", str(visits))
    asked: list[BestScore | AlarmRun] = [AlarmRun.of(declared, "votes", threshold=9.5, epsilon=EPSILON, entries=3)]
    if each_row == "option":
        asked.append(BestScore.of(declared, option="party", score="votes", epsilon=EPSILON))
    for one in asked:
        assert "over its whole declared range of 0 to 100" in one.promise
        assert loss(one, cells) <= EPSILON + 1e-9
