"""A table or view of a database, read only and added up there.

The address comes from the server's configuration, never from a visitor, and appears in no sentence: it may hold a
password.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Engine, create_engine, event, inspect, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from dpcore.datasets.in_place.aggregates import InPlace, Rows
from dpcore.errors import UnreadableFile

_UNREACHED = "The database cannot be reached, or does not let this server read; ask the people who run the server."
# What makes a session refuse to write. PostgreSQL is told with each transaction; any other kind is only rolled back.
_READ_ONLY = {
    "sqlite": "PRAGMA query_only = ON",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
}
_FLOOR = {"sqlite": "CAST({} AS INTEGER)"}  # nothing here is below 0, and SQLite may be built without floor
_CLIP = {"sqlite": "min(max({value}, {low}), {high})"}
_OTHER_CLIP = "(CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END)"


def tables_of(address: str, *, allowed: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names of the tables and views that can be chosen, all or those ``allowed``. Raises UnreadableFile."""
    try:
        seen = inspect(_engine(address))
        found = (*sorted(seen.get_table_names()), *sorted(seen.get_view_names()))
    except SQLAlchemyError:
        raise UnreadableFile(_UNREACHED) from None
    return tuple(name for name in found if not allowed or name in allowed)


def open_database(address: str, table: str, *, name: str = "", allowed: tuple[str, ...] = ()) -> InPlace:
    """One table or view. ``address`` is an SQLAlchemy address; ``name`` is what people call it, for budgets.

    Raises UnreadableFile, also for a table that is not among those of ``tables_of``.
    """
    if table not in tables_of(address, allowed=allowed):
        raise UnreadableFile("The database has no such table or view; choose one of its list.")
    engine = _engine(address)
    quote = engine.dialect.identifier_preparer.quote_identifier

    def run(sql: str) -> Rows:
        try:
            with engine.connect() as connection:
                rows = [tuple(row) for row in connection.exec_driver_sql(sql)]
                connection.rollback()
                return rows
        except SQLAlchemyError:
            raise UnreadableFile("The database could not answer this question about this table.") from None

    try:
        columns = tuple(str(column["name"]) for column in inspect(engine).get_columns(table))
    except SQLAlchemyError:
        raise UnreadableFile(_UNREACHED) from None
    url = make_url(address)
    label = name or url.database or "database"
    known = url.set(password=None).render_as_string(hide_password=False)
    return InPlace(
        names=columns,
        source=quote(table),
        run=run,
        quoted=quote,
        floor=_FLOOR.get(engine.dialect.name, "floor({})"),
        clip=_CLIP.get(engine.dialect.name, _OTHER_CLIP),
        key=hashlib.sha256(f"{known}|{table}".encode()).hexdigest(),
        lineage=f"configured:{label}/{table}",
    )


@lru_cache(maxsize=16)
def _engine(address: str) -> Engine:
    try:
        url = make_url(address)
        missing = url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file()
        if missing:  # it would be made
            raise UnreadableFile(_UNREACHED)
        options = {"postgresql_readonly": True} if url.get_backend_name() == "postgresql" else {}
        engine = create_engine(address, poolclass=NullPool, hide_parameters=True, execution_options=options)
    except (ArgumentError, NoSuchModuleError, ImportError):
        raise UnreadableFile(_UNREACHED) from None
    command = _READ_ONLY.get(engine.dialect.name)
    if command is not None:

        @event.listens_for(engine, "connect")
        def _read_only(connection: DBAPIConnection, _: object) -> None:
            cursor = connection.cursor()
            cursor.execute(command)
            cursor.close()

    return engine
