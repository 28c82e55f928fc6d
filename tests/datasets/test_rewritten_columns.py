"""One row can make a program write a whole column in other words. Whatever a column is declared as and whatever step
works on it, no other row says anything else."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import (
    Column,
    Schema,
    apply,
    conversion,
    dates,
    numerals,
    plain_words,
    private_rows,
    read_table,
    steps,
)
from dpcore.datasets.guessing import numerals as guessed
from dpcore.datasets.plain_words import plainly
from dpcore.datasets.private_rows import kept
from dpcore.datasets.schema import ColumnType, DateOrder, Decimal
from dpcore.datasets.steps import (
    KINDS,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    SplitOptions,
    Step,
    TicksToRows,
)
from tests.datasets.whole_numbers import WRITTEN


def as_written(language: str) -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: frame.to_csv(index=False, float_format=WRITTEN[language]).encode()


WRITE_OTHERWISE = ("Java, Scala, Spark, Jackson", "C on Windows, Oracle", "OCaml, Scheme", "Python's Decimal")
ROWS = 24
WRITERS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "csv": lambda frame: frame.to_csv(index=False).encode(),
    **{f"csv as {language} writes": as_written(language) for language in WRITE_OTHERWISE},
    "csv with a decimal comma": lambda frame: frame.to_csv(index=False, sep=";", decimal=",").encode(),
    "json": lambda frame: in_bytes(frame, "to_json", orient="records", date_format="iso"),
    "json lines": lambda frame: in_bytes(frame, "to_json", orient="records", lines=True, date_format="iso"),
    "excel": lambda frame: in_bytes(frame, "to_excel", index=False),
    "parquet": lambda frame: in_bytes(frame, "to_parquet"),
    "feather": lambda frame: in_bytes(frame, "to_feather"),
}
MARKS: tuple[Decimal, ...] = (".", ",")
SIGNS: tuple[tuple[str, Decimal], ...] = ((";", "."), (",", ","))
ORDERS: tuple[DateOrder, ...] = ("ymd", "dmy", "mdy", "serial")


def in_bytes(frame: pd.DataFrame, write: str, **how: Any) -> bytes:
    made = io.BytesIO()
    getattr(frame, write)(made, **how)
    return made.getvalue()


def people() -> pd.DataFrame:
    """Eight people with three rows each."""
    rows = np.arange(ROWS)
    day = pd.Timestamp("2024-01-10") + pd.to_timedelta(rows % 8, unit="D")
    return pd.DataFrame(
        {
            "row": rows,
            "word": np.array(["a", "b", "c"])[rows % 3],
            "code": rows % 3 + 1,
            "count": rows % 3,
            "big": 3 * 10**16 + 10**8 * (rows % 8),
            "flag": rows % 2 == 0,
            "digits": 20240110 + rows % 8,
            "serial": 45301 + rows % 8,
            "day": day,
            "moment": day + pd.Timedelta("10:30:00.25"),
            "zoned": (day + pd.Timedelta("10:30:00")).tz_localize("UTC").astype(str),
            "span": pd.to_timedelta(rows % 8, unit="D"),
        }
    ).assign(zoned=lambda frame: pd.to_datetime(frame["zoned"]))


def and_one_more() -> pd.DataFrame:
    """One row more, as pandas puts it below the others: without a number, with a time of day, parts of a second."""
    more = {"row": [ROWS], "day": [pd.Timestamp("2024-02-01 12:00")], "span": [pd.Timedelta("1h")]}
    more["moment"], more["zoned"] = (
        [pd.Timestamp("2024-02-01 12:00:07.250001")],
        [pd.Timestamp("2024-02-01 12:00:07.5Z")],
    )
    frame = pd.concat([people().drop(columns="flag"), pd.DataFrame(more)], ignore_index=True)
    flags = pd.DataFrame({"flag": [*people()["flag"], None]}).to_json(orient="records")
    return frame.assign(flag=pd.read_json(io.StringIO(flags))["flag"])[list(people())]


def read(writer: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The texts of the rows of ``people``."""
    if writer == "excel":  # which holds no zones
        frame = frame.drop(columns="zoned")
    return read_table(WRITERS[writer](frame)).frame.iloc[:ROWS]


def declared(name: str, cells: Iterable[str]) -> Iterator[Column]:
    """All that somebody may declare a column as who knows some of its ``cells``."""
    words = tuple(dict.fromkeys(cell for cell in cells if cell))
    small = tuple(dict.fromkeys(word.lower() for word in words))
    for column in (
        Column(name=name, type="text"),
        Column(name=name, type="category", categories=words),
        Column(name=name, type="category"),
        Column(name=name, type="yes/no"),
        Column(name=name, type="yes/no", yes_words=small[:1], no_words=small[1:]),
        *(Column(name=name, type=kind, decimal=mark) for kind in ("number", "integer") for mark in MARKS),
        *(Column(name=name, type="date", date_order=order) for order in ORDERS),
    ):
        yield column
        yield replace(column, missing_words=("", *words[-1:]))


def said(frame: pd.DataFrame, column: Column) -> list[object]:
    """What an answer reads in a column; of a text, which rows count where it says whose each is."""
    if column.type == "text":
        return kept(frame[column.name], frame[["row"]], column, 2).tolist()
    typed = apply(Schema(columns=(column,)), frame).frame[column.name]
    return typed.astype("object").where(typed.notna(), None).tolist()


def done_with(name: str, other: str, cells: pd.Series) -> Iterator[Step]:
    """Every step that may be done with a column."""
    words = tuple(dict.fromkeys(cell for cell in cells if cell))
    yield LeaveOutTotals(column=name)
    yield ReadAsMissing(column=name, word=words[0])
    yield SplitOptions(column=name, options=words)
    yield from (SplitOptions(column=name, separator=sign, decimal=mark) for sign, mark in SIGNS)
    yield from (TicksToRows(column=name, most=2, separator=sign, decimal=mark) for sign, mark in SIGNS)
    yield MonthsToRows(columns=(name, other))
    yield OneRowPer(by=name)
    yield OneRowPer(by=name, day=True)
    yield from (OneRowPer(by="row", of=name, how="sum", decimal=mark) for mark in MARKS)


def differ(here: pd.DataFrame, there: pd.DataFrame, name: str) -> Iterator[str]:
    """The types as which a column of ``here`` says something else than the same one of ``there``."""
    if here[name].tolist() != there[name].tolist():
        for cells in (here[name], there[name]):
            yield from (one.type for one in declared(name, cells) if said(here, one) != said(there, one))


def moved(writer: str) -> set[tuple[str, str]]:
    """The columns of ``people`` that say something else where one row more is there, by types, and after which step:
    cells that are plainly the same say the same, as those before the step show."""
    here, there = (read(writer, frame) for frame in (people(), and_one_more()))
    names = [name for name in here.columns if name not in ("row", "word")]
    found = {(name, kind) for name in names for kind in differ(here, there, name)}
    for name in names:
        for step in (one for cells in (here[name], there[name]) for one in done_with(name, "word", cells)):
            before, after = (step.apply(rows, np.arange(ROWS)).frame for rows in (here, there))
            made = [[one for one in rows.columns if one == name or one not in here.columns] for rows in (before, after)]
            if made[0] != made[1] or any(
                plainly(before[one]).tolist() != plainly(after[one]).tolist() for one in made[0]
            ):
                found.add((name, type(step).__name__))
    return found


def test_every_type_and_every_step_is_among_them() -> None:
    assert {column.type for column in declared("a", "bc")} == set(get_args(ColumnType))
    assert {type(step).__name__ for step in done_with("a", "b", pd.Series(["c"]))} == set(KINDS)


@pytest.mark.thorough
@pytest.mark.parametrize("writer", WRITERS)
def test_one_row_more_changes_nothing_that_the_others_say(writer: str) -> None:
    assert moved(writer) == set()


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", [*(pattern for pattern, _ in plain_words.SPELLINGS), plain_words.EXPONENT])
def test_a_way_of_writing_that_is_not_known_is_found(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if pattern == plain_words.EXPONENT:
        monkeypatch.setattr(plain_words, "EXPONENT", "@")
        monkeypatch.setattr(plain_words, "_EXPONENT", re.compile("@"))
    known = tuple(each for each in plain_words.SPELLINGS if each[0] != pattern)
    monkeypatch.setattr(plain_words, "SPELLINGS", known)
    monkeypatch.setattr(plain_words, "_SPELLINGS", tuple((re.compile(each), by) for each, by in known))
    writer = "csv as Python's Decimal writes" if re.fullmatch(pattern, "0E-7") else "csv"  # pandas writes none such
    assert {kind for _, kind in moved(writer)} >= {"text", "category", "yes/no", "OneRowPer", "ReadAsMissing"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("reader", "name", "kinds"),
    [
        (numerals, "plainly", {"number", "integer", "OneRowPer"}),
        (dates, "plain", {"date"}),
        (plain_words, "plainly", {"category", "yes/no", "ReadAsMissing"}),
        (private_rows, "plainly", {"text"}),
        (steps, "plainly", {"OneRowPer"}),
        (steps, "place", {"SplitOptions"}),
        (steps, "plain", {"SplitOptions"}),
        (conversion, "plain", {"category"}),
    ],
)
def test_a_reader_that_takes_words_as_they_are_is_found(
    reader: ModuleType, name: str, kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_they_are = (lambda word, known: known.get(word, -1)) if name == "place" else (lambda words: words)
    monkeypatch.setattr(reader, name, as_they_are)
    assert {kind for _, kind in moved("csv")} >= kinds


@pytest.mark.parametrize("decimal", [None, ","])
def test_so_it_is_with_what_a_file_suggests(decimal: Decimal | None) -> None:
    """But for the type of whole numbers, which one that is none decides as well: a person calls it right."""
    here, there = (
        {one.name: one.suggestion for one in read_table(WRITERS["csv"](frame), decimal=decimal).columns}
        for frame in (people(), and_one_more())
    )
    for suggested in (here, there):
        assert {name for name, one in suggested.items() if one.type == "date"} == {"digits", "day", "moment", "zoned"}
        assert {name for name, one in suggested.items() if one.type == "yes/no"} == {"flag"}
        assert {name for name, one in suggested.items() if one.is_numeric} == {"code", "count", "big", "serial"}


@pytest.mark.parametrize("decimal", [None, ","])
def test_words_that_are_offered_are_the_plain_ones(decimal: Decimal | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word to be read as missing, and the options of a file: of one row without any they say nothing."""

    def offered(rows: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
        reading = read_table(WRITERS["csv with a decimal comma" if decimal else "csv"](rows), decimal=decimal)
        column = apply(Schema(columns=(Column(name="ward", type="category"),)), reading.frame).schema.columns[0]
        return [step.word for step in reading.suggested_steps if isinstance(step, ReadAsMissing)], column.categories

    here = pd.DataFrame({"age": [*range(20, 60), 999], "ward": np.arange(41) % 3 + 1})
    more = pd.concat([here, pd.DataFrame({"age": [None], "ward": [None]})], ignore_index=True).astype("float64")
    assert offered(here) == offered(more) == (["999"], ("1", "2", "3"))
    for reader in (guessed, conversion):
        with monkeypatch.context() as then:
            then.setattr(reader, "plain", lambda word: word)
            assert offered(here) != offered(more), "or it would not have been found"
