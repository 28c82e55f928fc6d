"""DuckDB: the reader, its sniffer, and digests of rows. The only file that imports it.

Every connection is closed off: no network, no extensions, no file but the one in its private folder.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd

from dpcore.datasets.reading.dialect import Dialect
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_COLUMNS = 500
MOST_CELLS = 100_000_000
LONGEST_CELL = 131_072
_LONGEST_RECORD = 8 << 20
_TEXT = 1 << 29


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Every record as text cells: a frame of columns 0, 1, … and how many cells each record has, shape (records,)."""

    frame: pd.DataFrame
    counts: IntArray


@contextmanager
def _session(data: bytes | None = None) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
    """A closed-off connection, and the path of a private copy of ``data`` that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="epsilon-lab-") as folder:
        file = Path(folder) / "table"
        if data is not None:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(data)
        connection = duckdb.connect(":memory:", config={"threads": 2, "memory_limit": "700MB", "temp_directory": ""})
        try:
            connection.execute("SET autoinstall_known_extensions=false")
            connection.execute("SET autoload_known_extensions=false")
            connection.execute("SET allow_community_extensions=false")
            connection.execute(f"SET allowed_directories=[{_quoted(folder)}]")
            connection.execute("SET enable_external_access=false")
            connection.execute("SET lock_configuration=true")
            yield connection, str(file)
        finally:
            connection.close()


def sniffed_delimiter(sample: bytes) -> str | None:
    """What DuckDB's sniffer takes for the delimiter of a sample, or None when it gives up."""
    with _session(sample) as (connection, file):
        try:
            rows = connection.table_function("sniff_csv", [file]).project("Delimiter").fetchall()
        except duckdb.Error:
            return None
    return str(rows[0][0]) if rows else None


def cells(data: bytes, dialect: Dialect, width: int) -> Cells:
    """The records of a text file, blank lines left out, padded to ``width`` cells. Raises UnreadableFile."""
    absent = "\x01"
    while absent.encode() in data:
        absent += "\x02"
    names = [f"c{place}" for place in range(width + 1)]
    count = " + ".join(f"({name} IS NOT NULL)::INTEGER" for name in names)
    parts = [*(f"coalesce({name}, '') AS {name}" for name in names[:width]), f"({count}) AS n"]
    with _session(data) as (connection, file):
        try:
            relation = connection.read_csv(
                file,
                auto_detect=False,
                header=False,
                columns=dict.fromkeys(names, "VARCHAR"),
                delimiter=dialect.separator,
                quotechar=dialect.quote,
                escapechar=dialect.escape if dialect.quote else "",
                lineterminator=duckdb.CSVLineTerminator.LINE_FEED,
                comment="",
                na_values=absent,
                null_padding=True,
                parallel=False,
                strict_mode=True,
                max_line_size=_LONGEST_RECORD,
            )
            table = relation.project(", ".join(parts)).to_arrow_table()
        except duckdb.Error as error:
            raise UnreadableFile(_sentence(error)) from None
    counts = np.asarray(table.column("n").to_numpy(), dtype=np.int64)
    return Cells(frame=_frame(table, list(range(width))), counts=counts)


def parquet(data: bytes) -> pd.DataFrame:
    """The columns of a Parquet file as text, missing values as empty cells. Raises UnreadableFile."""
    with _session(data) as (connection, file):
        try:
            relation = connection.read_parquet(file)
            _check_parquet([str(kind) for kind in relation.types])
            rows = relation.aggregate("count(*)").fetchall()[0][0]
            if int(rows) * len(relation.columns) > MOST_CELLS:
                raise UnreadableFile(f"The table has more than {MOST_CELLS:,} cells; keep fewer rows or columns.")
            names = [_identifier(name) for name in relation.columns]
            for name in names:
                text = f"length({name}::VARCHAR)"
                longest, total = relation.aggregate(f"max({text}), sum({text})").fetchall()[0]
                if (longest or 0) > LONGEST_CELL or (total or 0) > _TEXT:
                    raise UnreadableFile("The file unpacks to more text than can be read; keep fewer rows or columns.")
            parts = (f"coalesce({name}::VARCHAR, '') AS c{place}" for place, name in enumerate(names))
            table = relation.project(", ".join(parts)).to_arrow_table()
            return _frame(table, list(relation.columns))
        except duckdb.Error:
            raise UnreadableFile(
                "This Parquet file is damaged or of a kind that cannot be read; save it as CSV."
            ) from None


def row_sums(frame: pd.DataFrame) -> tuple[int, int]:
    """Two sums over all rows of 64-bit halves of MD5 digests: equal for equal rows in any order."""
    with _rows(frame) as rows:
        digests = rows.project(_joined(frame)).project("md5_number(r) AS m")
        halves = "sum((m & 18446744073709551615)::HUGEINT), sum((m >> 64)::HUGEINT)"
        low, high = digests.aggregate(halves).fetchall()[0]
    return int(low or 0), int(high or 0)


def row_marks(frame: pd.DataFrame, salt: str = "") -> NDArray[np.uint64]:
    """One 64-bit digest per row, in order."""
    with _rows(frame) as rows:
        found = rows.project(_joined(frame)).project(f"md5_number_lower({_quoted(salt)} || r) AS mark").fetchnumpy()
    return np.asarray(found["mark"], dtype=np.uint64)


def column_marks(frame: pd.DataFrame) -> tuple[int, ...]:
    """One number per column that the order of its cells does not change. For comparing within one process only."""
    parts = (f"sum(hash(c{place})::HUGEINT)" for place in range(frame.shape[1]))
    with _rows(frame) as rows:
        found = rows.aggregate(", ".join(parts)).fetchall()[0]
    return tuple(int(value or 0) for value in found)


@contextmanager
def _rows(frame: pd.DataFrame) -> Iterator[duckdb.DuckDBPyRelation]:
    """The frame in DuckDB as columns c0, c1, …, cells without padding."""
    bare = pd.DataFrame({f"c{place}": frame.iloc[:, place].str.strip() for place in range(frame.shape[1])})
    with _session() as (connection, _):
        yield connection.from_df(bare)


def _joined(frame: pd.DataFrame) -> str:
    """An expression for one text per row: cells by column name, told apart without doubt."""
    order = sorted(range(frame.shape[1]), key=lambda place: (str(frame.columns[place]), place))
    parts = ", ".join(f"replace(c{place}, chr(31), chr(31) || '0')" for place in order)
    return f"concat_ws(chr(31) || '1', {parts}) AS r"


def _frame(table: Any, names: list[Any]) -> pd.DataFrame:
    """The first Arrow columns as pandas text columns, by position: a file may use one name twice."""
    text = pd.StringDtype(na_value=np.nan)
    columns = [pd.Series(pd.array(table.column(place), dtype=text)) for place in range(len(names))]
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(names)
    return frame


def _check_parquet(kinds: list[str]) -> None:
    if len(kinds) > MOST_COLUMNS:
        raise UnreadableFile(f"The file has {len(kinds):,} columns; up to {MOST_COLUMNS} can be read.")
    if any(mark in kind for kind in kinds for mark in ("STRUCT", "MAP", "[", "UNION", "BLOB", "GEOMETRY", "VARIANT")):
        raise UnreadableFile("A column of this Parquet file holds lists or records; save a flat table instead.")


def _sentence(error: duckdb.Error) -> str:
    """One sentence without the file's text, which DuckDB's own message would quote."""
    message = str(error)
    found = re.search(r"CSV Error on Line: (\d+)", message)
    place = f" near line {int(found[1]):,}" if found else ""
    if "maximum line size" in message.lower():
        return f"A line{place} is longer than {_LONGEST_RECORD >> 20} MB, so this is hardly a table; check the file."
    return f"The file cannot be split into rows and cells without guessing{place}; check its quotation marks."


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
