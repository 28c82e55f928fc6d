"""Which rows of a person count hangs on that person's own rows alone, and is the same in every engine.

Also of rows in which a cell is none of what was declared, or is missing: an engine that said nothing of such a one,
where another says −1, drew another number for its row, and kept others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sqlalchemy import func

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace
from dpcore.datasets.in_place.private import OpenSource
from dpcore.datasets.in_place.tongue import Cell
from dpcore.datasets.places import Places
from dpcore.releases.selection import MostCommonOption
from tests.datasets import test_in_place_blanks as blanks

FIRST, DAYS = date(2024, 1, 1), 40
DECLARED = Declaration(
    columns=(
        Column(name="who", type="text"),
        Column(name="ward", type="category", categories=("a", "b", "7")),
        Column(name="ill", type="yes/no"),
        Column(name="age", type="number", low=0.0, high=90.0),
        Column(name="day", type="date", earliest=FIRST, latest=date(2024, 2, 9)),
    ),
    id_column="who",
    rows_per_person=3,
)
READS = MostCommonOption.of(DECLARED, "ward", epsilon=1.0).reads
ALL_READ = replace(READS, columns=DECLARED.columns)
WARDS = ("a", "b", "7.0", "c", "", " ", "n/a", None, "-1", "A")
ILL = ("yes", "no", "maybe", "", None, "-1", " YES")
AGES = (0.0, 12.5, -1.0, 90.0, 1e300, None, -7.25, 89.999, 1e-320)
DATES = ("2024-01-01", "2024-02-09", "1970-01-01", None, "2023-12-31", "2024-01-20")


def rows_of(people: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    cells = {
        name: [listed[place] for place in rng.integers(len(listed), size=12 * people)]
        for name, listed in (("ward", WARDS), ("ill", ILL), ("age", AGES), ("day", DATES))
    }
    frame = pd.DataFrame({"who": [f"p{at // 12}" for at in range(12 * people)], **cells})
    return frame.astype({"who": "str", "ward": "str", "ill": "str", "age": "float64", "day": "str"})


def in_duckdb(place: Path, frame: pd.DataFrame) -> InPlace:
    with duckdb.connect(str(place / "a.duckdb")) as made:
        made.register("given", frame)
        made.execute("CREATE TABLE t AS SELECT * REPLACE (CAST(day AS DATE) AS day) FROM given")
    return blanks.open_database(f"duckdb:///{place / 'a.duckdb'}", "t")


def in_sqlite(place: Path, frame: pd.DataFrame) -> InPlace:
    with closing(sqlite3.connect(place / "a.db")) as made:
        frame.to_sql("t", made, index=False, dtype={"day": "DATE"})
    return blanks.open_database(f"sqlite:///{place / 'a.db'}", "t")


def in_folder(place: Path, frame: pd.DataFrame) -> InPlace:
    days = pd.to_datetime(frame["day"]).dt.date
    return blanks.in_folder(place, frame.assign(day=days))


def in_postgresql(address: str, frame: pd.DataFrame) -> InPlace:
    return blanks.in_postgresql(address, frame.assign(day=pd.to_datetime(frame["day"]).dt.date))


ENGINES: dict[str, Callable[[Path, pd.DataFrame], InPlace]] = {
    "folder": in_folder,
    "sqlite": in_sqlite,
    "duckdb": in_duckdb,
}


def told(stored: InPlace) -> dict[str, Any]:
    """All that can be asked of the rows that count, of each by itself."""
    rows = OpenSource(stored, ALL_READ)
    cuts = np.array([10.0, 50.0])
    looks = tuple((name, cut) for name, cut in (("ill", None), ("age", (10.0, 50.0)), ("day", (19723.5, 19740.5))))
    batches = rows.row_batches(Places(target="ward", parts=None, looks=looks), 10_000)
    return {
        **{name: rows.counts(name).tolist() for name in ("ward", "ill")},
        "of the ill": rows.counts("ward", where="ill").tolist(),
        "days": rows.day_counts("day", FIRST, DAYS).tolist(),
        "numbers": [each.tolist() for each in rows.number_counts("age", unit=0.5)],
        "together": [each.tolist() for each in rows.crossed("ward", {"ill": None, "age": cuts})],
        "the other way": [each.tolist() for each in rows.crossed("ill", {"ward": None})],
        "ranges": rows.range_totals(["age"], parts=1000).tolist(),
        "rows": sorted(map(tuple, np.concatenate([*batches, np.empty((0, 4), int)]).tolist())),
    }


def of(make: Callable[[Any, pd.DataFrame], InPlace], place: Any, frame: pd.DataFrame) -> dict[str, Any]:
    if isinstance(place, Path):
        place = place / f"{len(list(place.iterdir()))}"
        place.mkdir()
    return told(make(place, frame))


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


@pytest.mark.thorough
def test_it_is_the_same_in_every_engine(tmp_path: Path) -> None:
    frame = rows_of(30)
    found = {name: of(make, tmp_path, frame) for name, make in ENGINES.items()}
    for name, each in found.items():
        for asked, answer in each.items():
            assert answer == found["sqlite"][asked], (name, asked)


@pytest.mark.thorough
def test_it_is_the_same_in_postgresql(server: PrivateServer, tmp_path: Path) -> None:
    frame = rows_of(30)
    there, here = of(in_postgresql, server.new_schema(), frame), of(in_sqlite, tmp_path, frame)
    for asked, answer in there.items():
        assert answer == here[asked], asked


def total(parts: list[Any]) -> Any:
    """What is told of several tables, added up."""
    if isinstance(parts[0], list) and not isinstance(parts[0][0], int | float | tuple):
        return [total(list(each)) for each in zip(*parts, strict=True)]
    return np.sum(parts, axis=0).tolist()


ADDED = ("ward", "ill", "of the ill", "days", "together", "the other way", "ranges")


@pytest.mark.parametrize("name", [pytest.param("folder", marks=pytest.mark.thorough), "duckdb", "sqlite"])
def test_it_hangs_on_a_persons_own_rows_in_whatever_order_they_are_stored(name: str, tmp_path: Path) -> None:
    frame, make = rows_of(3), ENGINES[name]
    whole = of(make, tmp_path, frame)
    assert of(make, tmp_path, frame.sample(frac=1.0, random_state=1)) == whole
    each = [of(make, tmp_path, rows) for _, rows in frame.groupby("who")]
    assert {asked: total([one[asked] for one in each]) for asked in ADDED} == {asked: whole[asked] for asked in ADDED}
    assert sorted(row for one in each for row in one["rows"]) == whole["rows"]


def test_rows_that_are_drawn_by_anything_else_are_found_out(tmp_path: Path) -> None:
    """What shows that the test above can fail."""
    stored = in_sqlite(tmp_path, rows_of(6))
    by_chance = replace(stored, tongue=replace(stored.tongue, digest=lambda text: func.random()))
    assert told(stored) == told(stored)
    assert told(by_chance) != told(stored)


@pytest.mark.thorough
def test_no_cell_is_none_of_those_declared_in_two_ways(tmp_path: Path) -> None:
    """What shows that the tests of engines can fail: a cell that says nothing in one draws another number."""
    frame = rows_of(30)
    stored = in_duckdb(tmp_path, frame)
    before = stored.tongue.option

    def says_nothing(text: Cell, known: tuple[str, ...]) -> Cell:
        return func.nullif(before(text, known), -1)

    silent = replace(stored, tongue=replace(stored.tongue, option=says_nothing))
    assert told(silent)["ward"] != told(stored)["ward"]
