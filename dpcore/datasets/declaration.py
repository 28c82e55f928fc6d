"""What a person stated about a table, and nothing else: all that a private question may be made from.

Nothing here reads a value, and nothing that was read from a file's values gets in: columns marked ``from_file`` are
refused. How the declared columns are to be read is a public fact too (``Reads``); the reading itself is in
``dpcore.datasets.private_rows``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from dpcore.datasets.done import Done
from dpcore.datasets.schema import GIVES_NAMES, Column, EachRow, Schema, protects_rows, unmoved, whose_row
from dpcore.errors import InvalidArgument
from dpcore.validate import Neighbours, one_of

LONGEST_NAME = 60
Stated = Literal[
    "single marks",
    "double marks",
    "no marks",
    "doubled",
    "backslash",
    "cells end",
    "returns in cells",
    "returns at ends",
    "lines in cells",
    "no lines in cells",
    "columns",
    "foot left out",
    "foot kept",
    "merged in each",
    "merged in the first",
    "list of objects",
    "objects as rows",
    "objects as columns",
    "encoding",
    "no heading",
    "one heading line",
    "two heading lines",
    "last step",
    "last row",
    "even lines",
    "rows stay",
    "row by row",
]
"""What a person can state of the form of a file, where its bytes would decide it for all rows: which quotation marks
stand around cells, how one is written inside a cell, where cells end, whether a carriage return ends a line, whether
cells run over lines, how many columns there are where no line names them, whether lines that look like totals and notes
are rows, where a cell merged over several rows holds its value, how a JSON document that is an object holds its rows,
in which encoding letters are written, how many lines name the columns, that the last row of a file that holds anything
is its last one, or step, where the number of rows is public, that whatever people write into such a file stays in its
cell, and that no row is itself one of those who come and go. Of a table or view of a source its owner can state that
its rows are there ``row by row``, whatever rows of others are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """Which columns are read and how, and which rows count: a part of every question.

    With ``person``, the column that says whose row it is, as the text by which rows are told apart (``whose_row``), at
    most ``most`` rows of each person count and rows of nobody count for none; without it that nobody has more is a
    promise. Where rows are ``steps`` one without anything in it keeps its place; elsewhere it counts for none.

    With ``records`` a step's place is a record's: a question about the order in which people's own rows stand. Of a
    source with several tables ``table`` says which is meant. Each row was put together from all with one value of
    ``together``, where a step did that: that these are all of one is stated, as it is of ``person``.

    ``suggested`` are those of the columns of which a person who had seen the file, or an earlier one, stated how they
    are read, or called right how the file suggested it, and ``suggested_row`` is what one row is where they did so of
    that ("" where they did not): which of the two they did hangs on what a row holds, so it is in no question. ``form``
    is what they stated of the form of the file itself, and ``done`` are the steps they had done to it, in order: each
    can change which rows count, in whatever column. Of the columns that are read, or that a step worked on, they had
    the ``coded`` ones read by their codes, not by labels, in order of their names. A receipt says all of it. With
    ``named_by_rows`` the file's own rows name its columns, which a receipt says too.
    """

    columns: tuple[Column, ...]
    person: Column | None = None
    most: int = 1
    steps: bool = False
    records: bool = False
    table: str = ""
    together: str = ""
    suggested: tuple[str, ...] = ()
    suggested_row: EachRow | Literal[""] = ""
    form: tuple[Stated, ...] = ()
    coded: tuple[str, ...] = ()
    named_by_rows: bool = False
    done: tuple[Done, ...] = ()

    def column(self, name: str) -> Column:
        """One of the columns. Raises InvalidArgument."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidArgument("column", "must be one that the question reads")

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that must be in the table."""
        own = tuple(column.name for column in self.columns)
        return own if self.person is None or self.person.name in own else (*own, self.person.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The declared facts of one table.

    ``columns`` as a person declared them, what was read from the file left out. ``each_row`` is a record of one
    ``unit`` (a person, a visit), an option with its score, or a step in time. ``people`` is about how many units there
    are, if that was said. Of each unit at most ``rows_per_person`` rows count where ``id_column`` says whose a row is;
    else that there are no more is a promise. ``hidden`` is what a private answer hides.

    How the ``suggested`` columns are read and, with ``row_suggested``, what one row is, a person stated or called right
    who had seen the file or an earlier one. ``form`` is what they stated of the file's own form when they saw it
    (quotation marks, totals at its foot), ``coded`` are the columns that are read by their codes, and ``done`` are the
    steps they had done to it. With ``named_by_rows`` no header names the columns but the file's own rows. All else was
    stated without it. ``table`` is its name in a source that has several. Rows were put ``together`` by that column,
    where a step did so. ``rows_protected`` is whether a column that is not declared says that each row may be who is
    protected; where it may, nothing counts that was said of how far one moves an entry: its own can be any. Raises
    InvalidArgument.
    """

    columns: tuple[Column, ...]
    each_row: EachRow = "record"
    unit: str = "person"
    people: int | None = None
    rows_per_person: int = 1
    id_column: str | None = None
    hidden: Neighbours = "add_remove"
    suggested: tuple[str, ...] = ()
    row_suggested: bool = False
    form: tuple[Stated, ...] = ()
    coded: tuple[str, ...] = ()
    named_by_rows: bool = False
    table: str = ""
    together: str = ""
    rows_protected: bool = False
    done: tuple[Done, ...] = ()

    def __post_init__(self) -> None:
        one_of(("add_remove", "replace_one"), hidden=self.hidden)
        if any(column.from_file for column in self.columns):
            raise InvalidArgument("columns", "must be declared by a person, not read from the file")
        for stated in self.form:
            one_of(get_args(Stated), form=stated)
        if not set(self.suggested) <= {column.name for column in self.columns}:
            raise InvalidArgument("suggested", "must name declared columns")
        if self._may_be_rows:  # one in another's place is another number, however far one moves others'
            object.__setattr__(self, "columns", unmoved(self.columns))
        # the other rules are those of a schema
        Schema(
            columns=self.columns,
            each_row=self.each_row,
            rows_per_person=self.rows_per_person,
            people=self.people,
            id_column=self.id_column,
        )

    @classmethod
    def of(
        cls,
        schema: Schema,
        *,
        hidden: Neighbours = "add_remove",
        suggested: Iterable[str] = (),
        row_suggested: bool = False,
        form: Iterable[Stated] = (),
        coded: Iterable[str] = (),
        named_by_rows: bool = False,
        table: str = "",
        together: str = "",
        done: Iterable[Done] = (),
    ) -> Self:
        """From what a person declared; columns with bounds or categories read from the file are left out.

        ``suggested`` may name others than those. Raises InvalidArgument, where no column is left too.
        """
        declared = tuple(replace(column, about="") for column in schema.columns if not column.from_file)
        if not declared:
            raise InvalidArgument("columns", "must have bounds or categories declared by a person in at least one")
        return cls(
            columns=declared,
            each_row=schema.each_row,
            unit=schema.unit,
            people=schema.people,
            rows_per_person=schema.rows_per_person,
            id_column=schema.id_column,
            hidden=hidden,
            suggested=tuple(column.name for column in declared if column.name in set(suggested)),
            row_suggested=row_suggested,
            form=tuple(sorted(form)),
            coded=tuple(sorted(coded)),
            named_by_rows=named_by_rows,
            table=table,
            together=together,
            rows_protected=schema.protects_rows,
            done=tuple(done),
        )

    def column(self, name: str) -> Column:
        """A declared column. Raises InvalidArgument with what to do where it was not declared."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidArgument(
            "columns",
            f"cannot include “{shown(name)}” until its bounds or categories are declared: those read from the file "
            "could give people in it away",
        )

    def bounded(self, name: str) -> Column:
        """A declared column with its bounds, days or options. Raises InvalidArgument."""
        column = self.column(name)
        if not column.bounded:
            lacking = {"category": "options", "date": "first and last day"}.get(
                column.type, "lowest and highest values"
            )
            raise InvalidArgument("columns", f"cannot include “{shown(name)}” until its {lacking} are declared")
        return column

    def check_stay(self, neighbours: Neighbours) -> None:
        """Whether rows of steps or options are there whoever is protected. Raises InvalidArgument where one of them may
        be added or removed."""
        if neighbours != "replace_one" and self._may_be_rows:
            raise InvalidArgument("rows", rows_change(self.unit))

    @property
    def _may_be_rows(self) -> bool:
        """Whether who is protected may be a row of steps or options itself."""
        return self.rows_protected or protects_rows(self.each_row, self.unit, self.columns)

    def of_any_reach(self) -> Declaration:
        """Where one person may move an entry by all that its column can hold, whatever was said of that."""
        return replace(self, columns=unmoved(self.columns))

    def reads(self, *names: str, in_place: bool = False, named_by: str | None = None) -> Reads:
        """How these columns are read; with ``in_place`` every row keeps its place, as in steps. Raises InvalidArgument.

        The answer calls rows by what stands in ``named_by``. ``in_place`` is for questions about the order or the names
        of rows: what a person leaves empty must not move the rest.
        """
        person = None if self.id_column is None else whose_row(self.column(self.id_column))
        columns = tuple(self.column(name) for name in names)
        steps = in_place or self.each_row == "step"
        records = steps and self.each_row == "record"
        reads = Reads(columns=columns, person=person, most=self.rows_per_person, steps=steps, records=records)
        return self.taken(reads, named_by)

    def reads_rows(self, *names: str, neighbours: Neighbours) -> Reads:
        """As ``reads``, for a question to which each row adds for itself, and one person's are the rows that change.

        In a table of options one person moves entries of many rows; in one of steps an entry is moved where another
        question's row would come or go, and dates and texts say what a step is called. Raises InvalidArgument there.
        """
        if self.each_row == "option":
            raise InvalidArgument("rows", OPTIONS_MOVED)
        if self.each_row == "step" and neighbours != "replace_one":
            raise InvalidArgument("rows", STEPS_STAY)
        for name in names if self.each_row == "step" else ():
            if self.column(name).type in GIVES_NAMES:
                raise InvalidArgument("columns", f"cannot include “{shown(name)}”: {NAMES_STEPS}")
        return self.reads(*names)

    def taken(self, reads: Reads, named_by: str | None = None) -> Reads:
        """``reads`` with what was said of it and done to it after the file was seen, and the table that is meant;
        nothing about how many rows there are where that is private, nor which others the file's rows name."""
        own = {column.name for column in reads.columns} | {named_by}
        comes = self.hidden == "add_remove"
        private = {"last row"} if self.each_row == "record" and comes else set() if comes else {"rows stay"}
        public = {*reads.names, named_by or "", self.together}  # what else is declared is nothing to this question
        read = public.union(*(one.columns for one in self.done))
        return replace(
            reads,
            suggested=tuple(name for name in self.suggested if name in own),
            suggested_row=self.each_row if self.row_suggested else "",
            form=tuple(stated for stated in self.form if stated not in private),
            coded=tuple(name for name in self.coded if name in read),
            named_by_rows=self.named_by_rows,
            table=self.table,
            together=self.together,
            done=tuple(one.naming(public) for one in self.done) if self.named_by_rows else self.done,
        )


OPTIONS_MOVED = "of a table of options are entries that many people move, and this question is about rows of people"
STEPS_STAY = (
    "that are steps in time are changed and never missing, so nobody who comes or goes can be hidden: where a row is a "
    "person's, say so on the Data page"
)
"""After the word "rows"."""
NAMES_STEPS = "the dates and texts of a table of steps say what a step is called, and are given out with an answer"


def rows_change(unit: str) -> str:
    """After the word "rows": where a step or an option may be protected itself."""
    return (
        f"of which one may be a {shown(unit)} itself are changed and never missing: ask for an answer that hides one "
        f"{shown(unit)} changed"
    )


def shown(name: str, longest: int = LONGEST_NAME) -> str:
    """A column's name as it can stand in a sentence: one line, no control characters, not too long."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"
