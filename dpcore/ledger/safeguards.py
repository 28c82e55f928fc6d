"""What keeps plain SQL from changing a ledger on a server: its triggers, checks and indexes, word by word.

A trigger of the right name that fires never, or a check that is always true, keeps nothing. Each is compared as the
server writes it down, without what versions of it may write differently: types, numbers in marks, where a table is.
Nor do they keep anything where a function is called beside them: by another trigger, or by a check, an index or a
default, which may all set sums back; where rows are in a table that inherits and has none of them, or where a number is
kept as a text. So there is no more than the migrations make.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import Connection, text

from dpcore.ledger.lodging import TABLES, plainly

ACT = "BEGIN RAISE EXCEPTION '% only grows', TG_TABLE_NAME; END"
WANTED = frozenset(Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines())
"""Those that the migrations make."""
OF_LOG_OUTS = frozenset(
    f"ended_logins {one}"
    for one in (
        "table",
        "counted seq bigint",
        *(f"column {name}" for name in ("provider text", "person text", "login text", "since bigint", "until bigint")),
        "unique ( person , login )",
        "unique ( seq )",
    )
)
"""What the table of log-outs has (``ended``), which is made with the first; none of it need be there."""
_HERE = "r.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = :schema) AND r.relname = ANY (:tables)"
_TRIGGERS = (
    "SELECT r.relname, CASE WHEN t.tgenabled = 'A' AND t.tgnargs = 0 AND t.tgattr = '' "
    "AND p.proname = 'ledger_only_grows' AND p.pronamespace = r.relnamespace AND p.pronargs = 0 "
    "AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql') AND p.proconfig IS NULL "
    "AND regexp_replace(btrim(p.prosrc, E' \\n'), '\\s+', ' ', 'g') = :act THEN t.tgtype::text ELSE 'other' END, "
    "coalesce(substring(pg_get_triggerdef(t.oid) from ' WHEN (.*) EXECUTE '), '') "
    "FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal"
)
_TABLES = (
    "SELECT r.relname, CASE WHEN r.relkind = 'r' AND r.relpersistence = 'p' AND NOT r.relrowsecurity "
    "AND NOT r.relforcerowsecurity AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = r.oid) "
    "AND NOT EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = r.oid) "
    "AND NOT EXISTS (SELECT FROM pg_statistic_ext s WHERE s.stxrelid = r.oid) "
    "AND NOT EXISTS (SELECT FROM pg_inherits i WHERE r.oid IN (i.inhparent, i.inhrelid)) "
    "THEN 'table' ELSE 'other' END, '' FROM pg_class r WHERE true"
)
_COLUMNS = (
    "SELECT r.relname, CASE WHEN y.typnamespace = 'pg_catalog'::regnamespace "
    "AND a.attcollation = CASE WHEN y.typcollation = 0 OR r.relname = ANY (ARRAY['alembic_version', 'ended_logins']) "
    "THEN y.typcollation ELSE 'pg_catalog.\"C\"'::regcollation END "
    "AND a.attgenerated = '' AND a.attidentity IN ('', 'd') AND a.attnotnull AND NOT a.atthasdef "
    "THEN CASE a.attidentity WHEN '' THEN 'column' ELSE 'counted' END ELSE 'other' END, "
    "a.attname || ' ' || format_type(a.atttypid, a.atttypmod) "
    "FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid "
    "WHERE a.attnum > 0 AND NOT a.attisdropped"
)
_CHECKS = (
    "SELECT r.relname, CASE WHEN c.contype = 'c' AND c.convalidated THEN 'check' ELSE 'other' END, "
    "pg_get_constraintdef(c.oid) FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid "
    "WHERE c.contype IN ('c', 'x', 't')"
)
_FOREIGN = (
    "SELECT r.relname, CASE WHEN c.convalidated AND c.conrelid = r.oid "
    "AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = c.oid AND t.tgenabled <> 'O') "
    "THEN 'foreign' ELSE 'other' END, replace(pg_get_constraintdef(c.oid), quote_ident(:schema) || '.', '') "
    "FROM pg_constraint c JOIN pg_class r ON r.oid IN (c.conrelid, c.confrelid) JOIN pg_class o ON o.oid = c.conrelid "
    "WHERE c.contype = 'f' AND (o.oid = r.oid OR o.relnamespace <> r.relnamespace OR o.relname <> ALL (:tables))"
)
_INDEXES = (
    "SELECT r.relname, CASE WHEN i.indisunique THEN 'unique' ELSE 'index' END "
    "|| CASE WHEN i.indisvalid AND i.indisready AND i.indislive AND i.indimmediate THEN '' ELSE ' unready' END, "
    "coalesce(substring(pg_get_indexdef(i.indexrelid) from ' USING btree (.*)$'), 'other') "
    "FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid WHERE true"
)
_ALL = " UNION ALL ".join(f"{one} AND {_HERE}" for one in (_TRIGGERS, _TABLES, _COLUMNS, _CHECKS, _FOREIGN, _INDEXES))
_TYPE = re.compile(r"::[a-z][a-z ]*(?:\[\])?")
_NUMBER = re.compile(r"'(-?\d+)'|\((-?\d+)\)")
_WORD = re.compile(r"'[^']*'|[A-Za-z_][A-Za-z_0-9.]*|-?\d+|[<>=!]+|[^\s\"]")
_KINDS = {"11": "stays", "19": "grows", "34": "kept"}
"""Before a row is deleted or changed, and before all of them go (``tgtype``)."""


def words(text: str) -> str:
    """What a definition says, whichever version of the server wrote it down."""
    return " ".join(_WORD.findall(_NUMBER.sub(lambda number: number[1] or number[2], _TYPE.sub("", text))))


def found(connection: Connection) -> set[str]:
    """All that are in place and switched on, and as ``other`` what else is of their kinds."""
    with plainly(connection) as schema:
        rows = connection.execute(text(_ALL), {"schema": schema, "tables": list(TABLES), "act": ACT}).all()
    return {
        " ".join(filter(None, (str(table), _KINDS.get(str(kind), str(kind)), words(str(said)))))
        for table, kind, said in rows
    }


def missing(connection: Connection) -> tuple[list[str], list[str]]:
    """Those of ``WANTED`` that are not there, and what is there beside them. An index that is just built anew, as one
    that is wanted, is not."""
    there = found(connection)
    beside = {one for one in there - WANTED - OF_LOG_OUTS if one.replace(" unready ", " ", 1) not in WANTED}
    return sorted(WANTED - there), sorted(beside)
