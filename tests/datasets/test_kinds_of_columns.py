"""What programs write of every kind of column is read by every type that fits it, in memory and in place alike."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, dates, read_table
from dpcore.datasets.in_place import PrivateSource, open_folder
from dpcore.datasets.in_place.tongue import FITS
from dpcore.errors import InvalidArgument

Read = Callable[[pa.Table, Path], PrivateRows]
ROWS, PLACE = 12, "i % 3"
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
NUMBERS = (*WHOLE, "FLOAT", "DOUBLE", "DECIMAL(4, 2)", "DECIMAL(30, 5)", "VARCHAR")
MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ", "VARCHAR")
LATE = f"(TIMESTAMP '2024-01-30 23:30:00' + to_days(({PLACE})::INTEGER))"
AS_NUMBERS = (
    Column(name="c", type="integer", low=0, high=3),
    Column(name="c", type="number", low=0, high=3),
    Column(name="c", type="category", categories=("0", "1", "2")),
)
YES = (Column(name="c", type="yes/no"),)
DAY = (Column(name="c", type="date", earliest=date(2024, 1, 1), latest=date(2024, 3, 1)),)
EACH = [4, 4, 4]
KINDS: list[tuple[str, tuple[Column, ...], list[int]]] = [
    *((f"({PLACE})::{kind}", AS_NUMBERS, EACH) for kind in NUMBERS),
    (f"({PLACE})::VARCHAR::ENUM('0', '1', '2')", AS_NUMBERS[2:], EACH),
    *((f"({PLACE} > 0)::{kind}", YES, [4, 8]) for kind in ("BOOLEAN", "TINYINT", "DOUBLE", "VARCHAR")),
    (f"{LATE}::DATE", DAY, EACH),
    *((f"{LATE}::{kind}", DAY, EACH) for kind in MOMENTS),
    *((f"({LATE} + INTERVAL '0.25 s')::{kind}", DAY, EACH) for kind in MOMENTS if kind != "TIMESTAMP_S"),
    (f"{LATE}::TIMESTAMPTZ::VARCHAR", DAY, EACH),
]
"""What a column holds, in SQL; the types that fit it; and how many rows count for each of what it says so."""
ZONES = "Etc/UTC", "Pacific/Kiritimati"


@contextmanager
def in_utc() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone='UTC'")
        yield connection


def table() -> pa.Table:
    """A column c0, c1, … of each kind."""
    cells = ", ".join(f"{cell} AS c{at}" for at, (cell, *_) in enumerate(KINDS))
    with in_utc() as connection:
        return connection.sql(f"SELECT i AS row, {cells} FROM range({ROWS}) t(i)").to_arrow_table()  # noqa: S608


def copied(held: pa.Table, folder: Path, form: str) -> Path:
    file = folder / f"a.{form}"
    with in_utc() as connection:
        connection.register("held", held)
        connection.execute(f"COPY (FROM held) TO '{file}' (FORMAT {form})")
    return file


def by_duckdb(form: str) -> Read:
    return lambda held, folder: read_table(copied(held, folder, form).read_bytes()).private


def by_pandas(write: str, **how: object) -> Read:
    def read(held: pa.Table, _: Path) -> PrivateRows:
        made = io.BytesIO()
        getattr(held.to_pandas(), write)(made, **how)
        return read_table(made.getvalue()).private

    return read


def by_pyarrow(held: pa.Table, _: Path) -> PrivateRows:
    made = io.BytesIO()
    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in held.columns]
    pa.csv.write_csv(pa.table(plain, held.column_names), made)
    return read_table(made.getvalue()).private


def folder_of_duckdb(held: pa.Table, folder: Path) -> PrivateRows:
    copied(held, folder, "parquet")
    stored = open_folder(folder)
    return PrivateSource(lambda: stored)


def folder_of_pandas(held: pa.Table, folder: Path) -> PrivateRows:
    held.to_pandas().to_parquet(folder / "a.parquet")
    stored = open_folder(folder)
    return PrivateSource(lambda: stored)


READERS: dict[str, Read] = {
    **{f"DuckDB, {form}": by_duckdb(form) for form in ("parquet", "csv", "json")},
    "pandas, parquet": by_pandas("to_parquet"),
    "pandas, feather": by_pandas("to_feather"),
    "pandas, csv": by_pandas("to_csv", index=False),
    "pandas, json": by_pandas("to_json", orient="records", date_format="iso"),
    "pyarrow, csv": by_pyarrow,
    "folder of DuckDB": folder_of_duckdb,
    "folder of pandas": folder_of_pandas,
}


def counted(rows: PrivateRows, column: Column) -> list[int]:
    reads = Declaration(columns=(column,)).reads(column.name)
    rows.check(reads)
    opened = rows.opened(reads)
    if column.type == "date":
        return opened.day_counts(column.name, date(2024, 1, 30), 3).tolist()
    if column.type in ("integer", "number"):
        return opened.number_counts(column.name, unit=1.0)[1].tolist()
    return opened.counts(column.name).tolist()


def otherwise(name: str, folder: Path) -> set[tuple[str, str]]:
    """The columns and types as which such a file says something else than is in them; a column that a source does not
    offer as that type is refused in a sentence."""
    rows, found = READERS[name](table(), folder), set()
    kinds = open_folder(folder).kinds if rows.in_place else {}
    for at, (cell, types, expected) in enumerate(KINDS):
        for column in (replace(one, name=f"c{at}") for one in types):
            if rows.in_place and kinds[column.name] not in FITS[column.type]:
                with pytest.raises(InvalidArgument, match="another type"):
                    counted(rows, column)
            elif counted(rows, column) != expected:
                found.add((cell, column.type))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_a_column_is_read_by_every_type_that_fits(name: str, tmp_path: Path) -> None:
    assert otherwise(name, tmp_path) == set()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DuckDB, parquet", "DuckDB, csv", "pandas, parquet", "pandas, feather"])
def test_a_reader_that_knows_no_offset_of_two_digits_is_found_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wants_more = re.compile(dates._ISO.pattern.replace("(?::?[0-9]{2})?", ":?[0-9]{2}"))
    monkeypatch.setattr(dates, "_ISO", wants_more)
    assert {kind for _, kind in otherwise(name, tmp_path)} == {"date"}


READ = """
import sys
from pathlib import Path
from dpcore.datasets import read_table
print(read_table(Path(sys.argv[1]).read_bytes()).frame["t"].tolist())
"""


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_point_in_time_reads_the_same_wherever_the_server_is(form: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    getattr(pd.DataFrame({"t": pd.to_datetime(["2024-01-31 10:30Z", "2024-07-31 23:30Z"])}), f"to_{form}")(file)
    for zone in ZONES:
        command = [sys.executable, "-c", READ, str(file)]
        found = subprocess.run(command, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == "['2024-01-31 10:30:00+00', '2024-07-31 23:30:00+00']"


def test_one_row_with_a_zone_moves_the_day_of_no_other(tmp_path: Path) -> None:
    """DuckDB gives an offset to all rows of a column of which one has one."""
    days = Column(name="day", type="date")
    held = [f"2024-01-{30 + row % 2} 23:30:00" for row in range(ROWS)]
    for form in ("csv", "parquet", "json"):
        counts = []
        for more in ([], ["2024-02-20 10:30:00Z"]):
            lines = tmp_path / "lines.csv"
            lines.write_text("\n".join(["row,day", *(f"{row},{cell}" for row, cell in enumerate([*held, *more]))]))
            with in_utc() as connection:
                connection.execute(f"COPY (FROM read_csv('{lines}')) TO '{tmp_path / 'a'}' (FORMAT {form})")
            counts.append(counted(read_table((tmp_path / "a").read_bytes()).private, days))
        assert counts == [[ROWS // 2, ROWS // 2, 0]] * 2, form
