"""No cell of one row changes how much work all others are, so that how long an answer takes does not tell of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, conversion, dates, different, numerals, private_rows
from dpcore.datasets.declaration import Reads
from dpcore.datasets.matching import words
from tests.audit.work import apart, counted

ROWS, MOST = 3_000, 150
PLACE = ROWS // 2
"""Behind the first thousand, by which a column is told that holds few different words."""
KINDS: dict[str, tuple[Column, Callable[[int], str]]] = {
    "number": (Column(name="x", type="number", low=0.0, high=1000.0), lambda row: f"{row / 4:.2f}"),
    "number with a comma": (
        Column(name="x", type="number", low=0.0, high=1000.0, decimal=","),
        lambda row: f"{row / 4:.2f}".replace(".", ","),
    ),
    "whole number": (Column(name="x", type="integer", low=0.0, high=9000.0), str),
    "date": (
        Column(name="x", type="date", earliest=date(2000, 1, 1), latest=date(2030, 1, 1)),
        lambda row: str(date.fromordinal(730_000 + row)),
    ),
    "date and time": (
        Column(name="x", type="date", earliest=date(2000, 1, 1), latest=date(2030, 1, 1)),
        lambda row: f"{date.fromordinal(730_000 + row)}T10:{row % 60:02}:00",
    ),
    "day first": (
        Column(name="x", type="date", earliest=date(2000, 1, 1), latest=date(2030, 1, 1), date_order="dmy"),
        lambda row: date.fromordinal(730_000 + row).strftime("%d.%m.%Y"),
    ),
    "category": (
        Column(name="x", type="category", categories=("red", "blue", "1")),
        lambda row: ("red", "blue", "1")[row % 3],
    ),
    "yes or no": (Column(name="x", type="yes/no"), lambda row: ("yes", "no")[row % 2]),
    "text": (Column(name="x", type="text"), lambda row: f"word {row}"),
}
ODD = (
    *("", "  ", "n/k", "NaN", "é", "50\u00a0", "50 %", "1,234", "1.234", "5-", "(5)", "-5", "1e5", "1.0", "50,00"),
    *(
        "\u22125",
        "\u200e5",
        "٣",
        "TRUE",
        "red\u00a0",
        "RED ",
        "ﬁ",
        "x" * 31,
        "x" * 300,
        "9" * 70_000,
        "12345678901234567890",
    ),
    *("2020-01-01", "2020-01-01T10:00", "2020-01-01T10:00:00.5Z", "1/2/2020", "1.5.2020", "3 May 2020", "2020-W05"),
    *("2020-01-01 10:00:00 +02:00", "9999-99-99"),
)
WHO = Column(name="who", type="text")


def reads(kind: str, people: bool) -> Reads:
    column = KINDS[kind][0]
    if not people:
        return Declaration(columns=(column,), people=ROWS).reads("x")
    return Declaration(columns=(column, WHO), people=ROWS, id_column="who", rows_per_person=2).reads("x")


def work(kind: str, cell: str | None = None, *, who: str | None = None, people: bool = False) -> Counter[str]:
    """Of opening and reading a column of which one row holds this cell, or is this person's."""
    each = KINDS[kind][1]
    cells, names = [each(row) for row in range(ROWS)], [f"p{row}" for row in range(ROWS)]
    cells[PLACE] = cells[PLACE] if cell is None else cell
    names[PLACE] = names[PLACE] if who is None else who
    table = {"x": pd.Series(cells, dtype="str")} | ({"who": pd.Series(names, dtype="str")} if people else {})
    asked, rows = reads(kind, people), PrivateRows(pd.DataFrame(table))
    with counted() as done:
        rows.opened(asked).typed("x")
    return done


def told(kind: str, *, people: bool = False) -> dict[str, dict[str, int]]:
    """Which cells, and with ``people`` which names of a person, are another amount of work, and by what."""
    work(kind, people=people)  # what is made once
    usual = work(kind, people=people)
    found = {cell: apart(work(kind, cell, people=people), usual, MOST) for cell in ODD}
    if people:
        found |= {f"who {name}": apart(work(kind, who=name, people=people), usual, MOST) for name in ("p7", *ODD)}
    return {cell: more for cell, more in found.items() if more}


@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_is_work_for_all_others(kind: str) -> None:
    assert told(kind) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_nor_is_a_cell_or_a_name_where_rows_are_several_people_s(kind: str) -> None:
    assert told(kind, people=True) == {}


@pytest.mark.parametrize("place", [0, 5, 999])
@pytest.mark.parametrize("length", [6, 40])
def test_no_row_among_the_first_decides_how_all_others_are_told_apart(place: int, length: int) -> None:
    """By one word more than 64, or a word that many rows behind hold, it once did."""
    few = [f"word {row % 64}".ljust(length, ".") for row in range(ROWS)]
    late = [("A" if row < 1_500 else "B").ljust(length, ".") for row in range(ROWS)]
    for cells, other in ((few, "word 64".ljust(length, ".")), (late, "B".ljust(length, "."))):
        done = []
        for each in (cells, cells, [*cells[:place], other, *cells[place + 1 :]]):
            rows = PrivateRows(pd.DataFrame({"x": pd.Series(each, dtype="str")}))
            with counted() as work:
                rows.opened(reads("text", False)).typed("x")
            done.append(work)
        assert apart(done[2], done[1], MOST) == {}


def read_of(frame: pd.DataFrame, asked: Reads, **kept: object) -> Counter[str]:
    """Work of reading all that is asked for, of rows that are ``kept`` so."""
    rows = PrivateRows(frame, **kept)  # type: ignore[arg-type]
    with counted() as work:
        opened = rows.opened(asked)
        for column in asked.columns:
            opened.typed(column.name)
    return work


def among_empty_columns(cell: str) -> dict[str, int]:
    """Work that one cell adds to twenty empty columns before the one that is asked for."""

    def done(first: str) -> Counter[str]:
        empty = {f"e{place}": pd.Series([""] * ROWS, dtype="str") for place in range(20)}
        empty["e0"] = pd.Series([*[""] * PLACE, first, *[""] * (ROWS - PLACE - 1)], dtype="str")
        x = pd.Series([str(row) for row in range(ROWS)], dtype="str")
        return read_of(pd.DataFrame({**empty, "x": x}), reads("number", False))

    done("")  # what is made once
    return apart(done(cell), done(""), MOST)


def of_steps(empty: int) -> dict[str, int]:
    """Work that so many empty rows add to a table of steps of five columns."""
    columns = tuple(Column(name=f"x{place}", type="number", low=0.0, high=9000.0) for place in range(5))
    asked = Declaration(columns=columns, each_row="step").reads(*(column.name for column in columns))

    def done(gone: int) -> Counter[str]:
        places = np.delete(np.arange(ROWS), np.arange(PLACE, PLACE + gone))
        cells = pd.Series([str(row) for row in places], dtype="str")
        frame = pd.DataFrame(dict.fromkeys((column.name for column in columns), cells))
        return read_of(frame, asked, places=places, records=ROWS)

    done(0)
    return apart(done(empty), done(0), MOST)


def test_no_cell_among_empty_columns_is_work_for_all_others() -> None:
    """All columns were taken anew as soon as one row had something in the first of them."""
    assert among_empty_columns("x") == {}
    assert among_empty_columns(" ") == {}


def test_no_empty_row_is_work_for_all_steps() -> None:
    assert of_steps(1) == {}


@contextmanager
def _tidied_all_or_none() -> Iterator[None]:
    """As it was: one sign that is not of ASCII sent all cells through four replacements and two patterns."""

    def tidy(text: pd.Series) -> pd.Series:
        return text.str.strip() if pc.all(pc.string_is_ascii(words(text))).as_py() else numerals._ordinary(text)

    with patch.object(conversion, "tidy", tidy):
        yield


@contextmanager
def _masked_where_any_is() -> Iterator[None]:
    with patch.object(
        conversion, "none_at", lambda text, where: text.mask(pd.Series(where), "") if where.any() else text
    ):
        yield


@contextmanager
def _numbers_all_or_none() -> Iterator[None]:
    made = numerals.canonical

    def canonical(text: pd.Series, decimal: numerals.Decimal) -> pd.Series:
        if numerals.fullmatch(text, numerals.PLAIN).all():
            return text
        numerals.is_number(text, decimal)
        return made(text, decimal)

    with patch.object(numerals, "canonical", canonical):
        yield


@contextmanager
def _dates_one_by_one_where_any_is() -> Iterator[None]:
    made = dates.read_written

    def read_written(text: pd.Series, order: dates.DateOrder) -> tuple[np.ndarray, np.ndarray]:
        read, written = made(text, order)
        return read, written if written.all() else np.zeros(written.size, dtype=bool)

    with patch.object(dates, "read_written", read_written):
        yield


@contextmanager
def _blank_rows_dropped_where_any_is() -> Iterator[None]:
    with patch.object(private_rows, "_taken", lambda text, rows: text if rows.size == len(text) else text.take(rows)):
        yield


@contextmanager
def _compared_where_any_is_alike() -> Iterator[None]:
    made = different._stand_for

    def stand_for(codes: np.ndarray, words: pa.Array, portions: list[pa.Array]) -> bool:
        return len(words) == len(codes) or made(codes, words, portions)

    with patch.object(different, "_stand_for", stand_for):
        yield


def test_steps_that_are_moved_where_one_row_is_empty_are_found() -> None:
    made = PrivateRows._with_empty_rows

    def moved(rows: PrivateRows, text: pd.Series) -> pd.Series:
        return text if rows._records == len(text) else made(rows, text)

    with patch.object(PrivateRows, "_with_empty_rows", moved):
        assert of_steps(1)


def test_columns_that_are_taken_where_one_row_is_filled_are_found() -> None:
    with _blank_rows_dropped_where_any_is():
        assert among_empty_columns("x")


@pytest.mark.parametrize(
    ("hole", "kind", "people"),
    [
        (_tidied_all_or_none, "number", False),
        (_masked_where_any_is, "whole number", False),
        (_numbers_all_or_none, "number", False),
        (_dates_one_by_one_where_any_is, "date", False),
        (_blank_rows_dropped_where_any_is, "number", False),
        (_compared_where_any_is_alike, "text", True),
    ],
)
def test_each_step_that_one_cell_once_made_for_all_is_found(
    hole: Callable[[], contextmanager[None]], kind: str, people: bool
) -> None:
    with hole():
        assert told(kind, people=people)
