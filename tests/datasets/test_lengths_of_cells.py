"""How long an answer takes tells of no enormous cell: what is too long is told by its length before anything else is
done with it, in every column that is read for an answer."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from datetime import date
from typing import Any

import pandas as pd
import pytest
from pandas.core.strings.accessor import StringMethods

import dpcore.datasets
from dpcore.datasets import Column, Declaration, PrivateRows, private_rows
from dpcore.datasets.matching import words
from dpcore.datasets.private_rows import NO_DAY
from dpcore.datasets.schema import LONGEST, LONGEST_PERSON
from dpcore.releases.count import NoisyCount

DAY = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 9))
TYPES = (
    Column(name="option", type="category", categories=("a", "süd"), fill="a"),
    Column(name="number", type="number", low=0, high=9),
    Column(name="comma", type="number", low=0, high=9, decimal=","),
    Column(name="whole", type="integer", low=0, high=9, fill=4),
    Column(name="answer", type="yes/no"),
    DAY,
    Column(name="serial", type="date", date_order="serial", earliest=date(2024, 1, 1), latest=date(2024, 1, 9)),
    Column(name="text", type="text"),
)
WHO = Column(name="who", type="text")
ALL = (*TYPES, WHO)
USUAL = {
    "option": "süd",
    "number": "1.5",
    "comma": "1,5",
    "whole": "7",
    "answer": "yes",
    "day": "2024-01-02",
    "serial": "45293",
    "text": "x",
    "who": "anna",
}
BEGINS: dict[str, Callable[[str, int], str]] = {
    "é": lambda _, size: "é" * (size // 2) + "x" * (size % 2),
    "9": lambda _, size: "9" * size,
    "blanks before": lambda word, size: " " * (size - len(word.encode())) + word,
    "zeros before": lambda word, size: "0" * (size - len(word.encode())) + word,
}
"""Cells of so many bytes, made with a word of the column."""
FEW, MANY = 3, 300
"""Rows: short columns are matched, and days read, in another way than long ones."""


def table(rows: int, name: str = "", cell: str = "", **more: str) -> pd.DataFrame:
    """Usual rows, one person each, of which the second has this cell in this column."""
    cells = {one: [word] * rows for one, word in USUAL.items()} | {"who": [f"p{row}" for row in range(rows)]}
    cells |= {one: [word] * rows for one, word in more.items()}
    if name:
        cells[name][1] = cell
    return pd.DataFrame(cells, dtype="str")


@pytest.fixture
def longest(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many bytes the longest text has that anything but ``looked_at`` was given: what strips and lowers by pandas,
    and all that Arrow or a dictionary is given, which goes through ``words``."""
    seen = [0]

    def note(text: Any) -> None:
        seen.extend(len(str(one).encode()) for one in pd.Series(text).unique())

    def told(self: Any, data: Any) -> None:
        note(data)
        begin(self, data)

    def given(text: Any) -> Any:
        note(text)
        return words(text)

    begin = StringMethods.__init__
    monkeypatch.setattr(StringMethods, "__init__", told)
    for found in pkgutil.iter_modules(dpcore.datasets.__path__):
        module = importlib.import_module(f"dpcore.datasets.{found.name}")
        if getattr(module, "words", None) is words and found.name not in ("matching", "looked_at"):
            monkeypatch.setattr(module, "words", given)

    def taken() -> int:
        found = max(seen)
        seen[:] = [0]
        return found

    return taken


def read(frame: pd.DataFrame, name: str, *, most: int = 0) -> list[Any]:
    """A column as requests read it: of every row, or of ``most`` of each person."""
    declared = Declaration(columns=ALL, id_column="who" if most else None, rows_per_person=max(most, 1))
    opened = PrivateRows(frame).opened(declared.reads(name))
    column = declared.column(name)
    if column.type in ("number", "integer"):
        return opened.numbers(name).tolist()
    if column.type == "date":
        return opened.days(name, column).tolist()
    return opened.typed(name).tolist() if column.type == "text" else opened.codes(name).tolist()


@pytest.mark.parametrize("rows", [FEW, MANY])
@pytest.mark.parametrize("name", [column.name for column in ALL])
def test_nothing_looks_at_what_is_too_long(name: str, rows: int, longest: Callable[[], int]) -> None:
    for make in BEGINS.values():
        frame = table(rows, name, make(USUAL[name], LONGEST + 1))
        for asked, most in (("option", 0), (name, 1)):
            read(frame, asked, most=most)
            assert 0 < longest() <= LONGEST
        before = table(rows, name, make(USUAL[name], LONGEST + 1), **{one: "" for one in USUAL if one != name})
        read(before, name)  # a row with nothing else in it
        assert 0 < longest() <= LONGEST


@pytest.mark.parametrize("name", [column.name for column in ALL])
def test_where_it_is_looked_at_that_is_found_out(
    name: str, longest: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_rows, "looked_at", lambda text: text)
    read(table(FEW, name, "x" * (LONGEST + 1)), "option", most=1)
    blank = longest()
    read(table(FEW, name, "x" * (LONGEST + 1)), name)
    assert max(blank, longest()) > LONGEST


NOTHING: dict[str, Any] = {"option": 0, "whole": 4.0, "answer": -1, "day": NO_DAY, "serial": NO_DAY}
"""What is read where a cell is none of its column's kind; NaN else."""


@pytest.mark.parametrize("column", [one for one in TYPES if one.type != "text"], ids=lambda column: column.name)
def test_a_text_that_is_too_long_is_none_of_its_kind_and_moves_no_other(column: Column) -> None:
    usual = read(table(FEW), column.name)
    for how, make in BEGINS.items():
        cell = make(USUAL[column.name], LONGEST + 1)
        assert len(cell.encode()) == LONGEST + 1
        found = read(table(FEW, column.name, cell), column.name)
        assert found[:1] + found[2:] == usual[:1] + usual[2:]
        assert repr(found[1]) == repr(NOTHING.get(column.name, float("nan"))), how
        kept = read(table(FEW, column.name, cell), column.name, most=1)
        assert sorted(map(repr, kept)) == sorted(map(repr, found))
    longest_one = " " * (LONGEST - len(USUAL[column.name].encode())) + USUAL[column.name]
    assert read(table(FEW, column.name, longest_one), column.name) == usual, "what is no longer than that is read"


def test_nobody_is_called_by_what_stands_for_it() -> None:
    """Of a row whose person is named by too long a text it is not known whose it is, so it counts for none."""
    one = Declaration(columns=ALL, id_column="who", rows_per_person=1)
    for size in (LONGEST_PERSON + 1, LONGEST, LONGEST + 1, 2 * LONGEST):
        frame = table(FEW, "who", "x" * size)
        assert int(NoisyCount.of(one, epsilon=1.0).read(PrivateRows(frame))) == FEW - 1


def test_a_row_with_nothing_but_such_a_text_is_one() -> None:
    every = NoisyCount.of(Declaration(columns=ALL), epsilon=1.0)
    empty = dict.fromkeys(USUAL, "")
    for size, rows in ((0, 0), (LONGEST, 1), (LONGEST + 1, 1)):
        frame = table(FEW, "number", "x" * size, **empty)
        assert int(every.read(PrivateRows(frame))) == rows
