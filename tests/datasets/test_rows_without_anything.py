"""Whether a row without anything in it counts is what the answer's receipt says of it: in a file, and in a source."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, read_table
from dpcore.datasets.in_place import Form, PrivateSource, open_database, open_folder, open_lines
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
