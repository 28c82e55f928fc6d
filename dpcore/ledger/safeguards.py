"""What keeps plain SQL from changing a ledger on a server: its triggers, checks and unique indexes, word by word.

A trigger of the right name that fires never, or a check that is always true, keeps nothing. Each is compared as the
server writes it down, without what versions of it may write differently: types, numbers in marks, where a table is.
Nor do they keep anything where another trigger changes a row once they have looked, where rows are in a table that
inherits and has none of them, or where a number is kept as a text: of triggers, columns and kinds of tables there is
no more than the migrations make.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import Connection

from dpcore.ledger.schema import metadata

ACT = "BEGIN RAISE EXCEPTION '% only grows', TG_TABLE_NAME; END"
WANTED = frozenset(Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines())
"""Those that the migrations make."""
_MORE = ("check", "unique")
"""Of what there may be more: it refuses some rows, and lets through none that the others refuse."""
_TRIGGERS = (
    "SELECT r.relname, CASE WHEN t.tgenabled = 'O' AND t.tgnargs = 0 AND t.tgattr = '' "
    "AND p.proname = 'ledger_only_grows' AND p.pronamespace = r.relnamespace THEN t.tgtype::text ELSE 'other' END, "
    "coalesce(substring(pg_get_triggerdef(t.oid) from ' WHEN (.*) EXECUTE '), '') "
    "FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal AND r.relnamespace = current_schema()::regnamespace"
)
_TABLES = (
    "SELECT r.relname, CASE WHEN r.relkind = 'r' AND r.relpersistence = 'p' AND NOT r.relrowsecurity "
    "AND NOT r.relforcerowsecurity AND NOT EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = r.oid) "
    "AND NOT EXISTS (SELECT FROM pg_inherits i WHERE r.oid IN (i.inhparent, i.inhrelid)) "
    "THEN 'table' ELSE 'other' END, '' FROM pg_class r WHERE r.relnamespace = current_schema()::regnamespace"
)
_COLUMNS = (
    "SELECT r.relname, CASE WHEN y.typnamespace = 'pg_catalog'::regnamespace AND a.attcollation = y.typcollation "
    "AND a.attgenerated = '' AND a.attidentity = '' AND a.attnotnull THEN 'column' ELSE 'other' END, "
    "a.attname || ' ' || format_type(a.atttypid, a.atttypmod) "
    "FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid JOIN pg_type y ON y.oid = a.atttypid "
    "WHERE a.attnum > 0 AND NOT a.attisdropped AND r.relnamespace = current_schema()::regnamespace"
)
_CHECKS = (
    "SELECT r.relname, 'check', pg_get_constraintdef(c.oid) FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid "
    "WHERE c.contype = 'c' AND c.convalidated AND r.relnamespace = current_schema()::regnamespace"
)
_INDEXES = (
    "SELECT r.relname, 'unique', substring(pg_get_indexdef(i.indexrelid) from ' USING btree (.*)$') "
    "FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid "
    "WHERE i.indisunique AND i.indisvalid AND i.indisready AND r.relnamespace = current_schema()::regnamespace"
)
_FUNCTION = (
    "SELECT prosrc FROM pg_proc WHERE proname = 'ledger_only_grows' AND pronamespace = current_schema()::regnamespace"
)
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
    return {
        " ".join(filter(None, (str(table), _KINDS.get(str(kind), str(kind)), words(str(said)))))
        for query in (_TRIGGERS, _TABLES, _COLUMNS, _CHECKS, _INDEXES)
        for table, kind, said in connection.exec_driver_sql(query)
        if table in metadata.tables
    }


def are_there(connection: Connection) -> bool:
    """Whether all of ``WANTED`` are, and nothing beside them but checks and indexes."""
    acts = [" ".join(str(source).split()) for source in connection.exec_driver_sql(_FUNCTION).scalars()]
    there = found(connection)
    return acts == [ACT] and there >= WANTED and all(one.split()[1] in _MORE for one in there - WANTED)
