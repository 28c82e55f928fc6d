"""The one place where a source is opened with DuckDB: what such a connection may reach, and what it must not believe.

The footer of a Parquet file says between which values each piece of a column lies, and how many cells are missing.
DuckDB takes its word for it: it answers comparisons, and skips rows, without a look at them. But “not a number” is left
out of such a range, some writers shorten the texts in it, and it hangs on all rows of the piece: one row more would
change what others count for. So nothing that reads such statistics may be on: each row is read by itself.
"""

from __future__ import annotations

import atexit
import threading
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import duckdb

from dpcore.datasets.believing import BELIEVING
from dpcore.datasets.temporary import private_folder

_MEMORY = "800MB"
_THREADS = 2
_OPENING = threading.Lock()


def in_memory(overflow: Path, *, reach: str = "", ordered: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection that reads nothing but the folder ``reach`` and what is registered with it; what does not fit into
    its memory goes into ``overflow``. Rows come in the order of their file where ``ordered``. Raises duckdb.Error.
    """
    connection = duckdb.connect(":memory:", config=_configuration(overflow))
    return _shut(connection, reach, ordered=ordered)


def of_database(file: str) -> duckdb.DuckDBPyConnection:
    """One more connection to a file of DuckDB's, which it only reads. Raises duckdb.Error.

    All connections of a process to one file are of one database, which DuckDB opens with one configuration only: so it
    is the same for whoever asks, and the first of them locks it for all.
    """
    with _OPENING:
        connection = duckdb.connect(file, config={**_configuration(_overflow()), "access_mode": "READ_ONLY"})
        try:
            locked = connection.execute("SELECT current_setting('lock_configuration')").fetchone()
        except duckdb.Error:
            connection.close()
            raise
        return connection if locked == (True,) else _shut(connection, "")


@cache
def _overflow() -> Path:
    """Where what does not fit into memory goes, for every database file of this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(private_folder())


def _configuration(overflow: Path) -> dict[str, str | bool | int | float | list[str]]:
    return {"threads": _THREADS, "memory_limit": _MEMORY, "temp_directory": str(overflow)}


def _shut(connection: duckdb.DuckDBPyConnection, reach: str, *, ordered: bool = False) -> duckdb.DuckDBPyConnection:
    """Let a connection read nothing but ``reach`` and its own file, by itself; nobody can change that again."""
    try:
        for setting in (
            f"disabled_optimizers='{','.join(BELIEVING)}'",
            "GLOBAL TimeZone='UTC'",  # else a point in time would name somebody by the server's own clock
            "autoinstall_known_extensions=false",
            "autoload_known_extensions=false",
            "allow_community_extensions=false",
            *((f"allowed_directories=[{_quoted(reach)}]",) if reach else ()),
            f"preserve_insertion_order={str(ordered).lower()}",
            "enable_progress_bar=false",
            "enable_external_access=false",
            "lock_configuration=true",
        ):
            connection.execute(f"SET {setting}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
