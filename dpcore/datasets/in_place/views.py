"""Whether a table or view gives an answer whatever its cells hold, by its definition alone; no row is read for it.

What a view works out of its cells is worked out while a question is answered, after its charge: a cast that one cell
does not bear takes every answer about that column away, which tells of that cell for sure, at no ε. So a view that does
more than choose rows and columns in ways that are known here not to fail is offered only where its owner states that it
cannot. Views below it, columns that a table works out as it is read, and PostgreSQL's policies are looked at alike.

What is read and called is what the engine itself makes of the definition: its names are found, and its casts put in, as
it does that. Whatever is met and not known here, a name that is not found among them, is refused.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from typing import Any

from dpcore.datasets.in_place.definitions import (
    Run,
    all_known,
    asked,
    folded,
    named,
    plan,
    trees,
    trees_known,
)
from dpcore.errors import UnreadableFile

_LOG = logging.getLogger(__name__)
MAY_FAIL = (
    "This table or view works something out of its cells that might fail by what one of them holds, so nothing is "
    "asked of it; the people who run the server can state that it cannot."
)

# PostgreSQL writes a view down as a tree; these are its parts that work nothing out, and those that only compare.
_PARTS = {
    *("QUERY", "RTE", "RANGETBLENTRY", "RTEPERMISSIONINFO", "ALIAS", "FROMEXPR", "RANGETBLREF", "JOINEXPR"),
    *("TARGETENTRY", "VAR", "CONST", "RELABELTYPE", "BOOLEXPR", "NULLTEST", "BOOLEANTEST", "OPEXPR", "FUNCEXPR"),
    *("SETOPERATIONSTMT", "COALESCE", "COALESCEEXPR", "CASE", "CASEEXPR", "WHEN", "CASEWHEN", "SCALARARRAYOPEXPR"),
    *("ARRAY", "ARRAYEXPR"),
    *("SORTGROUPCLAUSE", "DISTINCTEXPR", "SQLVALUEFUNCTION"),
}
_TOTAL = """
SELECT o.oprcode::oid::bigint FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_operator e ON e.oid IN (o.oid, o.oprnegate)
  JOIN pg_catalog.pg_amop a ON a.amopopr = e.oid
  JOIN pg_catalog.pg_am m ON m.oid = a.amopmethod AND m.amname = 'btree'
  JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode AND p.pronamespace = 'pg_catalog'::regnamespace
    AND p.oid < {first}
UNION SELECT p.oid::bigint FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < {first} AND (
  p.proname IN ('lower', 'upper', 'btrim', 'ltrim', 'rtrim') AND p.proargtypes::text = '25'
  OR p.proname IN ('int4', 'int8', 'float8', 'numeric')
    AND p.proargtypes::text IN ('21', CASE WHEN p.proname <> 'int4' THEN '23' END,
      CASE WHEN p.proname IN ('float8', 'numeric') THEN '20' END)
)
"""
_KEPT = {"r", "p", "m", "v", "policy"}
"""What holds rows, is looked into, or is a condition; a foreign table and a column that is worked out are none."""

# DuckDB makes numbers of texts that are compared with numbers, so that there comparing can fail as well.
_STEPS = {"LOGICAL_PROJECTION", "LOGICAL_FILTER", "LOGICAL_AGGREGATE_AND_GROUP_BY"}
_EXPRESSIONS = {
    *(("BOUND_REF", "BOUND_REF"), ("BOUND_CONSTANT", "VALUE_CONSTANT")),
    *(("BOUND_CONJUNCTION", f"CONJUNCTION_{which}") for which in ("AND", "OR")),
    *(("BOUND_OPERATOR", f"OPERATOR_{which}") for which in ("IS_NULL", "IS_NOT_NULL", "NOT")),
}
# TRY_CAST fails all the same between points in time of several units or zones, and of BIGNUM.
_TRIED = {
    *(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")),
    *("INTEGER", "UINTEGER", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "DATE", "TIME", "UUID", "TIMESTAMP"),
}
_TRIED_OF = {*_TRIED, "VARCHAR", "ENUM", "TIMESTAMP_NS"}

# SQLite casts, adds and compares whatever it is given; functions may fail. (LIKE, GLOB and -> are functions there.)
_HARMLESS = {
    *("trim", "ltrim", "rtrim", "lower", "upper", "length", "substr", "substring", "instr"),
    *("coalesce", "ifnull", "nullif", "iif", "typeof", "count", "min", "max"),
    *("date", "current_date", "current_time", "current_timestamp"),
}

_HELD = (0, 3)
"""What ``table_xinfo`` says of a column that is stored: as it was given, or worked out as it was written."""


def check(engine: str, run: Run, quoted: Callable[[str], str], table: str, *, compiled: Run | None = None) -> None:
    """Raises UnreadableFile with ``MAY_FAIL`` where it is not known of a table or view that it cannot fail, or as
    ``run``. ``compiled`` gives what SQLite asks its authorizer for while it compiles a statement, which is not run."""
    if engine == "sqlite" and compiled is not None:
        known = _in_sqlite(run, compiled, quoted, table)
    else:
        looks = {"postgresql": _in_postgresql, "duckdb": _in_duckdb}
        known = engine in looks and looks[engine](run, quoted, table)
    if not known:
        raise UnreadableFile(MAY_FAIL)


def failed(table: str) -> None:
    """Tell who runs the server that a question failed after its charge, and no more of why than where to look."""
    _LOG.warning(
        "a question about the table or view %r of a source failed by what a cell holds; each that reads that cell "
        "does, and tells of it: see never_fail in docs/sources.md",
        table,
    )


def _in_postgresql(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    return trees_known(run, trees(run, quoted, table), kinds=_KEPT, parts=_PARTS, functions=_TOTAL)


def _in_duckdb(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    steps = plan(run, quoted, table)
    return bool(steps) and all_known(map(_harmless, steps), (True,))


def _harmless(part: dict[str, Any]) -> bool:
    kind, called = part.get("expression_class"), named(part)
    if kind is None:
        return part["type"] in _STEPS or (part["type"] == "LOGICAL_GET" and called == ["seq_scan"])
    if called == ["__cast"]:
        of = [one.get("id") for one in part.get("arguments") or [{}]]
        made, tried = (part.get(which) or {} for which in ("return_type", "function_data"))
        return tried.get("try_cast") is True and all_known(of, _TRIED_OF) and all_known([made.get("id")], _TRIED)
    return (kind, part["type"]) in _EXPRESSIONS


def _in_sqlite(run: Run, compiled: Run, quoted: Callable[[str], str], table: str) -> bool:
    """By what SQLite says that it reads and calls. What a table works out as it is read it does not say."""
    found = asked(run, compiled, quoted, table)
    read = {folded(about[0]) for action, *about in found.met if action == sqlite3.SQLITE_READ}
    called = {about[1] for action, *about in found.met if action == sqlite3.SQLITE_FUNCTION}
    return (
        bool(read)
        and all_known(
            (action for action, *_ in found.met), (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
        )
        and all_known(read, {*found.stored, *found.shown})
        and all_known(called, _HARMLESS)
        and all(
            all_known((row[-1] for row in run(f"PRAGMA table_xinfo({quoted(name)})")), _HELD)
            for name in read & found.stored
        )
    )
