"""How a person's own file is read: what they stated of its form, and what only the file says of it as yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.data.decisions import EVEN, LAST_STEP
from dpcore.datasets.declaration import Stated
from dpcore.datasets.report import FORM, LABELLED
from dpcore.datasets.template import Choice

if TYPE_CHECKING:
    from dashboard.data.own_file import OwnFile

HEADING = "file:header"
WITH_TYPES = {
    HEADING: "the names of the columns",
    "file:encoding": "the encoding of its text",
    LAST_STEP: "the number of {}s",
    EVEN: "the cells of each line",
}
"""What is called right with the types, by the same click, and what it is called."""
_STATED: dict[Choice, Stated] = {
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


@dataclass(frozen=True, slots=True, eq=False)
class FileForm:
    """The form of one file. A described table and one of a source have none that bytes could decide."""

    own: OwnFile

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the file's bytes decided about its form and the person has not stated yet: one row could decide it for
        all others, so that a private answer waits for it, and nothing else.

        What is called right with the types takes no click of its own: see ``suggested``."""
        open_ = (f"file:{argument}" for argument in self._decided)
        return tuple(doubt for doubt in open_ if doubt not in {*WITH_TYPES, *self.own.decisions.settled})

    @property
    def suggested(self) -> tuple[str, ...]:
        """What the file alone says of which lines name its columns, of its encoding and, of steps or options, of their
        number and that what anybody writes fits into the cells, and nobody called right."""
        public = {LAST_STEP} if self._open_ended and self.own.schema.each_row != "record" else set()
        public |= {EVEN} if self._may_spill and not self.spills else set()
        open_ = {f"file:{argument}" for argument in self._decided} | public
        return tuple(doubt for doubt in WITH_TYPES if doubt in open_ - self.own.decisions.settled)

    @property
    def stated(self) -> dict[str, Choice]:
        """What the person stated of how the file is to be read, as arguments of ``read_table``: in a form of the page,
        with a declaration that they brought, or by a click that called right how it was read."""
        own = self.own
        stated: dict[str, Choice] = dict(own.choices)
        if own.reading is not None:
            report = own.reading.report
            for asked in (*report.doubtful, *report.decided):
                stated |= report.stated(asked) if f"file:{asked}" in own.decisions.settled else {}
        return stated

    @property
    def said_in_answers(self) -> tuple[Stated, ...]:
        """Of what the person stated, or the owner of a source, that which the bytes would else have decided for all
        rows."""
        own = self.own
        if own.reading is None:
            return () if own.place is None else own.place.form
        report, settled = own.reading.report, own.decisions.settled
        all_stated = self.stated
        lines = all_stated.get("header_rows")
        stated = {argument: value for argument, value in all_stated.items() if argument in FORM}
        counted = stated.pop("columns", None) is not None and report.columns > 0
        ended = stated.pop("delimiter", None) is not None and report.container == "text"
        written = stated.pop("encoding", None) is not None and report.container in ("text", "json")
        headed = lines is not None and (bool(report.header_lines) or report.columns > 0)
        heading = _HEADINGS[len(report.header_lines)]
        last: Stated = "last step" if own.schema.each_row == "step" else "last row"
        rows = own.rows
        told: tuple[tuple[bool, Stated], ...] = (
            (ended, "cells end"),
            (counted, "columns"),
            (written, "encoding"),
            (headed, heading),
            (self._open_ended and LAST_STEP in settled, last),
            (self._may_spill and EVEN in settled, "even lines"),
            (rows.stay and rows.called_right, "rows stay"),
        )
        return (*(_STATED[value] for value in stated.values()), *(one for said, one in told if said))

    @property
    def coded(self) -> tuple[str, ...]:
        """The columns that the person has read by their codes, in a file that can have labels."""
        found = dict(self.own.choices).get("coded", ())
        labelled = self.own.reading is not None and self.own.reading.report.container in LABELLED
        return found if labelled and isinstance(found, tuple) else ()

    @property
    def spills(self) -> bool:
        """Whether the cells of some rows of steps or options do not fit into their lines."""
        return self._may_spill and self.own.reading is not None and self.own.reading.report.spilled > 0

    @property
    def uncounted(self) -> bool:
        """Whether nobody called the number of records right yet: what shows it waits for that, and nothing else."""
        own = self.own
        return self._open_ended and own.schema.each_row == "record" and LAST_STEP not in own.decisions.settled

    @property
    def _decided(self) -> tuple[str, ...]:
        return () if self.own.reading is None else self.own.reading.report.decided

    @property
    def _may_spill(self) -> bool:
        """Whether what somebody writes into a cell could take its row of a table of steps or options away, which nobody
        stated."""
        own = self.own
        if own.reading is None or own.schema.each_row == "record" or dict(own.choices).get("uneven") == "set aside":
            return False
        return own.reading.report.container == "text"  # of others each cell stands by itself, or the whole range counts

    @property
    def _open_ended(self) -> bool:
        """Whether with its cells empty a row could be none, so that the number of rows is called right before it shows:
        that of steps and options always does, that of records where one takes the place of another."""
        return self.own.reading is not None and self.own.reading.report.open_ended
