"""What an engine itself makes of the definition of a table or view, and of those below it; no row is read for it.

Its names are found, and its casts put in, as the engine does that: PostgreSQL's stored trees, DuckDB's plan, and what
SQLite asks its authorizer for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from dpcore.datasets.in_place.tongue import literal_text

Run = Callable[[str], list[tuple[Any, ...]]]

_PART = re.compile(r"(?<!\\)\{([A-Z]+)")
CALLED = re.compile(r":(?:func|opfunc)id ([0-9]+)")
_READ = re.compile(r":relid ([0-9]+)")
_COMPARED = re.compile(r":(?:opnos?|opfamilies|eqop|sortop) (?:\(o )?([0-9 ]+)")
TYPES = re.compile(r":\w*[tT]ype(?:s|id|Id)? (?:\(o )?([0-9 ]+)")
"""Also of what has a number for a kind, as a join: a small one, which is nobody's own."""
_NO_TABLE = "0"
FIRST_OWN = 16384
"""From here on PostgreSQL numbers what somebody made."""
_SAFE_TYPES = """
SELECT n.oid FROM unnest(ARRAY[{types}]::bigint[]) AS n(oid) LEFT JOIN pg_catalog.pg_type t ON t.oid::bigint = n.oid
  LEFT JOIN pg_catalog.pg_type of ON of.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype
    WHEN t.typinput = 'pg_catalog.array_in'::regproc THEN t.typelem ELSE t.oid END
WHERE (n.oid < {first} OR of.typtype = 'e' OR of.oid < {first})
  AND NOT (t.typtype = 'd' AND t.oid >= {first} AND {coerced})
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_opclass c JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod
    WHERE c.oid >= {first} AND c.opcdefault AND m.amname IN ('btree', 'hash') AND c.opcintype IN (t.oid, of.oid))
"""
"""Of which no function of somebody's own is called that stands nowhere in a tree: to compare it, or lists of it, or to
make it of a text or of its base type."""
_DEFINED = """
WITH RECURSIVE seen(oid) AS (
  SELECT to_regclass({name})::oid
  UNION SELECT below.oid FROM seen, LATERAL (
    SELECT d.refobjid FROM pg_catalog.pg_class v
      JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid AND r.ev_type = '1'
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        AND d.refclassid = 'pg_class'::regclass
      WHERE v.oid = seen.oid AND v.relkind = 'v'
    UNION ALL SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = seen.oid
  ) AS below(oid)
)
SELECT c.oid::bigint, c.relkind::text,
  CASE c.relkind WHEN 'v' THEN coalesce(r.ev_action::text, '{{UNKNOWN}}') END FROM seen
  JOIN pg_catalog.pg_class c ON c.oid = seen.oid
  LEFT JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.ev_type = '1'
UNION ALL SELECT c.oid::bigint, 'policy', p.polqual::text FROM seen JOIN pg_catalog.pg_class c ON c.oid = seen.oid
  JOIN pg_catalog.pg_policy p ON p.polrelid = c.oid WHERE c.relrowsecurity AND p.polqual IS NOT NULL
UNION ALL SELECT seen.oid::bigint, 'worked out', NULL FROM seen JOIN pg_catalog.pg_attribute a ON a.attrelid = seen.oid
  WHERE a.attgenerated = 'v'
"""


def all_known(met: Iterable[object], known: Container[object]) -> bool:
    """The rule of every look: what is met and not known is not passed over."""
    return all(one in known for one in met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Of a table or view of PostgreSQL's and those below it: their ``kinds`` (``pg_class.relkind``, a policy, a column
    that is ``worked out`` as it is read), the ``trees`` of views and policies as they are stored, and the ``oids`` of
    all that is told of here."""

    kinds: tuple[str, ...]
    trees: tuple[str, ...]
    oids: frozenset[str]

    @property
    def read(self) -> set[str]:
        """What the trees read; a catalog, which no view depends on, is none of ``oids``."""
        return {oid for tree in self.trees for oid in _READ.findall(tree)}

    @property
    def called(self) -> set[str]:
        return {oid for tree in self.trees for oid in CALLED.findall(tree)}

    @property
    def compared(self) -> set[str]:
        """Operators and families of them that are somebody's own: rows are compared by these, and a tree names no
        function then."""
        found = numbers(_COMPARED, self.trees)
        return {oid for oid in found if int(oid) >= FIRST_OWN}

    @property
    def types(self) -> set[str]:
        return numbers(TYPES, self.trees)

    @property
    def parts(self) -> set[str]:
        return {part for tree in self.trees for part in _PART.findall(tree)}


def trees(run: Run, quoted: Callable[[str], str], table: str) -> Trees:
    found = run(_DEFINED.format(name=literal_text(quoted(table))))
    return Trees(
        kinds=tuple(str(kind) for _, kind, _ in found),
        trees=tuple(str(tree) for _, _, tree in found if tree is not None),
        oids=frozenset({_NO_TABLE, *(str(oid) for oid, _, _ in found)}),
    )


def trees_known(run: Run, found: Trees, *, kinds: Container[str], parts: Container[str], functions: str) -> bool:
    """Whether nothing is met in these trees but such ``kinds`` and ``parts``, what is told of there, and what is built
    in; ``functions`` asks for the numbers of those that may be called, among the ``called`` or among all."""
    called = ", ".join(sorted(found.called))
    return (
        bool(found.kinds)
        and all_known(found.kinds, kinds)
        and all_known(found.parts, parts)
        and all_known(found.read, found.oids)
        and all_known(found.compared, ())
        and all_known(found.types, _safe_types(run, found))
        and (
            not called
            or all_known(found.called, {str(n) for (n,) in run(functions.format(called=called, first=FIRST_OWN))})
        )
    )


def _safe_types(run: Run, found: Trees) -> set[str]:
    """Of the types in these trees those that call nothing of somebody's own."""
    if not found.types:
        return set()
    coerced = str("COERCETODOMAIN" in found.parts).lower()
    asked = _SAFE_TYPES.format(types=", ".join(sorted(found.types)), first=FIRST_OWN, coerced=coerced)
    return {str(oid) for (oid,) in run(asked)}


def numbers(where: re.Pattern[str], trees: Iterable[str]) -> set[str]:
    return {oid for tree in trees for listed in where.findall(tree) for oid in listed.split()}


def plan(run: Run, quoted: Callable[[str], str], table: str) -> list[dict[str, Any]]:
    """Steps and expressions of DuckDB's plan before it is made faster: there views are written out, and casts that
    nobody wrote stand as well. None where it cannot be told."""
    told = json.loads(str(run(f"SELECT json_serialize_plan({literal_text(all_of(quoted, table))})")[0][0]))
    return [] if told.get("error") else list(_parts(told.get("plans")))


def named(part: dict[str, Any]) -> list[str] | None:
    """What a part of a plan calls, with the place where that is kept."""
    path: list[str] | None = (part.get("qname") or {}).get("path")
    return path


def _parts(told: Any) -> Iterable[dict[str, Any]]:
    """What only describes a type is none."""
    if isinstance(told, dict):
        kind = told.get("type")
        if isinstance(kind, str) and not kind.endswith("_TYPE_INFO"):
            yield told
        told = list(told.values())
    if isinstance(told, list):
        for one in told:
            yield from _parts(one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What SQLite asks its authorizer for (``met``), to read a table or view; ``stored`` are the names of its tables
    that have pages of their own, and ``shown`` of its views with what defines them, both ``folded``."""

    met: tuple[tuple[Any, ...], ...]
    stored: frozenset[str]
    shown: dict[str, str]


def asked(run: Run, compiled: Run, quoted: Callable[[str], str], table: str) -> Asked:
    """``compiled`` gives what SQLite asks its authorizer for while it compiles a statement, which is not run."""
    # a virtual table has no page of its own, and one that is built in, as json_each, stands nowhere
    stored = run("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    shown = run("SELECT name, sql FROM sqlite_master WHERE type = 'view'")
    return Asked(
        met=tuple(compiled(all_of(quoted, table))),
        stored=frozenset(folded(name) for (name,) in stored),
        shown={folded(name): str(sql) for name, sql in shown},
    )


def folded(name: Any) -> str:
    """A name as SQLite compares it, which takes letters of ASCII alone for one another."""
    return str(name).encode().lower().decode()


def all_of(quoted: Callable[[str], str], table: str) -> str:
    """What every look has the engine make something of."""
    return f"SELECT * FROM {quoted(table)}"  # noqa: S608 - a name that the database gave
