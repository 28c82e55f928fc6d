"""How days and decimals of a column are written one of its rows can decide: with it or without, these are the same
people, also where somebody stated it; other people are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Reading, read_table, sketch
from dpcore.datasets.reading.undecided import undecided
from dpcore.sketches import APART, MOST_COMBINATIONS, MOST_MORE, MOST_UNDECIDED, Index, Sketch
from tests.ledger.test_ledger_people import KEY
from tests.ledger.test_ledger_repeated_rows import seems

reading_of = import_module("dpcore.datasets.reading.likeness")
ROWS = 300


def days(form: str) -> Callable[[np.random.Generator, int], list[str]]:
    """Days of which neither number could not be a month."""

    def made(rng: np.random.Generator, rows: int) -> list[str]:
        parts = zip(rng.integers(1, 13, rows), rng.integers(1, 13, rows), rng.integers(1970, 2010, rows), strict=True)
        return [form.format(one, other, year, year % 100) for one, other, year in parts]

    return made


def amounts(form: str) -> Callable[[np.random.Generator, int], list[str]]:
    def made(rng: np.random.Generator, rows: int) -> list[str]:
        return [
            form.format(whole, part)
            for whole, part in zip(rng.integers(10, 99, rows), rng.integers(100, 999, rows), strict=True)
        ]

    return made


DECIDED: dict[str, tuple[Callable[[np.random.Generator, int], list[str]], str]] = {
    "days with strokes": (days("{:02}/{:02}/{}"), "03/25/1971"),
    "days with points": (days("{:02}.{:02}.{}"), "03.25.1971"),
    "days with dashes, short": (days("{}-{}-{}"), "3-25-1971"),
    "years of two digits": (days("{0:02}/{1:02}/{3:02}"), "03/25/71"),
    "with a clock": (days("{:02}/{:02}/{} 10:30"), "03/25/1971 10:30"),
    "days without a mark": (days("{2}{0:02}{1:02}"), "19711399"),
    "a comma": (amounts("{},{}"), "12,34"),
    "a comma, with a currency": (amounts("€ {},{}"), "€ 12,34"),
    "a comma, below zero": (amounts("-{},{}"), "-12,34"),
}
"""Cells that could be read in two ways, and one that decides for all of them."""


def cells(kind: str, seed: int = 1, rows: int = ROWS) -> list[str]:
    return DECIDED[kind][0](np.random.default_rng(seed), rows)


def read(told: list[str], seed: int = 1, **stated: Any) -> Reading:
    ward = np.random.default_rng(seed + 100).integers(0, 4, len(told)).astype(str)
    frame = pd.DataFrame({"seen": told, "ward": ward})
    return read_table(frame.to_csv(index=False, sep=";").encode(), **stated)


def pair(kind: str) -> tuple[Sketch, Sketch]:
    """The same people with the row that decides, and without it."""
    all_of_them = [*cells(kind), DECIDED[kind][1]]
    return sketch(read(all_of_them), KEY), sketch(read(all_of_them[:-1]), KEY)


@pytest.mark.parametrize("kind", DECIDED)
def test_the_same_people_less_the_row_that_decides_are_recognised(kind: str) -> None:
    more, less = pair(kind)
    assert more.is_like(less)
    assert less.is_like(more)
    assert min(seems(more, less), seems(less, more)) > MOST_MORE / 2


@pytest.mark.parametrize(
    ("kind", "stated"), [("days with strokes", {"date_order": "mdy"}), ("a comma", {"decimal": ","})]
)
def test_so_are_they_whatever_was_stated_of_it(kind: str, stated: dict[str, Any]) -> None:
    told, other = read(cells(kind)), read(cells(kind), **stated)
    assert sketch(told, KEY).is_like(sketch(other, KEY))
    assert told.apply(told.suggested()).frame["seen"].tolist() != other.apply(other.suggested()).frame["seen"].tolist()


def numbers(form: str, low: int, high: int) -> list[str]:
    rng = np.random.default_rng(2)
    return [form.format(one, other) for one, other in rng.integers(low, high, (ROWS, 2))]


NOT_AT_ALL = {
    "days without a mark": (cells("days without a mark"), "007"),
    "blanks between thousands": (numbers("{} {:03}", 1, 900), "007"),
    "strokes between thousands": (numbers("{}'{:03}", 1, 900), "007"),
    "commas between thousands": (numbers("{},{:03}", 1, 900), "007"),
    "in 100": (numbers("{}.{:03} %", 1, 900), "007"),
    "in brackets": (numbers("({},{:03})", 1, 900), "007"),
}
"""Cells of a column that one cell more makes a column of text."""


def at_the_edge(kind: str) -> list[str]:
    """So many other cells beside these that it is a column of text, and one less that it is none."""
    told, words = cells(kind), [f"unknown place {place}" for place in range(ROWS)]
    usual = read(told).suggested().column("seen").type
    few, many = 0, ROWS
    while many - few > 1:
        middle = (few + many) // 2
        same = read([*told, *words[:middle]]).suggested().column("seen").type == usual
        few, many = (middle, many) if same else (few, middle)
    return [*told, *words[:many]]


EDGES = [pytest.param(kind, marks=pytest.mark.thorough) for kind in DECIDED if kind != "days without a mark"]


@pytest.mark.parametrize("kind", [*NOT_AT_ALL, *EDGES])
def test_so_are_they_where_one_row_decides_that_it_is_text(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told, last = NOT_AT_ALL[kind] if kind in NOT_AT_ALL else (at_the_edge(kind)[:-1], at_the_edge(kind)[-1])
    less, more = read(told), read([*told, last])
    types = [one.suggested().column("seen").type for one in (less, more)]
    assert types[0] != types[1] == "text"
    assert sketch(less, KEY).is_like(sketch(more, KEY))
    assert sketch(more, KEY).is_like(sketch(less, KEY))
    assert min(seems(sketch(less, KEY), sketch(more, KEY)), seems(sketch(more, KEY), sketch(less, KEY))) > MOST_MORE / 2
    monkeypatch.setattr(reading_of, "MOST_UNDECIDED", 0)
    assert not sketch(less, KEY).is_like(sketch(more, KEY)), "by what their columns suggest alone"


@pytest.mark.parametrize("kind", DECIDED)
def test_these_tests_can_fail(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sketch that knows cells only as their column suggests them; any other row less makes no difference."""
    monkeypatch.setattr(reading_of, "MOST_UNDECIDED", 0)
    more, less = pair(kind)
    assert not more.is_like(less)
    assert not less.is_like(more)
    assert sketch(read(cells(kind)[:-1]), KEY).is_like(less)


def alarms(kind: str) -> int:
    """How many of 55 pairs of files of other people are taken for the same people, at the easiest coin too."""
    files = [read(cells(kind, seed, rows), seed) for seed, rows in enumerate([40, 150, 300, 600] * 2 + [1000] * 3)]
    pairs = combinations([(Index(one), one) for one in (replace(sketch(file, KEY), columns=()) for file in files)], 2)
    return sum(one.is_like(other) or one.seems_like(other, more=0, apart=APART[0]) for (one, _), (_, other) in pairs)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", DECIDED)
def test_other_people_are_taken_for_them_no_more_often(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = alarms(kind)
    monkeypatch.setattr(reading_of, "MOST_UNDECIDED", 0)
    assert now == alarms(kind) == 0


def test_that_cells_are_read_by_themselves_says_nothing_of_a_row() -> None:
    """There are as many marks of them in a file without one that could be read in two ways."""
    rng = np.random.default_rng(1)
    plain = [f"{day}/03/1971" for day in rng.integers(13, 29, ROWS)]
    table = pd.DataFrame({"n": rng.integers(1, 999, ROWS + 1), "age": rng.integers(1, 99, ROWS + 1)})
    made = [
        sketch(read_table(table.assign(seen=[*plain, last]).to_csv(index=False).encode()), KEY)
        for last in ("25/04/1971", "05/04/1971")
    ]
    counts = {len(one.combinations) for one in made}
    assert len(counts) == 1
    assert min(counts) <= MOST_COMBINATIONS + MOST_UNDECIDED
    both = sketch(read_table(table.to_csv(index=False).encode()), KEY).combinations
    assert both[len(both) // 2 :] == both[: len(both) // 2], "of plain numbers they are those that there were"


SPELLED = {
    "1971-03-04": ["03/04/1971", "04/03/1971", "4.3.71", "1971-03-04", "4 Mar 1971", "19710304"],
    "1971-04-03": ["1971-04-03", "3 Apr 1971", "19710403"],
    "1971-03-25": ["25/03/1971", "03/25/1971", "1971-03-25", "March 25, 1971"],
    "1971-12-12": ["12/12/1971"],
    "1969-01-12": ["12/01/1969", "01/12/1969"],
    "1971-03-04 10:30:00": ["03/04/1971 10:30", "1971-03-04T10:30:00"],
    "48123": ["48,123", "48.123", "48123", "48 123", "€ 48,123"],
    "12340": ["12.340", "12,340"],
    "12.34": ["12,34", "12.34"],
    "1234567.89": ["1,234,567.89", "1.234.567,89", "1234567.89"],
    "-1.5": ["-1,5", "-1.5", "(1.5)"],
    "-1500": ["-1.500", "(1,500)"],
    "17": ["17", "17.0", "17,00"],
    "20241399": ["20241399"],
    "0": ["0", "0.0", "-0"],
    "": ["", "x", "n/a", "31/31/1971", "1,2,3", "inf", "nan"],
}


@pytest.mark.parametrize("alone", [True, False])
def test_each_cell_is_spelled_in_one_way(alone: bool) -> None:
    """By itself, or among others."""
    every = [(spelled, word) for spelled, words in SPELLED.items() for word in words]
    words = [word for _, word in every]
    found = [undecided(pd.Series([word], dtype="str"))[0] for word in words] if alone else undecided(
        pd.Series([*words, *cells("a comma"), *cells("days with strokes")], dtype="str")
    )[: len(words)]  # fmt: skip
    assert list(zip(found, words, strict=True)) == every
