"""Sheets of Excel and OpenDocument workbooks, as records of text for the same layout rules as a text file's.

Cells hold the values the program last worked out; formulas and macros are never run. How large a sheet unfolds is
looked up in its XML before it is opened: two cells in opposite corners would otherwise fill the memory.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from xml.parsers import expat

import numpy as np
import pandas as pd

from dpcore.datasets.reading.bounds import check_size
from dpcore.datasets.reading.gathering import Gathering
from dpcore.datasets.reading.packing import Workbook, check_members
from dpcore.datasets.reading.survey import HEAD, TAIL, Survey
from dpcore.datasets.report import Notice, listed
from dpcore.errors import UnreadableFile

_MOST_XML = 512 << 20
_MOST_CELLS = 10_000_000  # a cell takes more room in a sheet than in a column of text
_PART = 1 << 20
_CELL = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_ANY_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_HIDDEN = re.compile(rb'<(?:\w+:)?row\b(?=[^>]*\bhidden="(?:1|true)")[^>]*\br="([0-9]+)"')
_UNWORKED = re.compile(  # a value that is not there, or empty in either spelling
    rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\b[^>]*/>|<(?:\w+:)?v\b[^>]*>\s*</(?:\w+:)?v>|</(?:\w+:)?c>)"
)
_SHEET = re.compile(r"<(?:\w+:)?sheet\b[^>]*>")
_RELATION = re.compile(r"<(?:\w+:)?Relationship\b[^>]*>")
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
_DAMAGED = "The workbook cannot be opened: it is damaged or of a kind that cannot be read; save it again or as CSV."
_LOCKED = "The workbook is locked with a password; save it without one and choose it again."
Say = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """One sheet: its rows that hold anything, as a frame of columns 0, 1, … beside a survey of them.

    ``certain`` says whether no other sheet could have been meant.
    """

    frame: pd.DataFrame
    survey: Survey
    name: str
    names: tuple[str, ...]
    certain: bool
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extent:
    """What a sheet's XML shows: the corner of its cells, hidden rows, formulas without a value."""

    rows: int = 0
    columns: int = 0
    cells: int = 0
    hidden: tuple[int, ...] = ()
    unworked: int = 0


def sheet_of(data: bytes, kind: Workbook | None, chosen: str | None, say: Say) -> Sheet:
    """One sheet of a workbook; ``kind`` is None for the old binary one, ``chosen`` names the sheet, else the first
    visible one that holds a table is taken. Raises UnreadableFile."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

    if kind is None:
        _refuse_other_documents(data)
    else:
        check_members(data, _MOST_XML)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError:
        raise UnreadableFile(_LOCKED) from None
    except (CalamineError, OSError):
        raise UnreadableFile(_DAMAGED) from None
    sheets = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    shown = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible]
    names = tuple(shown or [each.name for each in sheets])
    if chosen is not None and chosen not in [each.name for each in sheets]:
        raise UnreadableFile("The workbook has no sheet of that name; choose one that is in it.")
    extents = _extents(data, kind)
    found: Sheet | None = None
    for name in names if chosen is None else (chosen,):
        extent = extents(name)
        check_size(extent.rows, extent.columns, most=_MOST_CELLS)
        check_size(extent.cells, 1, most=_MOST_CELLS)
        try:
            sheet = book.get_sheet_by_name(name)
        except (CalamineError, OSError):
            raise UnreadableFile(_DAMAGED) from None
        if not sheet.height or not sheet.width:
            continue
        check_size(sheet.height, sheet.width)
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
    if b"vbaProject.bin" in data:
        notices.append(Notice(what="noticed", sentence="The workbook holds macros; they are never run."))
    return Sheet(
        frame=found.frame,
        survey=found.survey,
        name=found.name,
        names=names,
        certain=found.certain,
        notices=tuple(notices),
    )


def _is_table(sheet: Sheet) -> bool:
    """At least two rows with at least as many cells as half the columns: not a cover with a few lines."""
    return len(sheet.frame) >= 2 and (sheet.frame.shape[1] > 1 or len(sheet.frame) >= 5)


def _read(sheet: Any, extent: _Extent, names: tuple[str, ...], certain: bool, say: Say) -> Sheet:
    """Rows that hold something, without columns that hold nothing but titles."""
    fill = _merged(sheet)
    width = int(sheet.width)
    gathered = Gathering(map(str, range(width)))
    lines: list[int] = []
    blank: list[int] = []
    above: list[str] = [""] * width
    filled = np.zeros(width, dtype=np.int64)
    total = int(sheet.total_height)
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        row = [_text(cell) for cell in cells]
        for place in fill.get(number, ()):
            row[place] = row[place] or above[place]
        above = row
        present = [place for place, cell in enumerate(row) if cell.strip()]
        if not present:
            blank.append(number)
            continue
        if len(present) > 1:
            filled[present] += 1
        lines.append(number)
        gathered.add({str(place): cell for place, cell in enumerate(row)})
        if number % 5000 == 0:
            say(number / max(total, 1))
    frame = gathered.frame()
    kept = np.flatnonzero(filled) if filled.any() else np.arange(width)
    titles = frame.drop(columns=[str(place) for place in kept])
    alone = (titles.agg("".join, axis=1) if titles.shape[1] else pd.Series([""] * len(frame))).str.strip()
    frame = frame[[str(place) for place in kept]]
    frame.columns = pd.RangeIndex(len(kept))
    frame.loc[(alone != "").to_numpy(), 0] += alone[alone != ""]
    first = lines[0] if lines else 1
    survey = Survey(
        counts=np.full(len(frame), len(kept), dtype=np.int64),
        lines=np.array(lines, dtype=np.int64),
        blank=tuple(number for number in blank if number > first),
        head=[_trimmed(row) for row in frame.head(HEAD).itertuples(index=False, name=None)],
        tail=[_trimmed(row) for row in frame.tail(TAIL).itertuples(index=False, name=None)],
    )
    return Sheet(
        frame=frame,
        survey=survey,
        name=str(sheet.name),
        names=names,
        certain=certain,
        notices=tuple(_notices(extent, fill, lines)),
    )


def _notices(extent: _Extent, fill: dict[int, list[int]], lines: list[int]) -> Iterator[Notice]:
    if fill:
        yield Notice(
            what="repaired",
            sentence="Cells merged over several rows were filled with their value in each of them.",
            count=sum(map(len, fill.values())),
            lines=listed(sorted(fill)),
        )
    hidden = sorted(set(extent.hidden) & set(lines))
    if hidden:
        sentence = "Hidden rows are among the data; show them in the workbook and delete those that do not belong."
        yield Notice(what="noticed", sentence=sentence, count=len(hidden), lines=listed(hidden))
    if extent.unworked:
        sentence = "Formulas that were never worked out count as missing; open the workbook in its program and save it."
        yield Notice(what="noticed", sentence=sentence, count=extent.unworked)


def _trimmed(row: tuple[str, ...]) -> list[str]:
    """A row as a text file would have it: a title alone in its row has no cells after it."""
    cells = list(row)
    if sum(1 for cell in cells if cell.strip()) == 1 and cells[0].strip():
        return cells[:1]
    return cells


def _merged(sheet: Any) -> dict[int, list[int]]:
    """Rows (from 1) in which cells take the value above them, by their places from the first column on."""
    fill: dict[int, list[int]] = {}
    left = (sheet.start or (0, 0))[1]
    last = sheet.total_height
    for (top, first), (bottom, _) in sheet.merged_cell_ranges or ():
        if 0 <= first - left < sheet.width:
            for row in range(top + 1, min(bottom, last - 1) + 1):
                fill.setdefault(row + 1, []).append(first - left)
    return fill


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


def _extents(data: bytes, kind: Workbook | None) -> Callable[[str], _Extent]:
    """How large each sheet is, looked up when asked. The old binary kind cannot be larger than 65,536 × 256."""
    if kind is None:
        return lambda name: _Extent()
    if kind == "ods":
        found = _opendocument_extents(data)
        return lambda name: found.get(name, _Extent())
    parts = _parts(data)
    return lambda name: _excel_extent(data, parts[name]) if name in parts else _Extent()


def _parts(data: bytes) -> dict[str, str]:
    """The part of the archive that holds each sheet."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        known = set(archive.namelist())
        if "xl/_rels/workbook.xml.rels" not in known:
            raise UnreadableFile(_DAMAGED)
        book = archive.read("xl/workbook.xml").decode("utf-8", "replace")
        relations = archive.read("xl/_rels/workbook.xml.rels").decode("utf-8", "replace")
    targets = {}
    for tag in _RELATION.findall(relations):
        at = dict(_ATTRIBUTE.findall(tag))
        target = at.get("Target", "")
        targets[at.get("Id", "")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    parts = {}
    for tag in _SHEET.findall(book):
        at = {name.rpartition(":")[2]: value for name, value in _ATTRIBUTE.findall(tag)}
        if targets.get(at.get("id", "")) in known:
            parts[html.unescape(at.get("name", ""))] = targets[at["id"]]
    return parts


def _excel_extent(data: bytes, part: str) -> _Extent:
    """Looked up tag by tag; a tag of a megabyte is no sheet's. Cells without a place are counted."""
    rows = unworked = cells = 0
    columns = set[bytes]()
    hidden: list[int] = []
    rest = b""
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(part) as opened:
        while piece := opened.read(_PART):
            text = rest + piece
            cut = max(text.rfind(b"<"), 0)
            text, rest = text[:cut], text[cut:]
            if len(rest) > _PART:
                raise UnreadableFile(_DAMAGED)
            placed = _CELL.findall(text)
            columns.update(letters for letters, _ in placed)
            rows = max(rows, max((int(row) for _, row in placed), default=0))
            cells += len(_ANY_CELL.findall(text))
            hidden += [int(row) for row in _HIDDEN.findall(text)]
            unworked += len(_UNWORKED.findall(text))
    places = [_place(letters) for letters in columns]
    wide = max(places) - min(places) + 1 if places else 0
    return _Extent(rows=rows, columns=wide, cells=cells, hidden=tuple(hidden), unworked=unworked)


def _place(letters: bytes) -> int:
    place = 0
    for letter in letters:
        place = 26 * place + letter - 64
    return place


class _Corners:
    """Follows a document's XML and notes the last cell of each sheet that holds anything, repeats counted."""

    def __init__(self) -> None:
        self.found: dict[str, _Extent] = {}
        self._name = ""
        self._row = self._column = self._rows = self._columns = 0
        self._row_repeat = self._cell_repeat = 1
        self._wide = 0
        self._hidden: list[int] = []
        self._is_hidden = False

    def start(self, tag: str, at: dict[str, str]) -> None:
        if tag == "table:table":
            self._name, self._row, self._rows, self._columns, self._hidden = at.get("table:name", ""), 0, 0, 0, []
        elif tag == "table:table-row":
            self._row_repeat, self._column, self._wide = int(at.get("table:number-rows-repeated", "1")), 0, 0
            self._is_hidden = at.get("table:visibility", "visible") != "visible"
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self._cell_repeat = int(at.get("table:number-columns-repeated", "1"))
            self._column += self._cell_repeat
            if "office:value-type" in at:
                self._wide = self._column
        elif tag == "text:p":
            self._wide = max(self._wide, self._column)

    def end(self, tag: str) -> None:
        if tag == "table:table-row":
            if self._wide:
                if self._is_hidden:
                    self._hidden += range(self._row + 1, self._row + 1 + min(self._row_repeat, 1000))
                self._rows, self._columns = self._row + self._row_repeat, max(self._columns, self._wide)
            self._row += self._row_repeat
        elif tag == "table:table":
            self.found[self._name] = _Extent(rows=self._rows, columns=self._columns, hidden=tuple(self._hidden))


def _opendocument_extents(data: bytes) -> dict[str, _Extent]:
    corners = _Corners()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = corners.start, corners.end
    parser.EntityDeclHandler = _no_entities
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open("content.xml") as opened:
            parser.ParseFile(opened)
    except (expat.ExpatError, ValueError):
        raise UnreadableFile(_DAMAGED) from None
    return corners.found


def _no_entities(*_: object) -> None:
    raise UnreadableFile(_DAMAGED)


def _refuse_other_documents(data: bytes) -> None:
    """The old container of offices holds workbooks, documents, mails, or a newer file locked with a password."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise UnreadableFile(_LOCKED)
    if not any(f"{name}\0".encode("utf-16-le") in data for name in ("Workbook", "Book")):
        raise UnreadableFile("This is an old Office document without a sheet; save the table as CSV.")
