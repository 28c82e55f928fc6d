"""What lies where a ledger's file should be, looked at without a change."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from enum import Enum, auto
from pathlib import Path

from dpcore.ledger import schema
from dpcore.ledger.files import real

_SMALLEST = 512
"""Bytes of the smallest page of SQLite's, which takes a file of one byte for an empty one."""
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLES = {table.name: {column.name for column in table.columns} for table in (schema.head, schema.records)}
"""By what a ledger is known: columns of tables that are as they were in its first form."""


class Found(Enum):
    """What a file is; NOTHING and UNFILLED may become a ledger."""

    NOTHING = auto()  # no file, or an empty one
    UNFILLED = auto()  # a database that was made and holds nothing, as by a process that died before its tables
    LEDGER = auto()
    DATABASE = auto()  # another program's
    UNREADABLE = auto()  # no SQLite file, or a broken one: a ledger's only where something else tells
    CLOSED = auto()  # a folder, or held by somebody: whoever opens it says so


def look(file: Path) -> Found:
    """What is at this place.

    SQLite alone opens the file: all of its locks on one that this process has open already, as a ledger that is opened
    once more, would go with any other descriptor that is closed, and the next program would take its log away.
    """
    file = real(file)
    try:
        if not file.exists():
            return Found.NOTHING
        if not file.is_file():
            return Found.CLOSED if file.is_dir() else Found.UNREADABLE
        size = file.stat().st_size
    except OSError:
        return Found.CLOSED
    if size < _SMALLEST:
        return Found.UNREADABLE if size else Found.NOTHING
    return _database(file)


def _database(file: Path) -> Found:
    """The settings of a connection that may write stay in the file, and one that may only read leaves files beside it:
    so it is first read as one that nobody writes to."""
    found = _named(file, "immutable=1")
    log = file.with_name(f"{file.name}-wal")
    if found is Found.LEDGER or not (log.exists() and log.stat().st_size):
        return found
    whole = _named(file, "mode=ro")  # what was written last is not in it yet
    return found if found is Found.DATABASE and whole is Found.CLOSED else whole


def _named(file: Path, how: str) -> Found:
    """Known by its own tables, for many a program keeps the number of its form as this one does."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{how}", uri=True, timeout=1.0)) as connection:
            held = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema").fetchall()}
            told = {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for name in _TABLES}
    except sqlite3.Error as error:
        broken = getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN  # its lowest byte; the others say more
        return Found.UNREADABLE if broken else Found.CLOSED
    # one of the ledger's tables is enough: where others are lost, it is damaged, and none of anybody else's
    if any(columns <= {column[1] for column in told[name]} for name, columns in _TABLES.items()):
        return Found.LEDGER
    return Found.DATABASE if held else Found.UNFILLED
