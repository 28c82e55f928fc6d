"""Whether a row without anything in it counts is what the answer's receipt says of it: in a file, and in a source."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, Reading, read_table
from dpcore.datasets.in_place import Form, PrivateSource, open_database, open_folder, open_lines
from dpcore.datasets.reading import reader
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
from dpcore.releases.count import NoisyCount
from tests.datasets.test_rewritten_columns import in_bytes

FRAME = pd.DataFrame({"word": ["a", "b", "a", None] * 5, "other": ["c", None, "d", None] * 5})
DECLARED = Declaration(columns=(Column(name="word", type="category", categories=("a", "b")),))
COUNT = NoisyCount.of(DECLARED, epsilon=1.0)
SAID = (
    "One whose cells are all empty is left out of a file",
    "and counts in a source that is counted where it is",
)
Make = Callable[[Path], PrivateRows]


def in_a_file(write: str, **how: object) -> Make:
    def made(_: Path) -> PrivateRows:
        return read_table(in_bytes(FRAME, write, **how)).private

    return made


def in_folder(folder: Path) -> PrivateRows:
    FRAME.to_parquet(folder / "a.parquet")
    return PrivateSource(lambda: open_folder(folder))


def in_lines(folder: Path) -> PrivateRows:
    FRAME.to_csv(folder / "a.csv", index=False)
    form = Form(columns=(("word", "text"), ("other", "text")), delimiter=",", decimal=".")
    return PrivateSource(lambda: open_lines(folder, form))


def in_sqlite(folder: Path) -> PrivateRows:
    with closing(sqlite3.connect(folder / "a.db")) as connection, connection:
        FRAME.to_sql("t", connection, index=False)
    return PrivateSource(lambda: open_database(f"sqlite:///{folder / 'a.db'}", "t"))


def in_duckdb(folder: Path) -> PrivateRows:
    FRAME.to_parquet(folder / "a.parquet")
    with duckdb.connect(str(folder / "a.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t AS FROM '{folder / 'a.parquet'}'")
    return PrivateSource(lambda: open_database(f"duckdb:///{folder / 'a.duckdb'}", "t"))


FILES: dict[str, Make] = {
    "csv": in_a_file("to_csv", index=False),
    "parquet": in_a_file("to_parquet"),
    "feather": in_a_file("to_feather"),
    "excel": in_a_file("to_excel", index=False),
    "json": in_a_file("to_json", orient="records"),
}
SOURCES: dict[str, Make] = {"folder": in_folder, "lines": in_lines, "sqlite": in_sqlite, "duckdb": in_duckdb}
WITH_ANYTHING = int(FRAME.notna().any(axis=1).sum())


@pytest.mark.parametrize("name", [*FILES, *SOURCES])
def test_it_counts_as_is_said(name: str, tmp_path: Path) -> None:
    assert all(part in COUNT.rules[0] for part in SAID)
    rows = {**FILES, **SOURCES}[name](tmp_path)
    assert COUNT.read(rows) == (len(FRAME) if rows.in_place else WITH_ANYTHING)


def test_one_sentence_without_the_two_would_be_untrue(tmp_path: Path) -> None:
    assert COUNT.read(FILES["parquet"](tmp_path)) < COUNT.read(SOURCES["folder"](tmp_path))


Rows = list[tuple[str | None, ...]]
NAMES, HELD, NOTHING = ("WHO", "SPORT", "Y2023", "Y2024"), ("p1", "Gym; Tea", "1", "2"), (None,) * 4


def in_a_table(write: str, **how: object) -> Callable[[Rows, Path], bytes]:
    return lambda rows, _: in_bytes(pd.DataFrame(rows, columns=NAMES), write, **how)


def labelled(write: Callable[..., None], **how: object) -> Callable[[Rows, Path], bytes]:
    def made(rows: Rows, folder: Path) -> bytes:
        write(pd.DataFrame(rows, columns=NAMES).fillna(""), str(folder / "file"), **how)
        return (folder / "file").read_bytes()

    return made


def in_json(end: str, lists: bool) -> Callable[[Rows, Path], bytes]:
    def made(rows: Rows, _: Path) -> bytes:
        told = [None if row == NOTHING else list(row) if lists else dict(zip(NAMES, row, strict=True)) for row in rows]
        parts = [json.dumps(row) for row in ([list(NAMES), *told] if lists else told)]
        return (end.join(parts) if end == "\n" else f"[{end.join(parts)}]").encode()

    return made


KINDS_OF_FILES: dict[str, Callable[[Rows, Path], bytes]] = {
    "csv": in_a_table("to_csv", index=False),
    "parquet": in_a_table("to_parquet"),
    "feather": in_a_table("to_feather"),
    "excel": in_a_table("to_excel", index=False),
    **{f"json {end!r} {lists}": in_json(end, lists) for end in (",", "\n") for lists in (False, True)},
    "spss": labelled(pyreadstat.write_sav),
    "portable": labelled(pyreadstat.write_por),
    "stata": labelled(pyreadstat.write_dta),
    "transport 5": labelled(pyreadstat.write_xport, file_format_version=5),
    "transport 8": labelled(pyreadstat.write_xport, file_format_version=8),
}
STEPS: tuple[Step, ...] = (
    LeaveOutTotals(column="WHO"),
    ReadAsMissing(column="Y2023", word="9"),
    SplitOptions(column="SPORT", options=("Gym", "Tea")),
    TicksToRows(column="SPORT", most=2),
    MonthsToRows(columns=("Y2023", "Y2024")),
    OneRowPer(by="WHO"),
)


def counted(reading: Reading) -> dict[str, int]:
    """How many rows count, by the step that was done."""
    found = {"": COUNT.read(reading.private)}
    return found | {type(step).__name__: COUNT.read(reading.after((step,)).private) for step in STEPS}


def differ(kind: str, folder: Path) -> set[str]:
    """The steps after which rows without anything in them, once another stands behind them, are counted."""
    rows: list[Rows] = [[HELD, *gap, HELD] for gap in ([], [NOTHING] * 5)]
    without, with_them = (
        counted(read_table(KINDS_OF_FILES[kind](each, folder), header_rows=1 if kind.endswith("True") else None))
        for each in rows
    )
    return {step for step, count in without.items() if with_them[step] != count}


def test_every_step_is_among_them() -> None:
    assert {type(step) for step in STEPS} == set(KINDS.values())


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_no_step_writes_into_one(kind: str, tmp_path: Path) -> None:
    assert differ(kind, tmp_path) == set()


@pytest.mark.parametrize("kind", ["parquet", "spss", "transport 5", "json ',' False"])
def test_a_step_that_writes_into_them_is_found(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "blank_rows", lambda frame: np.zeros(len(frame), dtype=bool))
    assert differ(kind, tmp_path) == {"SplitOptions", "MonthsToRows"}


@pytest.mark.parametrize("kind", KINDS_OF_FILES)
def test_each_keeps_its_place_after_a_step(kind: str, tmp_path: Path) -> None:
    """Where rows are steps in time, those after it stay where they are."""
    declared = Declaration(columns=(Column(name="SPORT: Gym", type="yes/no"),), each_row="step", rows_per_person=1)
    told = read_table(
        KINDS_OF_FILES[kind]([HELD, NOTHING, HELD], tmp_path), header_rows=1 if kind.endswith("True") else None
    )
    after = told.after((SplitOptions(column="SPORT", options=("Gym", "Tea")),)).private
    assert after.opened(declared.reads("SPORT: Gym")).codes("SPORT: Gym").tolist() == [1, -1, 1]


def test_of_a_file_of_one_column_too() -> None:
    after = read_table(b'SPORT\nGym\n""\n""\nTea\n').after((STEPS[2],))
    assert after.lines.tolist() == [2, 5]
    assert COUNT.read(after.private) == 2
