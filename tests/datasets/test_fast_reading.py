"""The fast ways of a large file (Arrow's cells, columns of plain numbers or times) find what the careful ones find."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

from dpcore.datasets import Reading, UnreadableFile, matching, read_table
from dpcore.datasets.guessing import columns, plain_cells, plain_numbers, plain_times, read_columns
from dpcore.datasets.reading import bulk, scanning, survey
from dpcore.datasets.reading.dialect import Dialect
from tests.datasets.cases import CASES

FIXED = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
WORDS = (
    *("9", "99", "999", "-99", "-9", "0", "-0", "-0.0", "0.0", "0.00", "1", "1.", "1.0", "01", "-01", "007", "00.5"),
    *(".5", "-.5", "+5", "1e3", "5 ", " 5", "1,5", "1.234", "1.001", "-", ".", "", "NA", "na", "nan", "inf", "a"),
    *("20240101", "19991231", "44197", "123456789012345", "1234567890123456", "0.1234567890123", "12%", "1/2", "−5"),
)  # fmt: skip
NUMBER = st.one_of(
    st.integers(-2000, 2000).map(str),
    st.integers(0, 10**15).map(str),
    st.floats(-1000, 1000).map(lambda x: f"{x:.2f}"),
    st.floats(-1, 1).map(lambda x: f"{x:.3f}"),
)
NAMES = st.sampled_from(["x", "day", "customer_id", "year", "date"])


@contextmanager
def fast(least: int = 1) -> Iterator[None]:
    """Fast ways for tables of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_cells, "LEAST", least)
        patch.setattr(plain_cells, "FEWEST", 3)
        patch.setattr(plain_cells, "_FIRST", 6)
        patch.setattr(bulk, "_PIECE", 8)
        patch.setattr(scanning, "_PART", 8)  # or nothing would be read ahead of the survey
        yield


@contextmanager
def careful() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk.Ahead, "cells", lambda *_: None)
        patch.setattr(columns, "_plain", lambda _: None)
        yield


def told(reading: Reading) -> dict[str, Any]:
    """All that a reading says."""
    said = {field.name: getattr(reading, field.name) for field in fields(reading)}
    said |= {name: said[name].tolist() for name in ("lines", "places")}
    frames = {name: (list(said[name].columns), said[name].to_numpy().tolist()) for name in ("frame", "original")}
    return said | frames | {"fingerprint": reading.fingerprint, "rows are": reading.suggested().each_row}


def outcome(data: bytes) -> object:
    try:
        return told(read_table(data))
    except UnreadableFile as refusal:
        return str(refusal)


@pytest.mark.thorough
@pytest.mark.parametrize("group", ["dialect", "numbers"])
def test_every_case_is_read_the_same(group: str) -> None:
    """The smaller ones of the case table; ``benchmarks.reading`` compares all of them."""
    for case in CASES:
        data = case.make() if case.group == group and not case.heavy else b""
        if 0 < len(data) < 5000:
            with fast():
                found = outcome(data)
            with careful():
                assert found == outcome(data), str(case)


@pytest.mark.thorough
@seed(1)
@settings(FIXED, max_examples=40)
@given(
    st.lists(NUMBER, min_size=8, max_size=30),
    st.lists(st.sampled_from(WORDS), max_size=3),
    NAMES,
    st.sampled_from("dw"),
)
@example([str(each) for each in range(30)], [], "x", "w")  # counts the rows
@example([f"{each}.5" for each in range(-9, 9)], ["-0.0", "0.0"], "x", "d")
@example([f"{each}.5" for each in range(9)], ["-0.0", "0.00", "7.50", "7.5"], "x", "d")
@example([f"{each}.5" for each in range(9)], ["-0.0", "0.0", "123456.5"], "x", "d")
@example([str(each) for each in range(-9, 9)], ["-0", "0"], "x", "w")
@example([f"{each}." for each in range(9)], ["-0.", "0."], "x", "d")
@example([str(each) for each in range(20, 40)], ["999", "99"], "x", "w")
@example([str(each) for each in range(200, 1200, 7)], ["999", "NA", "", "na", ""], "x", "w")
@example([str(each) for each in range(30_000, 30_020)], [], "day", "w")
@example([f"{each}.234" for each in range(1, 20)], [], "x", "d")
@example([str(20_240_101 + each) for each in range(20)], [], "x", "w")
def test_a_column_is_understood_the_same(numbers: list[str], others: list[str], name: str, form: str) -> None:
    """Numbers of all forms with a few odd words among them; ``form`` is whole numbers alone, or any."""
    few = [word for word in numbers if form == "d" or "." not in word] or numbers
    frame = pd.DataFrame({name: pd.Series([*few[:8], *others, *few[8:]], dtype="str")})
    assert both_ways(frame) == both_ways(frame, careful)


def both_ways(frame: pd.DataFrame, way: Callable[[], Any] = fast) -> object:
    with way():
        return read_columns(frame, np.arange(len(frame)) + 2, decimal=None, order=None, say=lambda _: None)


def test_columns_of_plain_numbers_take_the_fast_way() -> None:
    """Else the comparison above would compare the careful way with itself."""
    usual = {
        "whole": [str(each) for each in range(50, 100)],
        "pointed": [f"{each}.{each % 7}" for each in range(-25, 25)],
        "uneven": [f"{each / 8:g}" for each in range(50)],
        "missing": ["", "NA", *(str(each) for each in range(50, 98))],
    }
    with fast():
        for name, words in usual.items():
            found = plain_numbers.plain_numbers(pd.Series(words, dtype="str", name=name))
            assert found is not None, name
            assert found.distinct == len(set(words) - {"", "NA"})


@pytest.mark.parametrize(
    ("part", "mutant"),
    [
        ("_sorted", lambda values: len(np.unique(values))),  # −0 taken for 0
        ("_marked", lambda parts, *_: len(np.unique(np.concatenate([part.values for part in parts])))),  # here as well
        ("_shared", lambda numbers: int(numbers[0])),  # 7.5 taken for 7.50
        ("_stand_apart", lambda values: False),
        ("_LONGEST", 40),
        ("may_count_days", lambda name, least, most: False),
        ("is_number", lambda words, decimal: np.zeros(len(words), dtype=bool)),  # a point that may mark thousands
        ("_ZERO", 0),  # leading zeros
    ],
)
def test_mutants_of_the_fast_way_are_caught(part: str, mutant: object) -> None:
    some = [f"{each}.5" for each in range(9)]
    frames = [
        ("x", [*some, "-0.0", "0.0"]),
        ("x", [*some, "123456.5", "-0.0", "0.0"]),  # too far apart to be marked
        ("x", [*some, "7.50"]),
        ("x", [*(str(each) for each in range(20)), "999"]),
        ("x", [*(str(10**17 + each) for each in range(3)), *some]),
        ("day", [str(each) for each in range(30_000, 30_020)]),
        ("x", [f"{each}.234" for each in range(1, 20)]),
        ("x", [*(str(each) for each in range(20)), "007"]),
    ]
    caught = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_numbers, part, mutant)
        for name, words in frames:
            frame = pd.DataFrame({name: pd.Series(words, dtype="str")})
            caught.append(both_ways(frame) != both_ways(frame, careful))
    assert any(caught)


USUAL = [f"2024-01-{day:02}T10:{day:02}:59" for day in range(1, 31)]
TIMES = {
    "seconds": USUAL,
    "days": [word[:10] for word in USUAL],
    "minutes": [word[:16] for word in USUAL],
    "slashes, missing": ["", "NA", "na", *(word.replace("-", "/").replace("T", " ") for word in USUAL), ""],
    "zone": [f"{word}Z" for word in USUAL],
    "offset": [f"{word}.250+02:00" for word in USUAL],
    "repeated": [*USUAL, USUAL[0], USUAL[-1]],
}
HOSTILE = {
    "leap second": [*USUAL, "2016-12-31T23:59:60"],
    "midnight as 24": [*USUAL, "2016-12-31T24:00:00"],
    "no such day": [*USUAL, "2023-02-29T00:00:00"],
    "two digits of a year": [*USUAL, "23-02-28T00:00:00"],
    "year at the end": [*(word[:10] for word in USUAL), "28-02-2023"],
    "T and blank": [*USUAL, "2024-01-01 10:01:59"],
    "both marks": [*USUAL, "2024-01/01T10:01:59"],
    "offsets": [*(f"{word}+02:00" for word in USUAL), f"{USUAL[0]}+01:00"],
    "zone and none": [*USUAL, f"{USUAL[0]}Z"],
    "parts of seconds": [f"{word}.{place:03}" for place, word in enumerate([*USUAL, USUAL[0]])],
    "padded": [*USUAL, f" {USUAL[0]}"],
    "a word": [*USUAL, "n.v."],
    "other digits": [*USUAL, "2024-01-0١T10:01:5"],
    "a late missing word": [*USUAL, "missing"],
    "year 0": [*USUAL, "0000-01-01T10:00:00"],
    "hardly dates": ["2024-13-13", *(f"2024-13-{day}" for day in range(10, 30)), "2024-12-01"],
}


@pytest.mark.parametrize("name", ["x", "date", "customer_id", "year"])
def test_times_are_understood_the_same(name: str) -> None:
    for kind, words in (TIMES | HOSTILE).items():
        frame = pd.DataFrame({name: pd.Series(words, dtype="str")})
        assert both_ways(frame) == both_ways(frame, careful), kind


def test_columns_of_plain_times_take_the_fast_way() -> None:
    with fast():
        for kind, words in TIMES.items():
            found = plain_times.plain_times(pd.Series(words, dtype="str", name="x"))
            assert found is not None, kind
            assert found.distinct == len(set(words) - {"", "NA", "na"})


@pytest.mark.parametrize(
    ("part", "mutant"),
    [
        ("read_signs", lambda signs, order: np.arange(signs.shape[1]).astype("datetime64[s]")),  # days that are none
        ("_ends_with", lambda cells, end: True),  # parts of a second, and zones
        ("ZONED", "never"),
        ("_in_places", lambda signs, pattern: True),  # other marks
    ],
)
def test_mutants_of_the_times_are_caught(part: str, mutant: object) -> None:
    caught = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_times, part, mutant)
        for words in (TIMES | HOSTILE).values():
            frame = pd.DataFrame({"x": pd.Series(words, dtype="str")})
            caught.append(both_ways(frame) != both_ways(frame, careful))
    assert any(caught)


def split(data: bytes, quote: str = '"') -> list[list[str]] | None:
    """The cells by the fast way, or None where it gives up or the file is not even."""
    dialect = Dialect(delimiter=",", quote=quote)
    with bulk.Ahead(data, dialect) as ahead:
        try:
            seen = survey.survey(data, dialect, 1, lambda _: None, ahead.whole_until)
        except UnreadableFile:
            return None
        width = int(seen.counts.max())
        if width < 2 or seen.blank.size or int(seen.counts.min()) < width:
            return None
        read = ahead.cells(seen, width, lambda _: None)
    return None if read is None else read.frame.to_numpy().tolist()


@seed(2)
@settings(FIXED, max_examples=60)
@given(st.lists(st.lists(st.text('a", \né\x0b\ufeff', max_size=4), min_size=2, max_size=2), min_size=1, max_size=9))
@example([["a", ""], ["", ""]])
@example([["\ufeffa", "b"], ["\ufeffc", "d"]])
def test_cells_are_those_of_the_csv_module(table: list[list[str]]) -> None:
    """Quoted by the csv module where needed, in pieces of a few bytes: every cell comes back, or nothing does."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(table)
    with fast():
        found = split(file.getvalue().encode())
    assert found is None or found == table


@seed(3)
@settings(FIXED, max_examples=60)
@given(st.text('a,"\n ', max_size=30))
def test_cells_of_any_text_are_those_of_the_csv_module(text: str) -> None:
    with fast():
        found = split(text.encode())
    if found is not None:
        assert found == list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_plain_files_take_the_fast_way() -> None:
    with fast():
        for data in (b"a,b\n1,2\n", b'a,"b\n1",\n' * 5, b'"a ""b""","c,d"\n' * 9 + b"x,"):
            assert split(data) == list(csv.reader(io.StringIO(data.decode(), newline="")))


def test_mutants_of_the_cells_are_caught() -> None:
    """Pieces that end within a record, and line ends in cells that nobody looks for."""
    data = b'a,"b\nb"\n' * 20
    wanted = split(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "_pieces", lambda data, cuts, start: [(0, 13), (13, len(data))])
        assert split(data) != wanted


@pytest.mark.parametrize(
    "late",
    ['"d\nd",e\n', "d\n", "d,e,f\n", "\n", 'd"e,f\n', "\ufeffd,e\n"],
    ids=["a cell of two lines", "too few cells", "too many", "a blank line", "a quotation mark inside", "a mark"],
)
def test_what_comes_late_counts_for_what_was_read_ahead(late: str) -> None:
    """Pieces are read before the survey has seen the end of the file, which may be of another kind."""
    data = (f"a,b\n{'c1,c2' + chr(10)}" * 9 + late + "x,y\n").encode()
    with fast():
        ahead: list[int] = []
        read = bulk.Ahead._read
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bulk.Ahead, "_read", lambda *given: (ahead.append(1), read(*given))[1])
            found = outcome(data)
    assert ahead
    with careful():
        assert found == outcome(data)


def test_blank_words_are_those_that_strip_finds() -> None:
    words = ["", " ", "\t", "\u00a0", "\u2003 ", "\x1f", "\x7f", "a", " a", "\u00e9", "0", "~", "\ufeff", "!"]
    for part in (words, words[::-1], words[:1], [], ["a"], ["", ""]):
        text = pd.Series(part, dtype="str")
        blank = (text.str.strip() == "").to_numpy(dtype=bool)
        may_be = matching.may_be_blank(text)
        assert not (blank & ~may_be).any()
        assert not may_be[[word[:1].isascii() and word[:1].isalnum() for word in part]].any()
