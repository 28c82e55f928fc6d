"""Parquet files of one folder as one table, by DuckDB, which reads only the columns a question needs."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import duckdb

from dpcore.datasets.in_place.aggregates import InPlace, Rows
from dpcore.errors import UnreadableFile

_MEMORY = "800MB"
_THREADS = 2


def open_folder(folder: str | Path, *, name: str = "") -> InPlace:
    """All Parquet files in ``folder`` and below it, of one shape. ``name`` says whose data it is, for budgets.

    The connection reaches no other file and no network, and writes none. Raises UnreadableFile.
    """
    place = Path(folder).resolve()
    files = sorted(place.rglob("*.parquet")) if place.is_dir() else []
    if not files:
        raise UnreadableFile("The folder holds no Parquet file.")
    state = "".join(f"{file}|{file.stat().st_size}|{file.stat().st_mtime_ns}\n" for file in files)
    key = hashlib.sha256(state.encode()).hexdigest()
    connection = duckdb.connect(":memory:", config={"threads": _THREADS, "memory_limit": _MEMORY, "temp_directory": ""})
    for setting in (
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "allow_community_extensions=false",
        f"allowed_directories=[{_quoted(str(place))}]",
        "preserve_insertion_order=false",
        "enable_progress_bar=false",
        "enable_external_access=false",
        "lock_configuration=true",
    ):
        connection.execute(f"SET {setting}")
    source = f"read_parquet({_quoted(str(place / '**' / '*.parquet'))})"
    lock = threading.Lock()

    def run(sql: str) -> Rows:
        with lock:
            try:
                return connection.execute(sql).fetchall()
            except duckdb.OutOfMemoryException:
                raise UnreadableFile(
                    "This question needs more memory than it may take; choose another column."
                ) from None
            except duckdb.Error:
                raise UnreadableFile(
                    "The Parquet files of this folder cannot be read as one table of this kind."
                ) from None

    names = tuple(str(row[0]) for row in run(f"DESCRIBE SELECT * FROM {source}"))  # noqa: S608 - the server's own folder
    return InPlace(
        names=names,
        source=source,
        run=run,
        quoted=_identifier,
        floor="floor({})::INTEGER",
        clip="least(greatest({value}, {low}), {high})",
        key=key,
        lineage=f"configured:{name or place.name}",
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
