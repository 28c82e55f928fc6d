"""What keeps plain SQL from changing a ledger on a server: its triggers, checks and unique indexes, word by word.

A trigger of the right name that fires never, or a check that is always true, keeps nothing. Each is compared as the
server writes it down, without what versions of it may write differently: types, numbers in marks, where a table is.
"""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy import Connection

ACT = "BEGIN RAISE EXCEPTION '% only grows', TG_TABLE_NAME; END"
WANTED = frozenset(Path(__file__).with_suffix(".txt").read_text(encoding="ascii").splitlines())
"""Those that the migrations make."""
_TRIGGERS = (
    "SELECT r.relname, t.tgtype, coalesce(substring(pg_get_triggerdef(t.oid) from ' WHEN (.*) EXECUTE '), '') "
    "FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
    "WHERE NOT t.tgisinternal AND t.tgenabled = 'O' AND t.tgnargs = 0 AND t.tgattr = '' "
    "AND r.relnamespace = current_schema()::regnamespace AND p.proname = 'ledger_only_grows' "
    "AND p.pronamespace = r.relnamespace"
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
    """All that are in place and switched on."""
    return {
        " ".join(filter(None, (str(table), _KINDS.get(str(kind), str(kind)), words(str(said)))))
        for query in (_TRIGGERS, _CHECKS, _INDEXES)
        for table, kind, said in connection.exec_driver_sql(query)
    }


def are_there(connection: Connection) -> bool:
    """Whether all of ``WANTED`` are, beside whatever else there is."""
    acts = [" ".join(str(source).split()) for source in connection.exec_driver_sql(_FUNCTION).scalars()]
    return acts == [ACT] and found(connection) >= WANTED
