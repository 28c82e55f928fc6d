"""Numbers as people write them."""

from __future__ import annotations

import numpy as np

from dpcore.datasets import Reading
from tests.datasets.cases.table import case, column, rows, typed


@case("numbers", "decimal comma", "a;b\n1,5;x\n2,75;y\n-0,25;x\n")
def _(reading: Reading) -> None:
    assert typed(reading, "a") == [1.5, 2.75, -0.25]
    assert reading.column("a").certain


@case("numbers", "thousands dot with decimal comma", "a;b\n1.234,5;1.234\n12.345.678,25;9.876\n7;1.000\n")
def _(reading: Reading) -> None:
    assert typed(reading, "a") == [1234.5, 12345678.25, 7.0]
    assert typed(reading, "b") == [1234, 9876, 1000]  # the other column settles it
    assert reading.column("b").certain


@case("numbers", "a dot that can mean either", "a;b\n1.234;x\n5.678;y\n9.012;x\n")
def _(reading: Reading) -> None:
    labels = [reading_.label for reading_ in reading.column("a").readings]
    assert labels == ["the comma marks decimals", "the point marks decimals"] or len(labels) == 2
    assert {example[1] for each in reading.column("a").readings for example in each.examples} >= {"1.234", "1,234"}


@case("numbers", "shares to three places", "a;b\n0.488;0,512\n0.331;1,234\n1.062;0,907\n")
def _(reading: Reading) -> None:
    """No thousands begin with 0, so one such number settles the column."""
    assert typed(reading, "a") == [0.488, 0.331, 1.062]
    assert typed(reading, "b") == [0.512, 1.234, 0.907]
    assert reading.column("a").certain
    assert reading.column("b").certain


@case("numbers", "quoted thousands", column(["1,234.50", "12,345.00", "7.25"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [1234.5, 12345.0, 7.25]


@case("numbers", "currency", column(["$1,234.50", "€ 3.20", "12.5 €", "£7.00"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [1234.5, 3.2, 12.5, 7.0]
    assert any("More than one currency" in note for note in reading.column("x").notes)


@case("numbers", "percent", column(["12%", "3.5 %", "100%"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [12.0, 3.5, 100.0]
    assert any("12% reads as 12" in note for note in reading.column("x").notes)


@case("numbers", "negatives in brackets", column(["(1,234)", "(5.5)", "12.25"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [-1234.0, -5.5, 12.25]


@case("numbers", "Unicode minus and no-break space", column(["−5", "1\u00a0234", "\u202f−1\u202f234,5", "–7"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [-5.0, 1234.0, -1234.5, -7.0]


@case("numbers", "infinity and 1e400", column(["1.5", "2.5", "3.5", "4.5", "5.5", "6.5", "7.5", "8.5", "inf", "1e400"]))
def _(reading: Reading) -> None:
    assert reading.column("x").type == "number"
    assert reading.column("x").unparsable == 2
    assert reading.column("x").unparsable_lines == (10, 11)


@case(
    "numbers", "every spelling of missing",
    column(["1", "", "NA", "N/A", "n/a", "null", "NULL", "None", "nan", "NaN", "-", "--", ".", "?", "#N/A", "2"]),
)  # fmt: skip
def _(reading: Reading) -> None:
    assert reading.column("x").type == "integer"
    assert reading.column("x").missing == 14
    assert reading.column("x").unparsable == 0


@case("numbers", "minus zero", column(["-0", "-0.0", "1.5"]))
def _(reading: Reading) -> None:
    values = np.array(typed(reading, "x"), dtype=float)
    assert not np.signbit(values).any()


@case("numbers", "integers above 2^53", column(["9007199254740993", "9007199254740995", "12", "9223372036854775807"]))
def _(reading: Reading) -> None:
    assert typed(reading, "x") == [9007199254740993, 9007199254740995, 12, 9223372036854775807]


@case("numbers", "integers above 2^63", column(["9223372036854775808", "18446744073709551617"]))
def _(reading: Reading) -> None:
    assert reading.column("x").type == "text"
    assert rows(reading)[0][1] == "9223372036854775808"


@case("numbers", "leading zeros", column(["007", "012", "120"]))
def _(reading: Reading) -> None:
    assert reading.column("x").type in ("text", "category")
    assert "start with 0" in reading.column("x").reason


@case("numbers", "#DIV/0!", column(["1.5", "#DIV/0!", "2.5", "#VALUE!"]))
def _(reading: Reading) -> None:
    assert reading.column("x").type == "number"
    assert reading.column("x").missing == 2
    assert any("error of a spreadsheet" in note for note in reading.column("x").notes)


@case("numbers", "a type that changes at row 30,001", "k,x\n" + "a,1\n" * 30_000 + "b,none left\n" * 20_000)
def _(reading: Reading) -> None:
    assert len(reading.frame) == 50_000
    assert reading.column("x").type == "category"
    assert any("line 30,002" in note for note in reading.column("x").notes)


@case("numbers", "a few words at row 30,001", "k,x\n" + "a,1\n" * 30_000 + "b,unknown\n" * 10)
def _(reading: Reading) -> None:
    assert reading.column("x").type == "integer"
    assert reading.column("x").unparsable == 10
    assert reading.column("x").unparsable_lines[0] == 30_002
