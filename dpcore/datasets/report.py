"""What was understood of a file, in terms a person can check and change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dpcore.datasets.schema import Column, ColumnType

Container = Literal["text", "workbook", "json", "parquet", "arrow", "labelled", "transport", "database"]
OPEN_ENDED: tuple[Container, ...] = ("text", "workbook", "transport")
"""Those in which an empty row behind the others is none, or can be: text whose last line has no end, a sheet, and a SAS
transport file of texts alone, which fills up with blanks."""
LABELLED: tuple[Container, ...] = ("labelled", "transport")
"""Those that can have labels for the codes in a column."""
DISPLACED: tuple[Container, ...] = ("workbook", "json")
"""Those in which another cell of its row can take a cell's place, or the row's cells away: a key that comes to the same
column, or a number that no sheet can show."""
RECODED: tuple[Container, ...] = (*LABELLED, *DISPLACED)
"""Those in which a number may be read as something else: by a label, the format of its cell, or another cell."""
Escape = Literal["doubled", "backslash"]
Objects = Literal["list", "rows", "columns"]
Merged = Literal["each", "first"]
Breaks = Literal["inside", "between"]
Returns = Literal["in cells", "at ends"]
BLANKS, BLANKS_NAMED = "blanks", "blanks behind a name"
"""What stands for a delimiter where cells stand apart by blanks; and where each row begins with its name besides."""
FORM = (
    "quote",
    "escape",
    "returns",
    "breaks",
    "columns",
    "keep_footer",
    "merged",
    "objects",
    "delimiter",
    "encoding",
    "header",
)
"""What of a file's form its bytes can decide without a doubt, and one row for all others."""
ASKED = (*FORM, "part", "header_line")
"""All that can be asked of a file's form."""
LISTED = 100
"""How many line numbers a notice lists at most; its ``count`` is always complete."""


What = Literal["set aside", "repaired", "noticed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something about the file that a person should know.

    ``what`` says what was done: a line was ``set aside`` (it is not in the frame), something was ``repaired`` (the
    frame differs from the file), or it was only ``noticed``. ``lines`` are line numbers of the file, from 1.
    ``texts`` hold what was set aside or replaced, raw text from the file: escape it before showing it.
    """

    what: What
    sentence: str
    count: int = 0
    lines: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A way to read the file: the argument that chooses it, and how a piece of it then looks.

    Where something of the form was ``decided`` by the file's bytes alone, though no other way is plausible, both ways
    are there: the one it was read in first, and the plain one. One row can decide it for all others, so that a person
    states it before a private answer; nothing else waits for that.
    """

    argument: str
    value: str
    example: str
    decided: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How the file was read. What is not ``certain`` is a guess for the person to confirm; choices override it.

    ``header_lines`` are the lines that name the columns, none when the names are ours: then there are ``columns`` of
    them; ``header_stated`` is whether a person said which lines do, or the kind of file leaves nothing to say.
    ``first_line`` is where the data start. ``part`` names the sheet of a workbook or the file of an archive that
    was read. Inside a cell a quotation mark is ``doubled``, or stands behind a ``backslash``. ``keep_footer`` is False
    where totals and notes were left out, by a guess where ``foot_guessed``. Carriage ``returns`` without a line feed
    stand in cells, as blanks, or at the ends of lines, where line feeds are blanks. Line ``breaks`` stand inside cells
    too, or between rows alone. A cell ``merged`` over several rows of a sheet holds its value in each, or in the first.
    A JSON document's rows are those of a ``list`` of objects in it, or it is an object each of whose values is one of
    ``objects``; None where the file is no such object. ``spilled`` is how many lines of a text were set aside because
    they had too many cells or a mark stayed open, or have another number of cells than most, which is ``cells`` (0
    where there are no lines).
    Alternatives are empty where no other reading is plausible and the bytes ``decided`` nothing.
    """

    container: Container
    rows: int
    delimiter: str
    delimiter_certain: bool
    encoding: str
    encoding_certain: bool
    header_lines: tuple[int, ...]
    header_certain: bool
    first_line: int
    header_stated: bool = True
    columns: int = 0
    quote: str = '"'
    escape: Escape = "doubled"
    keep_footer: bool = True
    foot_guessed: bool = False
    returns: Returns = "in cells"
    breaks: Breaks = "inside"
    merged: Merged = "each"
    objects: Objects | None = None
    part: str = ""
    spilled: int = 0
    cells: int = 0
    notices: tuple[Notice, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

    @property
    def open_ended(self) -> bool:
        """Whether a row without anything in it can be none in a file of this kind: behind the others, and where columns
        of a JSON document name the rows, or end, anywhere."""
        return self.container in OPEN_ENDED or (self.container == "json" and self.objects == "columns")

    @property
    def set_aside(self) -> tuple[Notice, ...]:
        return tuple(notice for notice in self.notices if notice.what == "set aside")

    @property
    def repaired(self) -> tuple[Notice, ...]:
        return tuple(notice for notice in self.notices if notice.what == "repaired")

    @property
    def decided(self) -> tuple[str, ...]:
        """What of the form the bytes alone decided, as the arguments that would state it."""
        found = [part.argument for part in self.alternatives if part.decided]
        heading = self.header_certain and not self.header_stated
        return tuple(dict.fromkeys([*found, "header"] if heading else found))

    @property
    def doubtful(self) -> tuple[str, ...]:
        """What the bytes do not decide, as the arguments that would."""
        open_ = [part.argument for part in self.alternatives if not part.decided]
        return tuple(dict.fromkeys(open_ if self.header_certain else [*open_, "header"]))

    def stated(self, asked: str) -> dict[str, Any]:
        """The arguments that read a file as this one was read, for one of ``ASKED``."""
        if asked in ("header", "header_line"):
            line = (*self.header_lines, self.first_line)[0]
            return {"header_rows": len(self.header_lines), "header_line": line}
        if asked == "keep_footer" and self.foot_guessed and not self.keep_footer:
            return {asked: "guessed"}  # said, each line is judged by itself
        return {asked: getattr(self, asked)}

    @property
    def certain(self) -> bool:
        return self.delimiter_certain and self.encoding_certain and self.header_certain


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnReading:
    """One possible reading of a column, with examples as (text in the file, value it becomes)."""

    label: str
    column: Column
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadColumn:
    """A column of the file with the type suggested for it.

    ``suggestion`` has a type and a number or date format, but neither bounds nor categories: those are for the person
    to declare. ``reason`` is one line for the person. ``missing`` counts cells that are empty or a missing word,
    ``missing_words`` which and how often; ``unparsable`` counts cells that are no value of the suggested type,
    ``unparsable_lines`` where the first of them are. ``readings`` holds two or more side by side when the file alone
    cannot decide and the person must; it is empty otherwise. ``distinct`` counts different values. ``codebook`` holds
    the options that the file's own codebook names (value labels of SPSS, Stata): for the person to take over, marked as
    words of the file until they say that anyone could list them, since many programs write down just those that occur.
    ``stand_in`` is a word such as "999" that may stand for missing.
    """

    name: str
    suggestion: Column
    reason: str
    missing: int
    missing_words: tuple[tuple[str, int], ...]
    unparsable: int
    unparsable_lines: tuple[int, ...]
    distinct: int
    identifier: bool = False
    readings: tuple[ColumnReading, ...] = ()
    notes: tuple[str, ...] = ()
    codebook: tuple[str, ...] = ()
    stand_in: str = ""

    @property
    def type(self) -> ColumnType:
        return self.suggestion.type

    @property
    def certain(self) -> bool:
        return not self.readings


def listed(lines: list[int]) -> tuple[int, ...]:
    return tuple(lines[:LISTED])
