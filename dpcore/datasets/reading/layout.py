"""Which records are a title, the heading, data or a footer: decided from the outermost records and their widths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from dpcore.datasets.dates import moment
from dpcore.datasets.different import encoded
from dpcore.datasets.matching import may_be_blank
from dpcore.datasets.reading.survey import Survey
from dpcore.datasets.schema import MISSING_WORDS, NO_WORDS, YES_WORDS, DateOrder
from dpcore.datasets.unnamed_index import is_unnamed_index
from dpcore.errors import UnreadableFile
from dpcore.validate import BoolArray, IntArray

_NUMBER = re.compile(r"[-+−(]?\s?[^\w\s.,]?\s?(?:\d[\d.,'\s]*|\.\d+)(?:[eE][-+]?\d+)?\s?[^\w\s]?\)?-?")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_TOTALS = {
    *("total", "totals", "grand total", "subtotal", "sum", "overall total", "average", "mean"),
    *("summe", "gesamt", "gesamtsumme", "insgesamt", "somme", "suma", "totale", "totaal", "razem", "итого", "всего"),
}
_ORDERS: tuple[DateOrder, ...] = ("dmy", "mdy")
_LONGEST_TOTAL = 40
_FOOTER = 10
_SEARCHED, _TITLES = 60, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Records ``header`` (their places) name the columns; data run from ``start`` to before ``end``.

    Where no line names the columns nothing tells a title from a row: the table begins on the ``line`` that a person
    stated, or on the first one, empty or not. Looking for it would let one cell take a row's place from all others.
    Where that is certain and a later record looks like the first row, ``looks`` is its place, for the person to be
    asked; else it is 0. ``titled`` is whether the first record looks like a title.

    Rows are ``width`` cells wide as a rule, which the guess goes by; how wide the table is the heading says alone.
    ``certain`` is False where the heading is a guess.

    ``keeps`` is whether a person said that totals and notes are rows, None where nobody said. Where they are none each
    record is judged by itself, wherever it stands (``left_out``): where the foot begins hangs on the last rows, and one
    more could bring it back.
    """

    width: int
    header: tuple[int, ...]
    start: int
    end: int
    certain: bool
    line: int = 1
    looks: int = 0
    titled: bool = False
    keeps: bool | None = None


def find(seen: Survey, *, header_rows: int | None, header_line: int | None, keep_footer: bool | None) -> Layout:
    """The layout of a surveyed file. ``header_rows`` (0 to 2) and ``header_line`` override the guess.

    Raises UnreadableFile where the file has no such lines.
    """
    head = [[cell.strip() for cell in record] for record in seen.head]
    width = _width(seen, head)
    first = _first(head, width) if header_line is None else _place_of(seen, header_line)
    certain = True
    if header_rows is None:
        header_rows, certain = _header_rows(head[first:], width)
        if first > 0 and header_line is None:
            above = head[first - 1]
            if header_rows == 1 and _is_group(above, head[first:], width):
                first, header_rows, certain = first - 1, 2, False
            elif header_rows == 0 and len(above) == width and any(above):
                first, header_rows, certain = first - 1, 1, False
    looks, titled = 0, False
    if header_rows == 0 and header_line is None:
        titled = certain and first > 0
        first, looks = 0, max(first, _below_titles(head, width)) if certain else 0
    start = first + header_rows
    if start > len(head):
        raise UnreadableFile("There is only one line where two should name the columns; let one line name them.")
    index = unnamed_index(head[first:start])
    heading = [_without(record, index) for record in head[first:start]]
    whole = max(map(len, heading), default=width)
    named = max((place + 1 for record in heading for place, cell in enumerate(record) if cell), default=whole)
    tail = [_without(record, index) for record in seen.tail]
    end = seen.counts.size if keep_footer is not None else _footer(tail, seen.counts.size, start, whole, named)
    return Layout(
        width=width,
        header=tuple(range(first, start)),
        start=start,
        end=end,
        certain=certain,
        line=header_line or 1,
        looks=looks,
        titled=titled,
        keeps=keep_footer,
    )


def unnamed_index(heading: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """The places at which a line that names the columns has a name that is none."""
    return tuple(sorted({at for record in heading for at, cell in enumerate(record) if is_unnamed_index(cell)}))


def _without(record: list[str], places: tuple[int, ...]) -> list[str]:
    return [cell for place, cell in enumerate(record) if place not in places] if places else record


def left_out(frame: pd.DataFrame, counts: IntArray | None, columns: int, whole: int) -> BoolArray:
    """Which rows are totals or notes by what they hold themselves, shape (rows,).

    ``columns`` are those that the file names, or that were stated; ``whole`` is how many cells a whole row has, with
    one behind a delimiter at the heading's end; ``counts`` says how many each row has, None for those of a sheet, where
    all have as many.
    """
    found = np.zeros(len(frame), dtype=bool)
    only = np.full(len(frame), -1)  # the place of the first cell that holds anything
    left = np.arange(len(frame))  # rows in which no more than one does so far
    for place in range(frame.shape[1]):
        cells = frame.iloc[:, place] if left.size == len(frame) else frame.iloc[left, place]
        holds = ~may_be_blank(cells)
        doubtful = np.flatnonzero(~holds)
        holds[doubtful] = (cells.iloc[doubtful].str.strip() != "").to_numpy(dtype=bool)
        fresh = np.flatnonzero(holds & (only[left] < 0))
        found[left[fresh]] = _are_totals(cells.iloc[fresh])
        second = holds & (only[left] >= 0)
        only[left[fresh]] = place
        left = left[~second & ~found[left]]
        if not left.size:
            return found
    for place in range(frame.shape[1] if columns > 2 else 0):
        here = left[only[left] == place]
        words = frame.iloc[here, place].str.strip()
        short = np.full(here.size, place == 0) if counts is None else counts[here] < whole
        several = words.str.contains(" ", regex=False).to_numpy(dtype=bool)
        codes, different = encoded(words)
        values = np.fromiter((bool(_kind(word)) for word in different), dtype=bool, count=len(different))
        found[here] = (short | several) & ~values[codes]
    return found


def _are_totals(words: pd.Series) -> BoolArray:
    """Which of these begin a line of totals."""
    brief = np.flatnonzero((words.str.len() < _LONGEST_TOTAL).to_numpy(dtype=bool))
    found = np.zeros(len(words), dtype=bool)
    found[brief] = words.iloc[brief].str.strip().str.rstrip(":. ").str.lower().isin(_TOTALS).to_numpy(dtype=bool)
    return found


def _width(seen: Survey, head: list[list[str]]) -> int:
    """The usual number of cells, or a few more where the heading names more columns than most rows have cells."""
    usual = seen.usual
    named = max((len(record) for record in head[:3] if not any(not cell or _kind(cell) for cell in record)), default=0)
    return named if usual < named <= usual + 3 else usual


def _place_of(seen: Survey, line: int) -> int:
    place = int((seen.lines < line).sum())
    if place >= len(seen.head):
        last = int(seen.lines[len(seen.head) - 1])
        raise UnreadableFile(f"The column names cannot start on line {line:,}; choose a line from 1 to {last:,}.")
    return place


def _filled(record: list[str]) -> int:
    return sum(1 for cell in record if cell)


def _first(head: list[list[str]], width: int) -> int:
    """The first record that looks like a row of the table rather than a title above it."""
    if width == 1:
        return 0
    for place, record in enumerate(head[:_SEARCHED]):
        if 2 * _filled(record[:width]) >= width and _filled(record) >= 2:
            return place
    return 0


def _below_titles(head: list[list[str]], width: int) -> int:
    """The place after the last of the first records that could be a title: a row above it makes it none."""
    titles = [place for place, record in enumerate(head[:_TITLES]) if _filled(record) < 2] if width > 1 else []
    return titles[-1] + 1 if titles and titles[-1] + 1 < len(head) else 0


def _columns(records: list[list[str]], width: int) -> tuple[list[list[str]], list[str]]:
    """The cells of each column that are not missing, and the kind that at least four fifths of them are of."""
    columns = [[record[place] for record in records if not _is_missing(record[place])] for place in range(width)]
    kinds = []
    for cells in columns:
        kind, count = Counter(map(_kind, cells)).most_common(1)[0] if cells else ("", 0)
        kinds.append(kind if 5 * count >= 4 * len(cells) else "")
    return columns, kinds


def _header_rows(head: list[list[str]], width: int) -> tuple[int, bool]:
    """How many of the first records name the columns (0 to 2), and whether that is certain."""
    top, below = _padded(head[0], width), [_padded(record, width) for record in head[1:_SEARCHED]]
    if not below:
        return (0, False) if any(_kind(cell) for cell in top) else (1, True)
    columns, kinds = _columns(below, width)
    valued = [place for place in range(width) if kinds[place] and not _is_missing(top[place])]
    named = [place for place in valued if _kind(top[place]) != kinds[place] and not _is_year(top[place])]
    data = [place for place in valued if _kind(top[place]) == kinds[place]]
    if _is_group(top, below, width):
        return 2, False
    if data:
        years = _is_year_run([top[place] for place in data]) and not all(
            _is_year(cell) for place in data for cell in columns[place]
        )
        if not years and len(named) <= len(data):
            return 0, not named
        return 1, False
    if named:
        return 1, True
    texts = [place for place in range(width) if top[place] and columns[place]]
    repeated = [place for place in texts if top[place] in columns[place]]
    if texts and 2 * len(repeated) >= len(texts):
        return 0, False
    telling = [p for p in texts if len(columns[p]) >= 5 and 2 * len(set(columns[p])) <= len(columns[p])]
    return 1, bool(telling) and not repeated


def _is_group(top: list[str], below: list[list[str]], width: int) -> bool:
    """Whether ``top`` names groups of the columns that the record after it names.

    It then has gaps or repeats, or the second record holds units in brackets; and values follow.
    """
    if len(below) < 2 or len(top) < width:
        return False
    second = _padded(below[0], width)
    _, kinds = _columns([_padded(record, width) for record in below[1:_SEARCHED]], width)
    valued = [place for place in range(width) if kinds[place]]
    if not valued or any(_kind(second[place]) or _is_missing(second[place]) for place in valued):
        return False
    groups = [cell for cell in top if cell]
    gaps = len(groups) >= 2 and len(set(groups)) < width and _filled(second) == width
    units = _filled(top) == width and all(cell[0] in "([" and cell[-1] in ")]" for cell in second if cell)
    return gaps or units


def _footer(tail: list[list[str]], size: int, start: int, whole: int, named: int) -> int:
    """Where the data of so many records end: before totals and notes at the foot, by the rules of ``left_out``."""
    end = size
    inner = {record[0].strip().casefold() for record in tail[:-_FOOTER] if record}
    for record in reversed(tail):
        if size - end >= _FOOTER or end - 1 <= start:
            break
        words = [cell.strip() for cell in record if cell.strip()]
        if words and not _is_total(words[0], inner) and not _is_note(words, record, whole, named):
            break
        end -= 1
    while end < size and not any(cell.strip() for cell in tail[end - size]):
        end += 1  # blank rows are told apart from a footer later
    return end


def _is_total(word: str, inner: set[str]) -> bool:
    plain = word.rstrip(":. ").casefold()
    return plain in _TOTALS and plain not in inner


def _is_note(words: list[str], record: list[str], whole: int, named: int) -> bool:
    """A line of text below the table: alone in its row, and not just a short cell."""
    return named > 2 and len(words) == 1 and not _kind(words[0]) and (len(record) < whole or " " in words[0])


def _padded(record: list[str], width: int) -> list[str]:
    return (record + [""] * width)[:width]


def _is_missing(cell: str) -> bool:
    return cell.casefold() in MISSING_WORDS


def _kind(cell: str) -> str:
    """ "number", "date" or "yes/no" for a cell that is a value, "" for one that may be a name."""
    if not cell or len(cell) > 60:
        return ""
    if _NUMBER.fullmatch(cell):
        return "number"
    if cell.casefold() in (*YES_WORDS, *NO_WORDS):
        return "yes/no"
    return "date" if any(not np.isnat(moment(cell, order)) for order in _ORDERS) else ""


def _is_year(cell: str) -> bool:
    return _YEAR.fullmatch(cell) is not None


def _is_year_run(cells: list[str]) -> bool:
    """Whether the cells are years in even steps, which name columns more often than they are values."""
    if not all(map(_is_year, cells)):
        return False
    return len({int(later) - int(earlier) for earlier, later in pairwise(cells)} - {0}) <= 1
