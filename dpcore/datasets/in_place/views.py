"""Whether a table or view gives an answer whatever its cells hold, by its definition alone; no row is read for it.

What a view works out of its cells is worked out while a question is answered, after its charge: a cast that one cell
does not bear takes every answer about that column away, which tells of that cell for sure, at no ε. So a view that does
more than choose rows and columns in ways that are known here not to fail is offered only where its owner states that it
cannot. Views below it, columns that a table works out as it is read, and PostgreSQL's policies are looked at alike.

What is read and called is what the engine itself makes of the definition: its names are found, and its casts put in, as
it does that. Whatever is met and not known here, a name that is not found among them, is refused.
"""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from collections.abc import Callable, Container, Iterable
from typing import Any

from dpcore.datasets.in_place.tongue import literal_text
from dpcore.errors import UnreadableFile

_LOG = logging.getLogger(__name__)
Run = Callable[[str], list[tuple[Any, ...]]]
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
_PART = re.compile(r"(?<!\\)\{([A-Z]+)")
_CALLED = re.compile(r":(?:func|opfunc)id ([0-9]+)")
_READ = re.compile(r":relid ([0-9]+)")
_NO_TABLE = "0"
_DEFINED = """
WITH RECURSIVE seen(oid) AS (
  SELECT to_regclass({name})::oid
  UNION SELECT below.oid FROM seen, LATERAL (
    SELECT d.refobjid FROM pg_catalog.pg_class v
      JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        AND d.refclassid = 'pg_class'::regclass
      WHERE v.oid = seen.oid AND v.relkind = 'v'
    UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = seen.oid
  ) AS below(oid)
)
SELECT c.oid::bigint, c.relkind::text,
  CASE c.relkind WHEN 'v' THEN coalesce(r.ev_action::text, '{{UNKNOWN}}') END FROM seen
  JOIN pg_catalog.pg_class c ON c.oid = seen.oid LEFT JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
UNION ALL SELECT c.oid::bigint, 'policy', p.polqual::text FROM seen JOIN pg_catalog.pg_class c ON c.oid = seen.oid
  JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid WHERE c.relrowsecurity AND p.polqual IS NOT NULL
UNION ALL SELECT seen.oid::bigint, 'worked out', NULL FROM seen JOIN pg_catalog.pg_attribute a ON a.attrelid = seen.oid
  WHERE a.attgenerated = 'v'
"""
_TOTAL = """
SELECT o.oprcode::oid::bigint FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_operator e ON e.oid IN (o.oid, o.oprnegate)
  JOIN pg_catalog.pg_amop a ON a.amopopr = e.oid
  JOIN pg_catalog.pg_am m ON m.oid = a.amopmethod AND m.amname = 'btree'
  JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode AND p.pronamespace = 'pg_catalog'::regnamespace
UNION SELECT p.oid::bigint FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND (
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


def _all_known(met: Iterable[object], known: Container[object]) -> bool:
    """The rule of every look here: what is met and not known is not passed over."""
    return all(one in known for one in met)


def failed(table: str) -> None:
    """Tell who runs the server that a question failed after its charge, and no more of why than where to look."""
    _LOG.warning(
        "a question about the table or view %r of a source failed by what a cell holds; each that reads that cell "
        "does, and tells of it: see never_fail in docs/sources.md",
        table,
    )


def _in_postgresql(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    found = run(_DEFINED.format(name=literal_text(quoted(table))))
    trees = [str(tree) for _, _, tree in found if tree is not None]
    seen = {_NO_TABLE, *(str(oid) for oid, _, _ in found)}
    if not (
        found
        and _all_known((kind for _, kind, _ in found), _KEPT)
        and all(_all_known(_PART.findall(tree), _PARTS) for tree in trees)
        and all(_all_known(_READ.findall(tree), seen) for tree in trees)  # not of a catalog, which no view depends on
    ):
        return False
    called = {number for tree in trees for number in _CALLED.findall(tree)}
    return not called or _all_known(called, {str(number) for (number,) in run(_TOTAL)})


def _in_duckdb(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    """By its plan before it is made faster: there views are written out, and casts that nobody wrote stand as well."""
    asked = f"SELECT * FROM {quoted(table)}"  # noqa: S608 - a name that the database gave
    told = json.loads(str(run(f"SELECT json_serialize_plan({literal_text(asked)})")[0][0]))
    steps = list(_parts(told.get("plans")))
    return not told.get("error") and bool(steps) and _all_known(map(_harmless, steps), (True,))


def _parts(told: Any) -> Iterable[dict[str, Any]]:
    """Steps and expressions of a plan; what only describes a type is none."""
    if isinstance(told, dict):
        named = told.get("type")
        if isinstance(named, str) and not named.endswith("_TYPE_INFO"):
            yield told
        told = list(told.values())
    if isinstance(told, list):
        for one in told:
            yield from _parts(one)


def _harmless(part: dict[str, Any]) -> bool:
    kind, named = part.get("expression_class"), (part.get("qname") or {}).get("path")
    if kind is None:
        return part["type"] in _STEPS or (part["type"] == "LOGICAL_GET" and named == ["seq_scan"])
    if named == ["__cast"]:
        of = [one.get("id") for one in part.get("arguments") or [{}]]
        made, tried = (part.get(which) or {} for which in ("return_type", "function_data"))
        return tried.get("try_cast") is True and _all_known(of, _TRIED_OF) and _all_known([made.get("id")], _TRIED)
    return (kind, part["type"]) in _EXPRESSIONS


def _in_sqlite(run: Run, compiled: Run, quoted: Callable[[str], str], table: str) -> bool:
    """By what SQLite says that it reads and calls. What a table works out as it is read it does not say."""
    met = compiled(f"SELECT * FROM {quoted(table)}")  # noqa: S608 - a name that the database gave
    # a virtual table has no page of its own, and one that is built in, as json_each, stands nowhere
    stored = {_folded(name) for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")}
    shown = {_folded(name) for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'view'")}
    read = {_folded(about[0]) for action, *about in met if action == sqlite3.SQLITE_READ}
    called = {about[1] for action, *about in met if action == sqlite3.SQLITE_FUNCTION}
    return (
        bool(read)
        and _all_known(
            (action for action, *_ in met), (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
        )
        and _all_known(read, stored | shown)
        and _all_known(called, _HARMLESS)
        and all(
            _all_known((row[-1] for row in run(f"PRAGMA table_xinfo({quoted(name)})")), _HELD) for name in read & stored
        )
    )


def _folded(name: Any) -> str:
    """A name as SQLite compares it, which takes letters of ASCII alone for one another."""
    return str(name).encode().lower().decode()
