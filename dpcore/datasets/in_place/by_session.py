"""Whether what a table or view of PostgreSQL's gives hangs on who asks it in which session, by its definition alone; no
row is read for it.

A source's transaction finds nothing by ``search_path`` but what is PostgreSQL's own (``told``), so a function that goes
by another one fails there, or calls something else. And a setting of somebody's own that was once said in a session is
empty there for ever, where it is missing in one of the account's own: whatever tells the two apart shows other rows
behind a pooler. Nobody's word on cells or rows says anything of either, so both are refused whatever was stated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from dpcore.datasets.in_place.definitions import CALLED, FIRST_OWN, TYPES, Run, numbers
from dpcore.datasets.in_place.tongue import literal_text
from dpcore.errors import UnreadableFile

GOES_BY_PATH = (
    "This table or view, or a policy of it, finds or writes something by its session's search_path, or may do so, so "
    "nothing is asked of it; the people who run the server can name schemas in it, compare the numbers of tables and "
    "types and not their names, and give each function of theirs that it calls a path of its own (ALTER FUNCTION … SET "
    "search_path = …, pg_temp)."
)
ASKS_SETTING = (
    "This table or view, or a policy of it, may tell a setting of its session that is empty from one that was never "
    "said, so nothing is asked of it; the people who run the server can write nullif(current_setting(…, true), '') in "
    "it."
)
_PARTS = """
    SELECT typbasetype FROM pg_type WHERE oid = {whole}
    UNION ALL SELECT typelem FROM pg_type WHERE oid = {whole}
    UNION ALL SELECT a.atttypid FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0
      WHERE t.oid = {whole}
    UNION ALL SELECT rngsubtype FROM pg_range r WHERE {whole} IN (rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid)
"""
"""What a type is made of: what a domain, a list or a range is of, and the columns of a row."""
_MET = """
WITH RECURSIVE met(class, oid) AS (
  SELECT 'pg_class'::regclass::oid, to_regclass({name})::oid
  UNION SELECT below.class, below.oid FROM met, LATERAL (
    SELECT 'pg_rewrite'::regclass::oid, r.oid FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class
      WHERE met.class = 'pg_class'::regclass AND v.oid = met.oid AND v.relkind = 'v' AND r.ev_type = '1'
    UNION ALL SELECT 'pg_policy'::regclass::oid, p.oid FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
      WHERE met.class = 'pg_class'::regclass AND c.oid = met.oid AND c.relrowsecurity AND p.polqual IS NOT NULL
    UNION ALL SELECT met.class, i.inhrelid FROM pg_inherits i
      WHERE met.class = 'pg_class'::regclass AND i.inhparent = met.oid
    UNION ALL SELECT 'pg_constraint'::regclass::oid, c.oid FROM pg_constraint c
      WHERE met.class = 'pg_type'::regclass AND c.contypid = met.oid
    UNION ALL SELECT 'pg_proc'::regclass::oid, a.amproc::oid FROM pg_opclass c
      JOIN pg_amproc a ON a.amprocfamily = c.opcfamily
      WHERE met.class = 'pg_type'::regclass AND met.oid >= {first} AND c.opcintype = met.oid
    UNION ALL SELECT 'pg_proc'::regclass::oid, a.amproc::oid FROM pg_amproc a
      WHERE met.class IN ('pg_rewrite'::regclass, 'pg_policy'::regclass) AND a.oid >= {first}
        AND (a.amproclefttype < {first} OR a.amprocrighttype < {first})
    UNION ALL SELECT 'pg_proc'::regclass::oid, step FROM pg_aggregate a, unnest(ARRAY[
      a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
      a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn
    ]::oid[]) AS step WHERE met.class = 'pg_proc'::regclass AND met.oid >= {first} AND a.aggfnoid = met.oid
    UNION ALL SELECT met.class, part FROM ({parts}) AS made(part)
      WHERE met.class = 'pg_type'::regclass AND part <> 0
    UNION ALL SELECT 'pg_type'::regclass::oid, t.oid FROM (
      SELECT r.ev_action::text FROM pg_rewrite r WHERE met.class = 'pg_rewrite'::regclass AND r.oid = met.oid
      UNION ALL SELECT p.polqual::text FROM pg_policy p WHERE met.class = 'pg_policy'::regclass AND p.oid = met.oid
      UNION ALL SELECT to_jsonb(p) ->> 'prosqlbody' FROM pg_proc p
        WHERE met.class = 'pg_proc'::regclass AND p.oid = met.oid AND p.oid >= {first}
      UNION ALL SELECT c.conbin::text FROM pg_constraint c
        WHERE met.class = 'pg_constraint'::regclass AND c.oid = met.oid
    ) AS said(tree), regexp_matches(tree, {types}, 'g') AS found
      JOIN pg_type t ON t.oid = ANY (string_to_array(trim(found[1]), ' ')::oid[])
      WHERE t.oid >= {first} AND (t.typtype <> 'd' OR t.typbasetype >= {first})
    UNION ALL SELECT d.refclassid, d.refobjid FROM pg_depend d
      WHERE met.class <> 'pg_class'::regclass AND d.classid = met.class AND d.objid = met.oid
        AND NOT EXISTS (SELECT FROM pg_type t WHERE met.class = 'pg_type'::regclass AND t.oid = met.oid
          AND d.refclassid = 'pg_proc'::regclass AND d.refobjid IN (t.typreceive, t.typsend, t.typanalyze))
  ) AS below(class, oid)
), functions AS (
  SELECT p.*, to_jsonb(p) ->> 'prosqlbody' AS body FROM met JOIN pg_proc p ON p.oid = met.oid
  WHERE met.class = 'pg_proc'::regclass AND p.oid >= {first}
)
SELECT NULL FROM functions f JOIN pg_language l ON l.oid = f.prolang
  WHERE (l.lanname NOT IN ('internal', 'c') OR f.provolatile <> 'i') AND f.body IS NULL
    AND NOT EXISTS (SELECT FROM unnest(f.proconfig) AS said
      WHERE said ~ '^search_path=([^"]|"[^"]*")*, *"?pg_temp"?$'
        AND 1 = (SELECT count(*) FROM regexp_matches(said, 'pg_temp', 'gi')))
UNION ALL SELECT ':funcid ' || oid || ' ' FROM met WHERE class = 'pg_proc'::regclass AND oid > 0 AND oid < {first}
  AND NOT EXISTS (SELECT FROM pg_language WHERE met.oid IN (lanplcallfoid, laninline, lanvalidator))
UNION ALL SELECT body FROM functions WHERE body IS NOT NULL
UNION ALL SELECT r.ev_action::text FROM met JOIN pg_rewrite r ON met.class = 'pg_rewrite'::regclass AND r.oid = met.oid
UNION ALL SELECT p.polqual::text FROM met JOIN pg_policy p ON met.class = 'pg_policy'::regclass AND p.oid = met.oid
UNION ALL SELECT c.conbin::text FROM met
  JOIN pg_constraint c ON met.class = 'pg_constraint'::regclass AND c.oid = met.oid AND c.conbin IS NOT NULL
"""
"""The trees of all that is worked out where a table is read, down to what functions do whose names were found as they
were made; and nothing for each function that finds its own as it is called, or goes by a path that does not name
``pg_temp`` last, or also before: a session's own temporary tables come before all others then. Of an aggregate or of an
order by somebody the functions are called too, of which no tree may name any: one of PostgreSQL's own is told as a tree
that calls it. Versions before 14 have no trees of functions.

A row, or what has one in it, is followed from wherever it stands, for any cell of it may be written or read; a domain
of anything else only from where something becomes one, which PostgreSQL notes itself.
"""
_BY_PATH = """
SELECT FROM pg_proc WHERE oid IN ({called}) AND oid < {first} AND provolatile <> 'i'
  AND proname !~ '^({alike})$'
  AND NOT (proname ~ '^has_[a-z_]+_privilege$' AND 1 = (SELECT count(*) FROM unnest(proargtypes) AS a WHERE a = 25))
"""
"""Of PostgreSQL's own functions: one that is immutable finds nothing, and one of a privilege finds nothing whose only
text says which."""
_ALIKE = "|".join((
    *("age", "now", "random", "gen_random_uuid", "(statement|transaction|clock)_timestamp", "timeofday"),
    *("date(_.*)?", "time(tz)?", "timestamp(tz)?(_.*)?", "timezone", "extract", "overlaps", "interval_pl_timestamptz"),
    *("in_range", "generate_series", "enum_(first|last|range)", "length", "money", "numeric", "to_(char|date|number)"),
    *("to_timestamp", "make_timestamptz", "array_to_(json|string)", "row_to_json", "to_jsonb?", "jsonb?_.*", "format"),
    *("concat(_ws)?", "anytextcat", "textanycat", "quote_(literal|nullable)", "xml"),
    *("current_(database|setting|user)", "session_user"),
    *("pg_(has_role|typeof|column_size)", "has_(database|schema|language|tablespace|server|parameter)_privilege"),
))  # fmt: skip
"""Those of the others that find nothing by a path; what they write of a table's or type's name is met by its type."""
_NAMED = "24|1008|220[2-9]|221[01]|3734|3735|3769|3770|4191|4192"
"""The types, and lists of them, that are written as a name, by the path, and read so: regproc, regclass, regtype …"""
_VAR = r"\{(?:VAR|CASETESTEXPR) [^{}]*\}"
_AS_NUMBER = re.compile(rf"(?:{_VAR}|\{{(?:RELABELTYPE|FUNCEXPR) [^{{}}]*{_VAR}[^{{}}]*\}})(?= :resulttype 26 )")
"""Such a one of which no more than its number is looked at."""
_MADE_OF = """
WITH RECURSIVE made(whole, part) AS (
  SELECT oid, oid FROM pg_type WHERE oid IN ({types})
  UNION SELECT made.whole, below.part FROM made, LATERAL ({parts}) AS below(part)
)
SELECT DISTINCT whole FROM made WHERE part::text ~ '^({named})$'
"""
"""Types of somebody's own in which there is one, or a list of them."""


def _names(types: str) -> re.Pattern[str]:
    """Where one of these is worked out, or a constant one is written or handed to what may write it."""
    return re.compile(
        rf":(?!consttype|array_typeid|element_typeid)\w*[tT]ype(?:s|id|Id)? (?:\(o )?(?:[0-9]+ )*(?:{types})[ )]"
        rf"|(?:\{{COERCEVIAIO :arg|:args \() ?\{{(?:CONST :consttype|ARRAY(?:EXPR)? :array_typeid) (?:{types}) "
    )


_CURRENT_SCHEMA = re.compile(r"(?<!\\)\{SQLVALUEFUNCTION :op 14 ")
_SETTING = re.compile(r":(?:func|opfunc)id (?:2077|3294) ")
"""``current_setting`` of one argument and of two."""
_CONSTANT = r"\{CONST [^{}]*:constvalue "
_ASKED = re.compile(
    r"(?P<joined>\{(?:NULLIFEXPR :opno 98|COALESCEEXPR) [^{}]*\()?"
    rf"\{{FUNCEXPR :funcid (?:2077|(?P<may_miss>3294)) [^{{}}]*\({_CONSTANT}\d+ \[ (?:-?\d+ ){{4}}(?P<name>[^]]*)\]\}}"
    rf"(?: {_CONSTANT}1 \[ 1 [^]]*\]\}})?\) :location -?\d+\}}"
    rf"(?P<with_none> {_CONSTANT}4 \[[^]]*\]\}}\))?"
)
"""One by a name that is known, and whether it is told apart from an empty text no more."""


def check(run: Run, quoted: Callable[[str], str], table: str) -> None:
    """Raises UnreadableFile with ``GOES_BY_PATH`` or ``ASKS_SETTING`` where it is not known of a table or view that it
    gives the same in every session of its account's, or as ``run``."""
    name, parts, types = literal_text(quoted(table)), _PARTS.format(whole="met.oid"), literal_text(TYPES.pattern)
    found = [tree for (tree,) in run(_MET.format(name=name, first=FIRST_OWN, parts=parts, types=types))]
    trees = [str(tree) for tree in found if tree is not None]
    called = sorted({oid for tree in trees for oid in CALLED.findall(tree)})
    names = _names("|".join([_NAMED, *_made_of_names(run, trees)]))
    asked = [one for tree in trees for one in _ASKED.finditer(tree)]
    if (
        len(trees) < len(found)
        or any(map(_CURRENT_SCHEMA.search, trees))
        or any(names.search(_AS_NUMBER.sub("", tree)) for tree in trees)
        or "search_path" in map(_name, asked)
        or (called and run(_BY_PATH.format(called=", ".join(called), first=FIRST_OWN, alike=_ALIKE)))
    ):
        raise UnreadableFile(GOES_BY_PATH)
    if not all(map(_is_plain, asked)) or len(asked) < sum(len(_SETTING.findall(tree)) for tree in trees):
        raise UnreadableFile(ASKS_SETTING)


def _is_plain(asked: re.Match[str]) -> bool:
    """Whether a setting is PostgreSQL's own, which every session has, or one that is missing is taken for an empty
    one."""
    return "." not in _name(asked) or all(asked[part] for part in ("joined", "may_miss", "with_none"))


def _name(asked: re.Match[str]) -> str:
    return bytes(int(letter) % 256 for letter in asked["name"].split()).decode().lower()


def _made_of_names(run: Run, trees: Sequence[str]) -> list[str]:
    """The types of somebody's own that stand in ``trees`` and are written by the path, or a part of them is."""
    own = sorted(oid for oid in numbers(TYPES, trees) if int(oid) >= FIRST_OWN)
    if not own:
        return []
    parts = _PARTS.format(whole="made.part")
    return [str(oid) for (oid,) in run(_MADE_OF.format(types=", ".join(own), parts=parts, named=_NAMED))]
