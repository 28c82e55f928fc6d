"""What each transaction of a source in PostgreSQL is told before anything is asked in it.

A pooler may give it to a session that another client said something in, and an account may be set to anything. So it
begins as its account's own sessions do, whatever was said since, and what decides how our statements are read and their
answers written is the same for every account. That is said in ASCII, which every session reads alike, and calls nothing
that somebody could have put before PostgreSQL's own. Temporary tables come last: they are the session's. The rollback
that ends such a transaction takes all of it back, so that other clients find their session as they left it.
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
}
"""How our statements are read and their answers written, whatever the account is set to."""
_LAST = "pg_temp"
_PATH = """
SELECT pg_catalog.set_config('search_path', pg_catalog.array_to_string(pg_catalog.array_append(ARRAY(
    SELECT pg_catalog.quote_ident(name) FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS name
    WHERE NOT pg_catalog.starts_with(name, 'pg_temp_')
), 'pg_temp'), ', '), true)
"""
"""Where its account looks; unless they are named there, a session's temporary tables come before all others."""
_TOLD = "; ".join((
    *("RESET SESSION AUTHORIZATION", "RESET ROLE", "RESET ALL"),
    *(f"SET LOCAL {name} TO '{value}'" for name, value in _WRITTEN.items()),
    _PATH,
))  # fmt: skip
_SAID = f"""
SELECT name, setting, CASE WHEN name IN ('statement_timeout', 'lock_timeout') THEN set_config(
    name, CASE WHEN setting <> '0' THEN setting WHEN name = 'lock_timeout' THEN %(locked)s ELSE %(most)s END, true
) END FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', {", ".join(map(literal_text, _WRITTEN))})
"""  # noqa: S608 - names of settings
"""What holds; and for how long a statement may go on, in milliseconds, unless the server, its owner or the address says
it."""
_WHERE = """
SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = %(table)s AND c.relpersistence <> 't' AND pg_catalog.pg_table_is_visible(c.oid)
"""


def tell(connection: Connection) -> float:
    """Tell a transaction that begins now; gives the seconds that one statement of it may take the server, 0 without
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
    """Tell the transaction in which SQLAlchemy asks its own first questions, once for an engine, and which it rolls
    back: by the answers it writes and reads from then on."""
    first = [_tell]

    @event.listens_for(engine, "connect", insert=True)
    def _begin(raw: Any, _: object) -> None:
        for begin in first:
            begin(raw.info, raw.execute)

    @event.listens_for(engine, "connect")
    def _asked(*_: object) -> None:
        first.clear()


def schema_of(connection: Connection, table: str) -> str | None:
    """In which schema a table or view is found by this name, if in any."""
    found: str | None = connection.exec_driver_sql(_WHERE, {"table": table}).scalar()
    return found


def is_somewhere(connection: Connection) -> None:
    """Raises UnreadableFile where no schema is looked into."""
    if connection.exec_driver_sql("SHOW search_path").scalar() == _LAST:
        raise UnreadableFile(NOWHERE)


def _tell(info: ConnectionInfo, execute: Callable[[str], object]) -> None:
    execute(_TOLD)
    # what is read of answers by what the server said last: texts and days
    if not (
        agreed(info, execute, "client_encoding", "UTF8", "SQL_ASCII")
        and agreed(info, execute, "DateStyle", "ISO", "SQL")
    ):
        raise UnreadableFile(UNTOLD)
