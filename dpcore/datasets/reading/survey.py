"""A second reader over the whole file: how many cells each record has and on which line it starts.

Whole arrays where the file is plain, else Python's own csv module in its strict mode. Arrow or DuckDB read the cells;
where DuckDB disagrees about the shape of any record, the file is refused rather than guessed at.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dpcore.datasets.reading.bounds import LONGEST_CELL, MOST_CELLS, MOST_COLUMNS
from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.engine import Cells
from dpcore.datasets.reading.scanning import Scan, WholeUntil, scan
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

HEAD, TAIL = 200, 30
WIDEST = MOST_COLUMNS + 100
"""Cells of a record that are read: some programs write empty ones behind the last column."""
_EVERY = 50_000
Say = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """Cells per record and first line of each record, blank lines left out, shape (records,); the outermost records.

    Where the file is plain, ``cuts`` are places some way apart at which records begin, and ``spanning`` says that a
    cell holds a line end. ``over_lines`` are the first and the last line of the first record that runs over several.
    ``beyond`` says of records with cells that are not read, by their places, how many there are with them.
    """

    counts: IntArray
    lines: IntArray
    blank: IntArray
    head: list[list[str]]
    tail: list[list[str]]
    cuts: tuple[int, ...] | None = None
    spanning: bool = True
    over_lines: tuple[int, int] | None = None
    beyond: Mapping[int, int] = field(default_factory=dict)

    @property
    def usual(self) -> int:
        """The commonest number of cells, of all that are read; the larger one when two are equally common."""
        frequent = np.bincount(np.minimum(self.counts, WIDEST + 1))
        return int(np.flatnonzero(frequent == frequent.max())[-1])


def survey(data: bytes, dialect: Dialect, first_line: int, say: Say, whole_until: WholeUntil | None = None) -> Survey:
    """``first_line`` is the line number of the first line of ``data``; for ``whole_until`` see ``scanning``.

    Raises UnreadableFile.
    """
    if (found := scan(data, dialect, (HEAD, TAIL), say, whole_until)) is None:
        return _one_by_one(data, dialect, first_line, say)
    head, tail = _records(found.head, dialect), _records(found.tail, dialect)
    _check_cells(found.counts)
    return Survey(
        counts=found.counts,
        lines=found.lines + first_line,
        blank=np.sort(found.blank) + first_line,
        head=head,
        tail=tail,
        cuts=found.cuts,
        spanning=found.spanning,
        over_lines=_over_lines(found, data, first_line) if found.spanning else None,
        beyond=_beyond(found.counts),
    )


def ends(seen: Survey | Scan, data: bytes, first_line: int) -> IntArray:
    """The last line of each record, shape (records,), where the first one of all has this number."""
    begun = np.append(seen.lines, data.count(b"\n") + (not data.endswith(b"\n")) + first_line)
    return begun[1:] - np.diff(np.searchsorted(np.sort(seen.blank), begun)) - 1


def _over_lines(found: Scan, data: bytes, first_line: int) -> tuple[int, int]:
    """The first and the last line of the first record that runs over several."""
    last = ends(found, data, 0)
    place = int(np.argmax(last > found.lines))
    return int(found.lines[place]) + first_line, int(last[place]) + first_line


def _records(part: bytes, dialect: Dialect) -> list[list[str]]:
    text = io.StringIO(part.decode("utf-8"), newline="")
    return [record[: WIDEST + 1] for record in dialect.reader(text, strict=True) if record]


def _one_by_one(data: bytes, dialect: Dialect, first_line: int, say: Say) -> Survey:
    """The same by Python's csv module, for files in which quotation marks stand elsewhere than at borders of cells."""
    counts, lines, blank = array("i"), array("q"), array("q")
    head: list[list[str]] = []
    tail: deque[list[str]] = deque(maxlen=TAIL)
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n")
    reader = dialect.reader(text, strict=True)
    line, over_lines = 0, None
    try:
        for record in reader:
            if record:
                if over_lines is None and reader.line_num > line + 1:
                    over_lines = line + first_line, reader.line_num - 1 + first_line
                counts.append(len(record))
                lines.append(line + first_line)
                tail.append(record[: WIDEST + 1])
                if len(head) < HEAD:
                    head.append(tail[-1])
                if len(counts) % _EVERY == 0:
                    say(text.buffer.tell() / max(len(data), 1))
            else:
                blank.append(line + first_line)
            line = reader.line_num
    except csv.Error as error:
        raise UnreadableFile(_sentence(str(error), line + first_line, dialect)) from None
    if not counts:
        raise UnreadableFile("The file is empty.")
    found = np.frombuffer(counts, dtype=np.int32).astype(np.int64)
    _check_cells(found)
    return Survey(
        counts=found,
        lines=np.frombuffer(lines, dtype=np.int64),
        blank=np.frombuffer(blank, dtype=np.int64),
        head=head,
        tail=list(tail),
        over_lines=over_lines,
        beyond=_beyond(found),
    )


def check_agreement(seen: Survey, read: Cells) -> None:
    """Raises UnreadableFile when DuckDB found other records, or other numbers of cells in them."""
    if seen.counts.size == read.counts.size and (seen.counts == read.counts).all():
        return
    size = min(seen.counts.size, read.counts.size)
    apart = np.flatnonzero(seen.counts[:size] != read.counts[:size])
    place = int(seen.lines[apart[0] if apart.size else max(size - 1, 0)])
    raise UnreadableFile(
        f"Where cells begin and end is not clear near line {place:,}; check its quotation marks and delimiters."
    )


def _beyond(counts: IntArray) -> dict[int, int]:
    places = np.flatnonzero(counts > WIDEST)
    return dict(zip(places.tolist(), counts[places].tolist(), strict=True))


def _check_cells(counts: IntArray) -> None:
    if min(int(counts.max()), WIDEST) * counts.size > MOST_CELLS * 2:
        raise UnreadableFile(f"The table has more than {MOST_CELLS:,} cells; keep fewer rows or columns.")


def _sentence(problem: str, line: int, dialect: Dialect) -> str:
    if "field larger" in problem:
        return (
            f"A cell that starts on line {line:,} holds more than {LONGEST_CELL:,} characters, so this is hardly a "
            "table; check for a quotation mark that is never closed."
        )
    if "unexpected end of data" in problem:
        return f"A quotation mark opened on line {line:,} is never closed; close it or take it out."
    if re.search(r"expected after", problem):
        return (
            f"Line {line:,} has text after a closing quotation mark, so its cells are not clear; "
            "double the quotation marks inside the cell or take them out."
        )
    return f"Line {line:,} cannot be split into cells."
