"""What the parts of an Excel workbook unfold to, found out before the library that reads them is asked.

Two cells in opposite corners would fill the memory, and one long shared string is copied for every cell that uses it.
A row that says it is another one, or has cells that do, would take that one's place.
"""

from __future__ import annotations

import io
import zipfile
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from xml.parsers import expat

from dpcore.datasets.reading.bounds import MOST_TEXT, check_sheets, check_size, check_text
from dpcore.datasets.reading.markup import DAMAGED, LocalNames, follow, new_parser
from dpcore.datasets.reading.odd_cells import TEXTS, is_known, mended
from dpcore.errors import UnreadableFile

_MOST_ROWS = 1 << 20
_MOST_SHARED = 10_000_000
_OTHER_BOOKS = ("xl/workbook.bin", "content.xml")
_STRINGS = "xl/sharedstrings.xml"
_IN_CELLS = frozenset({"v", "f", "is"})
_NO_TEXT = b"<is/>"
_OUT_OF_ORDER = (
    "The rows of a sheet in this workbook do not follow one another: one comes twice or too late, or holds a cell of "
    "another; open the workbook in its program and save it again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """What a sheet's XML shows: the corner of its cells, hidden rows, formulas without a value.

    ``odd`` counts cells that hold nothing of the kind they name; ``mended`` is the workbook with these, and with errors
    that the library does not know, as empty texts, if the sheet has any.
    """

    rows: int = 0
    columns: int = 0
    cells: int = 0
    hidden: tuple[int, ...] = ()
    unworked: int = 0
    odd: int = 0
    mended: bytes | None = None


class ExcelParts:
    """The sheets and shared strings of one archive. Raises UnreadableFile for one in which they are ambiguous."""

    def __init__(self, data: bytes, turn: Callable[[], None]) -> None:
        self._data, self._turn = data, turn
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
        # The library finds parts without regard to case, and takes the text of a reference as it stands.
        self._files = {_folded(name): name for name in names}
        if len(self._files) < len(names) or any("&" in name for name in names):
            raise UnreadableFile(DAMAGED)
        if any(name in self._files for name in _OTHER_BOOKS):  # tried where this one fails, and not looked at here
            raise UnreadableFile(DAMAGED)
        self._sheets = self._find_sheets()
        self._lengths = self._shared_lengths()
        self._longest = max(self._lengths, default=0)

    def extent(self, name: str) -> Extent:
        """How large one sheet is. Raises UnreadableFile, also for more shared text than can be held."""
        part = self._sheets.get(name)
        if part is None:
            raise UnreadableFile(DAMAGED)
        rows = _Rows(len(self._lengths))
        self._follow(part, rows.start, rows.end, rows.parser)
        if rows.shared * self._longest > MOST_TEXT:
            used = _Used(self._lengths)
            self._follow(part, used.start, used.end, used.parser)
        if not rows.places:
            return rows.extent()
        return replace(rows.extent(), mended=mended(self._data, self._files[part], rows.places, _NO_TEXT))

    def _follow(
        self,
        part: str,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None] | None = None,
        parser: expat.XMLParserType | None = None,
    ) -> None:
        with zipfile.ZipFile(io.BytesIO(self._data)) as archive, archive.open(self._files[part]) as opened:
            follow(opened, start, end, parser, self._turn)

    def _find_sheets(self) -> dict[str, str]:
        """The part of the archive that holds each sheet."""
        if "xl/_rels/workbook.xml.rels" not in self._files:
            raise UnreadableFile(DAMAGED)
        targets: dict[str, str] = {}
        sheets: dict[str, str] = {}
        local = LocalNames()

        def relation(tag: str, at: dict[str, str]) -> None:
            if local[tag] == "Relationship":
                if at.get("Id", "") in targets:
                    raise UnreadableFile(DAMAGED)
                targets[at.get("Id", "")] = at.get("Target", "")

        def sheet(tag: str, at: dict[str, str]) -> None:
            if local[tag] != "sheet":
                return
            keys = [value for key, value in at.items() if key.rpartition(":")[2] == "id"]
            if len(keys) != 1 or at.get("name", "") in sheets:
                raise UnreadableFile(DAMAGED)
            check_sheets(len(sheets) + 1)
            part = self._part(targets.get(keys[0], ""))
            if part is not None:
                sheets[at.get("name", "")] = part

        self._follow("xl/_rels/workbook.xml.rels", relation)
        self._follow("xl/workbook.xml", sheet)
        return sheets

    def _part(self, target: str) -> str | None:
        """The part a relation points to; one that could be either of two is refused."""
        plain = _folded(target)
        found = {each for each in (plain.lstrip("/"), f"xl/{plain}", f"xl/{plain.lstrip('/')}") if each in self._files}
        if len(found) > 1:
            raise UnreadableFile(DAMAGED)
        return found.pop() if found else None

    def _shared_lengths(self) -> list[int]:
        if _STRINGS not in self._files:
            return []
        strings = _Strings()
        self._follow(_STRINGS, strings.start, None, strings.parser)
        return strings.lengths


def _folded(name: str) -> str:
    return name.replace("\\", "/").lower()


class _Strings:
    """Characters of each shared string; readings beside a word count too, which the library leaves out."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.parser = new_parser()
        self.parser.CharacterDataHandler = self._text
        self._local = LocalNames()

    def start(self, tag: str, at: dict[str, str]) -> None:
        if self._local[tag] == "si":
            self.lengths.append(0)
            if len(self.lengths) > _MOST_SHARED:
                check_size(len(self.lengths), 1, most=_MOST_SHARED)

    def _text(self, text: str) -> None:
        if self.lengths:
            self.lengths[-1] += len(text)


class _Rows:
    """Follows a sheet and notes where its cells with a value stand; those that do not say follow one another.

    Raises UnreadableFile where the numbers of rows do not rise, a cell names another row than its own, or there is a
    second table, which may stand within the first. A row without a number is that of its cells; for the library it
    follows the one before, and cells that name none are there.
    """

    def __init__(self, strings: int) -> None:
        self.shared = 0
        self.places = array("Q")  # from which byte up to which a cell holds what is none
        self.parser = new_parser()
        self._strings = strings
        self._local = LocalNames()
        self._columns = dict[str, int]()
        self._row = self._next = 1  # the number of this row, and the one the library counts
        self._before = 0  # the last row that had a number or cells
        self._is_placed = self._is_row = self._is_table = self._was_table = False
        self._column = 1
        self._number = ""
        self._kind: str | None = None
        self._depth = 0  # of tags, from a cell of the table on
        self._value_at = self._odd_at = -1  # where a value begins, and in this cell the first thing that is none
        self._value: list[str] = []
        self._is_asked = self._is_formula = self._is_worked = False
        self._rows = self._cells = self._unworked = self._odd = 0
        self._first, self._last = 1 << 30, 0
        self._hidden: list[int] = []

    def start(self, tag: str, at: dict[str, str]) -> None:
        name = self._local[tag]
        if self._depth:
            self._depth += 1
            if self._depth == 2 and (self._is_asked or name not in _IN_CELLS):
                self._start_within(name)
        if name == "c":
            place = at.get("r")
            if place is not None:
                letters = place.rstrip("0123456789")
                self._column = self._columns.get(letters) or self._new_column(letters)
                number = place[len(letters) :]
                if number != self._number:
                    self._place(_row(number))
                    self._number = number
            elif self._row != self._next or not self._is_placed:
                self._place(self._next)
            if self._is_table and not self._depth:
                self._depth, self._kind = 1, at.get("t")
                self._is_asked = self._kind not in TEXTS
        elif name == "v" or name == "is":
            self._cells += 1
            self.shared += self._kind == "s"
            if self._row > self._rows:
                self._rows = self._row
            if self._column > self._last:
                self._last = self._column
            if self._column < self._first:
                self._first = self._column
        elif name == "f" and self._depth == 2:
            self._is_asked, self._is_formula, self._is_worked = True, True, False
        elif name == "row" and self._is_table:
            if self._is_row:
                _refuse_order()
            self._is_row, self._is_placed, self._row = True, False, self._next
            number = at.get("r", "")
            if number:
                self._next = _row(number)
                self._place(self._next)
                self._number = number
            if at.get("hidden") in ("1", "true") and len(self._hidden) < _MOST_ROWS:
                self._hidden.append(self._row)
        elif name == "sheetData":
            if self._was_table:  # for the library the table ends where the first one ends, with rows still to come
                raise UnreadableFile(DAMAGED)
            self._is_table = self._was_table = True

    def end(self, tag: str) -> None:
        name = self._local[tag]
        if name == "v":
            if self._is_asked and self._depth == 2:
                self.parser.CharacterDataHandler = None
                self._end_value(tag, "".join(self._value))
        elif name == "c":
            self._column += 1
            if self._is_formula:
                self._unworked += not self._is_worked
                self._is_formula = False
            if self._depth == 1 and self._odd_at >= 0:
                self.places.extend((self._odd_at, self.parser.CurrentByteIndex))
                self._odd, self._odd_at = self._odd + (self._kind != "e"), -1
        elif name == "row" and self._is_table:
            self._before = self._row if self._is_placed else self._before
            self._next += 1
            self._row, self._column, self._number, self._is_row = self._next, 1, "", False
        elif name == "sheetData":
            self._is_table = False
        if self._depth:
            self._depth -= 1

    def _start_within(self, name: str) -> None:
        """A tag of a cell's own."""
        if name == "v":
            self._value_at, self._value = self.parser.CurrentByteIndex, []
            self.parser.CharacterDataHandler = self._value.append
        elif name not in _IN_CELLS and self._odd_at < 0:
            self._odd_at = self.parser.CurrentByteIndex

    def _end_value(self, tag: str, text: str) -> None:
        if self._odd_at < 0 and self._kind not in TEXTS:
            # Of a text with a remark, a tag or a letter by its number in it the library takes what stands before that.
            is_plain = self.parser.CurrentByteIndex - self._value_at == len(tag) + 2 + len(text)
            if not is_known(self._kind, text, self._strings) or (text and not is_plain):
                self._odd_at = self._value_at
        if self._is_formula and text.strip():
            self._is_worked = True

    def extent(self) -> Extent:
        return Extent(
            rows=self._rows,
            columns=max(self._last - self._first + 1, 0),
            cells=self._cells,
            hidden=tuple(self._hidden),
            unworked=self._unworked,
            odd=self._odd,
        )

    def _place(self, row: int) -> None:
        """The row that stands here is this one."""
        if self._is_table and (row != self._row if self._is_placed else row <= self._before or not self._is_row):
            _refuse_order()
        self._row, self._is_placed = row, True

    def _new_column(self, letters: str) -> int:
        if not (letters.isascii() and letters.isalpha() and len(letters) <= 3):
            raise UnreadableFile(DAMAGED)
        column = 0
        for letter in letters.upper():
            column = 26 * column + ord(letter) - 64
        self._columns[letters] = column
        return column


def _refuse_order() -> None:
    raise UnreadableFile(_OUT_OF_ORDER)


def _row(number: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) <= 7 and int(number)):
        raise UnreadableFile(DAMAGED)
    return int(number)


class _Used:
    """Follows a sheet and sums the shared strings over the cells that use them. Raises UnreadableFile."""

    def __init__(self, lengths: list[int]) -> None:
        self.parser = new_parser()
        self._lengths = lengths
        self._local = LocalNames()
        self._is_shared = False
        self._total = 0
        self._parts: list[str] = []

    def start(self, tag: str, at: dict[str, str]) -> None:
        name = self._local[tag]
        if name == "c":
            self._is_shared = at.get("t") == "s"
        elif name == "v" and self._is_shared:
            self._parts = []
            self.parser.CharacterDataHandler = self._parts.append

    def end(self, tag: str) -> None:
        if self._is_shared and self._local[tag] == "v":
            self.parser.CharacterDataHandler = None
            number = "".join(self._parts)
            length = self._lengths[int(number)] if number and is_known("s", number, len(self._lengths)) else 0
            self._total += length
            check_text(self._total, length)
