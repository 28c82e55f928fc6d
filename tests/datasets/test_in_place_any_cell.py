"""No cell of a source makes a question fail: whoever knows all rows but one would learn of it what that row holds."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from benchmarks.private_postgresql import PrivateServer, private_server
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.datasets.in_place import InPlace, PrivateSource, file_types, open_database, open_folder, shape
from dpcore.datasets.in_place.shape import UNLIKE
from dpcore.datasets.in_place.tongue import TONGUES
from dpcore.datasets.places import Places
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import BestRule, LeastCost, MostCommonOption, QuantileValue

ILL = Column(name="ill", type="yes/no")
WARD = Column(name="ward", type="category", categories=("a", "b"))
WHO = Column(name="who", type="text")


def numbers(high: float, *names: str) -> tuple[Column, ...]:
    return tuple(Column(name=name, type="number", low=0.0, high=high) for name in names)


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with private_server() as running:
        yield running


TINY = ("5e-324", "1e-310", "-1e-320", "1e-291", "-1e-291")
SMALLER = ("1e-400", "-1e-400", "1e-16000")
ODD = ("'NaN'", "'Infinity'", "'-Infinity'", "1e308", "-1e308", "NULL")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "tiny", "odd"),
    [("double precision", TINY, ODD), ("numeric", (*TINY, *SMALLER), (*ODD, "1e400", "-1e400")), ("real", (), ODD[:3])],
)
def test_a_number_too_small_or_too_large_for_postgresql(
    server: PrivateServer, monkeypatch: pytest.MonkeyPatch, kind: str, tiny: tuple[str, ...], odd: tuple[str, ...]
) -> None:
    address = server.new_schema()
    engine = create_engine(address, poolclass=NullPool)
    opened = PrivateSource(lambda: stored)
    asked: list[Any] = []
    for high in (1e9, 1e100):
        declared = Declaration(columns=(*numbers(high, "x", "y"), ILL))
        asked += [
            QuantileValue.of(declared, "x", epsilon=1.0),
            LeastCost.of(declared, ["x", "y"], epsilon=1.0),
            BestRule.of(declared, ["x"], target="ill", epsilon=1.0),
        ]
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE TABLE t (x {kind}, y {kind}, ill boolean)")
        connection.exec_driver_sql("INSERT INTO t VALUES " + ", ".join(["(0, 3, false)"] * max(1, len(tiny))))  # noqa: S608
    stored = open_database(address, "t")
    of_zeros = [repr(one.read(opened)) for one in asked]
    with engine.begin() as connection:
        for cell in tiny:
            connection.exec_driver_sql("DELETE FROM t WHERE ctid = (SELECT ctid FROM t WHERE x = 0 LIMIT 1)")
            connection.exec_driver_sql(f"INSERT INTO t VALUES ({cell}, 3, false)")  # noqa: S608 - this test's own
    assert [repr(one.read(opened)) for one in asked] == of_zeros  # so near 0 is 0
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES " + ", ".join(f"({cell}, 3, true)" for cell in odd))  # noqa: S608
    for one in asked:
        one.read(opened)
    if tiny:
        plain = TONGUES["sqlite"]
        broken = replace(stored.tongue, double=plain.double, quotient=plain.quotient)
        stored = replace(stored, tongue=broken)
        with pytest.raises(UnreadableFile):
            asked[1].read(opened)


@pytest.mark.parametrize(
    "who", ["cast(x'6ac3' as text)", "x'00ff'", "'a' || char(0) || 'b'", "cast(x'eda080' as text)", "7"]
)
def test_an_id_of_sqlite_that_is_no_text(tmp_path: Path, who: str) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (who TEXT, ward TEXT, x REAL)")
        connection.execute(f"INSERT INTO t VALUES ('anna', 'a', 1.0), ({who}, 'b', 2.0), ({who}, 'b', 2.0)")  # noqa: S608
        connection.commit()
    stored = PrivateSource(lambda: open_database(f"sqlite:///{file}", "t"))
    declared = Declaration(columns=(*numbers(10.0, "x"), WARD, WHO), id_column="who")
    assert MostCommonOption.of(declared, "ward", epsilon=1.0).read(stored).tolist() == [1, 1]
    assert NoisyCount.of(declared, epsilon=1.0).read(stored) == 2
    QuantileValue.of(declared, "x", epsilon=1.0).read(stored)


def folder_of(place: Path, *parts: pa.Table, write_statistics: bool = True) -> PrivateSource:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for number_of, part in enumerate(parts):
        pq.write_table(part, place / f"{number_of}.parquet", write_statistics=write_statistics)
    return PrivateSource(lambda: open_folder(place))


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_not_a_number_counts_as_missing_whatever_other_rows_hold(tmp_path: Path, kind: pa.DataType, files: int) -> None:
    """As Arrow writes it: its footers leave “not a number” out, and are silent where a file holds nothing else."""
    declared = Declaration(columns=(*numbers(10.0, "x", "y"), ILL))
    asked = (
        QuantileValue.of(declared, "x", epsilon=1.0, points=11),
        LeastCost.of(declared, ["x", "y"], epsilon=1.0),
        BestRule.of(declared, ["x"], target="ill", epsilon=1.0, cuts=3),
    )
    for others, footers in (([1.0], True), ([-0.0, np.inf, -np.inf], True), ([-0.0, np.inf], False)):
        values = np.array([np.nan] * 9 + others)
        ill = [place % 2 == 0 for place in range(values.size)]
        held = pd.DataFrame({"x": np.where(np.isfinite(values), values, np.nan), "y": 0.5, "ill": ill})
        rows = PrivateRows(held.astype("str").where(held.notna(), ""))
        table = pa.table({"x": pa.array(values, kind), "y": [0.5] * values.size, "ill": ill})
        parts = [table.take(np.arange(part, values.size, files)) for part in range(files)]
        stored = folder_of(tmp_path / "p", *parts, write_statistics=footers)._open()
        private = PrivateSource(lambda stored=stored: stored)
        for one in asked:
            assert np.ravel(one.read(private)).tolist() == np.ravel(one.read(rows)).tolist(), (others, footers)


def in_a_file_of_sqlite(address: str, values: list[float | None]) -> PrivateSource:
    with closing(sqlite3.connect(address)) as connection:
        connection.execute("CREATE TABLE t (x REAL, y REAL, ill BOOLEAN)")
        connection.executemany("INSERT INTO t VALUES (?, 0.5, ?)", [(one, at % 2) for at, one in enumerate(values)])
        connection.commit()
    return PrivateSource(lambda: open_database(f"sqlite:///{address}", "t"))


def in_postgresql(address: str, values: list[float | None]) -> PrivateSource:
    with create_engine(address, poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x double precision, y double precision, ill boolean)")
        rows = (f"({'NULL' if one is None else repr(str(one))}, 0.5, {at % 2 == 1})" for at, one in enumerate(values))
        connection.exec_driver_sql(f"INSERT INTO t VALUES {', '.join(rows)}")  # noqa: S608 - this test's own
    return PrivateSource(lambda: open_database(address, "t"))


WHOLE = [1.0, 2.0, 2.0, 7.0, -3.0, 40.0, 0.0, 10.0]
NOT_WHOLE = [2.5, -0.25, 1e300, -1e300, 2.0**63, 9.999999999999998, np.inf, -np.inf, None]


@pytest.mark.parametrize("engine", ["SQLite", "Parquet", "PostgreSQL"])
def test_whole_numbers_in_a_column_of_doubles(
    tmp_path: Path, server: PrivateServer, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row without a number makes its column one of doubles. What is no whole number there is missing, by itself."""
    x = Column(name="x", type="integer", low=0, high=10)
    declared = Declaration(columns=(x, *numbers(10.0, "y"), ILL))
    asked = (
        QuantileValue.of(declared, "x", epsilon=1.0, points=11),
        LeastCost.of(declared, ["x", "y"], epsilon=1.0),
        BestRule.of(declared, ["x"], target="ill", epsilon=1.0, cuts=3),
    )
    values = [*WHOLE, *NOT_WHOLE]
    ill = [at % 2 == 1 for at in range(len(values))]
    texts = ["" if one is None else repr(one) for one in values]
    rows = PrivateRows(pd.DataFrame({"x": texts, "y": "0.5", "ill": np.where(ill, "yes", "no")}).astype("str"))
    if engine == "SQLite":
        stored = in_a_file_of_sqlite(str(tmp_path / "a.db"), values)
    elif engine == "PostgreSQL":
        stored = in_postgresql(server.new_schema(), values)
    else:
        stored = folder_of(tmp_path / "p", pa.table({"x": pa.array(values), "y": [0.5] * len(values), "ill": ill}))
    (batch,) = stored.row_batches(asked[0].reads, Places(target="x", parts=10, looks=()), 99)
    assert np.count_nonzero(batch < 0) == len(NOT_WHOLE)
    for one in asked:
        assert np.ravel(one.read(stored)).tolist() == np.ravel(one.read(rows)).tolist(), one
    monkeypatch.setattr(InPlace, "number_cell", lambda self, column: self.cell(column.name))
    assert any(np.ravel(one.read(stored)).tolist() != np.ravel(one.read(rows)).tolist() for one in asked)


X = Declaration(columns=(*numbers(100.0, "x"), WARD))
FIRST = pa.table({"x": pa.array([1, 2], pa.int32()), "ward": ["a", "b"]})


@pytest.mark.parametrize(
    "other",
    [
        pa.array([5_000_000_000], pa.int64()),
        pa.array([np.nan], pa.float64()),
        pa.array([3.5], pa.float32()),
        pa.array([7], pa.uint8()),
    ],
)
def test_numbers_of_several_sizes_in_a_folder_are_read_as_the_widest(tmp_path: Path, other: pa.Array) -> None:
    stored = folder_of(tmp_path / "p", FIRST, pa.table({"ward": ["a"], "x": other}))
    asked = QuantileValue.of(X, "x", epsilon=1.0)
    stored.check(asked.reads)
    values, _ = stored.opened(asked.reads).number_counts("x", unit=0.5)
    told = float(other[0].as_py())
    assert values.tolist() == sorted({1.0, 2.0, *([] if np.isnan(told) else [min(told, 100.0)])})
    assert MostCommonOption.of(X, "ward", epsilon=1.0).read(stored).tolist() == [2, 1]


GAPS = {
    "text": pa.array(["yes", "no"]),
    "yes/no": pa.array([True, False]),
    "small": pa.array([1, 2], pa.int8()),
    "whole": pa.array([1, 2]),
    "number": pa.array([1.5, 2.0]),
    "single": pa.array([1.5, 2.0], pa.float32()),
    "decimal": pa.array([Decimal("1.50"), Decimal("2.00")]),
    "day": pa.array([0, 1], pa.date32()),
    "time": pa.array([0, 1], pa.timestamp("us")),
    "zoned": pa.array([0, 1], pa.timestamp("us", "UTC")),
    "bytes": pa.array([b"a", b"b"]),
    "list": pa.array([["a"], ["b"]]),
}


def test_a_column_without_a_value_in_one_file_is_what_it_is_in_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person's one value gives the file's column its type: whether they are there must not tell in any answer."""
    first = pa.table({**GAPS, "x": [1.0, 2.0], "ward": ["a", "b"]})
    gaps = {name: pa.nulls(1) for name in GAPS}
    typed = {name: pa.nulls(1, cells.type) for name, cells in GAPS.items()}
    read = []
    for number, cells in enumerate((gaps, typed)):
        stored = folder_of(tmp_path / str(number), first, pa.table({**cells, "x": [3.0], "ward": ["a"]}))
        asked = QuantileValue.of(X, "x", epsilon=1.0), MostCommonOption.of(X, "ward", epsilon=1.0)
        for one in asked:
            stored.check(one.reads)
        read.append((dict(open_folder(tmp_path / str(number)).kinds), asked[1].read(stored).tolist()))
    assert read[0] == read[1]
    assert read[0][1] == [2, 1]
    assert set(read[0][0]) >= {"text", "yes/no", "whole", "number", "day"}
    monkeypatch.setattr(shape, "file_type", lambda leaf: a_text_of_nothing(file_types.file_type(leaf)))
    shape.one_table.cache_clear()
    with pytest.raises(UnreadableFile, match=UNLIKE):
        folder_of(tmp_path / "again", first, pa.table({**gaps, "x": [3.0], "ward": ["a"]})).check(asked[1].reads)
    shape.one_table.cache_clear()


def a_text_of_nothing(kind: file_types.FileType) -> file_types.FileType:
    return file_types.FileType(family="text", name="VARCHAR") if kind == file_types.NOTHING else kind


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"x": ["2"], "ward": ["a"]}),
        pa.table({"x": ["abc"], "ward": ["a"]}),
        pa.table({"ward": ["a"]}),
        pa.table({"x": pa.array([1], pa.int32()), "ward": ["a"], "more": [1]}),
        pa.table({"x": pa.array([0], pa.date32()), "ward": ["a"]}),
        pa.table({"x": pa.array([1], pa.int32()), "ward": [True]}),
    ],
)
def test_files_of_a_folder_that_differ_are_refused_before_a_charge(tmp_path: Path, other: pa.Table) -> None:
    stored = folder_of(tmp_path / "p", FIRST, other)
    for asked in (QuantileValue.of(X, "x", epsilon=1.0), MostCommonOption.of(X, "ward", epsilon=1.0)):
        with pytest.raises(UnreadableFile, match=UNLIKE):
            stored.check(asked.reads)


NOT_READ = ("clock", "ticks", "list", "inside", "json")


@pytest.mark.thorough
def test_columns_that_hold_what_duckdb_cannot_read_are_without_a_value(tmp_path: Path) -> None:
    columns = {
        "late": pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("ms")),
        "clock": pa.array([0, 2**62], pa.int64()).cast(pa.time64("us")),
        "ticks": pa.array([0, 2**31 - 1], pa.int32()).cast(pa.time32("ms")),
        "list": pa.array([[1.5], None]),
        "inside": pa.array([{"late": 1}, None]),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", "no"])),
        "day": pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32()),
        "us": pa.array([0, 2**63 - 1], pa.int64()).cast(pa.timestamp("us")),
        "ms": pa.array([None, 1_704_067_200_000], pa.int64()).cast(pa.timestamp("ms")),
        "none": pa.array([None, None], pa.int64()).cast(pa.timestamp("ms")),
        "zoned": pa.array([0, -(2**62)], pa.int64()).cast(pa.timestamp("ms", "UTC")),
    }
    for name, cells in columns.items():
        stored = folder_of(tmp_path / "p", FIRST.append_column(name, cells))
        kinds = open_folder(tmp_path / "p").kinds
        assert list(kinds) == ["x", "ward", name]
        assert (kinds[name] == "nothing") == (name in NOT_READ)
        assert MostCommonOption.of(X, "ward", epsilon=1.0).read(stored).tolist() == [1, 1]


def test_what_folders_are_called_is_text_whatever_it_is(tmp_path: Path) -> None:
    for name in ("12", "abc"):
        (tmp_path / "p" / f"patient={name}").mkdir(parents=True)
        pq.write_table(FIRST, tmp_path / "p" / f"patient={name}" / "a.parquet")
        assert open_folder(tmp_path / "p").kinds["patient"] == "text"


def test_a_list_of_numbers_is_not_a_number(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (x DECIMAL(18, 3)[], ward ENUM('a', 'b')[], e ENUM('a]', 'b'))")
    stored = open_database(f"duckdb:///{tmp_path / 'a.duckdb'}", "t")
    assert dict(stored.kinds) == {"x": "other", "ward": "other", "e": "text"}
    with pytest.raises(InvalidArgument, match="another type"):
        PrivateSource(lambda: stored).check(QuantileValue.of(X, "x", epsilon=1.0).reads)


@pytest.mark.thorough
@pytest.mark.parametrize("high", [0.0004, 2.0005, 1e16, 3e-90])
@pytest.mark.parametrize("kind", ["folder", "sqlite", "duckdb"])
def test_a_range_of_any_size_is_divided_as_in_memory(tmp_path: Path, kind: str, high: float) -> None:
    values = [0.0, 0.25 * high, 0.3333 * high, high, 2 * high]
    frame = pd.DataFrame({"x": values, "y": values[::-1]})
    if kind == "folder":
        stored = folder_of(tmp_path / "p", pa.Table.from_pandas(frame))
    elif kind == "sqlite":
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            frame.to_sql("t", connection, index=False)
        stored = PrivateSource(lambda: open_database(f"sqlite:///{tmp_path / 'a.db'}", "t"))
    else:
        with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        stored = PrivateSource(lambda: open_database(f"duckdb:///{tmp_path / 'a.duckdb'}", "t"))
    declared = Declaration(columns=numbers(high, "x", "y"))
    held = PrivateRows(frame.map(repr))
    for asked in (
        LeastCost.of(declared, ["x", "y"], epsilon=1.0),
        QuantileValue.of(declared, "x", epsilon=1.0),
    ):
        assert np.ravel(asked.read(stored)).tolist() == np.ravel(asked.read(held)).tolist()
