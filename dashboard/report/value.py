"""A report as one value: what it says, part by part, before anything is typeset.

All text is in runs of plain characters with their emphasis, so that no writer has to know of markup: what a person's
table is called, or says, is only ever characters. Values can be pickled, and equal reports are equal values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from dashboard.words import report as said

Kind = Literal["what_if", "twin", "sample", "answer", "practice", "plan"]
MOST_SECTIONS = 12
"""Sections that a session keeps, and charges that a seal can name."""
LONGEST = 100
"""Sections of one report, as of a long deck."""
LONGEST_TITLE, LONGEST_AUTHOR = 160, 120


@dataclass(frozen=True, slots=True)
class Run:
    """Characters that are written alike."""

    text: str
    strong: bool = False
    slanted: bool = False
    code: bool = False


Line = tuple[Run, ...]
"""One paragraph's runs."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; ``large`` for the verdict, ``small`` for what helps and does not decide."""

    line: Line
    size: Literal["large", "usual", "small"] = "usual"


@dataclass(frozen=True, slots=True)
class Listing:
    """Points, one below the other."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A picture as SVG, ``width`` × ``height`` in its own pixels, with words for who does not see it."""

    svg: str
    width: int
    height: int
    alt: str
    caption: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table; its first column names the rows. ``marked`` is the row of the chosen point, or None."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    marked: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What belongs to what: a table of two columns without a head. ``boxed`` for the label."""

    rows: tuple[tuple[str, Line], ...]
    caption: str
    boxed: bool = False


Part = Heading | Paragraph | Listing | Drawing | Grid | Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One question, answer or plan of a report.

    ``key`` tells it from others in a list; ``code`` is Python that computes its ``numbers`` again, (what, value) each.
    ``receipt`` is the hash of its answer's charge in the ledger's journal. ``budget`` is the lineage whose budget it
    tells something of beside that, and ``newest`` the hash of the last charge that it counts there: who has that one in
    their journal has all before it. ``own``: made from a person's own data, so that it goes with their file.
    """

    kind: Kind
    key: str
    title: str
    parts: tuple[Part, ...]
    code: str = ""
    numbers: tuple[tuple[str, float], ...] = ()
    receipt: str | None = None
    budget: str | None = None
    newest: str | None = None
    own: bool = False

    @property
    def mark(self) -> str:
        """What stands on each of its pages; empty for a real private answer."""
        return said.MARKS[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Sections with their title page's facts. ``logo`` is a picture's bytes (PNG or JPEG), or None.

    ``sealed`` is False where the ledger could not put its seal on the files, which they then say. ``day`` is whatever
    its author typed, ``made`` when the server made it, by its own clock.
    Raises ValueError without sections or with too many.
    """

    title: str
    author: str
    day: date
    sections: tuple[Section, ...]
    logo: bytes | None = None
    sealed: bool = True
    made: str = ""

    def __post_init__(self) -> None:
        if not 0 < len(self.sections) <= LONGEST:
            raise ValueError(f"a report has 1 to {LONGEST} sections")

    @property
    def private(self) -> bool:
        """Whether nothing in it was computed from a person's own file but private answers."""
        return all(section.kind != "what_if" for section in self.sections)

    def mark(self, section: Section) -> str:
        """What stands on each page of ``section``: one page that must not be published marks them all."""
        return section.mark if self.private else said.MARKS["what_if"]

    @property
    def file_name(self) -> str:
        """Without an ending. The mark is part of it; nothing from a table is."""
        kinds: Iterable[Kind] = ("what_if", "twin", "sample", "practice", "plan", "answer")
        first = next(kind for kind in kinds if any(section.kind == kind for section in self.sections))
        return f"{said.FILES[first]}-{self.day.isoformat()}"

    @property
    def notice(self) -> str:
        """What stands below the title where a reader must know it; empty where nothing is amiss."""
        return "" if self.sealed else said.UNSEALED

    @property
    def about(self) -> tuple[tuple[str, str], ...]:
        """What stands below its title: what it is called, and what it is."""
        author, day = (said.BY, self.author or said.NO_AUTHOR), (said.ON, self.day.isoformat())
        return (author, day, (said.MADE, self.made)) if self.made else (author, day)

    @property
    def receipts(self) -> tuple[str, ...]:
        """Hashes of the charges that it tells of, in order: of its answers, and of each budget the last."""
        named = ((section.receipt, section.newest) for section in self.sections)
        return tuple(dict.fromkeys(one for pair in named for one in pair if one is not None))

    @property
    def budgets(self) -> tuple[str, ...]:
        """The lineages of whose budgets it tells something, in order."""
        return tuple(dict.fromkeys(section.budget for section in self.sections if section.budget is not None))

    @property
    def digest(self) -> str:
        """Tells reports apart to the last character."""
        return _digest(self)

    @property
    def of_sections(self) -> str:
        """Tells their sections apart, whatever stands on their title page."""
        return _digest(self.sections)


def _digest(what: object) -> str:
    return hashlib.sha256(repr(what).encode("utf-8", "backslashreplace")).hexdigest()


def plain(line: Line) -> str:
    """The characters alone."""
    return "".join(run.text for run in line)
