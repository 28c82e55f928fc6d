"""Questions on files: tables as bytes of CSV, what is declared about them, and their neighbours.

A neighbour is what the declaration says is hidden: one person's rows added, removed or replaced by any others (with any
cells: missing, unreadable, out of range, of a new option, a day with a clock time, too many rows), or in a table of
steps or options entries moved as far as was declared.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpcore.audit.labelled import Program, labelled_bytes
from dpcore.audit.sheets import DAY, SPAN, workbook
from dpcore.datasets import (
    Declaration,
    PrivateRows,
    Reading,
    Schema,
    Step,
    read_csv,
    read_table,
)
from dpcore.datasets.reading.reader import done
from dpcore.datasets.steps import rows_made
from dpcore.validate import Neighbours

Row = tuple[str, ...]
Moves = Literal["rows", "entries"]
FileKind = Literal["text", "sheet", "merged sheet", "shown sheet", "lists", "objects", "records"]
"""As what a file is written: CSV, a workbook (merged: empty cells of the first column are one with that above them;
shown: the numbers of a table of entries as days, and those of its last column as hours), or JSON, in which rows are
lists, objects inside an object, or records, each with the keys that its last cell brings."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class File:
    """What a page holds of a file: the rows as text, for What if, and behind the door, for a release."""

    frame: pd.DataFrame
    private: PrivateRows


Ask = Callable[[Declaration, File], Any]

PLAIN = {
    "delimiter": ",",
    "encoding": "utf-8",
    "quote": '"',
    "escape": "doubled",
    "header_rows": 1,
    "header_line": 1,
    "columns": 5,
    "keep_footer": True,
    "returns": "in cells",
    "breaks": "between",
    "merged": "first",
    "objects": "rows",
    "uneven": "set aside",
}
"""One answer to each question about the form of a file, whatever the file is."""


def as_a_page_reads(data: bytes, answers: Mapping[str, Any]) -> Reading:
    """The file as a page reads it, with no choice but the ``answers`` to what the page asks before a private answer:
    all else is as the file decided it. Rows with too many cells are set aside as it says, where the page refuses the
    file otherwise."""
    stated: dict[str, Any] = {"uneven": answers["uneven"]}
    settled: set[str] = set()
    while True:
        reading = read_csv(data, **stated)
        settled = {one for one in settled if _as_a_click(one, answers) == reading.report.stated(one)}
        asked = {*reading.report.doubtful, *reading.report.decided} - settled
        said = {question: _as_a_click(question, answers) for question in asked}
        settled |= {question for question in asked if said[question] == reading.report.stated(question)}
        anew = {name: value for question in asked - settled for name, value in said[question].items()}
        if anew.items() <= stated.items():
            return reading
        stated |= anew


def _as_a_click(question: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    """What is stated by the click that answers a question. One that says how the file was read reads nothing anew."""
    if question == "header":
        names = ("header_rows", "header_line") if answers["header_rows"] else ("header_rows",)
        return {name: answers[name] for name in names}
    return {question: answers[question]}


NASTY = ("", "n/a", "x;y", "1e300", "-7", "zebra", "2024-01-02 23:59", '"', "0.5", "yes", "Total")
_PARTS = (0.0, 0.25, 0.5)  # of the whole step at which an entry begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as a page asks it: ``ask`` gets the declaration, and the file for its public facts alone.

    ``tables`` are the files to begin with. In ``moves`` a neighbour differs in the ``rows`` of one person or in the
    ``entries`` of the column ``entry``, and in what the last column, which nobody declares, holds: these ``beside``.
    ``extreme`` are rows that are likely to show most. ``any_declaration`` says
    that the schema was drawn: it may be refused then, in the same words on both files. ``steps`` are done to the file
    before it is declared; ``header`` names its columns where they make others of them. Cells are quoted by ``mark``.
    With ``program`` the file is one of SPSS or Stata, with this ``codebook`` whatever is declared.
    It is CSV unless ``kind`` says otherwise; without ``heading`` no line of it names the columns. Text is in
    this ``encoding``.
    """

    name: str
    schema: Schema
    ask: Ask
    tables: tuple[tuple[Row, ...], ...]
    extreme: tuple[Row, ...] = ()
    hidden: Neighbours = "add_remove"
    moves: Moves = "rows"
    entry: str = ""
    beside: tuple[str, ...] = ()
    any_declaration: bool = False
    steps: tuple[Step, ...] = ()
    header: tuple[str, ...] = ()
    mark: str = '"'
    program: Program | None = None
    codebook: Schema | None = None
    kind: FileKind = "text"
    heading: bool = True
    encoding: str = "utf-8"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file."""
        return self.header or self.schema.names

    @property
    def quoting(self) -> Literal[0, 1]:
        """Other marks stand around all cells, as where such files are written."""
        return csv.QUOTE_MINIMAL if self.mark == '"' else csv.QUOTE_ALL

    @property
    def declaration(self) -> Declaration:
        return Declaration.of(self.schema, hidden=self.hidden)

    def file(self, rows: Sequence[Row], *, from_bytes: bool) -> File:
        """The file of these rows: its bytes as the Data page reads them once a person has settled their form, or at
        once the cells that come of it, which takes a hundredth of the time."""
        if self.program is not None and self.codebook is not None:
            found = read_table(labelled_bytes(self.codebook, [self._read(row) for row in rows], self.program))
            return File(frame=found.frame, private=found.private)
        if not from_bytes:
            cells = [self._read(row) for row in rows]
            frame = pd.DataFrame(cells, columns=list(self.names), dtype="str")
            if not self.steps:
                return File(frame=frame, private=PrivateRows(frame))
            places = np.arange(len(rows))
            table = replace(_any_reading(), frame=frame, lines=places, places=places, records=len(rows))
            after = done(table, self.steps)
            return File(frame=after.frame, private=after.private)
        answers = PLAIN | {"encoding": self.encoding}
        if not self.heading:
            answers |= {"header_rows": 0, "columns": len(self.names)}
        if self.beside and self.kind != "text":
            answers |= {"uneven": "refuse"}  # or the whole range counts whatever the kind
        reading = as_a_page_reads(self._bytes(rows), answers)
        after = reading.after(self.steps)
        return File(frame=after.frame, private=after.private)

    def _bytes(self, rows: Sequence[Row]) -> bytes:
        lines = [self.names, *rows] if self.heading else rows
        if self.kind == "sheet" or self.kind == "merged sheet":
            return workbook(lines, merged=self.kind == "merged sheet")
        if self.kind == "shown sheet":
            return workbook(lines, numbers={self.names.index(self.entry): DAY, len(self.names) - 1: SPAN})
        if self.kind == "records":
            records = (dict(zip(self.names[:-1], row, strict=False)) | json.loads(row[-1] or "{}") for row in rows)
            return "\n".join(map(json.dumps, records)).encode()
        if self.kind == "lists":
            return json.dumps(lines).encode()
        if self.kind == "objects":
            people = {f"p{place}": dict(zip(self.names, row, strict=False)) for place, row in enumerate(rows)}
            return json.dumps(people).encode()
        text = io.StringIO()
        csv.writer(text, lineterminator="\n", quotechar=self.mark, quoting=self.quoting).writerows(lines)
        return text.getvalue().encode(self.encoding)

    def _read(self, row: Row) -> Row:
        """The cells that come of a row of another width: too many are nobody's in a text file, and none is in a column
        that has no name."""
        width = len(self.names)
        if any(row[width:]) and self.kind == "text":
            return ("",) * width
        return (*row[:width], *[""] * (width - len(row)))

    def neighbours(self, rng: np.random.Generator, most: int) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
        """Pairs of tables that differ in one person, the worst first and then ``most`` generated ones per table."""
        for table in self.tables:
            if self.moves == "entries":
                yield from self._moved(table, rng, most)
            else:
                yield from self._rows(table, rng, most)

    def _rows(
        self, table: tuple[Row, ...], rng: np.random.Generator, most: int
    ) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
        spoiled = [self._spoiled(table[0], cell, place) for cell in NASTY for place in range(len(table[0]))]
        uneven = [(*table[0], "x"), (*table[0], "", "x"), table[0][:-1]]
        pool = [*self.extreme, ("",) * len(table[0]), *spoiled, *uneven]
        who = None if self.schema.id_column is None else self.schema.names.index(self.schema.id_column)
        m = self.schema.rows_per_person // rows_made(self.steps, self.schema.each_row)
        for number in range(len(self.extreme) ** 2 + most):
            if number < len(self.extreme) ** 2:
                old, new = divmod(number, len(self.extreme))
                gone, come = [self.extreme[old]] * m, [self.extreme[new]] * m
            else:
                gone = [pool[place] for place in rng.integers(len(pool), size=m)]
                come = [pool[place] for place in rng.integers(len(pool), size=m)]
            if who is not None:  # the file may hold more rows of a person than count
                gone, come = ([self._named(row, who) for row in rows * 3] for rows in (gone, come))
            here, there = list(table), list(table)
            for leaves, joins in zip(gone, come, strict=True):
                at = int(rng.integers(len(here) + 1))
                here.insert(at, leaves)
                if self.hidden == "replace_one":
                    there.insert(at, joins)
            yield tuple(here), tuple(there)

    @staticmethod
    def _spoiled(row: Row, cell: str, place: int) -> Row:
        place %= len(row)
        return (*row[:place], cell, *row[place + 1 :])

    @staticmethod
    def _named(row: Row, who: int) -> Row:
        return (*row[:who], "one", *row[who + 1 :])

    def _moved(
        self, table: tuple[Row, ...], rng: np.random.Generator, most: int
    ) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
        """Entries moved by the declared sensitivity, all at once; by any cell at all where none was declared.

        They begin between whole numbers as well: what is rounded may be moved farther than what is written.
        """
        column, place = self.schema.column(self.entry), self.schema.names.index(self.entry)
        one_way = column.reads_as_counts and self.hidden == "add_remove"
        replaced = self.hidden == "replace_one" and not column.counts  # two of them, one either way
        step = None if column.moved is None else column.moved * (2 if replaced else 1)
        for number in range(most + 8):
            if step is None:
                cells = [str(column.low), str(column.high), *NASTY]
                last = 2 if number < 8 else len(cells)
                there = [self._spoiled(row, cells[rng.integers(last)], place) for row in table]
                here = [self._spoiled(row, cells[rng.integers(last)], place) for row in table]
            else:
                signs = rng.choice([0.0, 1.0], len(table)) if one_way else rng.choice([-1.0, 0.0, 1.0], len(table))
                if number == 0:
                    signs = np.ones(len(table))
                elif number < 8 and not one_way:
                    signs = rng.choice([-1.0, 1.0], len(table))
                begun = np.array([float(row[place]) for row in table])
                if number > 0:
                    begun += rng.choice(_PARTS, len(table))
                here, there = (
                    [self._spoiled(row, f"{cell:.12g}", place) for row, cell in zip(table, cells, strict=True)]
                    for cells in (begun, begun + step * signs)
                )
            if self.beside:
                there = [self._spoiled(row, self.beside[number % len(self.beside)], -1) for row in there]
            yield tuple(here), tuple(there)


@cache
def _any_reading() -> Reading:
    return read_csv(b"a\n1\n")
