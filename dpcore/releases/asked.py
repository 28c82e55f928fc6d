"""What every request has: which columns it reads, what it hides, and the sentences that go with it.

A request is made by its ``of`` from a ``Declaration`` and the person's own entries alone. Nothing in these modules can
read a value or is handed one before ``answer`` and ``law`` (a test walks the imports).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.datasets.declaration import Reads, Stated, shown
from dpcore.errors import UnsupportedEvent
from dpcore.releases.cells import words_rule
from dpcore.releases.sizes import one_of_these
from dpcore.releases.steps_chosen import SEEN, UNCOVERED, steps_chosen
from dpcore.validate import FloatArray, Neighbours, boolean, in_range, one_of, positive, whole

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import OpenRows, PrivateRows

MOST_ROWS_PER_PERSON = 10**6
MOST_EPSILON = 1e15
LEAST = 1e-100
"""No ε or δ is smaller: what is worked out with one would vanish, and the answer fail after its charge."""
LEAST_SHARE = 1e-6
"""No part of a release has a smaller share of its ε or ρ, for the same reason."""
CHOSEN = f"ε and what is asked were chosen after looking at the data or an earlier file: {UNCOVERED}."

_ROWS = {
    "record": "each row is one record and how many of them one {} has",
    "option": "each row is one option and how far one {} changes it",
    "step": "each row is a step in time and how far one {} changes it",
}
_NAMED, _NAME = 3, 30  # columns named in a sentence, and characters of their names there


def suggested(reads: Reads, unit: str = "person") -> tuple[str, ...]:
    """One sentence about all that a person who had seen a file said of its columns and rows, none where they said
    nothing: how cells are read, their bounds and options, what a row is, and how much of the table is one ``unit``'s.

    It is one for what they stated and for what they called right as the file suggested it: one row can decide which of
    the two they had to do. It says the same whichever bounds and options they are, and whatever cells lie beyond.
    """
    cells = f"how the cells of {_listed(sorted(reads.suggested))} are read and what they can hold"
    row = f"that {_ROWS[reads.suggested_row].format(shown(unit))}" if reads.suggested_row else ""
    told = f"{cells}, and {row}," if reads.suggested and row else cells if reads.suggested else row
    if not told:
        return ()
    return (f"{told[:1].upper()}{told[1:]} were stated or called right by {SEEN}: {UNCOVERED}.",)


def about_how_many(reads: Reads, people: int) -> str:
    """How it is known that there are about so many rows: what somebody said of a file was said with it in view."""
    told = f"That there are about {people:,} rows was stated"
    return f"{told} by {SEEN}: {UNCOVERED}." if reads.suggested_row else f"{told} and not counted."


_FORM: dict[Stated, str] = {
    "single marks": "single quotation marks stand around cells",
    "double marks": "double quotation marks stand around cells",
    "no marks": "quotation marks are letters as any other",
    "doubled": "a backslash is part of the text, and a quotation mark inside a cell is doubled",
    "backslash": "a backslash only protects the sign behind it",
    "columns": "the table has as many columns as it is read with, which no line names",
    "cells end": "cells end at the sign, or the blanks, with which the file is read",
    "returns in cells": "a carriage return without a line feed is a blank inside a cell",
    "returns at ends": "lines end at carriage returns, and a line feed alone is a blank",
    "lines in cells": "a cell in quotation marks can run over several lines",
    "no lines in cells": "each line is a row, and one on which a quotation mark stays open holds nothing",
    "foot left out": "lines that are totals or notes are left out wherever they stand",
    "foot kept": "lines that look like totals or notes are rows",
    "merged in each": "a cell merged over several rows holds its value in each of them",
    "merged in the first": "a cell merged over several rows holds its value in the first of them alone",
    "list of objects": "the list of objects inside the document is the table",
    "objects as rows": "each object inside the document is a row",
    "objects as columns": "each name inside the document is that of a column",
    "encoding": "letters are written in the encoding with which the file is read",
    "no heading": "no line of the file names its columns",
    "one heading line": "one line of the file names its columns",
    "two heading lines": "two lines of the file together name its columns",
    "last step": "the last step is the last row of the file that holds anything",
    "last row": "the last row is the last one of the file that holds anything",
    "even lines": "whatever people write stays in its cell, as signs that end cells and quotation marks within one do "
    "where the program that wrote the file puts marks around it",
    "rows stay": "no row is itself one of those who are protected, or made by one",
}
_ROW_BY_ROW: Stated = "row by row"
"""What the owner of a source stated of a view, which belongs to what is promised of one person's rows."""


def form_stated(reads: Reads) -> tuple[str, ...]:
    """One sentence about what a person stated of the form of the file, none where all of it is the usual."""
    form = [_FORM[one] for one in reads.form if one != _ROW_BY_ROW]
    if reads.coded:
        form.append(
            f"the codes of {_listed(reads.coded)}, read instead of labels, stand for the same whoever is in the file"
        )
    if not form:
        return ()
    return (f"That {' and '.join(form)} was stated by {SEEN}: {UNCOVERED}.",)


def taken_over(reads: Reads) -> tuple[str, ...]:
    """One sentence about columns whose options are words of the file, none where all were declared."""
    taken = [column.name for column in reads.columns if column.words_from_file]
    return (words_rule(_listed(sorted(taken))),) if taken else ()


def named(reads: Reads) -> tuple[str, ...]:
    """One sentence about columns that the file's rows name, none where a header does or no column is read."""
    own = len(reads.columns)
    listed = (*sorted(reads.names[:own]), *reads.names[own:], reads.together)
    names = tuple(name for name in dict.fromkeys(listed) if name)
    if not reads.named_by_rows or not names:
        return ()
    what = f"That the file has {_listed(names)}"
    return (f"{what} was told by its rows, which name their own cells: {UNCOVERED}.",)


# In whatever order a page lists columns the sentences name them alike, as a question's digest has them.


def _listed(columns: Sequence[str]) -> str:
    """The first of these names as they stand in a sentence, and how many more there are."""
    names = [f"“{shown(name, _NAME)}”" for name in columns]
    rest = len(names) - _NAMED
    if rest > 0:
        names = [*names[:_NAMED], f"{rest:,} more {'column' if rest == 1 else 'columns'}"]
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBound:
    """How far off an answer may be, from declared facts alone: at most ``number`` of ``unit``, in the sense of
    ``about``, with probability ``confidence`` (on average where that is None), whatever the data are.

    It holds of what ``read`` gives: of rows and values as they count, which ``about`` says. Of a person's other rows,
    those that are left out, and how far values lie beyond the bounds it says nothing.
    """

    number: float
    unit: str
    confidence: float | None
    about: str


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Asked(ABC):
    """The fields of every request. ``unit`` is whom the answer hides, ``reads`` how the rows are read.

    ``chosen_after_looking`` says that whoever chose ε and all that is asked had been shown true pictures of the very
    data: which of it they took from these nobody can know, and the receipt says so of the whole. Raises
    InvalidArgument.
    """

    unread: ClassVar[tuple[str, ...]] = ("epsilon", "chosen_after_looking")
    """Parameters that ``read`` does not look at."""

    epsilon: float
    reads: Reads
    neighbours: Neighbours = "add_remove"
    unit: str = "person"
    chosen_after_looking: bool = False

    def check(self) -> None:
        """The parameters that every request has. Raises InvalidArgument."""
        in_range(LEAST, MOST_EPSILON, epsilon=positive(epsilon=self.epsilon))
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        whole(1, MOST_ROWS_PER_PERSON, rows_per_person=self.reads.most)
        boolean(chosen_after_looking=self.chosen_after_looking)

    @property
    def counts_alone(self) -> bool:
        """Whether counts of rows, and sums of whole numbers that each row has by itself, are all it needs, so that it
        can be asked of a table that is counted where it is."""
        return False

    @property
    def in_batches(self) -> bool:
        """Whether it can be drawn from rows of a source, read in batches as places (``PrivateRows.row_batches``)."""
        return False

    @property
    def instead_of(self) -> tuple[Asked, ...]:
        """Requests that programs from before made for this very question, which read the same and hide the same at the
        same ε, by another mechanism: what the ledger has of them is shown, and drawn by that, before any more is
        charged; what was asked for and not charged stands beside this one, each at its own price."""
        return ()

    @property
    def most_bytes(self) -> int:
        """Bytes of the answer's JSON, without blanks: at most so many, whatever the rows hold."""
        return one_of_these(self)

    def probe(self, rows: PrivateRows) -> None:
        """Whether a source takes what ``read`` asks of it, before the charge and without reading a row.

        Raises UnreadableFile, InvalidArgument.
        """
        rows.check(self.reads)
        self.read(rows.of_no_row())

    @property
    def rows_per_person(self) -> int:
        """The most rows of one person that count."""
        return self.reads.most

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that belong on the receipt: what is promised about a person's rows, and what ε does not cover."""
        chosen = (CHOSEN,) if self.chosen_after_looking else ()
        return (self.promise, *self.own_notes, *taken_over(self.reads), *named(self.reads), *self.suggestions, *chosen)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What a person said of how the file is read, of what it can hold and of its form, and which steps they chose,
        after they had seen it; nothing where all was stated without it."""
        return (*suggested(self.reads, self.unit), *form_stated(self.reads), *steps_chosen(self.reads))

    @property
    def own_notes(self) -> tuple[str, ...]:
        """What else belongs on the receipt of this kind of request."""
        return ()

    @property
    def promise(self) -> str:
        """What is promised about one person's part in the table, and how that is known."""
        return self.rows_promise

    @property
    def rows_promise(self) -> str:
        """How many rows one person has, whose a row is, and how that is known."""
        most, unit = self.reads.most, shown(self.unit)
        if self.reads.steps and not self.reads.records:
            steps = "1 step" if most == 1 else f"{most:,} steps"
            return f"That one {unit} can change the numbers of at most {steps} was stated and not checked."
        rows = "1 row" if most == 1 else f"{most:,} rows"
        if self.reads.person is not None:
            name = shown(self.reads.person.name)
            known = f"That each “{name}” is all of one {unit} and never spelled in two ways was stated and not checked."
            return f"At most {rows} of one {unit} count, by the column “{name}”. {known} {self._alone}"
        known = f"That one {unit} has at most {rows} was stated and not checked."
        if self.reads.together:
            name = shown(self.reads.together)
            own = f"each “{name}” is all of one {unit}, none a word such as “unknown”, and never spelled in two ways"
            return f"{known} So was that {own}. {self._alone}"
        return f"{known} {self._alone}"

    @property
    def _alone(self) -> str:
        """What a row of records is, which no data can show: one that counts several people goes with none of them."""
        unit = shown(self.unit)
        view = (
            " That no row of this table or view hangs on rows of others is the word of the people who run the server: "
            "its definition was not looked at for it."
        )
        return (
            f"So was that each row is of one {unit} alone: without that {unit} it is gone and no other row changes, "
            f"and no number in it counts or adds up several.{view if _ROW_BY_ROW in self.reads.form else ''}"
        )

    @property
    def person_rules(self) -> tuple[str, ...]:
        """The public rule of which rows count."""
        if self.reads.person is None:
            return ()
        name = shown(self.reads.person.name)
        return (
            f"Of each {shown(self.unit)} at most {self.reads.most:,} rows count, picked by a fixed rule that looks at "
            f"that {shown(self.unit)}'s own rows alone; rows without “{name}” count for none.",
        )

    def opened(self, rows: PrivateRows) -> OpenRows:
        """The rows that count."""
        return rows.opened(self.reads)

    @abstractmethod
    def read(self, rows: PrivateRows) -> Any:
        """What the answer depends on, by the public rules, whatever the rows hold: whole numbers."""

    @property
    def reading(self) -> tuple[Hashable, ...]:
        """What ``read`` hangs on: requests with the same one read the same of the same rows, at every ε."""
        own = (getattr(self, one.name) for one in fields(self) if one.name not in self.unread)
        return (type(self).__name__, *own)

    @abstractmethod
    def draw(self, found: Any) -> Any:
        """The answer to what was ``read``, with noise by ``dpcore.releases.draws`` alone; JSON can hold it."""

    def law_of(self, found: Any) -> FloatArray:
        """The exact law of ``draw`` on what was ``read``. Raises UnsupportedEvent where there is none."""
        raise UnsupportedEvent("This kind of answer has no exact law.")

    def law(self, rows: PrivateRows) -> FloatArray:
        """The exact law of ``answer``: for tests and demonstrations, never shown by a release."""
        return self.law_of(self.read(rows))

    def answer(self, rows: PrivateRows) -> Any:
        """One answer about the rows."""
        return self.draw(self.read(rows))
