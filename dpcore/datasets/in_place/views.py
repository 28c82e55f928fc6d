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
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpcore.datasets.in_place.definitions import (
    FIRST_OWN,
    Run,
    all_known,
    all_of,
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
_SCALARS = """(
  SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typname IN (
    'bool', 'char', 'name', 'int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'numeric', 'text', 'bpchar', 'bytea',
    'bit', 'varbit', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval', 'uuid', 'inet', 'macaddr',
    'macaddr8', 'money', 'anyenum')
)"""
"""What has an order of its own. How lists, rows and spans are compared PostgreSQL finds out row by row, by what they
are made of, and it fails there where that has none."""
_ORDERS = f"""
SELECT {{which}}::oid::bigint FROM pg_catalog.pg_operator o
  JOIN pg_catalog.pg_operator e ON e.oid IN (o.oid, o.oprnegate)
  JOIN pg_catalog.pg_amop a ON a.amopopr = e.oid
  JOIN pg_catalog.pg_am m ON m.oid = a.amopmethod AND m.amname = 'btree'
  JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode AND p.pronamespace = 'pg_catalog'::regnamespace
    AND p.oid < {{first}}
WHERE o.oprleft IN {_SCALARS} AND o.oprright IN {_SCALARS}
"""  # noqa: S608 - of this file alone
_TOTAL = f"""
{_ORDERS.replace("{which}", "o.oprcode")}
UNION SELECT p.oid::bigint FROM pg_catalog.pg_proc p
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < {{first}}
  AND p.proname IN ('int4', 'int8', 'float8', 'numeric')
  AND p.proargtypes::text IN ('21', CASE WHEN p.proname <> 'int4' THEN '23' END,
    CASE WHEN p.proname IN ('float8', 'numeric') THEN '20' END)
"""  # noqa: S608 - of this file alone
_TEXTS = {"lower": 870, "upper": 871, "ltrim": 881, "rtrim": 882, "btrim": 885}
"""Numbers that PostgreSQL has given its functions of one text, for good."""
_SHORT = re.compile(
    rf"(?:\{{FUNCEXPR :funcid (?:{'|'.join(map(str, _TEXTS.values()))}) [^{{}}()]*:inputcollid [1-9][0-9]* :args \()+"
    r"\{RELABELTYPE :arg \{VAR :varno [0-9]+ :varattno [0-9]+ :vartype 1043 :vartypmod [0-9]{1,4} "
)
"""Such functions of a column of varchar(n), n at most 9,995. A longer text may be too long for what they make of it, or
for a row that is sorted or joined with all that was made: of a stored text that row holds only where it is."""
_CONSTANT = r"\{CONST [^{}]*\}"
_CONSTANTS = rf"(?:{_CONSTANT} ?|\{{(?:FUNCEXPR|RELABELTYPE) [^{{}}]*{_CONSTANT}[^{{}}]*\}} ?)*"
_SAID = (
    # a row as a whole is made with all that its long cells hold, which may be more than PostgreSQL can
    (re.compile(r":argisrow (true)|\{VAR :varno -?\d+ :varattno (0) |:\w*[tT]ype(?:id|Id)? (2249) "), "", ""),
    # how many rows may be said by a cell of another table
    (re.compile(r":limit(?:Offset|Count) (\S+)"), "<>", ""),
    # lists of several lengths make no list of lists, and texts one that is too long
    (re.compile(rf"\{{ARRAY(?:EXPR)? (?:[^{{}}()]*:elements \({_CONSTANTS}\) :multidims (false))?"), "false", ""),
    # by what rows are sorted, grouped and told apart
    (re.compile(r":(?:eqop|sortop) ([0-9]+)"), "0", _ORDERS.replace("{which}", "o.oid")),
    # where different letters are equal a text is made longer before it is looked up
    (
        re.compile(r":\w*collid ([0-9]+)"),
        "0",
        "SELECT c.oid::bigint FROM pg_catalog.pg_collation c WHERE c.collisdeterministic",
    ),
    # a text, or a call of texts, of two collations
    (
        re.compile(r":\w+type(?:id)? ([0-9]+) (?::\w+ [^:{}()]+ )*?:(?!input)\w+collid 0(?= )"),
        "0",
        "SELECT t.oid::bigint FROM pg_catalog.pg_type t WHERE t.oid IN ({met}) AND t.typcollation = 0",
    ),
    (
        re.compile(r":(?:func|opfunc)id ([0-9]+) [^{}()]*:inputcollid 0(?= )"),
        "0",
        "SELECT p.oid::bigint FROM pg_catalog.pg_proc p WHERE p.oid IN ({met}) AND NOT EXISTS (SELECT "
        "FROM pg_catalog.pg_type t WHERE t.oid = ANY (p.proargtypes) AND t.typcollation <> 0)",
    ),
)
"""What of a tree is looked at as well, what it may say, and which numbers beside that."""
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
    found = trees(run, quoted, table)
    but_short = replace(found, trees=tuple(_SHORT.sub(" ", tree) for tree in found.trees))
    return trees_known(run, but_short, kinds=_KEPT, parts=_PARTS, functions=_TOTAL) and all(
        _says(run, found.trees, *look) for look in _SAID
    )


def _says(run: Run, trees: tuple[str, ...], where: re.Pattern[str], fine: str, numbers: str) -> bool:
    met = {next(filter(None, found.groups()), "") for tree in trees for found in where.finditer(tree)}
    asked_for = ", ".join(sorted(met - {fine}))
    known = run(numbers.format(met=asked_for, first=FIRST_OWN)) if numbers and asked_for else []
    return all_known(met, {fine, *(str(one) for (one,) in known)})


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
        and all_known((_fails(*step[1:4]) for step in run(f"EXPLAIN {all_of(quoted, table)}")), (False,))
        and all(
            all_known((row[-1] for row in run(f"PRAGMA table_xinfo({quoted(name)})")), _HELD)
            for name in read & found.stored
        )
    )


def _fails(step: str, _: int, jump: int) -> bool:
    """Whether a step of SQLite's program fails by a cell: texts that are too long together, and one that says how many
    rows there are, which goes nowhere else then."""
    return step == "Concat" or (step == "MustBeInt" and jump == 0)
