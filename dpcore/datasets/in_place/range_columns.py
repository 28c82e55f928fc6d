"""The index with a name that pandas writes into a Parquet file as a rule, as a column of a folder: see ``range_notes``.

Each file states its own rule, and some hold the column itself: as soon as one row is left out of a file it does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import duckdb

from dpcore.datasets.range_notes import NOTE, stated

_NOTED = (
    "SELECT file_name, value, num_rows FROM parquet_kv_metadata({0}) JOIN parquet_file_metadata({0}) USING (file_name) "
    "WHERE key = ?"
)


def rules(connection: duckdb.DuckDBPyConnection, every: str) -> dict[str, list[tuple[str, range]]]:
    """By file the names of such indexes, each with its numbers. Raises duckdb.Error."""
    noted = connection.execute(_NOTED.format(every), [NOTE]).fetchall()
    return {file: stated(note, rows) for file, note, rows in noted}


def by_rule(numbers: Mapping[str, range]) -> str:
    """SQL for the number of a row, given those of each file, where no column is called as DuckDB calls a row's file or
    its place there."""
    alike: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for file, rule in numbers.items():
        alike[rule.start, rule.step].append(file)
    told = [
        f"WHEN filename IN ({', '.join(map(_text, files))}) THEN {start} + {step} * file_row_number"
        for (start, step), files in alike.items()
    ]
    return f"CASE {' '.join(told)} END"


def _text(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"
