"""Sheets of Excel and OpenDocument workbooks, as records of text for the same layout rules as a text file's.

Cells hold the values the program last worked out; formulas and macros are never run. How large a sheet unfolds is
looked up in its XML before it is opened: two cells in opposite corners would otherwise fill the memory.
"""

from __future__ import annotations

import io
import zipfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import pandas as pd

from dpcore.datasets.reading.bounds import MOST_COLUMNS, check_sheets, check_size
from dpcore.datasets.reading.compound import Locked, container_of, workbook_stream
from dpcore.datasets.reading.excel_parts import ExcelParts, Extent
from dpcore.datasets.reading.gathering import Gathering
from dpcore.datasets.reading.markup import DAMAGED, follow, new_parser
from dpcore.datasets.reading.no_memory import check_memory
from dpcore.datasets.reading.odd_cells import is_count, is_number, mended
from dpcore.datasets.reading.old_sheets import checked_stream
from dpcore.datasets.reading.packing import Workbook, check_members
from dpcore.datasets.reading.survey import HEAD, TAIL, Survey
from dpcore.datasets.report import Notice, listed
from dpcore.errors import UnreadableFile
from dpcore.validate import IntArray

_MOST_XML = 512 << 20
_MOST_FILLED = 1_000_000
_MOST_ROWS = 1 << 20
_MOST_CELLS = 10_000_000  # a cell takes more room in a sheet than in a column of text
_LOCKED = "The workbook is locked with a password; save it without one and choose it again."
_WITHIN = (
    "A sheet of this workbook holds a table or a row within a cell, a row or a drawing; take it out, or save the sheet "
    "as CSV."
)
_PREFIXED = (
    "The names in this workbook do not begin as those of other OpenDocument sheets do; open it in its program and save "
    "it again, or as CSV."
)
_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_PREFIXES = {f"{_SPACE}{name}:1.0": name for name in ("office", "style", "table", "text")}
_CONTENT, _EMPTY_TEXT = "content.xml", b' office:string-value=""'
_VALUES = ("value", "string-value", "date-value", "time-value", "boolean-value")
_HOLDING = frozenset(f"office:{name}" for name in ("value-type", *_VALUES))
_CELL_TAGS = frozenset({"table:table-cell", "table:covered-table-cell"})
_SHEET_TAGS = frozenset({"table", "table-row", "table-cell", "covered-table-cell"})
_BEYOND = "is shown as a span of time or a day and is beyond any"
_PANIC = "PanicException"  # no Exception, and of no module that can be imported
Say = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """One sheet: its rows that hold anything, as a frame of columns 0, 1, … beside a survey of them.

    The survey is for finding the heading and the foot: it has no columns that hold nothing but titles and notes, whose
    text stands in the first one. The frame begins with the ``left`` column of the sheet, counted from 0. ``certain``
    says whether no other sheet could have been meant. In the rows ``merged``, by their numbers in the sheet, cells at
    these places were filled with the value above them.
    """

    frame: pd.DataFrame
    left: int
    survey: Survey
    name: str
    names: tuple[str, ...]
    certain: bool
    merged: Mapping[int, list[int]]
    notices: tuple[Notice, ...]

    @property
    def from_the_first_column(self) -> pd.DataFrame:
        """The frame with the columns of the sheet that nothing is in on its left. Raises UnreadableFile."""
        check_size(len(self.frame), self.left + self.frame.shape[1])
        names = range(self.left)
        empty = pd.DataFrame("", index=self.frame.index, columns=names).astype(self.frame.dtypes.iloc[0])
        return pd.concat([empty, self.frame], axis=1).set_axis(range(self.left + self.frame.shape[1]), axis=1)


def sheet_of(data: bytes, kind: Workbook | None, chosen: str | None, say: Say) -> Sheet:
    """One sheet of a workbook; ``kind`` is None for the old binary one, ``chosen`` names the sheet, else the first
    visible one that holds a table is taken. Raises UnreadableFile."""
    from python_calamine import CalamineError, SheetTypeEnum, SheetVisibleEnum

    data, extents = _looked_through(data, kind, say)
    book = _opened(data)
    sheets = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    shown = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible]
    names = tuple(shown or [each.name for each in sheets])
    if chosen is not None and chosen not in [each.name for each in sheets]:
        raise UnreadableFile("The workbook has no sheet of that name; choose one that is in it.")
    found: Sheet | None = None
    passed = 0
    for name in names if chosen is None else (chosen,):
        extent = extents(name)
        if extent.rows > _MOST_ROWS:  # what the library gives ends there
            raise UnreadableFile(
                f"A sheet of this workbook has more than {_MOST_ROWS:,} rows, which is what a sheet can hold; save the "
                "table as CSV."
            )
        passed += max(extent.rows * extent.columns, extent.cells)  # sheets of nearly nothing unfold one after the other
        check_size(passed, 1, most=_MOST_CELLS)
        if extent.mended is not None:
            book = _opened(extent.mended)
        try:
            sheet = book.get_sheet_by_name(name)
        except (CalamineError, OSError) as error:
            check_memory(error)
            raise UnreadableFile(DAMAGED) from None
        if not sheet.height or not sheet.width:
            continue
        check_size(sheet.height * sheet.width, 1)
        found = _read(sheet, extent, names, chosen is not None or len(names) == 1, say)
        if _is_table(found) or chosen is not None:
            break
    if found is None:
        raise UnreadableFile("The workbook holds no table: its sheets are empty.")
    aside = [each.name for each in sheets if each.name not in names]
    notices = list(found.notices)
    if aside:
        sentence = "Hidden sheets were left out; choose one by its name to read it."
        notices.append(Notice(what="noticed", sentence=sentence, count=len(aside), texts=tuple(aside[:20])))
    if kind == "xlsx" and _holds_macros(data):
        notices.append(Notice(what="noticed", sentence="The workbook holds macros; they are never run."))
    return replace(found, notices=tuple(notices))


def _opened(data: bytes) -> Any:
    """The workbook as the library has it. Raises UnreadableFile."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError:
        raise UnreadableFile(_LOCKED) from None
    except (CalamineError, OSError) as error:
        check_memory(error)
        raise UnreadableFile(DAMAGED) from None
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise UnreadableFile(DAMAGED) from None


def _holds_macros(data: bytes) -> bool:
    """By the names of its parts: any bytes can stand in a cell, too."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return any(name.endswith("vbaProject.bin") for name in archive.namelist())


def _is_table(sheet: Sheet) -> bool:
    """At least two rows with at least as many cells as half the columns: not a cover with a few lines."""
    return len(sheet.frame) >= 2 and (int(sheet.survey.counts.max()) > 1 or len(sheet.frame) >= 5)


def _read(sheet: Any, extent: Extent, names: tuple[str, ...], certain: bool, say: Say) -> Sheet:
    """Rows that hold something in the columns that are read."""
    left = (sheet.start or (0, 0))[1]
    width = min(int(sheet.width), MOST_COLUMNS - left)
    if width < 1:
        raise UnreadableFile(f"The sheet begins beyond column {MOST_COLUMNS}; move the table to the left of it.")
    fill, tops = _merged(sheet, width, say)
    merged: dict[int, list[int]] = {}
    held: dict[tuple[int, int], str] = {}  # the values of merged cells, by the row they begin in and their place
    gathered = Gathering(map(str, range(width)))
    lines: list[int] = []
    blank: list[int] = []
    filled = np.zeros(width, dtype=np.int64)
    widths: list[int] = []  # of rows up to their last cell, and of one with a title alone
    overflown: list[int] = []
    beyond: dict[int, int] = {}
    total = int(sheet.total_height)
    for number, cells in enumerate(_rows(sheet), start=1):
        if cells is None:
            _refuse_merged_from(number, tops)
            overflown.append(number)
        row = [""] * width if cells is None else [_text(cell) for cell in cells]
        ends = max((place + 1 for place, cell in enumerate(row[width:], width) if cell.strip()), default=0)
        row = row[:width]
        for place in tops.get(number, ()):
            held[number, place] = row[place]
        if number in fill:  # a cell beneath that holds something of its own keeps it, and to itself
            merged[number] = [place for place in fill[number] if not row[place]]
            for place in merged[number]:
                row[place] = held.get((fill[number][place], place), "")
        present = [place for place, cell in enumerate(row) if cell.strip()]
        if not present and not ends and cells is not None:
            blank.append(number)
            continue
        if len(present) > 1:
            filled[present] += 1
        widths.append(present[-1] + 1 if len(present) > 1 else 1)
        if ends:
            beyond[len(lines)] = left + ends
        lines.append(number)
        gathered.add({str(place): cell for place, cell in enumerate(row)})
        if number % 5000 == 0:
            say(number / max(total, 1))
    frame = gathered.frame()
    kept = np.flatnonzero(filled) if filled.any() else np.arange(width)
    frame.columns = pd.RangeIndex(width)
    survey = Survey(
        counts=np.maximum(np.searchsorted(kept, np.array(widths, dtype=np.int64)), 1),
        lines=np.array(lines, dtype=np.int64),
        blank=np.array(blank, dtype=np.int64),
        head=[_trimmed(row, kept) for row in frame.head(HEAD).itertuples(index=False, name=None)],
        tail=[_trimmed(row, kept) for row in frame.tail(TAIL).itertuples(index=False, name=None)],
        beyond=beyond,
    )
    return Sheet(
        frame=frame,
        left=left,
        survey=survey,
        name=str(sheet.name),
        names=names,
        certain=certain,
        merged=merged,
        notices=tuple(_notices(extent, lines, overflown)),
    )


def _rows(sheet: Any) -> Iterator[list[object] | None]:
    """The cells of each row; None where the library cannot make the span of time, or the day, that a number is shown
    as."""
    cells = sheet.iter_rows()
    while True:
        try:
            yield next(cells)
        except StopIteration:
            return
        except BaseException as error:  # the row is left behind: the next one is read as ever
            if not isinstance(error, OverflowError) and type(error).__name__ != _PANIC:
                raise
            yield None


def _refuse_merged_from(number: int, tops: Mapping[int, list[int]]) -> None:
    """Raises UnreadableFile where a cell of a row that cannot be read is merged with others below it."""
    if number in tops:
        raise UnreadableFile(
            f"A number in row {number:,} {_BEYOND}, and a cell of this row is merged with others below; give the "
            "number another format, or unmerge the cell."
        )


def _notices(extent: Extent, lines: list[int], overflown: list[int]) -> Iterator[Notice]:
    if overflown:
        sentence = f"A number that {_BEYOND} makes all cells of its row missing; give it another format to read them."
        yield Notice(what="noticed", sentence=sentence, count=len(overflown), lines=listed(overflown))
    hidden = sorted(set(extent.hidden) & set(lines))
    if hidden:
        sentence = "Hidden rows are among the data; show them in the workbook and delete those that do not belong."
        yield Notice(what="noticed", sentence=sentence, count=len(hidden), lines=listed(hidden))
    if extent.unworked:
        sentence = "Formulas that were never worked out count as missing; open the workbook in its program and save it."
        yield Notice(what="noticed", sentence=sentence, count=extent.unworked)
    if extent.odd:
        sentence = (
            "Cells that hold nothing of the kind that they say count as missing; open the workbook in its program and "
            "save it."
        )
        yield Notice(what="noticed", sentence=sentence, count=extent.odd)


def _trimmed(row: tuple[str, ...], kept: IntArray) -> list[str]:
    """A row as a text file would have it: a title alone in its row, in whatever column, has no cells after it."""
    cells = [row[place] for place in kept]
    cells[0] += "".join(cell for place, cell in enumerate(row) if place not in kept).strip()
    if sum(1 for cell in cells if cell.strip()) == 1 and cells[0].strip():
        return cells[:1]
    return cells


def _merged(sheet: Any, width: int, say: Say) -> tuple[dict[int, dict[int, int]], dict[int, list[int]]]:
    """Rows (from 1) in which cells take a value from above, by their places among the first ``width``: from which row.
    And in which rows such cells begin.

    Raises UnreadableFile for more than can be filled: each takes a few bytes of a file, however many rows it spans.
    """
    left = (sheet.start or (0, 0))[1]
    last = int(sheet.total_height)  # of the rows, counted from 0
    ranges = [
        (first - left, range(top + 2, min(bottom, last) + 2))
        for (top, first), (bottom, _) in sheet.merged_cell_ranges or ()
        if 0 <= first - left < width
    ]
    if sum(len(rows) for _, rows in ranges) > _MOST_FILLED:
        raise UnreadableFile(
            f"The sheet merges more than {_MOST_FILLED:,} cells over several rows; unmerge them, or save it as CSV."
        )
    fill: dict[int, dict[int, int]] = {}
    tops: dict[int, list[int]] = {}
    for count, (place, rows) in enumerate(ranges):
        if rows:
            tops.setdefault(rows.start - 1, []).append(place)
        for row in rows:
            fill.setdefault(row, {})[place] = rows.start - 1
        if count % 5000 == 0:
            say(0.0)
    return fill, tops


def _text(cell: object) -> str:
    """A cell as a person would read it in full: no digits are lost, whole numbers have no point."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime):
        plain = cell.replace(microsecond=0)
        return plain.date().isoformat() if plain.time() == time() else plain.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        minutes, seconds = divmod(round(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return str(cell)


def _looked_through(data: bytes, kind: Workbook | None, say: Say) -> tuple[bytes, Callable[[str], Extent]]:
    """The workbook as it is opened, and how large each sheet is, looked up when asked. All of the old binary kind and
    of OpenDocument are before. Raises UnreadableFile."""

    def turn() -> None:
        say(0.0)  # raises where the reading was given up

    if kind is None:
        return _old_workbook(data, say), lambda name: Extent()
    check_members(data, _MOST_XML)
    if kind == "xlsx":
        return data, ExcelParts(data, turn).extent
    corners = _Corners()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(_CONTENT) as opened:
        follow(opened, corners.start, corners.end, corners.parser, turn)
    if corners.places:
        data = mended(data, _CONTENT, corners.places, _EMPTY_TEXT)
    return data, lambda name: corners.found.get(name, Extent())


class _Corners:
    """Follows a document's XML and notes the last cell of each sheet that holds anything, repeats counted."""

    def __init__(self) -> None:
        self.found: dict[str, Extent] = {}
        self.places = array("Q")  # behind the names of cells that hold what is none
        self.parser = new_parser()
        self._all = self._sheets = 0
        self._name = ""
        self._row = self._column = self._rows = self._columns = 0
        self._row_repeat = self._cell_repeat = 1
        self._wide = self._odd = 0
        self._cell_at = 0  # behind its name
        self._within = self._in_row = False
        self._hidden: list[int] = []
        self._is_hidden = False
        self._names: set[str] = set()

    def _check_prefixes(self, tag: str, at: dict[str, str]) -> None:
        """Of names that are new, and of namespaces each time: the library knows names by their usual prefixes alone,
        and a row of another one would be none. Raises UnreadableFile."""
        spaces = {name: space for name, space in at.items() if name.startswith("xmlns")}
        self._names |= {tag, *at} - spaces.keys()
        prefix, _, local = tag.rpartition(":")
        usual = prefix == "table" or local not in _SHEET_TAGS  # also where the namespace is nowhere declared
        for name, space in spaces.items():
            declared = name.removeprefix("xmlns").removeprefix(":")
            usual &= _PREFIXES.get(space) == (declared if declared in _PREFIXES.values() else None)
        if not usual:
            raise UnreadableFile(_PREFIXED)

    def start(self, tag: str, at: dict[str, str]) -> None:
        if not (tag in self._names and at.keys() <= self._names):
            self._check_prefixes(tag, at)
        if tag == "table:table":
            if self._within:  # where it ends, the library ends the sheet around it
                raise UnreadableFile(_WITHIN)
            self._within = True
            self._sheets += 1
            check_sheets(self._sheets)
            self._name, self._row, self._rows, self._columns, self._hidden = at.get("table:name", ""), 0, 0, 0, []
            self._odd = 0
        elif tag == "table:table-row":
            if self._in_row:  # the library reads one row as several, and this bound as one
                raise UnreadableFile(_WITHIN)
            self._in_row = True
            self._row_repeat, self._column, self._wide = int(at.get("table:number-rows-repeated", "1")), 0, 0
            if self._row_repeat < 1:  # a row that is none would move those below
                raise UnreadableFile(DAMAGED)
            self._is_hidden = at.get("table:visibility", "visible") != "visible"
        elif tag in _CELL_TAGS:
            self._cell_repeat = int(at.get("table:number-columns-repeated", "1"))
            self._column += self._cell_repeat
            if not _HOLDING.isdisjoint(at):
                self._wide = self._column
            self._cell_at = self.parser.CurrentByteIndex + len(f"<{tag}")
            value = at.get("office:value")
            if value is not None and not is_number(value):
                self._mend()
        elif tag == "text:s":
            if self._cell_at and not is_count(at.get("text:c", "1")):
                self._mend()
        elif tag == "text:p":
            self._wide = max(self._wide, self._column)

    def _mend(self) -> None:
        """This cell's text is empty, whatever else the cell says: the library takes what it says first."""
        self._wide = max(self._wide, self._column)
        if not self.places or self.places[-1] != self._cell_at:
            self.places.extend((self._cell_at, self._cell_at))
            self._odd += 1

    def end(self, tag: str) -> None:
        if tag in _CELL_TAGS:
            self._cell_at = 0
        elif tag == "table:table-row":
            self._in_row = False
            if self._wide:
                if self._is_hidden:
                    self._hidden += range(self._row + 1, self._row + 1 + min(self._row_repeat, 1000))
                self._rows, self._columns = self._row + self._row_repeat, max(self._columns, self._wide)
            self._row += self._row_repeat
        elif tag == "table:table":
            self._within = False
            self.found[self._name] = Extent(
                rows=self._rows, columns=self._columns, hidden=tuple(self._hidden), odd=self._odd
            )
            self._all += self._rows * self._columns
            check_size(self._all, 1, most=_MOST_CELLS)  # the library unfolds every sheet at once


def _old_workbook(data: bytes, say: Say) -> bytes:
    """The old binary workbook alone, whose sheets are known to fit the memory together."""
    try:
        return container_of(checked_stream(workbook_stream(data), _MOST_CELLS, lambda: say(0.0)))
    except Locked:
        raise UnreadableFile(_LOCKED) from None
