"""A decimal mark and an order of days that a person stated bind every column, whatever one row shows."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpcore.datasets import LeaveOutTotals, OneRowPer, ReadAsMissing, read_table
from dpcore.datasets.guessing import columns, dates, numerals
from dpcore.datasets.guessing.dates import Both
from dpcore.datasets.guessing.numerals import Marks
from dpcore.datasets.guessing.words import Guess, Hint, Words
from dpcore.datasets.importing import import_csv
from dpcore.datasets.reading import reader
from dpcore.datasets.schema import Column, DateOrder, Decimal

NUMBERS = {"either": "1,2{:02}", "whole": "{}", "point": "{}.5"}
DAYS = {"either": "{0:02}/{1:02}/2024", "year first": "2024-{1:02}-{0:02}", "points": "{0:02}.{1:02}.2024"}
PAIRS = ((NUMBERS, ("2.5", "2,5")), (DAYS, ("13/01/2024", "01/13/2024")))


def readings(decimal: Decimal | None, order: DateOrder | None) -> set[str]:
    """How columns of numbers and of days are read, each form of them with one row that can be read one way alone."""
    cells = {
        f"{form}, {other}": [*(form.format(1 + n % 9, 1 + n % 12) for n in range(20)), other]
        for forms, others in PAIRS
        for form in forms.values()
        for other in others
    }
    frame = pd.DataFrame(cells, dtype="str")
    read = columns.read_columns(frame, np.arange(21), decimal=decimal, order=order, say=lambda _: None)
    return {how for one in read for how in _written(one.suggestion)}


def _written(column: Column) -> tuple[str, ...]:
    return (column.decimal,) if column.is_numeric else (column.date_order,) if column.type == "date" else ()


def test_what_was_stated_is_how_every_column_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert readings(".", "dmy") == {".", "dmy"}
    assert readings(",", "mdy") == {",", "mdy"}
    assert readings(None, None) == {".", ",", "dmy", "mdy"}
    mark, order = numerals.guess, dates.guess

    def forgotten(words: Words, seen: Marks, hint: Hint) -> Guess | None:
        return mark(words, seen, replace(hint, decimal=None, agreed=hint.decimal))

    def forgotten_too(words: Words, read: Both | None, hint: Hint) -> Guess | None:
        return order(words, read, replace(hint, order=None, agreed_order=hint.order))

    for part, mutant in ((numerals, forgotten), (dates, forgotten_too)):
        with monkeypatch.context() as patch:
            patch.setattr(part, "guess", mutant)
            assert readings(",", "mdy") != {",", "mdy"}, "only where a column shows nothing"


def test_it_is_kept_after_a_step_and_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(more: str) -> bool:
        rows = "".join(f"r{n % 7};1,{234 + n};{1 + n % 9:02}/{1 + n % 12:02}/2024;{n}\n" for n in range(12))
        text = f"region;x;day;n\n{rows}Total;1,999;01/01/2024;1\n{more};7\n"
        read = read_table(text.encode(), decimal=",", date_order="dmy")
        read = read_table(text.encode(), decimal=",", date_order="dmy").after((LeaveOutTotals(column="region"),))
        read = read.after((ReadAsMissing(column="n", word="7"),))
        return tuple(read.suggested().column(name) for name in ("x", "day")) == (
            Column(name="x", type="number", decimal=","),
            Column(name="day", type="date", date_order="dmy"),
        )

    assert kept("r1;2.5;13/01/2024")
    assert kept("r1;2,5;01/13/2024")
    monkeypatch.setattr(
        reader, "done", lambda *steps, old=reader.done: replace(old(*steps), decimal=None, date_order=None)
    )
    assert not kept("r1;2.5;13/01/2024")


def test_what_a_step_wrote_has_a_point() -> None:
    rows = "\n".join(f"p{n % 20};{n},25" for n in range(60))
    read = read_table(f"person;x\n{rows}\n".encode(), decimal=",")
    made = read.after((OneRowPer(by="person", of="x", how="sum", decimal=","),))
    assert (made.column("sum of x").type, made.column("sum of x").suggestion.decimal) == ("number", ".")
    assert made.frame["sum of x"].iloc[0] == "60.75"


def test_numbers_of_a_sheet_are_read_as_they_are() -> None:
    """They have no decimal mark: what was stated is for cells of text."""
    book = openpyxl.Workbook()
    for n in range(40):
        book.active.append(["a", "b", "c"] if n == 0 else [n + 0.25, f"1,{200 + n}", f"r{n % 3}"])
    file = io.BytesIO()
    book.save(file)
    read = read_table(file.getvalue(), decimal=",")
    assert [(one.name, one.type, one.suggestion.decimal) for one in read.columns[:2]] == [
        ("a", "number", "."),
        ("b", "number", ","),
    ]
    assert read.stated_decimal is None


def test_a_column_whose_type_is_stated_is_imported_by_the_stated_mark(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("id;x\n" + "".join(f"k{n};n.v.\n" for n in range(30)) + "k30;2,5\n", encoding="utf-8")
    found = import_csv([source], tmp_path / "out", delimiter=";", decimal=",", types={"x": "number"})
    (column,) = (one for one in found.columns if one.name == "x")
    assert column.misfit.count + column.missing == 30, "the one with a comma was read"
