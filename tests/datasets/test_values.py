"""Numbers and dates as people write them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from dpcore.datasets import dates as dates_module
from dpcore.datasets.dates import dates, moment
from dpcore.datasets.guessing.dates import COMPACT
from dpcore.datasets.matching import fullmatch
from dpcore.datasets.numerals import _PATTERNS, PLAIN, canonical, integers, numbers, tidy

MANY = settings(max_examples=15, deadline=None, database=None)


def series(*words: str) -> pd.Series:
    return tidy(pd.Series(list(words), dtype="str"))


NOT = math.nan
READ = [
    ("0.488", 0.488, NOT), ("0,488", NOT, 0.488), ("-0.125", -0.125, NOT), ("0,12,345", NOT, NOT), ("0 123", NOT, NOT),
    ("1", 1, 1), ("-1.5", -1.5, NOT), ("1,5", NOT, 1.5), ("1,234", 1234, 1.234), ("1,234.5", 1234.5, NOT),
    ("1.234,5", NOT, 1234.5), ("1.234.567", NOT, 1234567), ("12,34,567", 1234567, NOT), ("1 234,5", NOT, 1234.5),
    ("1'234.5", 1234.5, NOT), ("(1,234)", -1234, -1.234), ("€ 5.20", 5.2, NOT), ("5,20 €", NOT, 5.2), ("-€3", -3, -3),
    ("€-3", -3, -3), ("3 kr", 3, 3), ("12 %", 12, 12), ("−4", -4, -4), ("5-", -5, -5), ("1e5", 1e5, 1e5),
    ("1E-5", 1e-5, 1e-5), (".5", 0.5, NOT), (",5", NOT, 0.5), ("5.", 5, 5), ("+3", 3, 3),
    ("--3", NOT, NOT), ("(-3)", NOT, NOT), ("1.5-3", NOT, NOT), ("1,23", NOT, 1.23), ("inf", NOT, NOT),
    ("nan", NOT, NOT), ("1e400", NOT, NOT), ("0x10", NOT, NOT), ("1_000", NOT, NOT), ("", NOT, NOT), ("%", NOT, NOT),
    ("1 2", NOT, NOT), ("12 345", 12345, 12345), ("٣", NOT, NOT),
]  # fmt: skip


@pytest.mark.parametrize(("word", "point", "comma"), READ, ids=[word for word, _, _ in READ])
def test_numbers(word: str, point: float, comma: float) -> None:
    np.testing.assert_equal(numbers(series(word, "7"), ".")[0], point)
    np.testing.assert_equal(numbers(series(word, "7"), ",")[0], comma)


def test_few_words_match_as_many_do() -> None:
    """Few are matched by Python, many by Arrow."""
    words = [word for word, _, _ in READ] + ["1\n", "\n1", "1\x00", "１", "1" * 101, "12,345" * 9, "a\nb", "é"]
    for pattern in (PLAIN, *_PATTERNS.values(), r"[0-9]{4}(?s:.*)", r"0[0-9]+", r"[-+]?[0-9.,]*[0-9]", COMPACT):
        alone = [bool(fullmatch(pd.Series([word], dtype="str"), pattern)[0]) for word in words]
        assert alone == fullmatch(pd.Series(words * 3, dtype="str"), pattern)[: len(words)].tolist(), pattern


@seed(1)
@MANY
@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=20, max_size=40))
def test_numbers_as_computers_write_them_come_back_exactly(values: list[float]) -> None:
    assert numbers(series(*map(repr, values)), ".").tolist() == values


@seed(2)
@MANY
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=20, max_size=40))
def test_integers_come_back_exactly_with_and_without_thousands(values: list[int]) -> None:
    read, good = integers(series(*map(str, values), *(f"{value:,}" for value in values)), ".")
    assert good.all()
    assert read.tolist() == [*values, *values]


@seed(3)
@MANY
@given(st.lists(st.text("0123456789.,-+() '€%eE", max_size=12), min_size=20, max_size=40))
def test_what_is_read_is_what_python_reads_of_the_canonical_form(words: list[str]) -> None:
    for decimal in (".", ","):
        clean = canonical(series(*words), decimal)  # type: ignore[arg-type]
        for word, value in zip(clean, numbers(series(*words), decimal), strict=True):  # type: ignore[arg-type]
            exact = float(word) if word else math.nan
            np.testing.assert_equal(value, math.nan if math.isinf(exact) else exact + 0.0)


def test_whole_numbers_that_do_not_fit_are_refused() -> None:
    read, good = integers(series("9223372036854775807", "9223372036854775808", "1.5", "2.0", "1e3"), ".")
    assert good.tolist() == [True, False, False, True, True]
    assert read.tolist() == [9223372036854775807, 0, 0, 2, 1000]


@pytest.mark.parametrize(
    ("word", "day_first", "month_first"),
    [
        ("2024-01-05", "2024-01-05", "2024-01-05"),
        ("2024/1/5", "2024-01-05", "2024-01-05"),
        ("5/3/2024", "2024-03-05", "2024-05-03"),
        ("05.03.24", "2024-03-05", "2024-05-03"),
        ("1/1/70", "1970-01-01", "1970-01-01"),
        ("5 Mar 2024", "2024-03-05", "2024-03-05"),
        ("Mar 5, 2024", "2024-03-05", "2024-03-05"),
        ("1st March 2024", "2024-03-01", "2024-03-01"),
        ("31/02/2024", None, None),
        ("13/13/2024", None, None),
        ("25/12/2024", "2024-12-25", None),
        ("2-Sep", None, None),
        ("SEPT2", None, None),
        ("5", None, None),
        ("", None, None),
        ("12.5", None, None),
        ("1.2.3.4", None, None),
        ("5 Foo 2024", None, None),
        ("x" * 100, None, None),
    ],
)
def test_dates(word: str, day_first: str | None, month_first: str | None) -> None:
    for order, wanted in (("dmy", day_first), ("mdy", month_first)):
        found = moment(word, order)  # type: ignore[arg-type]
        assert (None if np.isnat(found) else str(found)[:10]) == wanted


def test_clock_times() -> None:
    words = ("2024-01-05T10:20:30Z", "2024-01-05 10:20", "3/5/2024 4:30 PM", "3/5/2024 12:05 am", "2024-01-05 25:00")
    found = dates(pd.Series(words, dtype="str"), "mdy")
    assert [str(each)[11:16] for each in found] == ["10:20", "10:20", "16:30", "00:05", ""]


def test_serial_dates() -> None:
    found = dates(pd.Series(["45292", "1", "45292.5", "0", "9999999", "x"], dtype="str"), "serial")
    shown = ["2024-01-01T00:00:00", "1899-12-31T00:00:00", "2024-01-01T12:00:00", "NaT", "NaT", "NaT"]
    assert [str(each) for each in found] == shown


@pytest.mark.parametrize("order", ["ymd", "dmy", "mdy"])
def test_dates_taken_all_at_once_are_those_taken_one_by_one(order: str) -> None:
    """Every form that is written out, real or not; a mutant that lets 30 February roll on into March is caught."""
    days = (
        "2024-01-31",
        "2024-02-30",
        "2023-02-29",
        "2024/02/29",
        "2024.13.01",
        "0000-01-01",
        "2024-00-10",
        "1900-01-00",
    )
    days += (
        "31/01/2024",
        "01/31/2024",
        "05-06-2024",
        "05.06.2024",
        "2024-01/31",
        "31/13/2024",
        "2024-1-3",
        "05-06-24",
        "24-05-06",
        "9999-12-31",
    )
    clocks = (
        "",
        "T10:20",
        " 23:59:59",
        "T24:00:00",
        " 10:60:00",
        "T10:20:60",
        "T10:20:30Z",
        " 10:20:30.5+02:00",
        "T1:2",
        "T10:20Z",
        "T10:20:30z",
        "T10:20:30.",
        "T10:20:30.1234567890",
        "T10:20:30,123456789 -0330",
        "T10:20:30+02",
        "T10:20:30Z\n",
        "T10:20:3é",
        "  10:20",
        " 10:20:30 PM",
        "T23:59:60",
    )
    words = [day + clock for day in days for clock in clocks]
    words += [f"20{year:02}-{month:02}-{day:02}" for year in range(3) for month in range(14) for day in range(33)]
    assert len(set(words)) >= dates_module._MANY
    found = dates_module.dates(pd.Series(words, dtype="str"), order)  # type: ignore[arg-type]
    for word, one in zip(words, found, strict=True):
        alone = dates_module.moment(word, order)  # type: ignore[arg-type]
        assert alone == one or (np.isnat(alone) and np.isnat(one)), word
