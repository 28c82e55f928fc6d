"""What was said of each column of a person's own file, and what of it stands: all that a private answer rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dashboard.data.decisions import WORDS, notation, read_as, stated, stated_of_all
from dpcore.datasets import Column, ReadAsMissing, Schema
from dpcore.datasets.headings import tells_of_one
from dpcore.datasets.schema import unmoved, whose_row
from dpcore.datasets.steps import answers_made

if TYPE_CHECKING:
    from dashboard.data.own_file import OwnFile
    from dpcore.datasets import ReadColumn


@dataclass(frozen=True, slots=True, eq=False)
class FileColumns:
    """The columns of one file."""

    own: OwnFile

    @property
    def declared(self) -> Schema | None:
        """The columns about which everything a private answer needs was declared; None when there is none.

        Of a table of options what says which one a row is comes along only where somebody said that it does: an answer
        gives its words away, and nobody's data may change which row has which. The column that says whose row it is
        always does, because its values need no declaration: as plain text where nothing else was declared of it.
        """
        own = self.own
        schema = own.schema
        if own.from_rows:
            public = tuple(column for column in schema.columns if column.name not in own.from_rows)
            if not public:
                return None
            schema = replace(schema, columns=public)  # what rows name tells nothing of what is protected
        if schema.id_column is not None and not self.stands(schema.column(schema.id_column)):
            schema = schema.with_column(whose_row(schema.column(schema.id_column)))
        if any(isinstance(step, ReadAsMissing) for step in own.steps):
            # whatever word it was, and whatever the column was called then: an entry may be read as nobody's, and back
            schema = replace(schema, columns=unmoved(schema.columns))
        names = [column.name for column in schema.columns if self.stands(column)]
        if not names:
            return None
        if schema.each_row == "option" and not own.described:
            said = {name for name in self.naming if self.names_rows(schema.column(name))}
            words = ("text", "category")
            names = [
                one.name for one in schema.columns if one.name in said or (one.name in names and one.type not in words)
            ]
            if not names:
                return None
        elif schema.id_column is not None:
            names = [name for name in schema.names if name in names or name == schema.id_column]
        if own.named_by_rows:  # what rows name and nobody declared says nothing of what each row is
            schema = replace(schema, columns=tuple(column for column in schema.columns if column.name in names))
        if schema.each_row != "record" and any(map(self.names_somebody, self.naming)):
            schema = replace(schema, rows_protected=True)
        return schema.only(*names)

    @property
    def leading(self) -> Schema:
        """The columns as pages are given them, those that were declared first. What says whose row it is leads nowhere:
        nothing was said of how it is read.

        A column that can be read in two ways is not among them until somebody said which.
        """
        own, found = self.own, self.declared
        declared = () if found is None else found.names
        doubts = set(own.doubts)
        certain = [name for name in own.schema.names if name not in doubts]
        schema = own.schema.only(*certain) if certain else own.schema
        whose = own.schema.id_column
        schema = declared_first(schema, [name for name in declared if name != whose])
        return schema if schema.each_row == "record" else replace(schema, rows_protected=own.rows.protected)

    def stands(self, column: Column) -> bool:
        """Whether everything that a private answer needs was declared of a column. Yes or no needs no bounds, and
        looks declare nothing, nor does calling all types right, to choose the type or to state the words of a column:
        somebody said of that very column that it holds yes or no, a step made it so, or no file had suggested it of a
        table of which none is here."""
        if column.type != "yes/no" or not column.releasable:
            return column.releasable
        return column.name in self.own.decisions.binary or not self.asks_binary(column)

    def withheld(self, column: Column) -> bool:
        """Whether nothing is told of what a column holds beyond the bounds or options that were declared, or beside yes
        and no: of a file that nobody called public. Whoever was told would have these follow the file, and one
        person's cell."""
        limits = (column.low, column.high, column.earliest, column.latest)
        declared = bool(column.categories) or any(limit is not None for limit in limits)
        if column.type == "yes/no":
            declared = self.stands(column)
        return declared and not self.own.confirmed

    def asks_binary(self, column: Column) -> bool:
        """Whether it is to be said that a column of words holds yes or no, where it does: of what looks so and of what
        looks like options alike."""
        if column.type not in WORDS or column.name in answers_made(self.own.steps):
            return False
        return not self.own.unseen or self.suggests(column)

    # -- how its cells are read ----------------------------------------------------------------------------------------

    def suggests(self, column: Column) -> bool:
        """Whether a file suggested how the cells of a column are read, or a part of that: its type, the decimal mark of
        its numbers, the order of its days."""
        if self.own.unseen:
            return (column.name, column.type) in self.own.decisions.marked
        return self.own.decisions.suggests(column) or not self.states(column)

    def states(self, column: Column) -> bool:
        """Whether a person stated how the numbers or days of a column are written, of it or of the whole file; where
        nothing is to be stated, as of what a step wrote, they did."""
        what, reading = notation(column), self.own.reading
        if what is None or reading is None or (what == "decimal" and column.name in reading.computed):
            return True
        return self.own.decisions.written(column) is not None or stated_of_all(reading, what) is not None

    def answered(self, read: ReadColumn) -> bool:
        """Whether a person said how a column is to be read that can be read in several ways. Its type alone does not
        say it where two of them are of that type."""
        schema, decisions = self.own.schema, self.own.decisions
        if read.name not in decisions.settled or read.name not in schema.names:
            return read.name in decisions.settled
        column = schema.column(read.name)
        what = notation(column)
        if what is None or self.states(column) or (column.name, column.type) in decisions.marked:
            return True
        return len({getattr(one.column, what) for one in read.readings if notation(one.column) == what}) < 2

    def spoken(self, column: Column) -> bool:
        """Whether somebody called it right how the cells of a column are read, or a declaration says it that was made
        without the file. To answer or to state it counts for nothing more, of a file that is here: which of the two a
        page has people do first hangs on a row. Where none is, to state it is enough."""
        decisions = self.own.decisions
        if read_as(column) in decisions.confirmed:
            return True
        if not self.own.unseen:
            return not self.after_looking(column)
        brought = (column.name, column.type) in decisions.marked
        return column.name in decisions.settled and (brought or self.states(column))

    def after_looking(self, column: Column) -> bool:
        """Whether it is said of a column how it is read, and what it can hold, by what a file showed: of all of one
        that is here, but for what a declaration states that was made without."""
        return self.suggests(column) if self.own.unseen else stated(column) not in self.own.decisions.brought

    @property
    def spoken_of(self) -> tuple[Column, ...]:
        """The declared columns of which somebody called it right how they are read, or brought it without looking, and
        the one that says whose row it is: as plain text where nobody did. None whose name is a word of the rows. Of
        others a page asks only where a row leaves them open, so that what was said of them tells of it."""
        own = self.own
        found, told = [], self.told_of(own.schema.columns)
        for column in own.schema.columns:
            if column.name in own.from_rows:
                continue
            if own.unseen or column.name in told:
                found.append(column)
            elif column.name == own.schema.id_column:
                found.append(whose_row(column))
        return tuple(found)

    def told_of(self, columns: Iterable[Column]) -> tuple[str, ...]:
        """Those of which it is kept that somebody spoke of them: of declared ones, and of those that would name rows,
        which are called right as well. Each by itself: what else waits for that, of the form of the file say, hangs on
        a row."""
        kept = {column.name for column in self.own.schema.columns if self.stands(column)} | set(self.naming)
        return tuple(column.name for column in columns if column.name in kept and self.spoken(column))

    # -- what is called right ------------------------------------------------------------------------------------------

    @property
    def to_call_right(self) -> tuple[str, ...]:
        """Columns that a person is to call right, be it that they stated how they are read: those of which it was said
        once the file had been seen, and those by which rows are called, whoever chose their type."""
        return tuple(dict.fromkeys((*self.suggested, *self.naming)))

    @property
    def open(self) -> tuple[str, ...]:
        """Those of them that nobody called right yet."""
        return self.unconfirmed(self.to_call_right)

    @property
    def suggested(self) -> tuple[str, ...]:
        """Declared columns of which somebody who had seen this file, or an earlier one whose declaration was brought,
        be it for a source, said how they are read and what they can hold: whether they stated it or called right what
        the file suggests hangs on what a row holds, so that nobody is told which it was."""
        declared = self.declared
        if declared is None:
            return ()
        asked = {column.name for column in declared.columns if column.type != "text"} | set(self.naming)
        return tuple(
            column.name for column in self.own.schema.columns if column.name in asked and self.after_looking(column)
        )

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that would say what the rows of a table are called, once somebody calls that right: declared days of
        steps, declared options, and texts of options where no declared column lists these."""
        schema, from_rows = self.own.schema, self.own.from_rows
        columns = [column for column in schema.columns if column.name not in from_rows]
        if schema.each_row == "step":
            return tuple(column.name for column in columns if column.type == "date" and column.releasable)
        if schema.each_row == "record":
            return ()
        listed = tuple(column.name for column in columns if column.type == "category" and column.releasable)
        return listed or tuple(column.name for column in columns if column.type == "text")

    def unconfirmed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these columns of which nobody called it right how they are read, be it that they chose it
        themselves. Raises InvalidArgument."""
        here = (self.own.schema.column(name) for name in names)
        named = self.naming
        return tuple(
            one.name
            for one in here
            if not (self.names_rows(one) if one.name in named else one.type == "text" or self.spoken(one))
        )

    def names_rows(self, column: Column) -> bool:
        """Whether a person, told so, said of such rows of this very table that a column names them and is given out:
        neither a type chosen by hand nor anything that was called right of other rows says it."""
        names = self.own.decisions.names
        return bool(names) and (read_as(column), self.own.schema.each_row, self.own.entries) in names

    def names_somebody(self, name: str) -> bool:
        """Whether rows are called by this column, as a person said, and its heading is that of people."""
        return self.names_rows(self.own.schema.column(name)) and tells_of_one(name, options=True)


def declared_first(schema: Schema, declared: Collection[str]) -> Schema:
    """The declared columns before the others: a page begins with the first that suits, and what it begins with must not
    hang on how the cells of a column look that nobody spoke of."""
    names = schema.names
    return schema.only(*(name for name in names if name in declared), *(name for name in names if name not in declared))
