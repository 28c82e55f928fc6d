"""How an engine writes what questions need: exact comparison, days, options; and what kind of cells a column holds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

from sqlalchemy import (
    BigInteger,
    Date,
    DateTime,
    Double,
    Integer,
    LargeBinary,
    String,
    and_,
    case,
    cast,
    func,
    literal_column,
    or_,
    try_cast,
)
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine, UserDefinedType

from dpcore.datasets.in_place import looked_up
from dpcore.datasets.plain_words import EXPONENT, LARGEST, SPELLINGS
from dpcore.datasets.schema import LONGEST, LONGEST_PERSON, ColumnType

Kind = Literal["text", "bytes", "yes/no", "integer", "number", "date", "moment", "time", "fixed", "nothing", "other"]
"""Cells of any size are of the first two or the last; those of ``fixed`` have one of their own, as a UUID has. A
``moment`` is a day and a time of day, and a ``time`` is one of day, which DuckDB cannot write wherever it lies. Of
``nothing`` are the cells of a column that has no type, since all of them are missing."""
Cell = ColumnElement[Any]

FITS: dict[ColumnType, frozenset[Kind]] = {
    "category": frozenset({"text", "yes/no", "integer", "number", "nothing"}),
    "yes/no": frozenset({"text", "yes/no", "integer", "number", "nothing"}),
    "integer": frozenset({"yes/no", "integer", "number", "nothing"}),
    "number": frozenset({"yes/no", "integer", "number", "nothing"}),
    "date": frozenset({"date", "moment", "nothing"}),
    "text": frozenset(get_args(Kind)),
}
"""As what a column of each kind may be declared: so that no cell can make a question fail. Whole numbers stand in a
column of doubles where one row has none: a cell that is no whole number is missing there, as in memory."""

BLANKS = "".join(sign for sign in map(chr, range(0x3001)) if sign.isspace())
"""What is trimmed from texts: all that a table in memory takes for white space, whatever an engine does by itself."""
_ANY = "".join(f"\\x{{{ord(sign):x}}}" for sign in BLANKS)
AROUND = f"'\\A[{_ANY}]+|[{_ANY}]+\\z'"
"""Blanks around a text as a regular expression in DuckDB, whose own ``trim`` takes ten times as long for a list."""


def _plain_in_duckdb(text: Cell) -> Cell:
    """Most texts end with another sign than those that are made plain, and hold none of theirs: that is seen first."""
    ends = (func.suffix(text, literal_column(literal_text(sign))) for sign in "0eE.")
    colon, *letter = (func.contains(text, literal_column(literal_text(sign))) for sign in ":eE")
    number = func.regexp_matches(text, literal_column("'[0-9][eE][-+0-9]'"))
    exponent = func.regexp_full_match(text, literal_column(f"'{EXPONENT}'"))
    large = _digits(case((exponent, text)), try_cast)
    return case((or_(*ends, colon, and_(or_(*letter), number)), _spelled(text, r"\z", large)), else_=text)


def _plain_in_sqlite(text: Cell) -> Cell:
    """By a function of this program's own (``database``), which is given bytes: a text may hold what is none."""
    return cast(func.plain_word(cast(text, LargeBinary())), String())


def _plain_in_postgresql(text: Cell) -> Cell:
    letters = text.collate("C")
    exponent = letters.regexp_match(literal_column(f"'\\A(?:{EXPONENT})\\Z'"))
    return _spelled(letters, r"\Z", _digits(case((exponent, letters)), cast))


def _spelled(text: Cell, end: str, large: Cell) -> Cell:
    """A text as ``plain_words.plain`` has it, in an engine that has regular expressions; ``end`` is theirs of a text,
    and ``large`` the digits of one with an exponent, None of any other."""
    for pattern, by in SPELLINGS:
        text = func.regexp_replace(text, literal_column(f"'\\A(?:{pattern}){end}'"), literal_column(f"'{by}'"))
    return func.coalesce(large, text)


def _digits(exponent: Cell, into: Callable[[Cell, TypeEngine[Any]], Cell]) -> Cell:
    """The digits of a number with an exponent, or None where it is that; ``into`` casts a text or a double."""
    near = case((func.abs(_power(exponent)) <= literal_column("19"), exponent))  # up to ``LARGEST``, and a double
    value = into(func.replace(near, literal_column("','"), literal_column("'.'")), Double())
    large = and_(func.abs(value) >= literal_column("1"), func.abs(value) < number(LARGEST))
    whole = case((and_(value == func.floor(value), large), cast(into(value, BigInteger()), String())))
    return func.coalesce(whole, _written_out(exponent))


def _power(exponent: Cell) -> Cell:
    """By which power of ten a number with an exponent is multiplied."""
    return cast(func.split_part(func.lower(exponent), literal_column("'e'"), literal_column("2")), Integer())


def _written_out(exponent: Cell) -> Cell:
    """A number with an exponent as its digits, with the mark that it has, between as many zeros as that power needs."""
    power = _power(exponent)
    digits = func.translate(
        func.split_part(func.lower(exponent), literal_column("'e'"), literal_column("1")),
        literal_column("'-.,'"),
        _NO_TEXT,
    )
    before, after = (func.repeat(literal_column("'0'"), func.greatest(zeros, _NOTHING)) for zeros in (-power, power))
    held, place = cast(before, String()) + digits + after, func.greatest(power, _NOTHING) + literal_column("1")
    mark = case((exponent.contains(","), literal_column("','")), else_=literal_column("'.'"))
    found = cast(func.left(held, place), String()) + mark + func.substr(held, place + literal_column("1"))
    whole = func.regexp_replace(found, literal_column("'^0+([0-9])'"), literal_column("'\\1'"))
    minus = case((exponent.startswith("-"), literal_column("'-'", String())), else_=_NO_TEXT)
    return minus + func.rtrim(func.rtrim(whole, literal_column("'0'")), literal_column("'.,'"))


def _named(cell: Cell, kind: Kind, trimmed: Callable[[Cell], Cell]) -> Cell:
    """Of a number without what may be written in several ways: 7.00 and −0 are “7” and “0”. Bytes are not trimmed."""
    text = cast(cell, String())
    if kind == "text":
        return trimmed(text)
    return _number(cell, text) if kind == "number" else text


def _number(cell: Cell, text: Cell) -> Cell:
    """The text of a number without zeros behind it, as far as it has no exponent."""
    decimals = and_(text.contains("."), ~text.contains("e"))
    return case(
        (cell == literal_column("0"), literal_column("'0'")),
        (decimals, func.rtrim(func.rtrim(text, literal_column("'0'")), literal_column("'.'"))),
        (text == literal_column("'-nan'"), literal_column("'nan'")),
        else_=text,
    )


def _named_in_duckdb(cell: Cell, kind: Kind, trimmed: Callable[[Cell], Cell]) -> Cell:
    """A number is one text however it is held: a single is the double that it is, and 10¹⁷ is not “1e+17”."""
    if kind == "moment":
        return _moment_in_duckdb(cell)
    if kind == "time":
        return _time_in_duckdb(cell)
    if kind != "number":
        return _named(cell, kind, trimmed)
    single = func.typeof(cell) == literal_column("'FLOAT'")
    whole = and_(cell == func.trunc(cell), _within(cell, LARGEST))
    digits = cast(try_cast(cell, BigInteger()), String())
    other = case((~whole, cell))  # what is written out several times below DuckDB makes once, of every row
    text = case((single, cast(cast(other, Double()), String())), else_=cast(other, String()))
    exponent = case((text.contains("e"), text))
    return func.coalesce(case((whole, digits)), _written_out(exponent), _number(other, text))


def _within(cell: Cell, most: float) -> Cell:
    """Whether a number is nearer to 0 than ``most``: the least of a type has no absolute value in it."""
    return and_(cell > number(-most), cell < number(most))


def _moment_in_duckdb(cell: Cell) -> Cell:
    """A point in time as a text: one before the first that DuckDB can write, by its number of microseconds.

    DuckDB gives no answer to a query that writes such a one, even where ``CASE`` keeps it from being written or the
    cast is one that may fail; so nothing else than what can be written is handed to that cast.
    """
    first: Cell = literal_column("TIMESTAMP '290309-12-22 (BC) 00:00:00'")
    moment = try_cast(cell, DateTime())
    before = func.coalesce(cast(func.epoch_us(moment), String()), literal_column("'-infinity'"))
    return case((moment < first, before), (moment >= first, cast(func.greatest(moment, first), String())))


def _time_in_duckdb(cell: Cell) -> Cell:
    """A time of day as a text, in the same way: one of no day by its number of microseconds."""
    first: Cell = literal_column("TIME '00:00:00'")
    last: Cell = literal_column("TIME '24:00:00'")
    within = cast(func.least(func.greatest(cell, first), last), String())
    return case((and_(cell >= first, cell <= last), within), else_=cast(func.epoch_us(cell), String()))


@cache
def _capitals() -> dict[str, list[str]]:
    """Of each letter those that become it in small letters, besides A to Z, one by one as in memory."""
    found: dict[str, list[str]] = {"i": ["\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"]}
    for letter in map(chr, range(0x80, 0x1F000)):
        small = letter.lower()
        if small != letter and len(small) == 1:
            found.setdefault(small, []).append(letter)
    return found


def _small(text: Cell, words: Collection[str]) -> Cell:
    """For an engine that knows the small letters of A to Z alone: those of others that are in the words come first."""
    for letter in sorted(set("".join(words))):
        for capital in _capitals().get(letter, ()):
            text = func.replace(text, capital, letter)
    return func.lower(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tongue:
    """One engine's way to say things, each about a cell by itself.

    ``exact(text)`` tells texts apart letter by letter, ``trimmed(text)`` is one without ``BLANKS`` around it,
    ``day(cell)`` is its day, ``option(text, options)`` the place among these options, −1 of none, ``among(text,
    words)`` whether it is one of these words, one at least, both letter by letter, ``reached(value, cuts)`` how many of
    these ascending cuts a value reaches, nothing for no value: each one part of a query (``looked_up``).
    ``whole(number)`` is the largest whole number up to one above 0, ``integral(number)`` whether one is whole,
    ``double(number)`` the number as a double, ``quotient(double, by)`` the double divided by a number above 0,
    ``digest(text)`` its MD5, ``key(text)`` its SHA-256 in two halves, as UUIDs, ``size(cell, kind)`` how many bytes a
    cell has, told without a copy of it, or None for a kind whose cells are small; ``floor`` and ``clip`` are as
    ``InPlace`` uses them. ``small(text, words)`` is a text in small letters, as far as it may then be one of these
    words in small letters.
    ``named(cell, kind, trimmed)`` is what a cell names, as a text: the same one for cells that are equal, another for
    others, where ``trimmed`` is this engine's. ``plain(text)`` is a text as ``plain_words.plain`` has it.
    ``alike`` is a query of no row, in which a table and a column stand as names, or as texts of these: it counts what
    shows that the column's own schema takes several texts for one. ``any_cell``: whatever a column is declared as, it
    may hold a text. ``letter_by_letter``: whatever the column, equal texts are the same; ``several_groupings``: one
    query may group the rows that it reads in several ways.
    """

    exact: Callable[[Cell], Cell]
    trimmed: Callable[[Cell], Cell]
    day: Callable[[Cell], Cell]
    option: Callable[[Cell, tuple[str, ...]], Cell]
    among: Callable[[Cell, tuple[str, ...]], ColumnElement[bool]]
    reached: Callable[[Cell, looked_up.Cuts], Cell]
    whole: Callable[[Cell], Cell]
    integral: Callable[[Cell], ColumnElement[bool]]
    floor: str
    clip: str
    double: Callable[[Cell], Cell]
    quotient: Callable[[Cell, float], Cell]
    size: Callable[[Cell, Kind], Cell | None]
    plain: Callable[[Cell], Cell]
    key: Callable[[Cell], tuple[Cell, Cell]]
    digest: Callable[[Cell], Cell] = func.md5
    small: Callable[[Cell, Collection[str]], Cell] = lambda text, words: func.lower(text)
    named: Callable[[Cell, Kind, Callable[[Cell], Cell]], Cell] = _named
    alike: str = ""
    any_cell: bool = False
    letter_by_letter: bool = False
    several_groupings: bool = False


def bounded(cell: Cell, kind: Kind, tongue: Tongue, *, person: bool = False) -> Cell:
    """A cell, or nothing where it is too long to be looked at, or to say whose row it is (``person``).

    Of a text of some hundred million letters a copy, in lower case say, is more than an engine can make: there would be
    no answer.
    """
    longest = LONGEST_PERSON if person else LONGEST
    size = tongue.size(cell, kind)
    return cell if size is None else case((size <= literal_column(str(longest)), cell))


def number(value: float) -> Cell:
    """A number as every engine reads it to the same double."""
    return literal_column(f"{value:.17e}", Double())


def literal_text(words: str) -> str:
    """A text as every engine reads it."""
    return "'" + words.replace("'", "''") + "'"


class _Uuid(UserDefinedType[str]):
    """16 bytes, in DuckDB and PostgreSQL."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "UUID"


class _Compiler(SQLCompiler):
    def visit_try_cast(self, element: Any, **how: Any) -> str:
        return f"TRY_{self.visit_cast(element, **how)}"  # type: ignore[no-untyped-call]


class DuckDB(DefaultDialect):
    """What DuckDB is told: standard SQL, with casts that may fail cell by cell."""

    statement_compiler = _Compiler
    supports_native_boolean = True
    supports_statement_cache = True

    def __init__(self) -> None:
        super().__init__(paramstyle="qmark")


def _is_floor(number: Cell) -> ColumnElement[bool]:
    return number == func.floor(number)


def _is_whole(number: Cell) -> ColumnElement[bool]:
    """As ``_is_floor``, of a decimal too whose floor is none of its type, as of −9.9 in one digit before the point."""
    return number == func.trunc(number)


def _floor(number: Cell) -> Cell:
    return cast(func.floor(number), BigInteger())


def _double(cell: Cell) -> Cell:
    return cast(cell, Double())


def _quotient(cell: Cell, by: float) -> Cell:
    return cell / number(by)


def _above_tiny(cell: Cell, tiny: float, found: Cell) -> Cell:
    """``found``, or 0 where ``cell`` is within ``tiny`` of 0: where a number or a quotient is too small to be a double,
    PostgreSQL gives no answer at all. What is that near 0 counts as 0 does in all that is asked.
    """
    return case((and_(cell > number(-tiny), cell < number(tiny)), number(0.0)), else_=found)


def _size_in_duckdb(cell: Cell, kind: Kind) -> Cell | None:
    if kind == "text":
        return func.strlen(cast(cell, String()))  # a cast for words of a list
    return func.octet_length(cell) if kind == "bytes" else None


def _size_in_sqlite(cell: Cell, kind: Kind) -> Cell:
    """Of any column: whatever it is declared as, it may hold a text. The length of a text itself ends at a zero."""
    of_texts = func.length(cast(cell, LargeBinary()))
    return case((func.typeof(cell).in_([literal_column("'text'"), literal_column("'blob'")]), of_texts), else_=_NOTHING)


def _named_in_sqlite(cell: Cell, _: Kind, trimmed: Callable[[Cell], Cell]) -> Cell:
    """Of any column: whatever it is declared as, it may hold a text. A whole number is the same however it is held;
    other numbers are written as everywhere (``database``). Of bytes, which may be a number or a UUID, none is taken for
    a blank."""
    kind, whole, text = func.typeof(cell), cast(cell, BigInteger()), cast(cell, String())
    return case(
        (kind == literal_column("'integer'"), text),  # first, for trimming takes longest
        (and_(kind == literal_column("'real'"), cell == whole), cast(whole, String())),
        (kind == literal_column("'real'"), cast(func.plain_word(cell), String())),
        (kind == literal_column("'blob'"), text),
        else_=trimmed(text),
    )


def _named_in_postgresql(cell: Cell, kind: Kind, trimmed: Callable[[Cell], Cell]) -> Cell:
    """A number is one text however it is held: as a double, 10¹⁷ would be written “1e+17”."""
    told = _named(cell, kind, trimmed)
    return _plain_in_postgresql(told) if kind == "number" else told


def _size_in_postgresql(cell: Cell, kind: Kind) -> Cell | None:
    if kind == "text":
        return func.octet_length(cast(cell, String()))
    return func.octet_length(cell) if kind == "bytes" else None


def _key_in_duckdb(text: Cell) -> tuple[Cell, Cell]:
    return _halves(func.sha256(text))


def _key_in_postgresql(text: Cell) -> tuple[Cell, Cell]:
    """Of the letters, whatever the database takes for equal."""
    return _halves(func.encode(func.sha256(func.convert_to(text, literal_column("'UTF8'"))), literal_column("'hex'")))


def _key_in_sqlite(text: Cell) -> tuple[Cell, Cell]:
    """By a function of this program's own (``database``)."""
    letters = cast(text, LargeBinary())
    return func.half_of_sha256(letters, literal_column("0")), func.half_of_sha256(letters, literal_column("1"))


def _halves(digits: Cell) -> tuple[Cell, Cell]:
    first: Cell = func.substr(digits, literal_column("1"), literal_column("32"))
    second: Cell = func.substr(digits, literal_column("33"))
    return cast(first, _Uuid()), cast(second, _Uuid())


_ALIKE = (
    "SELECT count(*) FROM (SELECT {column} AS told FROM {table} WHERE 1 = 0 UNION ALL SELECT 'a' UNION ALL SELECT 'e' "
    "UNION ALL SELECT '\u00e9') AS texts WHERE told IN ('A', 'E', 'e\u0301')"
)
"""By what a column compares texts that stand behind its own rows, of which there are none."""
_ALIKE_IN_POSTGRESQL = (
    "SELECT count(*) FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation "
    "WHERE a.attrelid = to_regclass({table_text}) "
    "AND '\"' || replace(a.attname, '\"', '\"\"') || '\"' = {column_text} "
    "AND (NOT coalesce(c.collisdeterministic, true) OR format_type(a.atttypid, NULL) ~ 'citext\"?$')"
)
_NOTHING: Cell = literal_column("0")
_NO_TEXT: Cell = literal_column("''", String())
_TINY = 1e-290
_CASE = "(CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END)"
DUCKDB = Tongue(
    exact=func.encode,
    trimmed=lambda text: func.regexp_replace(text, literal_column(AROUND), literal_column("''"), literal_column("'g'")),
    day=lambda cell: try_cast(try_cast(cell, DateTime()), Date()),
    option=looked_up.option_in_duckdb,
    among=looked_up.among_in_duckdb,
    reached=looked_up.Reached,
    whole=lambda number: try_cast(func.floor(number), BigInteger()),
    integral=_is_whole,
    floor="floor({})::INTEGER",
    clip="least(greatest({value}, {low}), {high})",
    double=_double,
    quotient=_quotient,
    size=_size_in_duckdb,
    plain=_plain_in_duckdb,
    named=_named_in_duckdb,
    key=_key_in_duckdb,
    alike=_ALIKE,
    digest=lambda text: cast(func.md5(text), _Uuid()),  # in the same order, and of one size
    several_groupings=True,
)
PARQUET = replace(DUCKDB, letter_by_letter=True)
TONGUES: dict[str, Tongue] = {
    "sqlite": Tongue(
        exact=lambda text: text.collate("BINARY"),
        trimmed=lambda text: func.trim(text, BLANKS),
        day=func.date,
        option=looked_up.option_in_sqlite,
        among=looked_up.among_in_sqlite,
        reached=looked_up.ReachedInSqlite,
        whole=lambda number: cast(number, Integer()),
        integral=lambda number: number == cast(number, BigInteger()),
        floor="CAST({} AS INTEGER)",  # nothing here is below 0, and SQLite may be built without floor
        clip="min(max({value}, {low}), {high})",
        double=_double,
        quotient=_quotient,
        size=_size_in_sqlite,
        plain=_plain_in_sqlite,
        key=_key_in_sqlite,
        alike=_ALIKE,
        any_cell=True,
        digest=lambda text: func.md5(cast(text, LargeBinary())),  # SQLite lets a text hold what is none
        small=_small,
        named=_named_in_sqlite,
    ),
    "postgresql": Tongue(
        exact=lambda text: text.collate("C"),
        trimmed=lambda text: func.btrim(text, BLANKS),
        day=lambda cell: cast(cell, Date()),
        option=looked_up.option_in_postgresql,
        among=looked_up.among_in_postgresql,
        reached=looked_up.reached_in_postgresql,
        whole=_floor,
        integral=_is_floor,
        floor="floor({})",
        clip=_CASE,
        double=lambda cell: _above_tiny(cell, _TINY, _double(cell)),
        quotient=lambda cell, by: _above_tiny(cell, max(_TINY, by * _TINY), _quotient(cell, by)),
        size=_size_in_postgresql,
        plain=_plain_in_postgresql,
        named=_named_in_postgresql,
        key=_key_in_postgresql,
        alike=_ALIKE_IN_POSTGRESQL,
        small=lambda text, words: _small(text.collate("C"), words),  # whatever letters the database's own rules know
    ),
}
"""Of each kind of database that is known to answer without ever writing."""
