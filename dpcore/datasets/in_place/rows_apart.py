"""Whether each row of a table or view comes from one stored row, by its definition alone; no row is read for it.

An answer hides one person as far as their own rows go. In a view that groups, sorts out doubles, stops after so many
rows or looks at other rows, they decide what rows of others are there and hold, so that one person moves a count by
more than is charged. So a view is offered only where it is known to be one table, or a view of that kind, with
conditions on, and expressions of, each row's own cells; of another its owner states that no row hangs on others.

What expressions call is known by what the engine itself says of its functions: one of somebody's own may look at any
table, as a part of a statement may that is not known here.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from dpcore.datasets.in_place.definitions import (
    Asked,
    Run,
    Trees,
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

HANGS_TOGETHER = (
    "Whether a row of this table or view is there, or what it holds, may hang on other rows, so nothing is asked of "
    "it; the people who run the server can state that it does not."
)

# PostgreSQL: of a view's tree all parts but those that bring other rows in, several rows together, or rows forth.
_PARTS = {
    *("QUERY", "RTE", "RANGETBLENTRY", "RTEPERMISSIONINFO", "ALIAS", "FROMEXPR", "RANGETBLREF", "TARGETENTRY"),
    *("SORTGROUPCLAUSE", "VAR", "CONST", "RELABELTYPE", "COLLATE", "COLLATEEXPR", "COERCEVIAIO", "ARRAYCOERCEEXPR"),
    *("COERCETODOMAIN", "COERCETODOMAINVALUE", "BOOLEXPR", "NULLTEST", "BOOLEANTEST", "OPEXPR", "DISTINCTEXPR"),
    *("NULLIFEXPR", "SCALARARRAYOPEXPR", "FUNCEXPR", "SQLVALUEFUNCTION", "COALESCE", "COALESCEEXPR", "MINMAX"),
    *("MINMAXEXPR", "CASE", "CASEEXPR", "WHEN", "CASEWHEN", "CASETESTEXPR", "ARRAY", "ARRAYEXPR", "SUBSCRIPTINGREF"),
    *("FIELDSELECT", "ROW", "ROWEXPR", "ROWCOMPARE", "ROWCOMPAREEXPR"),
}
_NOTHING = {
    **dict.fromkeys(("cteList", "groupClause", "groupingSets", "havingQual", "windowClause", "distinctClause"), "<>"),
    **dict.fromkeys(("limitOffset", "limitCount", "setOperations", "rowMarks"), "<>"),
    **{f"has{what}": "false" for what in ("Aggs", "WindowFuncs", "TargetSRFs", "SubLinks", "DistinctOn", "Recursive")},
}
"""What a selection must say of each of these."""
_SAID = re.compile(rf"(?<!\S):({'|'.join(_NOTHING)}) (\S+)")
_QUERY, _FROM = re.compile(r"(?<!\\)\{QUERY "), re.compile(r"(?<!\\)\{FROMEXPR ")
_FROM_ONE = re.compile(r"(?<!\\)\{FROMEXPR :fromlist \((?:\{RANGETBLREF :rtindex [0-9]+\})\) :quals ")
_ENTRY = re.compile(r":rtekind ([0-9]+)")
_TABLES_AND_VIEWS = {"0", "1"}
_SETS = re.compile(r":(?:func|op)retset (\S+)")
_PLACE = re.compile(r":varattno (-[0-9]+)")
"""Where a row is stored and by whom, as ``ctid`` says: rows before it decide that."""
_KEPT = {"r", "p", "v", "policy", "worked out"}
"""A foreign table and a materialized view may be made of anything. What a table works out is of the row's own cells."""
_PURE = """
SELECT p.oid::bigint FROM pg_catalog.pg_proc p
WHERE p.oid IN ({called}) AND p.oid < {first} AND p.pronamespace = 'pg_catalog'::regnamespace
  AND p.prokind = 'f' AND NOT p.proretset AND (p.provolatile = 'i' OR p.provolatile = 's' AND (
    p.proname IN ('now', 'transaction_timestamp', 'statement_timestamp', 'to_char', 'to_date', 'to_timestamp', 'concat',
      'concat_ws', 'format', 'current_setting', 'pg_has_role')
    OR p.proargtypes::oid[] && ARRAY['timestamptz', 'timestamp', 'date', 'time', 'timetz', 'interval']::regtype[]::oid[]
  ))
"""
"""Built in, of one row, and by its own word not hanging on what is stored, or on the clock and the session alone."""

# DuckDB
_STEPS = {"LOGICAL_PROJECTION", "LOGICAL_FILTER", "LOGICAL_ORDER_BY", "ASCENDING", "DESCENDING", "ORDER_DEFAULT"}
_EXPRESSIONS = {f"BOUND_{what}" for what in ("REF", "CONSTANT", "CONJUNCTION", "OPERATOR", "CASE")}
_STABLE = """
SELECT function_name FROM duckdb_functions() WHERE function_type = 'scalar' AND internal
  AND function_name <> 'json_serialize_plan' GROUP BY function_name
HAVING bool_and(stability = 'CONSISTENT' OR function_name IN ('now', 'today', 'current_date', 'transaction_timestamp'))
"""
"""Of which it says itself that they hang on nothing else, or on the clock; a plan tells how many rows are expected."""
_CALL = "BOUND_FUNCTION"
_BUILT_IN: tuple[list[str], ...] = ([], ["system", "main"])
_NO_COLUMN = 1 << 63
"""From here on what is read of a table is no column of its own, as ``rowid``."""

# SQLite does not tell what it makes of a selection, so its words are read as SQLite reads them.
_WORD = re.compile(
    r"(?P<nothing>--[^\n]*|/\*.*?(?:\*/|\Z)|[ \t\n\f\r]+)"
    r"""|(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*')"""
    r"|(?P<word>[0-9A-Za-z_$\x80-\U0010ffff]+)|(?P<sign>.)",
    re.DOTALL,
)
_MARK = "\ufeff"
"""A blank there where a word begins, and a letter within it."""
_ONCE, _AFTER_FROM = ("SELECT", "FROM"), ("WHERE", "ORDER")
_TOGETHER = {
    *("DISTINCT", "GROUP", "HAVING", "OVER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "VALUES", "WITH", "JOIN"),
}
_PURE_IN_SQLITE = {
    *("trim", "ltrim", "rtrim", "lower", "upper", "length", "substr", "substring", "instr", "replace", "like", "glob"),
    *("coalesce", "ifnull", "nullif", "iif", "typeof", "abs", "round", "sign", "ceil", "ceiling", "floor", "trunc"),
    *("max", "min", "mod", "pow", "power", "sqrt", "exp", "ln", "log", "log2", "log10", "hex", "unhex", "quote"),
    *("char", "unicode", "printf", "format", "concat", "concat_ws", "likely", "unlikely", "likelihood", "zeroblob"),
    *("date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"),
    *("current_date", "current_time", "current_timestamp", "->", "->>"),
    *(f"json{what}" for what in ("", "_array", "_array_length", "_extract", "_object", "_quote", "_type", "_valid")),
}
"""``max`` and ``min`` of one row's cells; those of a column are made by steps of their own."""
_OF_SEVERAL = "Agg"
_PLACE_IN_SQLITE = "ROWID"
"""What SQLite calls a row's place, by whichever word it is read; a column may have that name as well. Others are told
letter by letter as they were declared."""


def check(engine: str, run: Run, quoted: Callable[[str], str], table: str, *, compiled: Run | None = None) -> None:
    """Raises UnreadableFile with ``HANGS_TOGETHER`` where it is not known of a table or view that each of its rows
    comes from one stored row, or as ``run``; ``compiled`` as in ``views.check``."""
    if engine == "sqlite" and compiled is not None:
        known = _in_sqlite(run, asked(run, compiled, quoted, table), quoted, table)
    elif engine == "postgresql":
        known = _in_postgresql(run, trees(run, quoted, table))
    else:
        known = engine == "duckdb" and _in_duckdb(run, plan(run, quoted, table))
    if not known:
        raise UnreadableFile(HANGS_TOGETHER)


def _in_postgresql(run: Run, found: Trees) -> bool:
    known = trees_known(run, found, kinds=_KEPT, parts=_PARTS, functions=_PURE)
    return known and all(map(_of_one, found.trees))


def _of_one(tree: str) -> bool:
    """Whether every selection in a tree is of one table, view or such a selection, and puts nothing together."""
    selections = len(_QUERY.findall(tree))
    said = _SAID.findall(tree)
    return (
        all_known(said, _NOTHING.items())
        and len(said) == selections * len(_NOTHING)
        and len(_FROM_ONE.findall(tree)) == len(_FROM.findall(tree)) == selections
        and all_known(_ENTRY.findall(tree), _TABLES_AND_VIEWS)
        and all_known(_SETS.findall(tree), ("false",))
        and not _PLACE.search(tree)
    )


def _in_duckdb(run: Run, steps: list[dict[str, Any]]) -> bool:
    tables = [step for step in steps if step["type"] == "LOGICAL_GET"]
    kinds = [step.get("expression_class") or step["type"] for step in steps]
    called = [named(step) or [] for step, kind in zip(steps, kinds, strict=True) if kind == _CALL]
    known = {str(name) for (name,) in run(_STABLE)} if called else set()
    return (
        len(tables) == 1
        and named(tables[0]) == ["seq_scan"]
        and _own_columns(tables[0])
        and all_known(kinds, {*_STEPS, *_EXPRESSIONS, _CALL, "LOGICAL_GET"})
        and all_known((path[:-1] for path in called), _BUILT_IN)
        and all_known((name for path in called for name in path[-1:]), known)
    )


def _own_columns(step: dict[str, Any]) -> bool:
    places = [one.get("index") for one in step.get("column_indexes") or [{}]]
    return all(isinstance(place, int) and place < _NO_COLUMN for place in places)


def _in_sqlite(run: Run, found: Asked, quoted: Callable[[str], str], table: str) -> bool:
    chain = [folded(table)]
    while chain[-1] in found.shown:
        below = _below(found.shown[chain[-1]])
        if below is None or below in chain:
            return False
        chain.append(below)
    stored = chain[-1]
    if stored not in found.stored or stored.startswith("sqlite_"):  # those hold what SQLite itself notes of others
        return False
    columns = {"", *(str(row[1]) for row in run(f"PRAGMA table_xinfo({quoted(stored)})"))}
    if len(chain) > 1:  # a table itself is read by the names of its columns alone
        columns.discard(_PLACE_IN_SQLITE)
    read = [(folded(about[0]), about[1]) for action, *about in found.met if action == sqlite3.SQLITE_READ]
    called = {about[1] for action, *about in found.met if action == sqlite3.SQLITE_FUNCTION}
    steps = run(f"EXPLAIN {all_of(quoted, table)}") if called else []
    return (
        all_known((name for name, _ in read), chain)
        and all_known((column for name, column in read if name == stored), columns)
        and all_known(called, _PURE_IN_SQLITE)
        and not any(_OF_SEVERAL in str(step[1]) for step in steps)
    )


def _below(definition: str) -> str | None:
    """The one table or view that a view of SQLite's selects from, ``folded``; none where it is not known to be one, or
    its rows not to be put together."""
    words = list(_words(definition))
    plain = [word if kind == "word" else "" for kind, word in words]
    after_in = [words[at][1] for at, before in enumerate(plain, 1) if before == "IN"]
    if not (
        all(plain.count(word) == 1 for word in _ONCE)
        and _TOGETHER.isdisjoint(plain)
        and all_known(after_in, ("(",))  # else it names a table
        and _MARK not in definition
    ):
        return None
    begin = plain.index("FROM") + 1
    end = next((at for at, word in enumerate(plain) if at >= begin and word in _AFTER_FROM), None)
    return _selected_from(words[begin:end])


def _selected_from(words: list[tuple[str, str]]) -> str | None:
    """The name that stands there alone, or with another one for it."""
    if words[1:2] == [("sign", ".")] and _name(words[0]) == "main":
        words = words[2:]
    called = words[2:] if words[1:2] == [("word", "AS")] else words[1:]
    alone = len(called) <= 1 and all_known((kind for kind, _ in (*words[:1], *called)), ("word", "name"))
    return _name(words[0]) if words and alone else None


def _name(written: tuple[str, str]) -> str:
    kind, word = written
    if kind == "name":
        end = word[-1]
        word = word[1:-1] if end == "]" else word[1:-1].replace(end * 2, end)
    return folded(word)


def _words(definition: str) -> Iterator[tuple[str, str]]:
    """Its names, words in capitals and signs, without what stands for nothing."""
    for found in _WORD.finditer(definition):
        kind = str(found.lastgroup)
        if kind != "nothing":
            yield kind, found[0].encode().upper().decode() if kind == "word" else found[0]
