"""Whether all Parquet files of a folder are one table, by what their footers say; no row is read for it.

A file whose columns do not fit the others would make a question fail only once it is read, after the charge, and by
what its cells hold. So files must agree in names and types, but for whole numbers and doubles of several sizes, which
are read as the widest of them: a month with a gap is often written as doubles. Columns in which a cell may hold what
DuckDB cannot read are left out: times of day, lists and the like, and points in time in milliseconds, which reach
further than its own, where the footers do not say that none of them does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
from pyarrow import ArrowException, parquet

from dpcore.datasets.in_place.connection import in_memory
from dpcore.datasets.temporary import private_folder
from dpcore.errors import UnreadableFile

UNLIKE = "The Parquet files of this folder differ in the names or types of their columns; ask who writes them."
NO_COLUMN = "The Parquet files of this folder have no column that can be read safely."
_NUMBERS = {"INT32", "INT64", "FLOAT", "DOUBLE"}
_SAID = "file_name, name, type, converted_type, logical_type, num_children, scale, precision, type_length"
_REACH = 9_000_000_000_000_000  # milliseconds from 1970: the years from −283,000 to 287,000
_SIZES = {None, *(f"{sign}INT_{size}" for sign in ("", "U") for size in (8, 16, 32, 64))}
_ANY_NUMBER = "any number"
_NESTED = re.compile(r"(?s:(STRUCT|MAP|UNION|VARIANT)\b.*|.*\])")


@lru_cache(maxsize=16)
def one_table(folder: Path, state: str) -> str:
    """A selection of all columns that can be read safely, of all files in ``folder`` and below it.

    ``state`` changes with the files. Raises UnreadableFile where they are not of one shape.
    """
    every = "'" + str(folder / "**" / "*.parquet").replace("'", "''") + "'"
    footers = f"SELECT {_SAID} FROM parquet_schema({every})"  # noqa: S608 - the server's own folder
    try:
        with private_folder() as overflow, in_memory(overflow, reach=str(folder)) as connection:
            leaves = connection.execute(footers).fetchall()
            read = f"read_parquet({every}, hive_types_autocast=false, union_by_name={str(_widened(leaves)).lower()})"
            described = connection.execute(f"DESCRIBE SELECT * FROM {read}").fetchall()  # noqa: S608
        left_out = _left_out(leaves)
    except (duckdb.Error, OSError, ArrowException):
        raise UnreadableFile(UNLIKE) from None
    names = [name for name, kind, *_ in described if name not in left_out and not _NESTED.fullmatch(kind)]
    if not names:
        raise UnreadableFile(NO_COLUMN)
    return f"SELECT {', '.join(_identifier(name) for name in names)} FROM {read}"  # noqa: S608


def _widened(leaves: list[tuple[Any, ...]]) -> bool:
    """Whether numbers of several sizes must be read as the widest. Raises UnreadableFile."""
    exact: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    alike: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for file, name, kind, converted, logical, *more in leaves:
        exact[file].append((name, kind, converted, logical, *more))
        is_number = kind in _NUMBERS and converted in _SIZES and str(logical or "IntType").startswith("IntType")
        alike[file].append((name, _ANY_NUMBER) if is_number else exact[file][-1])
    if len({tuple(sorted(shape, key=repr)) for shape in alike.values()}) > 1:
        raise UnreadableFile(UNLIKE)
    return len({tuple(shape) for shape in exact.values()}) > 1


def _left_out(leaves: list[tuple[Any, ...]]) -> set[str]:
    """Columns with times of day, and those in milliseconds that a footer does not say to be within reach."""
    found = {leaf[1] for leaf in leaves if "TimeType" in str(leaf[4]) or str(leaf[3]).startswith("TIME_")}
    late = {leaf[1] for leaf in leaves if str(leaf[3]) == "TIMESTAMP_MILLIS" or "MILLIS=Milli" in str(leaf[4])} - found
    for file in {leaf[0] for leaf in leaves} if late else ():
        footer = parquet.read_metadata(file)
        for place in range(footer.num_row_groups):
            group = footer.row_group(place)
            for part in (group.column(number) for number in range(group.num_columns)):
                if not _within_reach(part):
                    found |= late & {part.path_in_schema.partition(".")[0], part.path_in_schema.rpartition(".")[2]}
    return found


def _within_reach(part: parquet.ColumnChunkMetaData) -> bool:
    told = part.statistics
    if told is not None and told.has_null_count and told.null_count == part.num_values:
        return True
    if told is None or not told.has_min_max or part.physical_type != "INT64":
        return False
    return -_REACH <= int(told.min_raw) <= int(told.max_raw) <= _REACH


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
