"""In which schema of a server a ledger is, and that nobody else may write into it, or put anything there that its
statements call.

PostgreSQL takes of all functions and operators on a session's ``search_path`` the one that fits best, so one that
somebody may make in the ledger's schema is called by the ledger's role, which may do anything there. So a transaction
sees that schema alone, and a ledger is closed where its tables' owner, the database's and superusers are not alone in
it. Nor may others write rows: the chain of records has no key, so whoever can write one can write any that fits, their
own role among them; nor set a sequence, by whose numbers versions from before tell log-outs. A pooler may
give each transaction to another session, which was told nothing: each is told what must hold of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.pooled import agreed

if TYPE_CHECKING:
    from psycopg import ConnectionInfo, Cursor

NOWHERE = (
    "The ledger's address leads to no schema of its database that its account may use; make one by CREATE SCHEMA … "
    "AUTHORIZATION its account, and name it at the end of the address: ?options=-csearch_path%3Dits_name."
)
REPLICA = (
    "The ledger's account has sessions in which PostgreSQL keeps no reference between tables (session_replication_role "
    "is “{}”), so it stays closed; as a superuser run ALTER ROLE {} RESET session_replication_role, or take it out of "
    "the database's or the server's settings."
)
ENCODING = (
    "The ledger's database keeps letters as {}, in which not every name can be written, so nothing is recorded there; "
    "make one by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 and name that one."
)
POOLED = (
    "What stands before the ledger's server does not say how its sessions write letters (client_encoding), so nothing "
    "is read or recorded; let it pass that on, or name the server itself in the ledger's address."
)
_NOT_ALONE = (
    "The ledger's schema “{schema}” of the database “{database}” is not its own, so it stays closed: {found}; as the "
    "owner of what is named there run {mend}."
)
LOCKED = (
    "Another session holds the table “records” in the schema “{}” of the ledger's database, so it is not known whether "
    "that is a copy of the ledger, and nothing was given out; ask again once that session has ended, or rename the "
    "table if it is none."
)
_LOCKED = "55P03"
"""PostgreSQL's number for a lock that was waited for in vain."""
_SESSION = "SELECT pg_catalog.current_setting('session_replication_role'), pg_catalog.quote_ident(current_user)"
_SCHEMAS = "pg_catalog.current_schemas(false)::pg_catalog.text[]"
_RECORDS = """
SELECT n.nspname FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace JOIN pg_roles o ON o.oid = r.relowner
WHERE r.relname = 'records' AND r.relkind = 'r' AND r.relpersistence <> 't' AND (
    o.rolname = current_user OR o.rolsuper
    OR o.oid = (SELECT datdba FROM pg_database WHERE datname = current_database())
)
"""
"""Tables that may be a ledger's: anybody may give theirs that name, and lock it; and a session's temporary ones, which
end with it, nobody else can read."""
_WHERE = _RECORDS + "AND n.nspname = ANY (%s)"
_OTHERS = (
    _RECORDS  # noqa: S608 - no value is part of it
    + """AND n.nspname <> :here AND NOT r.relrowsecurity
AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(r.oid, 'SELECT') AND 2 = (
    SELECT count(*) FROM pg_attribute a WHERE a.attrelid = r.oid
    AND (a.attname, a.atttypid) IN (('seq', 20), ('hash', 25), ('hash', 1043))
)
ORDER BY 1
"""
)
"""Other schemas with one, of which no reader has anything called: its numbers and texts are PostgreSQL's own."""
_ALONE = "SET search_path TO pg_catalog, pg_temp"
_MOST = 8
"""Of what is found, how much is told at once."""
_STRANGE = """
WITH here AS (SELECT oid, nspname, nspowner, nspacl FROM pg_namespace WHERE nspname = :schema),
tables AS (
    SELECT r.oid, r.relname, r.relowner, r.relacl FROM pg_class r, here
    WHERE r.relnamespace = here.oid AND r.relkind = 'r' AND r.relname = ANY (:tables)
),
sequences AS (
    SELECT r.relname, r.relacl FROM pg_class r, pg_depend d, tables
    WHERE r.relkind = 'S' AND d.classid = 'pg_class'::regclass AND d.objid = r.oid AND d.deptype IN ('a', 'i')
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid = tables.oid
),
account AS (SELECT oid FROM pg_roles WHERE rolname = current_user),
head AS (
    SELECT coalesce((SELECT relowner FROM tables WHERE relname = 'records'), (SELECT oid FROM account)) AS owner
),
above AS (
    SELECT oid FROM pg_roles WHERE rolsuper OR rolname = 'pg_database_owner'
    UNION SELECT datdba FROM pg_database WHERE datname = current_database()
),
trusted AS (SELECT oid FROM above UNION SELECT owner FROM head),
rights AS (
    SELECT given.grantee, format('CREATE ON SCHEMA %I', here.nspname) AS what
    FROM here, aclexplode(here.nspacl) given WHERE given.privilege_type = 'CREATE'
    UNION
    SELECT given.grantee, format(
        '%s ON %I.%I', string_agg(given.privilege_type, ', ' ORDER BY given.privilege_type), here.nspname,
        tables.relname
    )
    FROM here, tables, aclexplode(tables.relacl) given
    WHERE given.privilege_type IN ('REFERENCES', 'TRIGGER')
    OR (
        given.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')
        AND given.grantee <> (SELECT oid FROM account)
    )
    GROUP BY given.grantee, here.nspname, tables.relname
    UNION
    SELECT given.grantee, format(
        '%s (%s) ON %I.%I', given.privilege_type, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
        here.nspname, tables.relname
    )
    FROM here, tables, pg_attribute a, aclexplode(a.attacl) given
    WHERE a.attrelid = tables.oid AND (
        given.privilege_type = 'REFERENCES'
        OR (given.privilege_type IN ('INSERT', 'UPDATE') AND given.grantee <> (SELECT oid FROM account))
    )
    GROUP BY given.grantee, given.privilege_type, here.nspname, tables.relname
    UNION
    SELECT given.grantee, format('UPDATE ON SEQUENCE %I.%I', here.nspname, sequences.relname)
    FROM here, sequences, aclexplode(sequences.relacl) given
    WHERE given.privilege_type = 'UPDATE' AND given.grantee <> (SELECT oid FROM account)
),
named AS (
    SELECT grantee, what, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS who
    FROM rights WHERE grantee NOT IN (SELECT oid FROM trusted)
),
owned AS (
    SELECT nspowner AS owner, format('SCHEMA %I', nspname) AS what FROM here
    UNION SELECT relowner, format('TABLE %I.%I', here.nspname, relname) FROM tables, here
    UNION SELECT p.proowner, 'FUNCTION ' || p.oid::regprocedure::text
    FROM pg_proc p, here WHERE p.pronamespace = here.oid AND p.proname = 'ledger_only_grows' AND p.pronargs = 0
),
called AS (
    SELECT p.proowner AS owner, 'ROUTINE ' || p.oid::regprocedure::text AS what
    FROM pg_proc p, here WHERE p.pronamespace = here.oid
    AND EXISTS (SELECT FROM pg_proc q WHERE q.proname = p.proname AND q.pronamespace = 'pg_catalog'::regnamespace)
    UNION
    SELECT o.oprowner, 'OPERATOR ' || o.oid::regoperator::text FROM pg_operator o, here WHERE o.oprnamespace = here.oid
)
SELECT 1, who || ' may ' || what, 'REVOKE ' || what || ' FROM ' || who FROM named
UNION
SELECT 2, what || ' is ' || quote_ident(pg_get_userbyid(owned.owner)) || '''s',
    'ALTER ' || what || ' OWNER TO ' || quote_ident(pg_get_userbyid(head.owner))
FROM owned, head WHERE owned.owner NOT IN (SELECT oid FROM trusted)
UNION
SELECT 3, what || ' is called instead of PostgreSQL''s own', 'DROP ' || what
FROM called WHERE owner NOT IN (SELECT oid FROM pg_roles WHERE rolsuper)
ORDER BY 1, 2
"""
"""What others may do in the schema, and what of others', or of whomever, is called there: a sentence and the remedy."""
TABLES = ("alembic_version", "head", "records", "lineages", "accounts", "fingerprints", "ended_logins")
"""All that the ledger's account writes to there, the last from the first log-out on (``ended``)."""


class Lodging:
    """The schema that all connections of one engine see, as the first of them found it, and what else holds of each of
    their transactions: ``settings`` by their names, as PostgreSQL takes them."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._found: dict[str, str] = {}
        self._settings = {"search_path": "", "client_encoding": "UTF8", **settings}
        # of letters it is ASCII alone: it is this statement that says how the server is to read them
        path = "pg_catalog.convert_from(pg_catalog.decode(%(search_path)s, 'hex'), 'UTF8')"
        values = {name: path if name == "search_path" else f"%({name})s" for name in self._settings}
        told = ", ".join(f"pg_catalog.set_config('{name}', {value}, true)" for name, value in values.items())
        self._told = f"{_SESSION}, {told}"

    def settle(self, cursor: Cursor[Any]) -> None:
        """Have a new session see it alone; of nothing that is called until then anybody has a better fit. What it
        makes for itself comes last, or it would hide tables.

        Raises LedgerError where there is none, and where the database does not keep every letter; LedgerUnsound for a
        session that takes itself for a replica's.
        """
        encoding = cursor.connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise LedgerError(ENCODING.format(encoding))
        cursor.execute("SET client_encoding TO 'UTF8'")  # whatever the account's or the address's is
        _agree(cursor.connection.info, cursor.execute)
        cursor.execute("RESET search_path")  # a pooler's session may be another client's, who set it otherwise
        role, user, path = cursor.execute(f"{_SESSION}, {_SCHEMAS}").fetchone() or ("", "", [])
        if role != "origin":
            raise LedgerUnsound(REPLICA.format(role, user))
        if not self._found:
            cursor.execute(_ALONE)
            self._found.setdefault("schema", _chosen(path, {str(name) for (name,) in cursor.execute(_WHERE, [path])}))
        # of this session at least, for what the library asks before the first transaction
        cursor.execute(f"SET search_path TO {self._path()}")

    @property
    def schema(self) -> str:
        """The one that was chosen; "" before a session was settled."""
        return self._found.get("schema", "")

    def tell(self, connection: Connection) -> None:
        """Have a transaction that begins now see the schema alone, in one statement that calls nothing of anybody's.

        Raises LedgerUnsound where its session takes itself for a replica's, LedgerError as ``_agree``.
        """
        asked = self._settings | {"search_path": self._path().encode().hex()}
        raw: Any = connection.connection.dbapi_connection
        if not raw.autocommit:  # in which nothing is a transaction's (``engine.rewrite_files``)
            _agree(raw.info, connection.exec_driver_sql)
        role, user, *_ = connection.exec_driver_sql(self._told, asked).one()
        if role != "origin":
            raise LedgerUnsound(REPLICA.format(role, user))

    def _path(self) -> str:
        from psycopg import sql

        return f"{sql.Identifier(self._found['schema']).as_string(None)}, pg_temp"


def _agree(info: ConnectionInfo, execute: Callable[[str], object]) -> None:
    """Have both sides write this transaction's letters as UTF-8. Raises LedgerError where they do not come to it."""
    if not agreed(info, execute, "client_encoding", "UTF8", "SQL_ASCII"):
        raise LedgerError(POOLED)


def _chosen(path: Sequence[str], having: Collection[str]) -> str:
    """The first schema that has the ledger's tables, else the first: whoever may make schemas may make one of the
    account's name, which a usual path puts before all others. Raises LedgerError where there is none."""
    for name in [*(name for name in path if name in having), *path]:
        return name
    raise LedgerError(NOWHERE)


@contextmanager
def plainly(connection: Connection) -> Iterator[str]:
    """The name of the schema; within, functions and operators are PostgreSQL's own, and others are written in full.
    Raises LedgerError where there is none."""
    schema = connection.exec_driver_sql("SELECT pg_catalog.current_schema()").scalar()
    if schema is None:
        raise LedgerError(NOWHERE)
    before = connection.exec_driver_sql("SHOW search_path").scalar()
    connection.exec_driver_sql(_ALONE.replace("SET", "SET LOCAL"))
    yield str(schema)
    connection.execute(text("SELECT set_config('search_path', :before, true)"), {"before": before})


def schemas_of(connection: Connection, firsts: Collection[str]) -> list[str]:
    """The other schemas, of those that the account may read, whose ledger begins with a record of one of these hashes,
    which no two ledgers share; empty for what is on no server. Tables of others than the account, the database's owner
    and superusers are none: whoever may read a ledger can copy it, and nobody else could take the copy away.

    Raises LedgerError, which names the schema, where a table of theirs is held.
    """
    if connection.dialect.name != "postgresql" or not firsts:
        return []
    from psycopg import sql

    asked = "SELECT 1 FROM ONLY {}.records WHERE seq = 1 AND hash = ANY (%(firsts)s) LIMIT 1"
    found = []
    with plainly(connection) as here:
        for name in connection.execute(text(_OTHERS), {"here": here}).scalars().all():
            named = sql.Identifier(str(name)).as_string(None).replace("%", "%%")
            try:
                is_there = connection.exec_driver_sql(asked.format(named), {"firsts": [*firsts]}).scalar()
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) != _LOCKED:
                    raise
                raise LedgerError(LOCKED.format(name)) from None
            if is_there:
                found.append(str(name))
    return found


def be_alone(connection: Connection) -> None:
    """Raises LedgerUnsound where others may write into the ledger's tables or put something into its schema, or did,
    with what to run; and as ``Lodging.settle`` for a session that was made otherwise since."""
    with plainly(connection) as schema:
        found = connection.execute(text(_STRANGE), {"schema": schema, "tables": list(TABLES)}).all()[:_MOST]
        role, user = connection.exec_driver_sql(_SESSION).one()
        database = connection.exec_driver_sql("SELECT current_database()").scalar()
    if role != "origin":
        raise LedgerUnsound(REPLICA.format(role, user))
    if found:
        said, mend = (", ".join(str(row[1]) for row in found), "; ".join(str(row[2]) for row in found))
        raise LedgerUnsound(_NOT_ALONE.format(schema=schema, database=database, found=said, mend=mend))
