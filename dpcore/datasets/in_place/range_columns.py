"""The index with a name that pandas writes into a Parquet file as a rule, as a column of a folder: see ``range_notes``.

Each file states its own rule, and some hold the column itself: as soon as one row is left out of a file it does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from dpcore.datasets.range_notes import NOTE, stated

_NOTED = (
    "SELECT file_name, value, num_rows FROM parquet_kv_metadata({0}) JOIN parquet_file_metadata({0}) USING (file_name) "
    "WHERE key = ?"
)
_OF_DUCKDB = {"filename", "file_row_number"}
"""What DuckDB calls a row's file, and its place there, unless a column is called so."""
Leaf = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeColumns:
    """By name and file the numbers that a column holds there, and which files hold the column itself."""

    numbers: Mapping[str, Mapping[str, range]] = field(default_factory=dict)
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def leaves(self, leaves: list[Leaf]) -> list[Leaf]:
        """What the footers of all files would say if these were columns of each."""
        of: defaultdict[str, list[str]] = defaultdict(list)
        for name, files in self.numbers.items():
            for file in files:
                of[file].append(name)
        found: defaultdict[str, list[Leaf]] = defaultdict(list)
        for leaf in leaves:
            root = leaf[0] not in found
            found[leaf[0]].append((*leaf[:5], leaf[5] + len(of[leaf[0]]), *leaf[6:]) if root else leaf)
        ended = {file: [(file, name, "INT64", *[None] * 6) for name in names] for file, names in of.items()}
        return [leaf for file, some in found.items() for leaf in (*some, *ended.get(file, []))]

    def source(self, read: str, files: Collection[str] | None = None) -> str:
        """SQL for the rows of these files, or of all, which ``read`` reads without such columns."""
        some = {name: of for name, of in self.numbers.items() if files is None or not of.keys().isdisjoint(files)}
        if not some:
            return read
        held = [name for name in some if self.held[name] and (files is None or not self.held[name].isdisjoint(files))]
        rest = f"* EXCLUDE ({', '.join(map(_identifier, held))})" if held else "*"
        cells = [f"{self._cell(name, name in held, files)} AS {_identifier(name)}" for name in some]
        return f"(SELECT {', '.join((rest, *cells))} FROM {read})"  # noqa: S608 - the server's own folder

    def _cell(self, name: str, held: bool, files: Collection[str] | None) -> str:
        rules: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        for file, numbers in self.numbers[name].items():
            if files is None or file in files:
                rules[numbers.start, numbers.step].append(file)
        told = [
            f"WHEN filename IN ({', '.join(map(_text, some))}) THEN {start} + {step} * file_row_number"
            for (start, step), some in rules.items()
        ]
        return f"CASE {' '.join(told)} ELSE {_identifier(name) if held else 'NULL'} END"


def range_columns(connection: duckdb.DuckDBPyConnection, every: str, leaves: list[Leaf]) -> RangeColumns:
    """Those of all files, given what their footers say. Raises duckdb.Error."""
    of: defaultdict[str, set[str]] = defaultdict(set)
    for file, name, *_ in leaves:
        of[file].add(name)
    if _OF_DUCKDB & {name.lower() for names in of.values() for name in names}:
        return RangeColumns()
    numbers: defaultdict[str, dict[str, range]] = defaultdict(dict)
    for file, note, rows in connection.execute(_NOTED.format(every), [NOTE]).fetchall():
        for name, rule in stated(note, rows):
            if name.lower() not in {other.lower() for other in of[file]}:
                numbers[name][file] = rule
    return RangeColumns(
        numbers=dict(numbers),
        held={name: frozenset(file for file, names in of.items() if name in names) for name in numbers},
    )


def _text(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
