"""What one row of a person's own file is: what they said of it, and what follows for those who are protected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dashboard.data.entries import Entries
from dashboard.words import data as said
from dpcore.datasets.report import RECODED
from dpcore.datasets.schema import EachRow, protects_rows, says_somebody

if TYPE_CHECKING:
    from dashboard.data.own_file import OwnFile
    from dpcore.datasets import Column

LEFT_OUT = ("keep_footer", False)
"""The choice that leaves totals and notes at the foot out."""


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """The rows of one file: records, steps or options."""

    own: OwnFile

    @property
    def suggested(self) -> bool:
        """Whether somebody said what one row is who had seen this file, or an earlier one whose declaration was
        brought: of a file that is here always, whether they chose it or called right what it suggests."""
        return self.own.decisions.marked_row or not self.own.unseen

    @property
    def unconfirmed(self) -> bool:
        """Whether the file suggested what one row is and nobody called it right."""
        decisions = self.own.decisions
        return self.own.reading is not None and not decisions.said_row and not decisions.confirmed_row

    @property
    def open(self) -> bool:
        """Whether nobody called right what one row is or what follows from that: that a record is of one alone or,
        where those who are protected come and go, that no step or option is itself one. Also where somebody chose what
        it is, of other people, or before they knew what follows."""
        return self.unconfirmed or (self.own.reading is not None and self.say_more and not self.called_right)

    @property
    def say_more(self) -> bool:
        """Whether something is stated with what a row is that no data can show."""
        return self.own.schema.each_row == "record" or self.stay

    @property
    def called_right(self) -> bool:
        """Whether that was called right, of these rows."""
        return self.these in self.own.decisions.row_right

    @property
    def these(self) -> tuple[EachRow, str, Entries]:
        """What is said of rows is said of these. Where totals and notes are left out of records none is another."""
        schema, of = self.own.schema, self.own.entries
        if schema.each_row == "record":
            of = replace(of, choices=of.choices - {LEFT_OUT})
        return schema.each_row, schema.unit, of

    @property
    def stay(self) -> bool:
        """Whether there are as many rows of steps or options whoever is protected comes or goes, if it is as stated."""
        return self.own.schema.each_row != "record" and not self.protected

    @property
    def protected(self) -> bool:
        """Whether who is protected may be a row of steps or options itself, by what is public of the columns."""
        return replace(self.own.schema, rows_protected=self._said_protected).protects_rows

    @property
    def any_reach(self) -> bool:
        """Whether one may move an entry by all that its column can hold, so that nobody is asked how far: a row may be
        who is protected, or the file is of a kind in which a number may be read as something else."""
        reading = self.own.reading
        return self.protected or (reading is not None and reading.report.container in RECODED)

    @property
    def moves(self) -> str:
        """What the page says of how far one moves an entry: that it is asked, or why the whole range counts."""
        unit, reading = self.own.schema.unit, self.own.reading
        if self.protected:
            return said.moves_any(unit, self.somebody)
        if reading is None or not self.any_reach:
            return said.moves_asked(unit)
        return said.moves_recoded(unit, reading.report.container)

    @property
    def somebody(self) -> str:
        """The first heading that says that each row is somebody; "" for none."""
        columns = self.own.columns
        named = (name for name in columns.naming if columns.names_somebody(name))
        return next(named, next((column.name for column in self._named if says_somebody(column)), ""))

    @property
    def _said_protected(self) -> bool | None:
        """What ``Schema.protects_rows`` is by the columns that a heading names or somebody declared, where rows name
        others: one record that brings a "patient" must not say that each row is one. None where the headings tell it.
        """
        own, schema, columns = self.own, self.own.schema, self.own.columns
        if schema.each_row != "record" and any(map(columns.names_somebody, columns.naming)):
            return True
        if schema.each_row == "record" or not (own.from_rows or own.named_by_rows):
            return schema.rows_protected
        return protects_rows(schema.each_row, schema.unit, self._named)

    @property
    def _named(self) -> tuple[Column, ...]:
        """The columns that a heading names or, where rows name them all, that somebody declared."""
        own = self.own
        declared = own.columns.declared
        known = set() if declared is None else set(declared.names)
        public = known if own.named_by_rows else set(own.schema.names) - own.from_rows
        return tuple(column for column in own.schema.columns if column.name in public)
