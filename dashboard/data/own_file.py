"""A person's own file as their session holds it: what was read, what they declared about it, how it may be used.

Nothing here is shared or stored: each value lives in one session's memory. A change makes a new value, so that it can
be taken back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from dashboard import words
from dashboard.data import put_together
from dashboard.data.decisions import (
    EVEN,
    LAST_STEP,
    Decisions,
    bound,
    marked_by_rows,
    notation,
    read_as,
    said_of_rows,
    stated_of_all,
    within,
)
from dashboard.data.entries import Entries, says, told
from dashboard.data.template import template
from dpcore.datasets import (
    Column,
    ReadAsMissing,
    Relation,
    Schema,
    Step,
    Template,
)
from dpcore.datasets.declaration import Stated
from dpcore.datasets.done import Done
from dpcore.datasets.headings import tells_of_one
from dpcore.datasets.report import FORM
from dpcore.datasets.schema import ColumnType, EachRow, protects_rows, says_somebody, unmoved
from dpcore.datasets.steps import answers_made, puts_rows_together, rows_made, together_by
from dpcore.ledger.people import Brought

if TYPE_CHECKING:
    from dashboard.all_held import Waiting
    from dashboard.data.place import Place
    from dashboard.data.remembered import Remembered
    from dpcore.datasets import ReadColumn, Reading
    from dpcore.ledger.people import Resemblance
    from dpcore.sketches import Sketch

Use = Literal["what_if", "twin"]
HEADING = "file:header"
_WITH_TYPES = {
    HEADING: "the names of the columns",
    "file:encoding": "the encoding of its text",
    LAST_STEP: "the number of {}s",
    EVEN: "the cells of each line",
}
_STATED: dict[str | int | bool, Stated] = {
    "'": "single marks",
    '"': "double marks",
    "": "no marks",
    "doubled": "doubled",
    "backslash": "backslash",
    False: "foot left out",
    True: "foot kept",
    "in cells": "returns in cells",
    "at ends": "returns at ends",
    "inside": "lines in cells",
    "between": "no lines in cells",
    "each": "merged in each",
    "first": "merged in the first",
    "list": "list of objects",
    "rows": "objects as rows",
    "columns": "objects as columns",
}
_HEADINGS: tuple[Stated, ...] = ("no heading", "one heading line", "two heading lines")
_SPILLED = (
    "Some lines of this file have more or fewer cells than others, or a quotation mark that stays open: see “What was"
    " read, and when” on the Data page, and mend them. Or have rows with too many cells set aside, under “Read it "
    "differently”: then no private answer calls a row by a name from the file."
)
LEFT_OUT = ("keep_footer", False)
MOST_NOTED = 200
"""Sentences about what happened to a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPlan:
    """What a twin is made from besides the declared columns."""

    rows: int
    seed: int
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What was read, and when."""

    time: datetime
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnFile:
    """One file, a table that is only described, or one of a configured source, its ``place``; in the last two there are
    no values at all in this session, and ``reading`` is None.

    ``choices`` are the person's own answers to ``read_table``. ``confirmed`` says that they called the file public
    or test data. ``lineage`` is the name its people have, or would have, in the ledger: random, unless the person said
    that they are people it knows. ``alike`` are those they may be, as long as the person has not said, and ``same`` is
    whether this very file is theirs. ``joined`` is whether the ledger knows the file, as it was read, as one of its
    people's. ``reading`` is the table after ``steps``; ``read`` is the one before them, None where there are none.
    ``known`` are earlier declarations that fit, as long as none was used; ``remembered`` one that this server keeps
    for these people. ``too_large`` says why one that fits is not offered. ``uncompared`` says why others' people were
    not compared with it, so that no budget can be opened for it.
    """

    name: str
    data: bytes
    choices: tuple[tuple[str, Any], ...]
    reading: Reading | None
    decisions: Decisions
    sketch: Sketch | None = None
    earlier: tuple[Decisions, ...] = ()
    confirmed: bool = False
    use: Use | None = None
    plan: TwinPlan | None = None
    read: Reading | None = None
    steps: tuple[Step, ...] = ()
    known: tuple[Template, ...] = ()
    remembered: Remembered | None = None
    too_large: str = ""
    place: Place | None = None
    lineage: str | None = None
    alike: tuple[Resemblance, ...] = ()
    same: bool = False
    joined: bool = False
    uncompared: str = ""
    log: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        read = self._moved(bound(self.decisions, self.reading))  # what is bound may be read otherwise
        object.__setattr__(self, "decisions", marked_by_rows(read, self.from_rows))
        template(self)  # raises InvalidArgument: rows per person and steps must agree, whoever changes either

    def _moved(self, decisions: Decisions) -> Decisions:
        """Without what was said of how far one moves other entries than these; where nothing is behind them, that tells
        nobody anything."""
        if not any(map(says, decisions.schema.columns)):
            return decisions
        if decisions.schema.each_row != "record" and self.protects_rows:  # its own entry can be any
            columns = unmoved(decisions.schema.columns)
        elif self.described:
            return decisions
        else:
            columns = told(decisions.schema, decisions.reach, self.entries)
        return replace(decisions, schema=replace(decisions.schema, columns=columns))

    @property
    def entries(self) -> Entries:
        """What is said of entries is said of these."""
        chosen = frozenset(one for one in self.choices if one[0] not in ("decimal", "date_order"))
        if self.as_read is not None:
            return Entries(fingerprint=self.as_read.fingerprint, choices=chosen, steps=self.steps)
        table = "" if self.place is None else f"source:{self.place.table}"
        return Entries(fingerprint=table, choices=chosen, steps=self.steps)

    @property
    def table(self) -> str:
        """Which table it is: another one of other bytes, read otherwise, or after other steps."""
        if self.reading is not None:
            return self.reading.key
        return "described" if self.place is None else f"source:{self.place.source.name}:{self.place.table}"

    @property
    def from_rows(self) -> frozenset[str]:
        """Columns that exist only because rows name them: good for looking, whatever somebody says of them."""
        return frozenset() if self.reading is None else self.reading.from_rows

    @property
    def named_by_rows(self) -> bool:
        """Whether the file's own rows name its columns, so that one row more could bring one."""
        return self.reading is not None and self.reading.named_by_rows

    @property
    def spoken_of(self) -> tuple[Column, ...]:
        """The declared columns of which somebody stated how they are read, or called it right, and the one that says
        whose row it is: as plain text where nobody did. None whose name is a word of the rows. Of others a page asks
        only where a row leaves them open, so that what was said of them tells of it."""
        found, told = [], self.told_of(self.schema.columns)
        for column in self.schema.columns:
            if column.name in self.from_rows:
                continue
            if self.unseen or column.name in told:
                found.append(column)
            elif column.name == self.schema.id_column:
                found.append(_whose(column))
        return tuple(found)

    def told_of(self, columns: Iterable[Column]) -> tuple[str, ...]:
        """Those of which it is kept that somebody spoke of them, as they did: of declared ones, each by itself, and of
        those that would name rows, which are called right as well."""
        kept = {column.name for column in self.schema.columns if self.stands(column)} | set(self.naming)
        return tuple(column.name for column in columns if column.name in kept and self.spoken(column))

    @property
    def made(self) -> int:
        """How many rows the steps can make of one row of the file, at least 1."""
        return rows_made(self.steps, self.schema.each_row)

    @property
    def together(self) -> str:
        """The column by which a step put records together, which then says whose each is; "" where none did."""
        return together_by(self.steps) if self.schema.each_row == "record" else ""

    @property
    def done(self) -> tuple[Done, ...]:
        """What a question holds of the steps: no word of the rows."""
        return tuple(step.done for step in self.steps)

    @property
    def worded(self) -> bool:
        """Whether a step names a word of the rows, which no declaration takes along."""
        return any(step.holds_values for step in self.steps)

    @property
    def schema(self) -> Schema:
        return self.decisions.schema

    @property
    def as_read(self) -> Reading | None:
        """The table as it was read, before any step."""
        return self.reading if self.read is None else self.read

    def marks(self, key: bytes) -> Sketch | None:
        """By what the ledger recognises another file about the same people; ``key`` is ``Ledger.sketch_key``."""
        return self.sketch if self.sketch is not None or self.as_read is None else sketched(self.as_read, key)

    def brought(self, key: bytes, because: str = "") -> Brought | None:
        """The file as the ledger is told of it, with why nobody of others is in it; None where there is no file."""
        if self.as_read is None:
            return None
        return Brought(fingerprint=self.as_read.fingerprint, sketch=self.marks(key), because=because)

    @property
    def described(self) -> bool:
        """Whether nothing is behind it: neither a file nor a source."""
        return self.unseen and self.place is None

    @property
    def unseen(self) -> bool:
        """Whether no value is in this session, so that all that is said of it was stated without looking."""
        return self.reading is None

    def types(self, name: str) -> tuple[ColumnType, ...]:
        """As what a column may be declared: a source holds what its own schema says."""
        return get_args(ColumnType) if self.place is None else self.place.types(name)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the file alone cannot decide and the person has not decided yet."""
        if self.reading is None:
            return ()
        open_ = [f"file:{argument}" for argument in self.reading.report.doubtful]
        open_ = [doubt for doubt in open_ if doubt not in self.decisions.settled]
        open_ += [column.name for column in self.reading.columns if not column.certain and not self._answered(column)]
        return tuple(dict.fromkeys(open_))

    def _answered(self, read: ReadColumn) -> bool:
        """Whether a person said how a column is to be read that can be read in several ways. Its type alone does not
        say it where two of them are of that type."""
        if read.name not in self.decisions.settled or read.name not in self.schema.names:
            return read.name in self.decisions.settled
        column = self.schema.column(read.name)
        what = notation(column)
        if what is None or self.states(column) or (column.name, column.type) in self.decisions.marked:
            return True
        return len({getattr(one.column, what) for one in read.readings if notation(one.column) == what}) < 2

    @property
    def form_doubts(self) -> tuple[str, ...]:
        """What the file's bytes decided about its form and the person has not stated yet: one row could decide it for
        all others, so that a private answer waits for it, and nothing else.

        What is called right with the types takes no click of its own: see ``form_suggested``."""
        decided = () if self.reading is None else self.reading.report.decided
        open_ = (f"file:{argument}" for argument in decided)
        return tuple(doubt for doubt in open_ if doubt not in {*_WITH_TYPES, *self.decisions.settled})

    @property
    def form_suggested(self) -> tuple[str, ...]:
        """What the file alone says of which lines name its columns, of its encoding and, of steps or options, of their
        number and that what anybody writes fits into the cells, and nobody called right."""
        decided = () if self.reading is None else self.reading.report.decided
        public = {LAST_STEP} if self._open_ended and self.schema.each_row != "record" else set()
        public |= {EVEN} if self._may_spill and not self.spills else set()
        open_ = {f"file:{argument}" for argument in decided} | public
        return tuple(doubt for doubt in _WITH_TYPES if doubt in open_ - self.decisions.settled)

    @property
    def _may_spill(self) -> bool:
        """Whether what somebody writes into a cell could take its row of a table of steps or options away, which nobody
        stated."""
        if self.reading is None or self.schema.each_row == "record" or dict(self.choices).get("uneven") == "set aside":
            return False
        return self.reading.report.container == "text"  # of all others each cell stands by itself

    @property
    def spills(self) -> bool:
        """Whether that was so of some rows."""
        return self._may_spill and self.reading is not None and self.reading.report.spilled > 0

    @property
    def _open_ended(self) -> bool:
        """Whether with its cells empty a row could be none, so that the number of rows is called right before it shows:
        that of steps and options always does, that of records where one takes the place of another."""
        return self.reading is not None and self.reading.report.open_ended

    @property
    def uncounted(self) -> bool:
        """Whether nobody called the number of records right yet: what shows it waits for that, and nothing else."""
        return self._open_ended and self.schema.each_row == "record" and LAST_STEP not in self.decisions.settled

    def counted(self) -> OwnFile:
        """With the number of rows called right."""
        return self.decide(replace(self.decisions, settled=self.decisions.settled | {LAST_STEP}))

    @property
    def stated(self) -> dict[str, str | int | bool]:
        """What the person stated of how the file is to be read, as arguments of ``read_table``: in a form of the page,
        with a declaration that they brought, or by a click that called right how it was read."""
        stated: dict[str, str | int | bool] = dict(self.choices)
        if self.reading is not None:
            report = self.reading.report
            for asked in (*report.doubtful, *report.decided):
                stated |= report.stated(asked) if f"file:{asked}" in self.decisions.settled else {}
        return stated

    @property
    def form(self) -> tuple[Stated, ...]:
        """Of what the person stated, or the owner of a source, that which the bytes would else have decided for all
        rows: answers say it."""
        if self.reading is None:
            return () if self.place is None else self.place.form
        report = self.reading.report
        lines = self.stated.get("header_rows")
        stated = {argument: value for argument, value in self.stated.items() if argument in FORM}
        counted = stated.pop("columns", None) is not None and report.columns > 0
        ended = stated.pop("delimiter", None) is not None and report.container == "text"
        written = stated.pop("encoding", None) is not None and report.container in ("text", "json")
        headed = lines is not None and (bool(report.header_lines) or report.columns > 0)
        heading = _HEADINGS[len(report.header_lines)]
        last: Stated = "last step" if self.schema.each_row == "step" else "last row"
        told: tuple[tuple[bool, Stated], ...] = (
            (ended, "cells end"),
            (counted, "columns"),
            (written, "encoding"),
            (headed, heading),
            (self._open_ended and LAST_STEP in self.decisions.settled, last),
            (self._may_spill and EVEN in self.decisions.settled, "even lines"),
            (self.rows_stay and self._said_of_rows, "rows stay"),
        )
        return (*(_STATED[value] for value in stated.values()), *(one for said, one in told if said))

    @property
    def release_doubts(self) -> tuple[str, ...]:
        """The open questions that a private answer waits for: about the file, and about columns that were declared.

        Where a declaration was brought that fits, none is left but those about what it does not state of the form.
        """
        declared = self.declared
        read = self.schema.names if declared is None else declared.names
        open_ = (doubt for doubt in self.doubts if doubt.startswith("file:") or doubt in read)
        return (*open_, *self.form_doubts)

    @property
    def leading(self) -> Schema:
        """The columns as pages are given them, those that were declared first. What says whose row it is leads nowhere:
        nothing was said of how it is read.

        A column that can be read in two ways is not among them until somebody said which.
        """
        declared = () if self.declared is None else self.declared.names
        doubts = set(self.doubts)
        certain = [name for name in self.schema.names if name not in doubts]
        schema = self.schema.only(*certain) if certain else self.schema
        whose = self.schema.id_column
        found = declared_first(schema, [name for name in declared if name != whose])
        return found if found.each_row == "record" else replace(found, rows_protected=self.protects_rows)

    @property
    def protects_rows(self) -> bool:
        """Whether who is protected may be a row of steps or options itself, by what is public of the columns."""
        return replace(self.schema, rows_protected=self.rows_protected).protects_rows

    @property
    def rows_protected(self) -> bool | None:
        """What ``Schema.protects_rows`` is by the columns that a heading names or somebody declared, where rows name
        others: one record that brings a "patient" must not say that each row is one. None where the headings tell it.
        """
        if self.schema.each_row != "record" and any(map(self._names_somebody, self.naming)):
            return True
        if self.schema.each_row == "record" or not (self.from_rows or self.named_by_rows):
            return self.schema.rows_protected
        return protects_rows(self.schema.each_row, self.schema.unit, self._named)

    @property
    def somebody(self) -> str:
        """The first heading that says that each row is somebody; "" for none."""
        named = (name for name in self.naming if self._names_somebody(name))
        return next(named, next((column.name for column in self._named if says_somebody(column)), ""))

    @property
    def _named(self) -> tuple[Column, ...]:
        """The columns that a heading names or, where rows name them all, that somebody declared."""
        known = set() if self.declared is None else set(self.declared.names)
        public = known if self.named_by_rows else set(self.schema.names) - self.from_rows
        return tuple(column for column in self.schema.columns if column.name in public)

    def decide(self, decisions: Decisions) -> OwnFile:
        """With other decisions; the ones before can be brought back. A twin of other columns is no longer shown.

        Where a row becomes another thing, and the steps then count for more rows, how many a person has is asked anew.
        Of a source what its owner states stays, whatever they say. Raises InvalidArgument where they say of fewer rows
        per person than the steps make of one, or declare a column of a source as what it cannot hold.
        """
        if self.place is not None:
            decisions = replace(decisions, schema=self.place.stated(decisions.schema), said_rows=True, said_row=True)
        least = rows_made(self.steps, decisions.schema.each_row)
        few = least > self.made and decisions.schema.rows_per_person < least
        decisions = said_of_rows(decisions, least, said=decisions.said_rows and not few)
        changed = replace(self, decisions=decisions)
        if changed.decisions == self.decisions:
            return self
        return replace(changed, earlier=within((*self.earlier, self.decisions)[-50:], changed.decisions))

    def undone(self) -> OwnFile:
        return replace(self, decisions=self.earlier[-1], earlier=self.earlier[:-1]) if self.earlier else self

    def noted(self, sentence: str) -> OwnFile:
        return replace(self, log=(*self.log, Entry(time=datetime.now(UTC), sentence=sentence))[-MOST_NOTED:])

    @property
    def unreleasable(self) -> str:
        """Why nothing can be released yet, all of it at once; "" when something can."""
        if self.described:
            return "These rows are simulated, so there is nobody to protect. Load a file to make a release."
        return " ".join(self.lacking)

    @property
    def _put_together(self) -> str:
        """Why rows that steps put together cannot be asked privately; "" where they can."""
        if self.schema.each_row != "record" and puts_rows_together(self.steps):
            return (
                "The rows of this table were put together from what the file holds, so how many there are and what "
                "they are called is private. Take that step back on the Data page: a private alarm counts days itself."
            )
        if self.schema.each_row != "record":
            return ""
        return (
            put_together.refusal(self.steps, self.schema.unit)
            or put_together.of_made(self.steps, self.schema)
            or put_together.of_nobody(self.steps, self.schema)
        )

    @property
    def lacking(self) -> tuple[str, ...]:
        """Everything for which a private answer from this file waits, a sentence each: the Data page lists what a
        question's page says."""
        asked = {
            "Answer the open questions about this file on the Data page first.": bool(self.release_doubts),
            self.say_rows: self.decisions.asks_rows and not self.decisions.said_rows,
            "Say on the Data page whether these are the people of an earlier file.": bool(self.alike),
            "Say on the Data page what a column can hold (bounds, options, yes or no): a private answer needs it.": (
                self.declared is None
            ),
            _SPILLED: self.spills,
            self._suggesting: self.asks_confirmation,
        }
        first = (sentence for sentence in (self._put_together, self.uncompared) if sentence)
        return (*first, *(sentence for sentence, open_ in asked.items() if open_))

    @property
    def say_rows(self) -> str:
        """That it is to be said how many rows one of those who are protected can have, or steps change."""
        steps, who = self.schema.each_row == "step", words.visible(self.schema.unit)
        asked = f"in how many steps one {who} can change a number" if steps else f"how many rows one {who} can have"
        return f"Say on the Data page {asked}: a private answer needs to know."

    @property
    def _suggesting(self) -> str:
        form = "".join(f"{_WITH_TYPES[doubt].format(self.schema.each_row)}, " for doubt in self.form_suggested)
        return f"Say on the Data page that {form}the types and what one row is are right: the file suggested them."

    @property
    def suggested(self) -> tuple[str, ...]:
        """Declared columns of which somebody who had seen this file, or an earlier one whose declaration was brought,
        be it for a source, said how they are read: whether they stated it or called right what the file suggests hangs
        on what a row holds, so that nobody is told which it was."""
        declared = self.declared
        if declared is None:
            return ()
        asked = {column.name for column in declared.columns if column.type != "text"} | set(self.naming)
        return tuple(
            column.name for column in self.schema.columns if column.name in asked and self.after_looking(column)
        )

    def after_looking(self, column: Column) -> bool:
        """Whether it is said of a column how it is read by what a file showed: of all of one that is here, but for what
        a declaration states that was made without."""
        return self.suggests(column) if self.unseen else read_as(column) not in self.decisions.brought

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that would say what the rows of a table are called, once somebody calls that right: declared days of
        steps, declared options, and texts of options where no declared column lists these."""
        columns = [column for column in self.schema.columns if column.name not in self.from_rows]
        if self.schema.each_row == "step":
            return tuple(column.name for column in columns if column.type == "date" and column.releasable)
        if self.schema.each_row == "record":
            return ()
        listed = tuple(column.name for column in columns if column.type == "category" and column.releasable)
        return listed or tuple(column.name for column in columns if column.type == "text")

    @property
    def to_call_right(self) -> tuple[str, ...]:
        """Columns that a person is to call right, as far as they did not state how they are read: those of which the
        file suggested it, and those by which rows are called, whoever chose their type."""
        return tuple(dict.fromkeys((*self.suggested, *self.naming)))

    def suggests(self, column: Column) -> bool:
        """Whether a file suggested how the cells of a column are read, or a part of that: its type, the decimal mark of
        its numbers, the order of its days."""
        if self.unseen:
            return (column.name, column.type) in self.decisions.marked
        return self.decisions.suggests(column) or not self.states(column)

    def states(self, column: Column) -> bool:
        """Whether a person stated how the numbers or days of a column are written, of it or of the whole file; where
        nothing is to be stated, as of what a step wrote, they did."""
        what = notation(column)
        if what is None or self.reading is None or (what == "decimal" and column.name in self.reading.computed):
            return True
        return self.decisions.written(column) is not None or stated_of_all(self.reading, what) is not None

    def spoken(self, column: Column) -> bool:
        """Whether somebody stated how the cells of a column are read, or called it right."""
        if read_as(column) in self.decisions.confirmed:
            return True
        brought = (column.name, column.type) in self.decisions.marked
        return column.name in self.decisions.settled and (brought or self.states(column))

    def stands(self, column: Column) -> bool:
        """Whether everything that a private answer needs was declared of a column. Yes or no needs no bounds, and
        looks declare nothing, nor does calling all types right: somebody stated that very column so, as they state
        bounds or options, or a step made it so."""
        if column.type != "yes/no" or not column.releasable:
            return column.releasable
        made = column.name in answers_made(self.steps)
        return made or column.name in self.decisions.settled or not self.suggests(column)

    def _is_called(self, column: Column) -> bool:
        """Whether a person, told so, said of such rows of this very table that a column names them and is given out:
        neither a type chosen by hand nor anything that was called right of other rows says it."""
        names = self.decisions.names
        return bool(names) and (read_as(column), self.schema.each_row, self.entries) in names

    @property
    def row_suggested(self) -> bool:
        """Whether somebody said what one row is who had seen this file, or an earlier one whose declaration was
        brought: of a file that is here always, whether they chose it or called right what it suggests."""
        return self.decisions.marked_row or not self.unseen

    @property
    def asks_confirmation(self) -> bool:
        """Whether something that a private answer would rest on was suggested by the file, and nobody called it right
        yet."""
        open_ = bool(self.unconfirmed(self.to_call_right)) or self.row_open or bool(self.form_suggested)
        return open_ and self.declared is not None

    def unconfirmed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these columns of which the file suggested how they are read and nobody called it right. Raises
        InvalidArgument."""
        here = (self.schema.column(name) for name in names)
        named = self.naming
        return tuple(
            one.name
            for one in here
            if not (self._is_called(one) if one.name in named else one.type == "text" or self.spoken(one))
        )

    @property
    def row_unconfirmed(self) -> bool:
        """Whether the file suggested what one row is and nobody called it right."""
        return self.reading is not None and not self.decisions.said_row and not self.decisions.confirmed_row

    @property
    def row_open(self) -> bool:
        """Whether nobody called right what one row is or what follows from that: that a record is of one alone or,
        where those who are protected come and go, that no step or option is itself one. Also where somebody chose what
        it is, of other people, or before they knew what follows."""
        return self.row_unconfirmed or (self.reading is not None and self.row_means and not self._said_of_rows)

    @property
    def row_means(self) -> bool:
        """Whether something is stated with what a row is that no data can show."""
        return self.schema.each_row == "record" or self.rows_stay

    @property
    def rows_stay(self) -> bool:
        """Whether there are as many rows of steps or options whoever is protected comes or goes, if it is as stated."""
        return self.schema.each_row != "record" and not self.protects_rows

    @property
    def _said_of_rows(self) -> bool:
        return self._these_rows in self.decisions.row_right

    @property
    def _these_rows(self) -> tuple[EachRow, str, Entries]:
        """What is said of rows is said of these. Where totals and notes are left out of records none is another."""
        of = self.entries
        if self.schema.each_row == "record":
            of = replace(of, choices=of.choices - {LEFT_OUT})
        return self.schema.each_row, self.schema.unit, of

    def confirm(self, names: Iterable[str]) -> Decisions:
        """The decisions with these columns, as they are now, what the file suggested of its form, and what one row is
        called right.

        Raises InvalidArgument.
        """
        listed = tuple(names)
        right = {read_as(self.schema.column(name)) for name in listed}
        here = (self.schema.column(name) for name in listed if name in self.naming)
        called = {(read_as(one), self.schema.each_row, self.entries) for one in here}
        rows = {self._these_rows} if self.row_means else set()
        old = self.decisions
        return replace(
            old,
            settled=old.settled.union(self.form_suggested),
            confirmed=old.confirmed | right,
            confirmed_row=True,
            names=old.names | called,
            row_right=old.row_right | rows,
        )

    @property
    def declared(self) -> Schema | None:
        """The columns about which everything a private answer needs was declared; None when there is none.

        Of a table of options what says which one a row is comes along only where somebody said that it does: an answer
        gives its words away, and nobody's data may change which row has which. The column that says whose row it is
        always does, because its values need no declaration.
        """
        schema = self.schema
        if self.from_rows:
            public = tuple(column for column in schema.columns if column.name not in self.from_rows)
            if not public:
                return None
            schema = replace(schema, columns=public)  # what rows name tells nothing of what is protected
        if schema.id_column is not None and not schema.column(schema.id_column).releasable:
            schema = schema.with_column(_whose(schema.column(schema.id_column)))
        if any(isinstance(step, ReadAsMissing) for step in self.steps):
            # whatever word it was, and whatever the column was called then: an entry may be read as nobody's, and back
            schema = replace(schema, columns=unmoved(schema.columns))
        names = [column.name for column in schema.columns if self.stands(column)]
        if not names:
            return None
        if schema.each_row == "option" and not self.described:
            said = {name for name in self.naming if self._is_called(schema.column(name))}
            words = ("text", "category")
            names = [
                one.name for one in schema.columns if one.name in said or (one.name in names and one.type not in words)
            ]
            if not names:
                return None
        elif schema.id_column is not None:
            names = [name for name in schema.names if name in names or name == schema.id_column]
        if self.named_by_rows:  # what rows name and nobody declared says nothing of what each row is
            schema = replace(schema, columns=tuple(column for column in schema.columns if column.name in names))
        if schema.each_row != "record" and any(map(self._names_somebody, self.naming)):
            schema = replace(schema, rows_protected=True)
        return schema.only(*names)

    def _names_somebody(self, name: str) -> bool:
        """Whether rows are called by this column, as a person said, and its heading is that of people."""
        return self._is_called(self.schema.column(name)) and tells_of_one(name, options=True)


def _whose(column: Column) -> Column:
    """The column that says whose row it is, as text; the words that say of nobody stay what they are."""
    return Column(name=column.name, type="text", missing_words=column.missing_words)


def declared_first(schema: Schema, declared: Collection[str]) -> Schema:
    """The declared columns before the others: a page begins with the first that suits, and what it begins with must not
    hang on how the cells of a column look that nobody spoke of."""
    names = schema.names
    return schema.only(*(name for name in names if name in declared), *(name for name in names if name not in declared))


def sketched(reading: Reading, key: bytes) -> Sketch:
    """Keyed marks of some rows, for the ledger; takes seconds for a million rows."""
    from dpcore.datasets import sketch  # loads DuckDB

    return sketch(reading, key)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pending:
    """A file that is being read, or that could not be, as ``problem`` says. ``again`` reads the present file anew.

    ``counted`` is what counts it among all that is held here.
    """

    name: str
    data: bytes
    choices: tuple[tuple[str, Any], ...]
    again: bool
    counted: Waiting | None = None
    problem: str = ""
