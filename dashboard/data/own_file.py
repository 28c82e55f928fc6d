"""A person's own file as their session holds it: what was read, what they declared about it, how it may be used.

Nothing here is shared or stored: each value lives in one session's memory. A change makes a new value, so that it can
be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from dashboard.data.decisions import LAST_STEP, Decisions, bound, marked_by_rows, read_as, said_of_rows, within
from dashboard.data.entries import Entries, says, told
from dashboard.data.file_columns import FileColumns
from dashboard.data.file_form import FileForm
from dashboard.data.file_rows import FileRows
from dashboard.data.template import template
from dpcore.datasets import Relation, Schema, Step, Template
from dpcore.datasets.done import Done
from dpcore.datasets.schema import ColumnType, unmoved
from dpcore.datasets.steps import rows_made, together_by
from dpcore.ledger.people import Brought

if TYPE_CHECKING:
    from dashboard.all_held import Waiting
    from dashboard.data.place import Place
    from dashboard.data.remembered import Remembered
    from dpcore.datasets import Reading
    from dpcore.ledger.people import Resemblance
    from dpcore.sketches import Sketch

Use = Literal["what_if", "twin"]
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

    ``choices`` are the person's own answers to ``read_table``. ``confirmed`` says that they called the file public or
    test data, and were shown pictures of it. ``lineage`` is the name its people have, or would have, in the ledger:
    random, unless the person said that they are people it knows. ``alike`` are those they may be, as long as the person
    has not said, and ``same`` is whether this very file is theirs. ``joined`` is whether the ledger knows the file, as
    it was read, as one of its people's. ``reading`` is the table after ``steps``; ``read`` is the one before them, None
    where there are none. ``known`` are earlier declarations that fit, as long as none was used; ``remembered`` one that
    this server keeps for these people. ``too_large`` says why one that fits is not offered. ``uncompared`` says why
    others' people were not compared with it, so that no budget can be opened for it.
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
        if decisions.schema.each_row != "record" and self.rows.any_reach:
            columns = unmoved(decisions.schema.columns)
        elif self.described:
            return decisions
        else:
            columns = told(decisions.schema, decisions.reach, self.entries)
        return replace(decisions, schema=replace(decisions.schema, columns=columns))

    @property
    def form(self) -> FileForm:
        """How it is read: what was stated of its form, and what only the file says of it."""
        return FileForm(self)

    @property
    def columns(self) -> FileColumns:
        """What was said of each column, and what of it stands."""
        return FileColumns(self)

    @property
    def rows(self) -> FileRows:
        """What one row is, and what follows for those who are protected."""
        return FileRows(self)

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
        answered = self.columns.answered
        open_ = [f"file:{argument}" for argument in self.reading.report.doubtful]
        open_ = [doubt for doubt in open_ if doubt not in self.decisions.settled]
        open_ += [column.name for column in self.reading.columns if not column.certain and not answered(column)]
        return tuple(dict.fromkeys(open_))

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

    def counted(self) -> OwnFile:
        """With the number of rows called right."""
        return self.decide(replace(self.decisions, settled=self.decisions.settled | {LAST_STEP}))

    def confirm(self, names: Iterable[str]) -> Decisions:
        """The decisions with these columns, as they are now, what the file suggested of its form, and what one row is
        called right.

        Raises InvalidArgument.
        """
        listed, naming, rows, old = tuple(names), self.columns.naming, self.rows, self.decisions
        right = {read_as(self.schema.column(name)) for name in listed}
        here = (self.schema.column(name) for name in listed if name in naming)
        return replace(
            old,
            settled=old.settled.union(self.form.suggested),
            confirmed=old.confirmed | right,
            confirmed_row=True,
            names=old.names | {(read_as(one), self.schema.each_row, self.entries) for one in here},
            row_right=old.row_right | ({rows.these} if rows.say_more else set()),
        )

    def undone(self) -> OwnFile:
        return replace(self, decisions=self.earlier[-1], earlier=self.earlier[:-1]) if self.earlier else self

    def noted(self, sentence: str) -> OwnFile:
        return replace(self, log=(*self.log, Entry(time=datetime.now(UTC), sentence=sentence))[-MOST_NOTED:])


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
