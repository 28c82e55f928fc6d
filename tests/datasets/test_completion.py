"""What is read from a file for a picture is there whatever the cells hold, at the ends of numbers and of days too."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.datasets import Column, Schema, completed_from, completion
from dpcore.datasets.schema import closest
from dpcore.errors import InvalidArgument

FAR = (
    "1e20",
    "-1e20",
    "1e100",
    "1e101",
    "-1.7e308",
    "1.7e308",
    "5e-324",
    "1e-320",
    "9007199254740993",
    "-0.0",
    "0",
    "1",
)
WHOLE = ("9223372036854775807", "-9223372036854775808", "9007199254740992", "4000123412341234", "4000123412341235", "0")
DAYS = ("9999-12-31", "9999-12-30", "0001-01-01", "0001-01-02", "2024-05-01")
numbers = st.one_of(st.sampled_from(FAR), st.floats(allow_nan=False, allow_infinity=False).map(repr))
whole = st.one_of(st.sampled_from(WHOLE), st.integers(-(2**63), 2**63 - 1).map(str))
days = st.one_of(st.sampled_from(DAYS), st.dates().map(date.isoformat))
bounds = st.sampled_from((0.0, -1e100, 1e100, 1e17, 0.25, -5e-99))
ends = st.sampled_from(tuple(map(date.fromisoformat, DAYS)))


def complete(column: Column, cells: list[str]) -> Column:
    return completed_from(Schema(columns=(column,)), pd.DataFrame({"z": pd.Series(cells, dtype="str")})).columns[0]


@st.composite
def columns(draw: st.DrawFn) -> tuple[Column, list[str]]:
    """A column of numbers or days, of which nobody stated anything or one bound alone, and its cells."""
    kind = draw(st.sampled_from(("number", "integer", "date")))
    cells = draw(st.lists({"number": numbers, "integer": whole, "date": days}[kind], min_size=1, max_size=4))
    column = Column(name="z", type=kind)  # type: ignore[arg-type]
    one: dict[str, object] = {}
    if draw(st.booleans()):
        names, values = (("earliest", "latest"), ends) if kind == "date" else (("low", "high"), bounds)
        one = {draw(st.sampled_from(names)): draw(values)}
    try:
        return replace(column, **one), cells  # type: ignore[arg-type]
    except InvalidArgument:  # nobody can declare it
        return column, cells


def check(column: Column, cells: list[str]) -> None:
    found = complete(column, cells)
    assert found.bounded
    assert found.from_file
    if column.type == "date":
        assert found.earliest is not None
        assert found.latest is not None
        assert found.earliest < found.latest
        return
    assert found.low is not None
    assert found.high is not None
    assert math.isfinite(found.high - found.low)
    assert found.high - found.low >= closest(found.low, found.high)
    assert column.low in (None, found.low)
    assert column.high in (None, found.high)
    if column.type == "number" and (column.low, column.high) == (None, None):
        assert replace(found, from_file=False).releasable, "as a person could declare it"


@settings(max_examples=300, deadline=None)
@given(columns())
def test_whatever_cells_hold_there_are_bounds(drawn: tuple[Column, list[str]]) -> None:
    check(*drawn)


FOUND = {
    "a day at the end": ("date", ["9999-12-31", "2024-01-01"]),
    "the last day alone": ("date", ["9999-12-31"]),
    "one large number": ("number", ["1e20"]),
    "the largest and the least": ("number", ["-1.7e308", "1.7e308"]),
    "the largest": ("number", ["1.5", "1.7e308"]),
    "the smallest": ("number", ["0", "5e-324"]),
    "whole numbers side by side": ("integer", ["4000123412341234", "4000123412341235"]),
}


@pytest.mark.parametrize("name", FOUND)
def test_cells_that_left_none(name: str) -> None:
    kind, cells = FOUND[name]
    check(Column(name="z", type=kind), cells)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "bare"), [("one large number", "_above"), ("a day at the end", "_moved")])
def test_one_more_and_a_day_later_are_found_out(name: str, bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    later = {
        "_above": lambda low: low + 1.0,
        "_moved": lambda day, number: date.fromordinal(day.toordinal() + number),
    }[bare]
    monkeypatch.setattr(completion, bare, later)
    kind, cells = FOUND[name]
    with pytest.raises((InvalidArgument, ValueError)):
        complete(Column(name="z", type=kind), cells)  # type: ignore[arg-type]


def test_what_stands_for_a_missing_word_is_an_option() -> None:
    """Else whether somebody's cell holds it would decide whether the file can be looked at."""
    column = Column(name="z", type="category", fill="b")
    assert complete(column, ["a", "c"]).categories == ("a", "b", "c")
    assert complete(column, ["b"]).categories == ("b",)


def test_usual_numbers_are_rounded_outwards_as_they_were() -> None:
    found = complete(Column(name="z", type="number"), ["3", "97"])
    assert (found.low, found.high) == (0.0, 100.0)
    found = complete(Column(name="z", type="number", low=0.0), ["0.1", "0.3"])
    assert (found.low, found.high) == (0.0, pytest.approx(0.3))
    found = complete(Column(name="z", type="number"), ["7", "7"])
    assert (found.low, found.high) == (7.0, 8.0)
