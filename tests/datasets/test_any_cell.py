"""A release reads whatever a cell holds: if one person's cell could stop it, that there is no answer would tell."""

from __future__ import annotations

from datetime import date

import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, read_csv
from dpcore.datasets.schema import Schema

COLUMNS = (
    Column(name="a", type="integer", low=0, high=120),
    Column(name="a", type="integer", low=0, high=120, decimal=","),
    Column(name="a", type="integer", low=-(10**18), high=10**19),
    Column(name="a", type="number", low=0, high=120),
    Column(name="a", type="number", low=0, high=120, decimal=","),
    Column(name="a", type="date", earliest=date(2000, 1, 1), latest=date(2030, 1, 1)),
    Column(name="a", type="date", date_order="mdy", earliest=date(2000, 1, 1), latest=date(2030, 1, 1)),
    Column(name="a", type="yes/no"),
    Column(name="a", type="category", categories=("x", "y")),
)
LARGE = "9007199254740993"  # one more than a double tells apart from its neighbour
NUMBERS = (
    LARGE,
    "9223372036854775807",
    "9223372036854775808",
    "9" * 5000,
    "9" * 400,
    "12",
    "0",
    "1.5",
    "1e18",
    "1e9999",
)
AROUND = (
    "{}", "-{}", "+{}", "({})", "{}-", "- {}", "{}.", "{},", "{}.0", "{},0", "{} %", "€{}", "{} kr.", "{}e-390", "{}e5",
    "0" * 4400 + "{}", "-" + "0" * 4400 + "{}", "0." + "0" * 5000 + "{}", "{}" + "0" * 4400, "{}e" + "0" * 4400 + "1",
)  # fmt: skip
OTHERS = (
    "nan", "-inf", "Infinity", "1e", "+", ".", "( )", "1_000", "0x10", "²", "１２３", "٩٠٠٧", "=1+1", "a\x00b", "\x1f",
    "\u2028", "\ufeff1", "İ", "ß", "😀" * 40_000, "0000-00-00", "0001-01-01", "9999-12-31 24:00", "2020-W54-7",
    "0000-W01-1", "2020-02-30", "99/99/9999", "2020-01-01T25:61:61Z", "2020-01-01T00:00:00-99:99", "31 foo 2020",
    "Jan 31, 0000", "00000101", "2020-01-01 13:00 pm", "9" * 5000 + "-01-01", "01/01/" + "9" * 5000,
)  # fmt: skip
CELLS = (*OTHERS, *(form.format(number) for form in AROUND for number in NUMBERS))


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type} {column.decimal} {column.date_order}")
def test_no_cell_stops_a_release(column: Column) -> None:
    reads = Declaration.of(Schema(columns=(column,))).reads("a")
    frame = pd.DataFrame({"a": pd.Series(["1", *CELLS], dtype="str")})
    assert len(PrivateRows(frame).opened(reads).typed("a")) > 200  # rows of nothing but an empty cell do not count


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("word", [*NUMBERS, "1e+300", "-1e300", "1e16", "1e-300", "inf", "nan"])
def test_a_column_of_any_number_alone_is_read(word: str, rows: int) -> None:
    """Whatever it is taken for: a file is at fault with a sentence, and never the program."""
    reading = read_csv(("a,b\n" + f"{word},x\n" * rows).encode())
    assert len(reading.column("a").name) == 1
    assert reading.rows == rows
