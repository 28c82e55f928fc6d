"""Whether a table or view gives an answer whatever its cells hold, by its definition alone; no row is read for it.

What a view works out of its cells is worked out while a question is answered, after its charge: a cast that one cell
does not bear takes every answer about that column away, which tells of that cell for sure, at no ε. So a view that does
more than choose rows and columns in ways that are known here not to fail is offered only where its owner states that it
cannot. Views below it, columns that a table works out as it is read, and PostgreSQL's policies are looked at alike.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
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
SELECT c.relkind::text, CASE c.relkind WHEN 'v' THEN r.ev_action::text END FROM seen
  JOIN pg_catalog.pg_class c ON c.oid = seen.oid LEFT JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
UNION ALL SELECT 'policy', p.polqual::text FROM seen JOIN pg_catalog.pg_class c ON c.oid = seen.oid
  JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid WHERE c.relrowsecurity AND p.polqual IS NOT NULL
UNION ALL SELECT 'worked out', NULL FROM seen JOIN pg_catalog.pg_attribute a ON a.attrelid = seen.oid
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
_CLASSES = {"COLUMN_REF", "STAR", "CONSTANT", "CONJUNCTION", "TYPE", "COLLATE"}
_OPERATORS = {"OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_NOT"}
_NODES = {"SELECT_NODE", "BASE_TABLE"}

# SQLite casts, adds and compares whatever it is given; functions may fail.
_HARMLESS = {
    *("cast", "trim", "ltrim", "rtrim", "lower", "upper", "coalesce", "ifnull", "nullif", "iif", "length", "substr"),
    *(
        "instr",
        "typeof",
        "count",
        "min",
        "max",
        "date",
        "in",
        "and",
        "or",
        "not",
        "select",
        "from",
        "where",
        "as",
        "on",
    ),
    *("using", "exists", "then", "when", "else", "case", "join", "union", "all", "distinct", "having", "by", "values"),
    "between",
}
_WORD = re.compile(
    r"'(?:[^']|'')*'|\"((?:[^\"]|\"\")*)\"|`([^`]*)`|\[([^\]]*)\]|--[^\n]*|/\*.*?\*/|(\w+)|\S", re.DOTALL
)
_OTHER = {"recursive", "like", "glob", "match", "regexp", "generated", "virtual"}


def check(engine: str, run: Run, quoted: Callable[[str], str], table: str) -> None:
    """Raises UnreadableFile with ``MAY_FAIL`` where it is not known of a table or view that it cannot fail, or as
    ``run``."""
    known = {"postgresql": _in_postgresql, "duckdb": _in_duckdb, "sqlite": _in_sqlite}[engine]
    if not known(run, quoted, table):
        raise UnreadableFile(MAY_FAIL)


def failed(table: str) -> None:
    """Tell who runs the server that a question failed after its charge, and no more of why than where to look."""
    _LOG.warning(
        "a question about the table or view %r of a source failed by what a cell holds; each that reads that cell "
        "does, and tells of it: see never_fail in docs/sources.md",
        table,
    )


def _in_postgresql(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    found = run(_DEFINED.format(name=literal_text(quoted(table))))
    trees = [str(tree) for _, tree in found if tree is not None]
    if not {str(kind) for kind, _ in found} <= _KEPT or any(set(_PART.findall(tree)) - _PARTS for tree in trees):
        return False
    called = {number for tree in trees for number in _CALLED.findall(tree)}
    return not called or called <= {str(number) for (number,) in run(_TOTAL)}


def _in_duckdb(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    tables = {str(name): str(sql) for name, sql in run("SELECT table_name, sql FROM duckdb_tables()")}
    views = {str(name): str(sql) for name, sql in run("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal")}
    left, seen = [table], set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in tables and name not in views:
            if "generated" in {word.lower() for word in _words(tables[name])}:
                return False
            continue
        body = _selected(views.get(name, ""), name, quoted)
        if not body:
            return False
        told = json.loads(str(run(f"SELECT json_serialize_sql({literal_text(body)})")[0][0]))
        parts = list(_parts(told))
        if told.get("error") or not parts or not all(_harmless(part) for part in parts):
            return False
        below = [part for part in parts if part["type"] == "BASE_TABLE"]
        if any(part.get("schema_name") not in ("", "main") for part in below):
            return False
        left += [str(part["table_name"]) for part in below]
    return True


def _selected(sql: str, name: str, quoted: Callable[[str], str]) -> str:
    """What a view selects; "" where it names its columns otherwise."""
    for written in (name, quoted(name)):
        start = f"CREATE VIEW {written} AS "
        if sql.startswith(start):
            return sql.removeprefix(start)
    return ""


def _parts(told: Any) -> Iterable[dict[str, Any]]:
    if isinstance(told, dict):
        if isinstance(told.get("type"), str):
            yield told
        told = list(told.values())
    if isinstance(told, list):
        for one in told:
            yield from _parts(one)


def _harmless(part: dict[str, Any]) -> bool:
    kind = part.get("class")
    if kind is None:
        return part["type"] in _NODES
    if kind == "CAST":
        return part.get("try_cast") is True and part.get("type_expr", {}).get("type_name") not in ("VARCHAR", "TEXT")
    return kind in _CLASSES or (kind == "OPERATOR" and part["type"] in _OPERATORS)


def _in_sqlite(run: Run, quoted: Callable[[str], str], table: str) -> bool:
    found = run("SELECT lower(name), type, sql FROM sqlite_master WHERE type IN ('table', 'view')")
    defined = {str(name): (str(kind), str(sql)) for name, kind, sql in found}
    left, seen = [table.lower()], set()
    while left:
        name = left.pop()
        if name in seen or name not in defined:
            continue
        seen.add(name)
        kind, sql = defined[name]
        words = [word.lower() for word in _words(sql)]
        if kind == "table":
            if words[1:2] == ["virtual"] or any(row[-1] == 2 for row in run(f"PRAGMA table_xinfo({quoted(name)})")):
                return False
            continue
        calls = {word for word, after in pairwise(words) if after == "("}
        if any(word in _OTHER for word in words) or "->" in "".join(words):
            return False
        if {word for word in calls if word.isidentifier()} - _HARMLESS or _calls_by_a_quoted_name(sql):
            return False
        left += [word for word in words if word in defined]
    return True


def _words(sql: str) -> list[str]:
    """Names and signs of a definition, names without their quotation marks; no text and no comment."""
    found = []
    for one in _WORD.finditer(sql):
        if one[0][:1] == "'" or one[0][:2] in ("--", "/*"):
            continue
        found.append(next((part for part in one.groups() if part is not None), one[0]))
    return found


def _calls_by_a_quoted_name(sql: str) -> bool:
    return re.search(r"[\"`\]]\s*\(", sql) is not None
