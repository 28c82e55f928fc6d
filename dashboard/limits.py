"""How much one session may hold and do at once, so that nobody takes the server from the others.

Who is known may do what the computer can; a visitor who is not (``people.visitors``) gets a share. Either can be set in
the environment. Uploads on their way are bounded by the gate, for all together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.data.decisions import WORD, declared_weight
from dashboard.data.own_file import OwnFile
from dashboard.people import visitors
from dashboard.serving.settings import number
from dashboard.words import data as said
from dpcore.datasets import MOST_LETTERS, MOST_WORDS, Column, Fits, Reading, Size, Table, Template
from dpcore.errors import NoRoom, UnreadableFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """``rows`` of one file, ``megabytes`` (2²⁰ bytes) of all files and tables, simulations (``jobs``) at once."""

    rows: int
    megabytes: int
    jobs: int


_PLACES = 16
"""Bytes that are kept of a row beside its cells: its line and its place in the file."""

TYPED = 9
"""Bytes that a cell takes at most once more as a typed value: eight, and whether it is there."""

MOST_OF_LETTERS = 4 * MOST_LETTERS
"""Bytes of the options that a column is looked through for: a letter takes four where one of the word needs them."""

NUMBERED = 24
"""Bytes that the text "row 1" takes at most for each row of a twin: up to 12 letters, and where it ends."""

KNOWN = Limits(rows=100_000_000, megabytes=4000, jobs=12)
VISITOR = Limits(rows=1_000_000, megabytes=500, jobs=3)


def limits() -> Limits:
    """Those of this session: EPSILON_LAB_ROWS, EPSILON_LAB_MEMORY in MB, EPSILON_LAB_JOBS, or the usual ones."""
    usual = VISITOR if visitors.restricted() else KNOWN
    return Limits(
        rows=number("EPSILON_LAB_ROWS", usual.rows),
        megabytes=number("EPSILON_LAB_MEMORY", usual.megabytes),
        jobs=number("EPSILON_LAB_JOBS", usual.jobs),
    )


def check(data: bytes, held: int, here: Limits, reading: Reading | None = None) -> None:
    """Whether a file fits beside ``held`` bytes: before it is read, and once more with what it was read as.

    Raises UnreadableFile with what to do.
    """
    if reading is not None and reading.rows > here.rows:
        raise UnreadableFile(said.too_many_rows(reading.rows, here.rows))
    if reading is not None and reading.records > here.rows:  # in a private answer each of them has a place
        raise UnreadableFile(said.too_many_records(reading.records, here.rows))
    size = len(data) + (
        0 if reading is None else reading.size + typed(reading, (column.suggestion for column in reading.columns))
    )
    if held + size > here.megabytes << 20:
        raise UnreadableFile(said.too_much_held(held + size, here.megabytes))


def room(data: bytes, read: Reading, held: int, here: Limits) -> Fits:
    """Whether what steps make of a file fits: its bytes stay, the table as it was ``read``, and ``held`` bytes.

    It raises NoRoom with what to do.
    """
    there = held + len(data) + read.size

    def fits(size: Size) -> None:
        if size.rows > here.rows:
            raise NoRoom(said.step_of_too_many_rows(size.rows, here.rows))
        after = there + size.bytes + _PLACES * size.rows
        if after > here.megabytes << 20:
            raise NoRoom(said.step_too_large(after, here.megabytes))

    return fits


def typed(reading: Reading, columns: Iterable[Column]) -> int:
    """Bytes that these columns of a table take at most once more as typed values: texts as they are, all else less."""
    every = tuple(columns)
    texts = [column.name for column in every if column.type == "text"]
    beside = int(reading.frame[texts].memory_usage(index=False).sum())
    distinct = {column.name: column.distinct for column in reading.columns}
    options = [column.name for column in every if column.type == "category" and not column.categories]
    words = sum(min(distinct[name], MOST_WORDS) for name in options)
    letters = sum(min(4 * int(size), MOST_OF_LETTERS) for size in reading.frame[options].memory_usage(index=False))
    return TYPED * reading.rows * len(every) + beside + WORD * words + letters


def made_up(columns: Iterable[Column], rows: int) -> int:
    """Bytes that a twin of so many rows takes at most: its texts number them, the same in every column."""
    texts = [column.type == "text" for column in columns]
    return rows * (TYPED * texts.count(False) + NUMBERED * any(texts))


def prepared(size: int, held: int, here: Limits) -> None:
    """Whether typed columns of ``size`` bytes, prepared for the pages or made up as a twin, fit beside ``held`` bytes.

    Raises UnreadableFile with what to do.
    """
    if held + size > here.megabytes << 20:
        raise UnreadableFile(said.too_much_prepared(held + size, here.megabytes))


def declared(files: Iterable[OwnFile | None], templates: Iterable[Template]) -> int:
    """Bytes of the options that are declared, now and before, of some tables and for later ones."""
    known = [one.schema for own in files if own is not None for one in (own.decisions, *own.earlier)]
    return declared_weight([*known, *(one.schema for one in templates)])


def weight(files: Iterable[OwnFile | None]) -> int:
    """Bytes of some files and of the tables that they were read as, those that two of them share once."""
    known = [own for own in files if own is not None]
    data = {id(own.data): len(own.data) for own in known}
    tables = {id(one): one.size for own in known for one in (own.reading, own.read) if one is not None}
    return sum(data.values()) + sum(tables.values())


def loaded(tables: Iterable[Table]) -> int:
    """Bytes of tables of typed columns, as a session holds samples that it has loaded, or what pages show of a file."""
    return sum(int(table.frame.memory_usage(index=False).sum()) for table in tables)
