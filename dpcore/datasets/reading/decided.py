"""What of a table's form its bytes decide, and one row could decide for all others: asked before a private answer."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd

from dpcore.datasets.reading import dialect as dialects
from dpcore.datasets.reading.bounds import MOST_COLUMNS
from dpcore.datasets.reading.dialect import Dialect
from dpcore.datasets.reading.layout import Layout
from dpcore.datasets.reading.survey import Survey
from dpcore.datasets.reading.whole_lines import beginning
from dpcore.datasets.reading.workbook import Sheet
from dpcore.datasets.report import BLANKS, BLANKS_NAMED, Alternative, Breaks, Escape, Merged
from dpcore.validate import IntArray

_CELLS_SHOWN = 4
"""Of a line, where it is asked whether it is a row: by these one finds it in the file."""


def escape_of(dialect: Dialect) -> Escape:
    return "backslash" if dialect.escape == "\\" else "doubled"


def of_delimiter(
    data: bytes, dialect: Dialect, seen: Survey, found: Layout, way: str | None, first_line: int
) -> tuple[Alternative, ...]:
    """Where cells end: the rows are counted to find it, and one more could have made it another sign.

    It is not asked where the lines that name the columns leave one sign and each row holds it; where a row does not, or
    each in the names has a blank behind it, as in a sentence, there could be one column. Nor where these lines hold
    none, and no row either."""
    named = {
        mark for place in found.header for cell in seen.head[place] for mark in dialects.DELIMITERS if mark in cell
    }
    if any(len(seen.head[place]) > 1 for place in found.header):
        named.add(dialect.delimiter)
    if dialect.alternatives:
        return ()
    if way is None and found.header and named == {dialect.delimiter} - {""}:
        heading, below = (int(seen.lines[place]) - first_line for place in (found.header[0], found.header[-1]))
        if not named:
            named = _signs_below(data, below + 1)
        elif _ends_all_cells(dialect, seen, found, _lines(data, heading, below)):
            return ()
        if not named:
            return ()
    line = _first_with(data, dialect.separator if way or dialect.delimiter else min(named or {dialect.separator}))
    spaced = line.replace("\t", " ") if way else line
    ways = [way or dialect.delimiter, *sorted(named - {dialect.delimiter, " "}, key=dialects.SIGNS.index), ""]
    if " " in named:
        ways += [BLANKS, BLANKS_NAMED]
    return tuple(
        Alternative(argument="delimiter", value=mark, example=_split(spaced, dialect, mark), decided=True)
        for mark in dict.fromkeys(ways)
    )


def _split(line: str, dialect: Dialect, mark: str) -> str:
    if mark in (BLANKS, BLANKS_NAMED):
        return " ¦ ".join(line.split())
    return dialects.shown(line, replace(dialect, delimiter=mark))


def _ends_all_cells(dialect: Dialect, seen: Survey, found: Layout, heading: bytes) -> bool:
    """Whether the sign parts the names, no sentence, and each row."""
    mark = dialect.delimiter.encode()
    parts = any(len(seen.head[place]) > 1 for place in found.header)
    each = int(seen.counts[found.start : found.end].min(initial=2)) > 1
    return parts and each and heading.count(mark) > heading.count(mark + b" ")


def _lines(data: bytes, first: int, last: int) -> bytes:
    start = _after(data, first)
    return data[start : _after(data, last + 1)]


def _signs_below(data: bytes, lines: int) -> set[str]:
    """Which of the signs at which cells can end stand below so many lines."""
    start = _after(data, lines)
    return {mark for mark in dialects.SIGNS if data.find(mark.encode(), start) >= 0}


def _after(data: bytes, lines: int) -> int:
    """Where what stands below so many lines begins."""
    start = 0
    for _ in range(lines):
        start = data.find(b"\n", start) + 1 or len(data)
    return start


def of_mark(data: bytes, dialect: Dialect) -> tuple[Alternative, ...]:
    """Which quotation mark it is, wherever any cell could stand in single ones: one plain mark in the file's head
    decides it, one long row, and one cell more or less in single ones."""
    if not dialect.quote or not dialects.has_single_marks(data, dialect.separator):
        return ()
    other = dialects.SINGLE_MARK if dialect.quote == dialects.PLAIN_MARK else dialects.PLAIN_MARK
    line = _first_with(data, dialects.SINGLE_MARK)
    return tuple(
        Alternative(
            argument="quote",
            value=mark,
            example=dialects.shown(line, replace(dialect, quote=mark, escape=mark)),
            decided=True,
        )
        for mark in (dialect.quote, other)
    )


def of_escape(data: bytes, dialect: Dialect) -> tuple[Alternative, ...]:
    """Whether a backslash means more than itself, in every cell of the file, wherever there is one: one cell that works
    out in no other way decides it."""
    if not dialect.quote or b"\\" not in data:
        return ()
    line = _first_with(data, "\\")
    doubled, behind = replace(dialect, escape=dialect.quote), replace(dialect, escape="\\")
    ways = (behind, doubled) if dialect.escape == "\\" else (doubled, behind)
    return tuple(
        Alternative(argument="escape", value=escape_of(way), example=dialects.shown(line, way), decided=True)
        for way in ways
    )


def of_breaks(data: bytes, dialect: Dialect, seen: Survey, first_line: int) -> tuple[Alternative, ...]:
    """Cells that run over lines: by a quotation mark too many one row would take those after it along."""
    if seen.over_lines is None:
        return ()
    first, last = seen.over_lines
    lines = islice(io.BytesIO(data), first - first_line, last + 1 - first_line)
    text = b"".join(lines).decode("utf-8", "replace").rstrip("\n")
    shown = {
        "inside": f"lines {first:,} to {last:,}: {dialects.shown(text, dialect)}",
        "between": f"line {first:,}: a row that holds nothing; line {last:,}: {text.rsplit(chr(10), 1)[-1]}",
    }
    ways: tuple[Breaks, ...] = ("inside", "between")
    return tuple(
        Alternative(argument="breaks", value=way, example=" ".join(shown[way].split())[:120], decided=True)
        for way in ways
    )


def of_foot(seen: Survey, found: Layout, texts: tuple[str, ...]) -> tuple[Alternative, ...]:
    """Lines at the foot that were left out, or ``texts`` that look like such by themselves: one whole row behind them
    would have made rows of all of them."""
    foot = seen.tail[len(seen.tail) - (seen.counts.size - found.end) :]
    told = [f"“{' '.join(filter(str.strip, record))}”" for record in foot] or [f"“{text}”" for text in texts]
    if not told:
        return ()
    guess = not foot
    return tuple(
        Alternative(
            argument="keep_footer",
            value=str(kept),
            example=f"{'rows as others' if kept else 'left out'}: {'; '.join(told[:3])}",
            decided=True,
        )
        for kept in (guess, not guess)
    )


def of_merged(sheet: Sheet, filled: dict[int, list[int]]) -> tuple[Alternative, ...]:
    """The value of cells merged over several rows: what stands in one row is that of all of them, or of that alone."""
    if not filled:
        return ()
    line = min(filled)
    row = int(np.searchsorted(sheet.survey.lines, line))
    here = row < len(sheet.frame) and sheet.survey.lines[row] == line
    word = str(sheet.frame.iloc[row, filled[line][0]])[:40] if here else ""
    ways: dict[Merged, str] = {"each": word, "first": ""}
    return tuple(
        Alternative(argument="merged", value=way, example=f"row {line - 1}: {word}; row {line}: {below}", decided=True)
        for way, below in ways.items()
    )


def of_width(frame: pd.DataFrame, counts: IntArray, width: int) -> tuple[Alternative, ...]:
    """How many columns there are where no line names them: one row could make another number the usual one."""
    widths = dict.fromkeys(each for each in (width, int(counts[0]), int(counts.max())) if each <= MOST_COLUMNS)
    return tuple(
        Alternative(
            argument="columns",
            value=str(each),
            example=" ¦ ".join(frame.iloc[int(np.argmax(counts >= each)), :each]),
            decided=True,
        )
        for each in widths
    )


def of_beginning(seen: Survey, found: Layout) -> tuple[Alternative, ...]:
    """The first line, on which a table that no line names begins, and the first that looks like a row, where both are
    not one: whether what stands above is a title or rows, a person knows alone."""
    lines = {1: seen.head[0] if seen.lines[0] == 1 else [], int(seen.lines[found.looks]): seen.head[found.looks]}
    return tuple(
        Alternative(
            argument="header_line",
            value=str(line),
            example=" ¦ ".join(record[:_CELLS_SHOWN])[:80],
            decided=not found.titled,
        )
        for line, record in (lines.items() if found.looks else ())
    )


def _first_with(data: bytes, sign: str) -> str:
    """The first line below the first that holds a sign, its beginning."""
    lines = beginning(data).decode("utf-8", "ignore").splitlines()
    return next((line for line in lines[1:] if sign in line), lines[0] if lines else "")[:80]
