"""The cells of lines as texts: many lines at once by Arrow, or record by record where one is not as it should be.

Both ways give the same cells, or one line that is not as it should be would move what all those beside it hold.

Each line is a record by itself, unless it was stated that quoted cells run over lines: one on which a quotation mark
stays open is none, and moves no other. Where they do, a record over several lines that does not come to as many cells
as there are names is none: its first line is set aside alone, as one with a quotation mark too many, and the next line
is a new beginning; but one that does come to as many takes the lines after it along, which is why it has to be stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from dpcore.datasets.importing.text_lines import LONGEST, Aside, Text
from dpcore.validate import BoolArray, IntArray

MOST_LINES = 100
"""Over which one record may run."""
UNEVEN = "with more or fewer cells than the line of names"
NO_CELLS = "whose cells cannot be told apart"
UNCLOSED = "with a quotation mark too many"
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}".encode()


@dataclass(frozen=True, kw_only=True)
class Signs:
    """What stands between cells (nothing: there is one), and around those that are quoted (nothing: none are), and
    whether these may run over lines."""

    delimiter: str
    quote: str
    lines_in_cells: bool = False

    @property
    def separator(self) -> str:
        return self.delimiter or "\x1f"

    def cells(self, record: str) -> list[str]:
        """Of one record, of any length; none where they cannot be told apart."""
        if not self.quote or self.quote not in record:
            return [] if "\r" in record else record.split(self.separator)
        found: list[str] = []
        at = 0
        while cell := self._cell.match(record, at):
            quoted, plain = cell.groups()
            found.append(plain if quoted is None else quoted.replace(self.quote * 2, self.quote))
            at = cell.end()
            if at == len(record):
                return found
            if record[at] != self.separator:
                break
            at += 1
        return []

    @cached_property
    def _cell(self) -> re.Pattern[str]:
        """One cell where some are quoted: one that is, maybe behind blanks, or all up to the next separator."""
        mark, separator = re.escape(self.quote), re.escape(self.separator)
        opened = mark if self.separator == " " else f" *+{mark}"
        return re.compile(f"{opened}((?:[^{mark}]++|{mark}{mark})*+){mark}|(?!{opened})([^{separator}\\r\\n]*+)")


Rows = tuple[pa.Table, IntArray]


def rows(blocks: Iterable[Text], signs: Signs, width: int, aside: Aside) -> Iterator[Rows]:
    """Columns "0", "1", … of all records with ``width`` cells, (rows, width), and the first line of each, (rows,).

    Empty lines are no records; others are set aside.
    """
    rest: Text | None = None
    for block in blocks:
        text = block if rest is None else rest.and_then(block)
        found, used = _together(text, signs, width) or _one_by_one(text, signs, width, aside, last=False)
        rest = text.part(used, text.ends.size) if used < text.ends.size else None
        yield found
    if rest is not None:
        yield _one_by_one(rest, signs, width, aside, last=True)[0]


def _together(text: Text, signs: Signs, width: int) -> tuple[Rows, int] | None:
    """All records that end in these lines at once, and of how many lines they are; None where one is not as it should
    be, or Arrow would read it in its own way."""
    closed = np.flatnonzero(_quotes(text, signs) % 2 == 0)
    if not signs.lines_in_cells and closed.size < text.ends.size:
        return None
    if not closed.size or np.diff(closed, prepend=-1).max() > MOST_LINES:
        return None
    if np.diff(text.ends[closed], prepend=0).max() > LONGEST:
        return None
    used = int(closed[-1]) + 1
    if text.ends.size - used > MOST_LINES:
        return None
    begun = np.concatenate([[0], closed[:-1] + 1])  # the first line of each record
    data = text.data[: text.begin(used)]
    if data.startswith(_MARK) or len(signs.separator.encode()) != 1 or not _around_cells(data, signs):
        return None
    if data.count(b"\r") != data.count(b"\r\n"):  # one alone ends a line for Arrow
        return None
    table = _by_arrow(data, signs, width)
    full = _full(text, begun, closed)
    if table is None or table.num_rows != np.count_nonzero(full):
        return None
    return (table, text.numbers[begun[full]]), used


def _quotes(text: Text, signs: Signs) -> IntArray:
    """How many quotation marks there are up to the end of each line."""
    if not signs.quote:
        return np.zeros(text.ends.size, dtype=np.int64)
    marks = np.flatnonzero(np.frombuffer(text.data, dtype=np.uint8) == ord(signs.quote))
    return np.searchsorted(marks, text.ends)


def _around_cells(data: bytes, signs: Signs) -> bool:
    """Whether quotation marks stand only around cells, and doubled within those."""
    if not signs.quote or signs.quote.encode() not in data:
        return True
    letters = np.frombuffer(b"\n" + data, dtype=np.uint8)
    marks = np.flatnonzero(letters == ord(signs.quote))
    outside = [ord(letter) for letter in (signs.separator, "\n", signs.quote)]
    opened, closed = letters[marks[::2] - 1], letters[marks[1::2] + 1]
    return bool(np.isin(opened, outside).all() and np.isin(closed, [*outside, ord("\r")]).all())


def _full(text: Text, begun: IntArray, closed: IntArray) -> BoolArray:
    """Which records are more than the end of a line."""
    starts = np.concatenate([[0], text.ends[:-1]])[begun]
    sizes = text.ends[closed] - starts
    full: BoolArray = sizes > 1
    for at in np.flatnonzero(sizes == 2).tolist():
        full[at] = text.data[int(starts[at])] != ord("\r")
    return full


def _by_arrow(data: bytes, signs: Signs, width: int) -> pa.Table | None:
    """None where Arrow cannot tell all lines apart into so many cells."""
    names, broken = [str(place) for place in range(width)], []

    def skip(row: arrow_csv.InvalidRow) -> str:
        broken.append(row.actual_columns)
        return "skip"

    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(data),
            read_options=arrow_csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            parse_options=arrow_csv.ParseOptions(
                delimiter=signs.separator,
                quote_char=signs.quote or False,
                double_quote=bool(signs.quote),
                newlines_in_values=bool(signs.quote),
                invalid_row_handler=skip,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return None if broken else table


def _one_by_one(text: Text, signs: Signs, width: int, aside: Aside, *, last: bool) -> tuple[Rows, int]:
    quotes = np.diff(_quotes(text, signs), prepend=0).tolist()
    kept: list[list[str]] = []
    lines: list[int] = []
    at = 0
    while at < len(quotes):
        end = _end(text, quotes, at) if signs.lines_in_cells else at + 1
        if end is None and not last and _may_go_on(text, at):
            break
        number = int(text.numbers[at])
        cells, why = ([], UNCLOSED) if end is None else _cells(text, signs, at, end, width)
        if why and quotes[at] % 2:
            why = UNCLOSED
        if cells:
            kept.append(cells)
            lines.append(number)
        elif why:
            aside.note(why, number)
        at = end if cells and end is not None else at + 1
    columns = list(zip(*kept, strict=True)) or [()] * width
    table = pa.table({str(place): pa.array(cells, pa.string()) for place, cells in enumerate(columns)})
    return (table, np.array(lines, dtype=np.int64)), at


def _end(text: Text, quotes: list[int], at: int) -> int | None:
    """Before which line the record that begins at one ends; None where its quotation marks are not closed by then."""
    marks, end = quotes[at], at + 1
    while marks % 2:
        if end == len(quotes) or end - at == MOST_LINES:
            return None
        marks, end = marks + quotes[end], end + 1
    return end if text.begin(end) - text.begin(at) <= LONGEST else None


def _may_go_on(text: Text, at: int) -> bool:
    """Whether a record that begins at a line could yet end in lines that are still to be read."""
    return text.ends.size - at < MOST_LINES and len(text.data) - text.begin(at) <= LONGEST


def _cells(text: Text, signs: Signs, at: int, end: int, width: int) -> tuple[list[str], str]:
    """The cells of a record, or why there are none; neither of an empty line."""
    record = text.record(at, end)
    if not record:
        return [], ""
    cells = signs.cells(record)
    why = UNEVEN if cells else NO_CELLS
    return (cells, "") if len(cells) == width else ([], why)
