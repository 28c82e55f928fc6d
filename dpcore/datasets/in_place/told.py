"""What each transaction of a source in PostgreSQL is told before anything is asked in it.

A pooler may give it to a session that another client said something in, and an account may be set to anything. So it
begins as its account's own sessions do, whatever was said since, and what decides how our statements are read and their
answers written is the same for every account. That is said in ASCII, which every session reads alike, in the message
that begins it: a server that waited for a second one would count by the other client's limits. The rollback that ends
such a transaction takes all of it back, so that other clients find their session as they left it.

PostgreSQL calls whichever function or operator on a session's ``search_path`` fits best, by whomever it was made, with
the account's rights and each cell. So a transaction sees PostgreSQL's own alone: where its account looks says only in
which schema a table is, which is then written before its name. Until that holds nothing is called without its schema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, event

from dpcore.datasets.in_place import watched
from dpcore.datasets.in_place.tongue import literal_text
from dpcore.errors import UnreadableFile
from dpcore.pooled import agreed

if TYPE_CHECKING:
    from psycopg import ConnectionInfo

NOWHERE = (
    "The source's address leads to no schema of its database that its account may use, so no table is found; ask the "
    "people who run the server."
)
UNTOLD = (
    "What stands before the database does not keep to what a transaction is told of letters and days, so nothing is "
    "asked of it; ask the people who run the server."
)
_WRITTEN = {
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "quote_all_identifiers": "off",
    "transform_null_equals": "off",
    "extra_float_digits": "3",  # or two numbers are one text
    "bytea_output": "hex",
    "DateStyle": "ISO",  # whether a day or a month comes first stays the account's: a view may read texts by it
    "gin_fuzzy_search_limit": "0",  # else an index gives some of the rows
    "search_path": "pg_catalog, pg_temp",  # temporary types and tables would else come before all others
}
"""How our statements are read and their answers written, whatever the account is set to."""
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY NOT DEFERRABLE"
"""Whatever the session's defaults are."""
_SCHEMAS = "SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]"
_SET = {name: f"SELECT pg_catalog.set_config('{name}', '{value}', true)" for name, value in _WRITTEN.items()}
_TOLD = "; ".join(("RESET ALL", "RESET SESSION AUTHORIZATION", "RESET ROLE", *_SET.values()))
_SAID = f"""
SELECT name, setting, CASE WHEN name IN ('statement_timeout', 'lock_timeout') THEN set_config(
    name, CASE WHEN setting <> '0' THEN setting WHEN name = 'lock_timeout' THEN %(locked)s ELSE %(most)s END, true
) END FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', {", ".join(map(literal_text, _WRITTEN))})
"""  # noqa: S608 - names of settings
"""What holds; and for how long a statement may go on, in milliseconds, unless the server, its owner or the address says
it."""
_TABLES = """
SELECT DISTINCT ON (c.relname) c.relname, n.nspname, c.relkind::text
FROM unnest(%(path)s::text[]) WITH ORDINALITY AS looked(name, place)
JOIN pg_namespace n ON n.nspname = looked.name
JOIN pg_class c ON c.relnamespace = n.oid
ORDER BY c.relname, looked.place
"""
"""By each name, what stands in the first schema that has anything of it, be it an index."""
_OF_ROWS, _VIEW = ("r", "p"), "v"
_SYSTEM = "pg_"
"""So begin schemas of PostgreSQL's own and those of temporary tables, and no others."""


def tell(connection: Connection) -> float:
    """Begin a transaction, and tell it; gives the seconds that one statement of it may take the server, 0 without
    end. Raises UnreadableFile where that is not what holds then."""

    def execute(sql: str, **asked: str) -> Any:
        return connection.exec_driver_sql(sql, asked or None, execution_options={"stream_results": False})

    raw: Any = connection.connection.dbapi_connection
    _tell(raw.info, execute)
    times = {"most": str(int(1000 * watched.MOST)), "locked": str(int(1000 * watched.LOCKED))}
    said = {name: setting for name, setting, _ in execute(_SAID, **times)}
    if not all(said[name].startswith(value) for name, value in _WRITTEN.items()):
        raise UnreadableFile(UNTOLD)
    return int(said["statement_timeout"]) / 1000


def before_the_first(engine: Engine) -> None:
    """Begin the transaction in which SQLAlchemy asks its own first questions, once for an engine, and which it rolls
    back, and tell it: by the answers it writes and reads from then on."""
    first = [_tell]

    @event.listens_for(engine, "connect", insert=True)
    def _begin(raw: Any, _: object) -> None:
        for begin in first:
            begin(raw.info, raw.execute)

    @event.listens_for(engine, "connect")
    def _asked(*_: object) -> None:
        first.clear()


def tables(connection: Connection) -> dict[str, str]:
    """Names of the tables, and behind them of the views, where the account looks, with the schema in which each is
    found. Raises UnreadableFile where no schema is looked into."""
    connection.exec_driver_sql("RESET search_path")
    looked = [name for name in connection.exec_driver_sql(_SCHEMAS).scalar_one() if not name.startswith(_SYSTEM)]
    connection.exec_driver_sql(_SET["search_path"])
    if not looked:
        raise UnreadableFile(NOWHERE)
    found = connection.exec_driver_sql(_TABLES, {"path": looked}).all()
    of_rows, views = ({name: schema for name, schema, kind in found if kind in kinds} for kinds in (_OF_ROWS, _VIEW))
    return dict(sorted(of_rows.items())) | dict(sorted(views.items()))


def _tell(info: ConnectionInfo, execute: Callable[[str], object]) -> None:
    execute(f"{_BEGIN}; {_TOLD}")
    # what is read of answers by what the server said last: texts and days
    if not (
        agreed(info, execute, "client_encoding", "UTF8", "SQL_ASCII")
        and agreed(info, execute, "DateStyle", "ISO", "SQL")
    ):
        raise UnreadableFile(UNTOLD)
