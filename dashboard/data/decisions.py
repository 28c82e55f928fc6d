"""What a person decided about the columns of their own table, and what of it lasts when the table is read anew."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from dashboard.data.entries import Entries, Reach, reach
from dpcore.datasets import Column, Schema
from dpcore.datasets.report import ASKED
from dpcore.datasets.schema import ColumnType, DateOrder, Decimal, EachRow
from dpcore.errors import InvalidArgument

if TYPE_CHECKING:
    from dpcore.datasets import Reading

Notation = Literal["decimal", "date_order"]
"""What says, beside its type, how the numbers or the days of a column are written."""
LAST_STEP = "file:last step"
"""The doubt how many rows there are: steps, options, or records where one takes the place of another."""
EVEN = "file:even lines"
"""The doubt whether whatever somebody writes fits into the cells of its line, so that no row of a table of steps or
options comes, goes or changes its name by it."""
WORDS: tuple[ColumnType, ...] = ("category", "yes/no")
"""Which of the two a file suggests hangs on a row, so that a form asks of both the same."""
Words = tuple[str, ...]
ReadAs = tuple[str, ColumnType, Decimal, DateOrder, Words, Words, Words, str | float | None]
Stated = tuple[object, ...]
_SAID_OF_ROWS, _UNSAID = {"sensitivity", "counts"}, {"about"}
"""What is said of a column with what a row is, and what nobody states of it."""
_STATED = tuple(one.name for one in fields(Column) if one.name not in _SAID_OF_ROWS | _UNSAID)
COLUMN, WORD = 2_000, 160
"""Bytes that a declared column takes, and each option of few letters: its text, its place in a list, and where it is
looked up."""
MOST_EARLIER = 2 << 20
"""Bytes of what was declared before and is declared no more, for bringing it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What the person decided about the columns.

    ``settled`` names the doubts they answered (a column's name, or "file:encoding"). ``copied`` names the columns whose
    categories they took over from the file. ``said_rows`` is whether they said how many rows one person can have,
    ``said_row`` whether they said what one row is. ``confirmed`` are columns that they called right as the file
    suggested them (``read_as``), ``confirmed_row`` is whether they did so of what one row is. ``marked`` are columns
    and types, ``marked_row`` what one row is, that a declaration stated which they brought, and that a file had
    suggested when it was made. ``notation`` is what they stated of how numbers or days of a column are written: its
    name, ``decimal`` or ``date_order``, and which. It binds that column whatever the file shows then.
    ``brought`` are columns as a declaration that they brought states them (``stated``), of which no file had suggested
    anything: all other columns of a file are read, and hold what they can, as somebody said who had seen it.
    ``binary`` names columns of which they said that they hold yes or no, which neither a type nor its words say.
    ``names`` are columns of which they said that they name such rows, of these very entries, and are given out.
    ``row_right`` are kinds of rows and units, with the entries of which they said what follows of such rows: that a
    record is of one of these units alone, and that no step or option is itself one.
    ``reach`` is what they said of how far one moves an entry, each with what it was said of: of a table that is there,
    no other statement of it counts.
    """

    schema: Schema
    settled: frozenset[str] = frozenset()
    copied: frozenset[str] = frozenset()
    said_rows: bool = False
    said_row: bool = False
    confirmed: frozenset[ReadAs] = frozenset()
    confirmed_row: bool = False
    marked: frozenset[tuple[str, str]] = frozenset()
    marked_row: bool = False
    notation: frozenset[tuple[str, Notation, str]] = frozenset()
    names: frozenset[tuple[ReadAs, EachRow, Entries]] = frozenset()
    row_right: frozenset[tuple[EachRow, str, Entries]] = frozenset()
    reach: frozenset[Reach] = frozenset()
    brought: frozenset[Stated] = frozenset()
    binary: frozenset[str] = frozenset()

    def rows_are(self, *, each_row: EachRow | None = None, unit: str | None = None) -> Decisions:
        """A row is something else, or somebody else is protected: then nothing is said of how many of them there are,
        how many rows one has, nor by which column."""
        old = self.schema
        chosen = self if each_row is None else replace(self, said_row=True, marked_row=False)
        if (each_row or old.each_row, unit or old.unit) == (old.each_row, old.unit):
            if chosen.marked_row == self.marked_row:
                return chosen
            # how many there are was said of an earlier file, with what a row is, and goes with that mark
            return replace(chosen, schema=replace(old, people=None))
        schema = replace(
            old,
            each_row=each_row or old.each_row,
            unit=unit or old.unit,
            id_column=None,
            people=None,
        )
        return replace(chosen, schema=schema, said_rows=False)

    def moved(self, column: Column, entries: Entries) -> Decisions:
        """With ``column`` as somebody declared it now, and how far one moves its entries said of these ``entries``;
        but not where they are read otherwise since and the number is the one from before, which nobody looked at."""
        old, new = self.schema.column(column.name), replace(self, schema=self.schema.with_column(column))
        same = (old.sensitivity, old.counts) == (column.sensitivity, column.counts)
        if same and (old.type, old.decimal) != (column.type, column.decimal):
            return new
        others = {one for one in self.reach if one.column != column.name}
        return replace(new, reach=frozenset(others | {reach(column, new.schema, entries)}))

    def rows_of(self, name: str | None) -> Decisions:
        """The column that says whose a row is. Without it nothing keeps to a number of rows that it kept to."""
        kept = self.said_rows and (name is not None or self.schema.id_column is None)
        return replace(self, schema=replace(self.schema, id_column=name), said_rows=kept)

    def suggests(self, column: Column) -> bool:
        """Whether a file suggested the type of a column, and nobody has chosen it by hand."""
        return column.name not in self.settled or (column.name, column.type) in self.marked

    def written(self, column: Column) -> str | None:
        """How the numbers or days of a column are written, as the person stated of that column."""
        found = (how for name, what, how in self.notation if (name, what) == (column.name, notation(column)))
        return next(found, None)

    def stating(self, *columns: Column) -> Decisions:
        """With how these columns are written stated, as they have it."""
        fresh = {(one.name, what, getattr(one, what)) for one in columns if (what := notation(one)) is not None}
        here = {(name, what) for name, what, _ in fresh}
        return replace(self, notation=frozenset({old for old in self.notation if old[:2] not in here} | fresh))

    def answered(self, column: Column) -> Decisions:
        """With the question how a column is to be read answered: as this one. What was declared of it stays, as in a
        file in which no row raised the question, and so does a type that was chosen by hand where the answer is only
        how its numbers or days are written. What was called right before stays so as it was answered: no other row
        would have had the question raised."""
        old = self.schema.column(column.name)
        new = _answering(old, column, by_hand=column.name in self.settled)
        right = {read_as(new)} if read_as(old) in self.confirmed else set[ReadAs]()
        schema = self.schema.with_column(new)
        settled, confirmed = self.settled | {column.name}, self.confirmed | right
        return replace(self, schema=schema, settled=settled, confirmed=confirmed).stating(column)

    def retyped(self, name: str, kind: ColumnType, read: Column | None) -> Decisions:
        """With another type chosen by hand for one column.

        That states nothing of how its numbers or days are written: as long as nobody did, they are read as they were,
        or as the file suggests them, which ``read`` is. Raises InvalidArgument.
        """
        old, schema = self.schema.column(name), typed_as(self.schema, name, kind)
        what = notation(schema.column(name))
        if what is not None and read is not None and notation(old) != what:
            schema = schema.with_column(_written(schema.column(name), what, getattr(read, what)))
        return replace(
            self,
            schema=schema,
            settled=self.settled | {name},
            copied=self.copied - {name},
            marked=self._marked(old, schema.column(name)) if read is None else self.unmarked(name),
            binary=self.binary if kind == "yes/no" else self.binary - {name},
        )

    def says(self, *columns: Column, binary: Collection[str] = ()) -> Decisions:
        """With these columns as a form states them, and of those that ``binary`` names that they hold yes or no. That,
        and another type than before, is the type itself, as if it was chosen by hand; bounds and options leave open
        whether it is right, options of what looks like yes or no, and the words of that, too: that it does hangs on a
        row."""
        new = self
        for column in columns:
            name, old = column.name, new.schema.column(column.name)
            another = old.type != column.type
            if name in binary or another:
                new = replace(new, marked=new._marked(old, column))
            if name in binary or (another and not {old.type, column.type} <= set(WORDS)):
                new = replace(new, settled=new.settled | {name})
            said = new.binary | {name} if name in binary else new.binary - {name}
            new = replace(new, schema=new.schema.with_column(column), binary=said)
        return new

    def after_looking(self, before: Decisions | None) -> Decisions:
        """With all marked that is stated otherwise than ``before``: by a person who had seen a file. They stated it, so
        that they are asked nothing more of it; what was marked already waits as it did."""
        new, old = self, {} if before is None else {one.name: before._said(one) for one in before.schema.columns}
        for column in self.schema.columns:
            name, mark = column.name, (column.name, str(column.type))
            if self._said(column) == old.get(name) or (name in old and mark in self.marked):
                continue
            binary = new.binary | {name} if column.type == "yes/no" else new.binary
            new = replace(new, marked=new.marked | {mark}, settled=new.settled | {name}, binary=binary)
        rows = before is None or self._said_of_rows != before._said_of_rows
        return replace(new, marked_row=new.marked_row or rows)

    def _said(self, column: Column) -> Stated:
        name = column.name
        return stated(column), name in self.settled, name in self.binary, (name, column.type) in self.marked

    @property
    def _said_of_rows(self) -> Stated:
        one = self.schema
        said = one.each_row, one.unit, one.people, one.rows_per_person, one.id_column
        return *said, self.said_row, self.said_rows, self.marked_row, self.reach

    def _marked(self, old: Column, new: Column) -> frozenset[tuple[str, str]]:
        """``marked`` where a column gets another type, or somebody chose it by hand. Whatever else stays is what a
        declaration brought of a file, and marks it still: bounds, or words that mean missing."""
        fresh = Column(name=new.name, type=new.type)
        stays = any(getattr(new, one) == getattr(old, one) != getattr(fresh, one) for one in _STATED if one != "type")
        kept = {(new.name, str(new.type))} if stays and (old.name, old.type) in self.marked else set[tuple[str, str]]()
        return self.unmarked(new.name) | kept

    def unmarked(self, name: str) -> frozenset[tuple[str, str]]:
        """``marked`` without a column that is chosen by hand now."""
        return frozenset(mark for mark in self.marked if mark[0] != name)

    @property
    def asks_rows(self) -> bool:
        """Whether a private answer depends on how many rows one person can have: of a table of options none does."""
        return self.schema.each_row != "option"


def said_of_rows(decisions: Decisions, least: int, *, said: bool) -> Decisions:
    """How many rows one person has, where somebody ``said`` it; else as few as there can be, here and in what is
    saved."""
    if said:
        return decisions
    return replace(decisions, schema=replace(decisions.schema, rows_per_person=least), said_rows=False)


def notation(column: Column) -> Notation | None:
    """What says, beside its type, how the cells of a column are written."""
    return "decimal" if column.is_numeric else "date_order" if column.type == "date" else None


def read_as(column: Column) -> ReadAs:
    """How the cells of a column are read: all that somebody could state of it by what they saw in some of them."""
    missing, yes, no = (tuple(sorted(one)) for one in (column.missing_words, column.yes_words, column.no_words))
    return column.name, column.type, column.decimal, column.date_order, missing, yes, no, column.fill


def stated(column: Column) -> Stated:
    """All that somebody states of a column: how its cells are read, and what they can hold."""
    return tuple(getattr(column, name) for name in _STATED)


def typed_as(schema: Schema, name: str, kind: ColumnType) -> Schema:
    """The schema with another type for one column; what belonged to the old type is dropped, a decimal mark or an order
    of days too. Raises InvalidArgument."""
    return schema.with_column(as_type(schema.column(name), kind))


def as_type(old: Column, kind: ColumnType) -> Column:
    """A column with another type. Raises InvalidArgument."""
    if kind not in ("category", "number", "integer", "yes/no", "date", "text"):
        raise InvalidArgument("type", "must be one of the column types")
    fresh = Column(
        name=old.name,
        type=kind,
        missing_words=old.missing_words,
        unit=old.unit,
        about=old.about,
    )
    if old.is_numeric and fresh.is_numeric:
        fresh = replace(fresh, decimal=old.decimal, low=old.low, high=old.high, better=old.better)
    elif kind == old.type == "date":
        fresh = replace(fresh, date_order=old.date_order)
    elif {kind, old.type} == set(WORDS):  # of either a form states the same of a missing cell
        with suppress(InvalidArgument):
            fresh = replace(fresh, fill=old.fill)
    return fresh


def carried(old: Decisions, before: Reading, reading: Reading) -> Decisions:
    """The decisions about one reading for another one of the same file: what was declared by hand is kept, and what was
    said of a column, though it was what the file had suggested."""
    schema = reading.suggested()
    suggested = set(before.suggested().columns)
    kept = {
        column.name: column
        for column in old.schema.columns
        if column not in suggested or column.name in old.settled or read_as(column) in old.confirmed
    }
    columns = tuple(kept.get(column.name, column) for column in schema.columns)
    names = {column.name for column in columns}
    each_row = old.schema.each_row if old.said_row else schema.each_row
    named = old.schema.id_column if old.schema.id_column in names and each_row == "record" else None
    same = each_row == old.schema.each_row
    changed = {f"file:{one}" for one in ASKED if before.report.stated(one) != reading.report.stated(one)}
    changed |= {LAST_STEP} if before.records != reading.records else set()
    changed |= {EVEN} if before.report != reading.report else set()
    files = {doubt for doubt in old.settled if doubt.startswith("file:")} - changed
    return Decisions(
        schema=replace(old.schema, columns=columns, each_row=each_row, id_column=named),
        settled=frozenset(files | {name for name in old.settled if name in names}),
        copied=old.copied & names,
        said_rows=old.said_rows and same and named == old.schema.id_column,
        said_row=old.said_row,
        confirmed=old.confirmed & {read_as(column) for column in columns},
        confirmed_row=old.confirmed_row and same,
        marked=old.marked & _types(columns),
        marked_row=old.marked_row,
        notation=old.notation,
        names=old.names,
        row_right=old.row_right,
        reach=old.reach,
        brought=old.brought & set(map(stated, columns)),
        binary=old.binary & {column.name for column in columns if column.type == "yes/no"},
    )


def read_so(reading: Reading, choices: Mapping[str, Any]) -> frozenset[str] | None:
    """The doubts about a file that ``choices`` answer, where all of them say how it was read without them; else None,
    and the file must be read anew."""
    told = {f"file:{one}": reading.report.stated(one) for one in ASKED}
    here = {doubt: how for doubt, how in told.items() if how.items() <= choices.items()}
    covered = {name for how in here.values() for name in how}
    return frozenset(here) if covered == choices.keys() else None


def marked_by_rows(decisions: Decisions, from_rows: Collection[str]) -> Decisions:
    """With the mark of every column that exists only because rows name it, as whatever it was declared; none of them
    says whose row it is."""
    columns = decisions.schema.columns
    whose = decisions.schema.id_column
    if whose not in from_rows and not any(one.name in from_rows and not one.from_file for one in columns):
        return decisions
    schema = replace(
        decisions.schema,
        columns=tuple(replace(one, from_file=True) if one.name in from_rows else one for one in columns),
        id_column=None if whose in from_rows else whose,
    )
    return replace(decisions, schema=schema, said_rows=decisions.said_rows and whose not in from_rows)


def bound(decisions: Decisions, reading: Reading | None) -> Decisions:
    """With every column written as a person stated, of it or of the whole file, whatever its cells show; what a step
    wrote has a decimal point."""
    if reading is None or not (decisions.notation or reading.stated_decimal or reading.date_order or reading.computed):
        return decisions
    fresh = {}
    for column in decisions.schema.columns:
        what = notation(column)
        if what is None:
            continue
        own = "." if what == "decimal" and column.name in reading.computed else decisions.written(column)
        how = own or stated_of_all(reading, what)
        if how is not None and how != getattr(column, what):
            fresh[column.name] = _written(column, what, how)
    if not fresh:
        return decisions
    columns = tuple(fresh.get(column.name, column) for column in decisions.schema.columns)
    return replace(decisions, schema=replace(decisions.schema, columns=columns))


def stated_of_all(reading: Reading, what: Notation) -> str | None:
    """What a person stated of how the numbers or days of the whole file are written."""
    return reading.stated_decimal if what == "decimal" else reading.date_order


def _written(column: Column, what: Notation, how: str) -> Column:
    now: dict[str, Any] = {what: how}
    return replace(column, **now)


def _answering(old: Column, answer: Column, *, by_hand: bool) -> Column:
    """The column read as the answer says, and declared as it was: as numbers where what was declared holds no whole
    one, and as something else than numbers or days, or the other of the two, without what belonged to the old type."""
    what = notation(answer)
    if what is None or notation(old) != what:
        new = as_type(old, answer.type)
    elif by_hand or old.type == answer.type:
        new = old
    else:
        counts = old.counts and answer.type == "integer"
        try:
            new = replace(old, type=answer.type, counts=counts)
        except InvalidArgument:
            new = replace(old, type="number", counts=False)
    return new if what is None else _written(new, what, getattr(answer, what))


def _types(columns: tuple[Column, ...]) -> set[tuple[str, str]]:
    return {(column.name, column.type) for column in columns}


def declared_weight(schemas: Iterable[Schema]) -> int:
    """Bytes of columns that are declared, one that several schemas have once."""
    columns = {id(column): column for schema in schemas for column in schema.columns}
    return sum(_weight(column) for column in columns.values())


def within(earlier: tuple[Decisions, ...], now: Decisions) -> tuple[Decisions, ...]:
    """The last of what was decided ``earlier``, as far as it takes no more than it may beside what is decided ``now``;
    at least the very last, which counts with the rest (``limits``)."""
    seen, size, kept = {id(column) for column in now.schema.columns}, 0, list[Decisions]()
    for one in reversed(earlier):
        other = [column for column in one.schema.columns if id(column) not in seen]
        size += sum(map(_weight, other))
        if kept and size > MOST_EARLIER:
            break
        kept.append(one)
        seen |= set(map(id, other))
    return tuple(reversed(kept))


def _weight(column: Column) -> int:
    words = (*column.categories, *column.missing_words)
    return COLUMN + sum(map(sys.getsizeof, words)) + WORD * len(words)
