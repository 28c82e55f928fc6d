"""A table or view of a database, read only and added up there.

The address comes from the server's configuration, never from a visitor, and appears in no sentence: it may hold a
password.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import numpy as np
from sqlalchemy import (
    URL,
    Boolean,
    Connection,
    Date,
    DateTime,
    Engine,
    Enum,
    Float,
    Integer,
    LargeBinary,
    Numeric,
    String,
    Time,
    Uuid,
    create_engine,
    event,
    inspect,
)
from sqlalchemy.dialects.postgresql import CIDR, INET, MACADDR, MACADDR8
from sqlalchemy.engine.reflection import Inspector
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, NoSuchModuleError, NoSuchTableError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.types import TypeEngine

from dpcore.addresses import OF_NO_SESSION, read_address, without_secrets
from dpcore.datasets.in_place import by_session, rows_apart, told, views, watched
from dpcore.datasets.in_place.aggregates import InPlace, Query, Rows
from dpcore.datasets.in_place.duck import duckdb_tables, open_duckdb
from dpcore.datasets.in_place.tongue import TONGUES, Kind
from dpcore.datasets.in_place.watched import watch
from dpcore.datasets.plain_words import plain
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

_DUCKDB = "duckdb:///"
_NETWORK = {"connect_timeout": 4, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""What a connection to a server has unless its address says otherwise; the server itself is watched (``watched``)."""
_BEGUN_HERE = {"autocommit": True}
"""For psycopg: it begins no transaction, ``told`` does."""
_STEPS = 1_000_000
"""Of SQLite's machine, after each so many it is asked whether a statement takes too long."""
_UNREACHED = "The database cannot be reached, or does not let this server read; ask the people who run the server."
_LOST = "The connection to the database was lost before it had answered; ask again, or tell who runs the server."
_GONE = "The database has no such table or view any more, or does not show it to this server."
_NO_ANSWER = "The database could not answer this question about this table."
_ENCODING = (
    "The database is not encoded in UTF-8, so it cannot be asked for every sign; ask the people who run the server."
)
_UNKNOWN = "This kind of database is not known here to answer without writing; ask the people who run the server."
_ELSE = ("08", "25", "28", "3D", "3F", "40", "42501", "42601", "42703", "42P01", "53", "55", "57", "58")
"""How codes of PostgreSQL's begin that are of the connection, a transaction, the clock, rights, what is gone, or the
server's memory and disk."""
# All that a session with SQLite may do; PostgreSQL is told with each transaction that it is read-only.
_MAY = {
    *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
    *(sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_TRANSACTION),
}
_OF_EXTENSIONS = (
    "SELECT format_type(oid, NULL), typname FROM pg_type WHERE typname IN ('citext', 'hstore') AND typtype = 'b'"
)
_KINDS: tuple[tuple[type[TypeEngine[Any]], Kind], ...] = (
    (Boolean, "yes/no"),
    (Integer, "integer"),
    (Float, "number"),
    (Numeric, "number"),
    (DateTime, "date"),
    (Date, "date"),
    (Enum, "text"),
    (String, "text"),
    (LargeBinary, "bytes"),
    *((kind, "fixed") for kind in (Uuid, Time, INET, CIDR, MACADDR, MACADDR8)),
)


def tables_of(address: str, *, allowed: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names of the tables and views that can be chosen, all or those ``allowed``. Raises UnreadableFile."""
    if address.startswith(_DUCKDB):
        found: Iterable[str] = duckdb_tables(address.removeprefix(_DUCKDB))
    else:
        try:
            engine = _engine(address)
            if engine.dialect.name == "postgresql":
                with engine.connect() as connection:
                    found = told.tables(connection)
            else:
                seen = inspect(engine)
                found = (*sorted(seen.get_table_names()), *sorted(seen.get_view_names()))
        except SQLAlchemyError:
            raise UnreadableFile(_UNREACHED) from None
    return tuple(name for name in found if not allowed or name in allowed)


def open_database(
    address: str,
    table: str,
    *,
    allowed: tuple[str, ...] = (),
    never_fail: tuple[str, ...] = (),
    row_by_row: tuple[str, ...] = (),
) -> InPlace:
    """One table or view, for reading alone. ``address`` is an SQLAlchemy address, or ``duckdb:///`` and a file;
    ``never_fail`` are those of which it was stated that they give an answer whatever their cells hold, ``row_by_row``
    those of which it was that no row hangs on others.

    Raises UnreadableFile, also for a table that is not among those of ``tables_of``, for one that might fail by a cell
    (``views``), for one whose rows might hang on others (``rows_apart``), and in PostgreSQL for one that might hang on
    the session that it is asked in (``by_session``).
    """
    if table not in tables_of(address, allowed=allowed):
        raise UnreadableFile(_GONE)
    if address.startswith(_DUCKDB):
        return open_duckdb(address.removeprefix(_DUCKDB), table, never_fail=never_fail, row_by_row=row_by_row)
    engine = _engine(address)

    @contextmanager
    def connected() -> Iterator[Connection]:
        try:
            with engine.connect() as connection:
                try:
                    yield connection
                    connection.rollback()
                except DBAPIError as error:
                    if _by_a_cell(connection, error):
                        views.failed(table)
                    raise
        except SQLAlchemyError as error:
            lost = isinstance(error, DBAPIError) and error.connection_invalidated
            raise UnreadableFile(_LOST if lost else _NO_ANSWER) from None

    def asked(question: Callable[[Connection], Any]) -> Rows:
        with connected() as connection:
            return [tuple(row) for row in question(connection)]

    def run(sql: str) -> Rows:
        return asked(lambda connection: connection.exec_driver_sql(sql))

    def compiled(sql: str) -> Rows:
        return asked(lambda connection: _asked_for(connection, sql))

    def select(query: Query) -> Rows:
        return asked(lambda connection: connection.execute(query))

    def stream(query: Query, size: int) -> Iterator[IntArray]:
        with connected() as connection:
            found = connection.execution_options(stream_results=True, max_row_buffer=size).execute(query)
            for rows in found.partitions(size):
                if engine.dialect.name == "sqlite":
                    _bound(connection.connection.dbapi_connection)
                yield np.array([tuple(row) for row in rows], dtype=np.int64)

    if engine.dialect.name == "postgresql" and run("SHOW server_encoding") != [("UTF8",)]:
        raise UnreadableFile(_ENCODING)
    try:
        schema = _schema(address, table) if engine.dialect.name == "postgresql" else None
        if schema is not None:
            _know_extensions(engine, run)
        seen = inspect(engine)
        # in SQLite a column without a known type holds what it is given
        rest: Kind = "bytes" if engine.dialect.name == "sqlite" else "other"
        columns = {str(column["name"]): _kind(column["type"], rest) for column in seen.get_columns(table, schema)}
        keys = _keys(seen, table, schema)
    except NoSuchTableError:
        raise UnreadableFile(_GONE) from None
    except SQLAlchemyError:
        raise UnreadableFile(_UNREACHED) from None
    quoted = engine.dialect.identifier_preparer.quote_identifier

    def placed(name: str) -> str:
        return quoted(name) if schema is None else f"{quoted(schema)}.{quoted(name)}"

    if table not in never_fail:
        views.check(engine.dialect.name, run, placed, table, compiled=compiled)
    if table not in row_by_row:
        rows_apart.check(engine.dialect.name, run, placed, table, compiled=compiled)
    if schema is not None:
        by_session.check(run, placed, table)
    known = without_secrets(read_address(address)).set(password=None).render_as_string(hide_password=False)
    return InPlace(
        names=tuple(columns),
        kinds=columns,
        name=table,
        run=run,
        select=select,
        stream=stream,
        quoted=quoted,
        tongue=TONGUES[engine.dialect.name],
        key=hashlib.sha256(f"{known}|{table}".encode()).hexdigest(),
        keys=keys,
        form=("row by row",) if table in row_by_row else (),
        schema=schema,
    )


@lru_cache(maxsize=1024)
def _schema(address: str, table: str) -> str:
    """In which schema of a server the first look finds a table or view of this name; nothing asked of it afterwards
    leads to another one, wherever that look would lead then. Raises UnreadableFile, SQLAlchemyError."""
    with _engine(address).connect() as connection:
        found = told.tables(connection).get(table)
    if found is None:
        raise UnreadableFile(_GONE)
    return found


def _know_extensions(engine: Engine, run: Callable[[str], Rows]) -> None:
    """Have SQLAlchemy know PostgreSQL's types of extensions, before which their schema stands where no path leads."""
    known: Any = engine.dialect
    known.ischema_names = known.ischema_names | {
        str(written).lower(): known.ischema_names[name] for written, name in run(_OF_EXTENSIONS)
    }


def _kind(found: TypeEngine[Any], rest: Kind) -> Kind:
    return next((kind for known, kind in _KINDS if isinstance(found, known)), rest)


def _keys(seen: Inspector, table: str, schema: str | None) -> frozenset[str]:
    """Columns that by themselves tell the rows of a table apart, by its own schema."""
    several = [seen.get_pk_constraint(table, schema).get("constrained_columns", [])]
    several += [one["column_names"] for one in seen.get_unique_constraints(table, schema)]
    return frozenset(names[0] for names in several if len(names) == 1)


@lru_cache(maxsize=16)
def _engine(address: str) -> Engine:
    try:
        url = read_address(address)
        kind = url.get_backend_name()
        if kind not in TONGUES:
            raise UnreadableFile(_UNKNOWN)
        if kind == "sqlite":
            url = _opened_for_reading(url)
        usual = {**_NETWORK, **OF_NO_SESSION} if kind == "postgresql" else {}
        settings = {name: value for name, value in usual.items() if name not in url.query}
        settings |= _BEGUN_HERE if kind == "postgresql" else {}
        engine = create_engine(
            url,
            poolclass=NullPool,
            hide_parameters=True,
            connect_args=settings,
            query_cache_size=0,  # each question is another statement, as long as its options
        )
    except (ArgumentError, NoSuchModuleError, ImportError):
        raise UnreadableFile(_UNREACHED) from None
    if kind == "sqlite":
        event.listen(engine, "connect", _begin)
    if kind == "postgresql":
        told.before_the_first(engine)
        watch(engine, told.tell)  # which comes before that
    return engine


def _opened_for_reading(url: URL) -> URL:
    file = Path(url.database or "").resolve()
    if not file.is_file():  # it would be made
        raise UnreadableFile(_UNREACHED)
    return url.set(database=f"file:{quote(str(file))}", query={"mode": "ro", "uri": "true"})


def _begin(connection: sqlite3.Connection, _: object) -> None:
    connection.create_function("md5", 1, _digest, deterministic=True)
    connection.create_function("half_of_sha256", 2, _half, deterministic=True)
    connection.create_function("plain_word", 1, _plain, deterministic=True)
    _bound(connection)
    # to SQLite the first use of this table changes a schema, the connection's own: later ones read alone
    connection.execute("SELECT 1 FROM json_each('[]')").close()
    connection.set_authorizer(_only_read)


def _only_read(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _MAY else sqlite3.SQLITE_DENY


def _asked_for(connection: Connection, sql: str) -> Rows:
    """What SQLite asks its authorizer for while it compiles a statement; the statement is not run."""
    held: Any = connection.connection.dbapi_connection
    found: Rows = []

    def note(action: int, *about: object) -> int:
        found.append((action, *about))
        return _only_read(action)

    held.set_authorizer(note)
    try:
        connection.exec_driver_sql(f"EXPLAIN {sql}").close()
    finally:
        held.set_authorizer(_only_read)
    return found


def _by_a_cell(connection: Connection, error: DBAPIError) -> bool:
    """Whether a statement failed by what a cell holds: by nothing else that a server tells of (``_ELSE``). SQLite says
    of that what it says of one that it cannot compile, so it is asked to compile it again; what failed while its rows
    were fetched was compiled."""
    if isinstance(error, DataError):
        return True
    told_by_server = getattr(error.orig, "sqlstate", None)
    if told_by_server is not None:
        return not told_by_server.startswith(_ELSE)
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code != sqlite3.SQLITE_ERROR:
        return bool(code == sqlite3.SQLITE_MISMATCH)
    try:
        if error.statement is not None:
            given: Any = error.params or ()
            connection.exec_driver_sql(f"EXPLAIN {error.statement}", given).close()
    except SQLAlchemyError:
        return False
    return True


def _bound(connection: Any) -> None:
    """Let a statement end within its time, from now."""
    until = time.monotonic() + watched.MOST
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)


def _plain(cell: bytes | float | None) -> bytes | None:
    """As ``plain_words.plain``, which looks at signs of ASCII alone: a text may hold what is no letter. Of a number the
    shortest digits that are that number."""
    if cell is None:
        return None
    return plain(repr(cell) if isinstance(cell, float) else cell.decode("latin-1")).encode("latin-1")


def _digest(text: bytes) -> str:
    """What other databases call md5: an order in which rows stay, not a secret."""
    return hashlib.md5(text, usedforsecurity=False).hexdigest()


def _half(text: bytes, second: int) -> str:
    """Of what other databases call sha256, as they write a UUID."""
    found = hashlib.sha256(text).digest()
    return str(UUID(bytes=found[16:] if second else found[:16]))
