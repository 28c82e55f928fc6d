"""Tables that DuckDB reads where they are: folders of Parquet files, and databases of its own. Nothing is written."""

from __future__ import annotations

import hashlib
import threading
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb

from dpcore.datasets.in_place.aggregates import InPlace, Query, Rows
from dpcore.datasets.in_place.tongue import DUCKDB, PARQUET, DuckDB, Kind
from dpcore.datasets.temporary import private_folder
from dpcore.errors import UnreadableFile

_MEMORY = "800MB"
_THREADS = 2
_VIEW = "rows of the folder"
_KINDS: dict[str, Kind] = {
    "VARCHAR": "text",
    "ENUM": "text",
    "BOOLEAN": "yes/no",
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "date"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys((f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")), "integer"),
    **dict.fromkeys(("INTEGER", "UINTEGER"), "integer"),
}
_AWAY = "The source cannot be reached, or does not let this server read; ask the people who run the server."
_ONLY_READ = "A source is only read."
_NO_MEMORY = "This question needs more memory than it may take; choose another column."
_UNREADABLE = "The Parquet files of this folder cannot be read as one table of this kind."


def open_folder(folder: str | Path) -> InPlace:
    """All Parquet files in ``folder`` and below it, of one shape.

    The connection reaches no other file and no network. What does not fit into its memory while it counts goes into a
    private folder, which is gone afterwards. Raises UnreadableFile.
    """
    place = Path(folder).resolve()
    files = sorted(place.rglob("*.parquet")) if place.is_dir() else []
    if not files:
        raise UnreadableFile("The folder holds no Parquet file.")
    try:
        state = "".join(f"{file}|{file.stat().st_size}|{file.stat().st_mtime_ns}\n" for file in files)
    except OSError:
        raise UnreadableFile(_AWAY) from None
    every = _quoted(str(place / "**" / "*.parquet"))
    view = f"CREATE VIEW {_identifier(_VIEW)} AS SELECT * FROM read_parquet({every})"  # noqa: S608 - the server's own
    return _open(":memory:", {}, _VIEW, reach=str(place), first=view, key=state, trouble=_UNREADABLE)


def duckdb_tables(file: str | Path) -> tuple[str, ...]:
    """Names of the tables and views of a database of DuckDB's. Raises UnreadableFile."""
    try:
        with duckdb.connect(str(_there(file)), config={"access_mode": "READ_ONLY"}) as connection:
            found = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
            ).fetchall()
    except duckdb.Error:
        raise UnreadableFile(_AWAY) from None
    return tuple(str(row[0]) for row in found)


def open_duckdb(file: str | Path, table: str) -> InPlace:
    """One table or view of a database of DuckDB's, opened read-only. As ``open_folder``. Raises UnreadableFile."""
    place = _there(file)
    state = f"{place}|{place.stat().st_mtime_ns}|{table}"
    return _open(str(place), {"access_mode": "READ_ONLY"}, table, reach="", first="", key=state, trouble=_AWAY)


def _there(file: str | Path) -> Path:
    place = Path(file).resolve()
    if not place.is_file():
        raise UnreadableFile(_AWAY)
    return place


def _open(
    database: str, config: dict[str, str], name: str, *, reach: str, first: str, key: str, trouble: str
) -> InPlace:
    stack = ExitStack()
    overflow = stack.enter_context(private_folder())
    try:
        connection = duckdb.connect(
            database, config={"threads": _THREADS, "memory_limit": _MEMORY, "temp_directory": str(overflow), **config}
        )
        stack.callback(connection.close)
        for setting in (
            "autoinstall_known_extensions=false",
            "autoload_known_extensions=false",
            "allow_community_extensions=false",
            *((f"allowed_directories=[{_quoted(reach)}]",) if reach else ()),
            "preserve_insertion_order=false",
            "enable_progress_bar=false",
            "enable_external_access=false",
        ):
            connection.execute(f"SET {setting}")
        if first:
            connection.execute(first)
        connection.execute("SET lock_configuration=true")
    except duckdb.Error:
        stack.close()
        raise UnreadableFile(trouble) from None
    lock = threading.Lock()

    def run(sql: str, given: list[Any] | None = None) -> Rows:
        with lock:
            try:
                asked = connection.extract_statements(sql)
                if any(one.type != duckdb.StatementType.SELECT for one in asked):
                    raise UnreadableFile(_ONLY_READ)  # a folder that may be read could be copied into
                return connection.execute(sql, given).fetchall()
            except duckdb.OutOfMemoryException:
                raise UnreadableFile(_NO_MEMORY) from None
            except duckdb.Error:
                raise UnreadableFile(trouble) from None

    def select(asked: Query) -> Rows:
        written = asked.compile(dialect=DuckDB(), compile_kwargs={"render_postcompile": True})
        return run(str(written), [written.params[name] for name in written.positiontup or ()])

    try:
        described = run(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {_identifier(name)})")  # noqa: S608 - the server's own
        keys = run(
            "SELECT list_extract(constraint_column_names, 1) FROM duckdb_constraints() WHERE table_name = ? AND "
            "constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1",
            [name],
        )
    except UnreadableFile:
        stack.close()
        raise
    stored = InPlace(
        names=tuple(str(row[0]) for row in described),
        kinds={str(row[0]): _KINDS.get(str(row[1]).partition("(")[0], "other") for row in described},
        name=name,
        run=run,
        select=select,
        quoted=_identifier,
        tongue=PARQUET if first else DUCKDB,
        key=hashlib.sha256(key.encode()).hexdigest(),
        keys=frozenset(str(row[0]) for row in keys),
    )
    weakref.finalize(run, stack.close)
    return stored


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
