"""What the sheets of an old binary workbook unfold to, by its records: the library unfolds all of them at once.

Layout after [MS-XLS], Excel Binary File Format: records of a type, a length and so many bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import count

from dpcore.datasets.reading.bounds import check_sheets, check_size, check_text
from dpcore.datasets.reading.compound import Locked
from dpcore.datasets.reading.markup import DAMAGED
from dpcore.datasets.reading.odd_cells import ERROR_CODES, NOT_AVAILABLE
from dpcore.errors import UnreadableFile

_STOP, _BOUND_SHEET, _STRINGS, _GOES_ON, _DIMENSIONS, _LOCK = 0x0A, 0x85, 0xFC, 0x3C, 0x200, 0x2F
_BEGIN, _FORMULA, _RESULT, _NUMBERS, _SHARED, _BOOLEAN = 0x809, 0x06, 0x207, 0xBD, 0xFD, 0x205
_PASSED = -1
_LABELS = frozenset({0x204, 0xD6})
_WITH_TEXT = _LABELS | {_SHARED, _RESULT}
_CELLS = _LABELS | {_FORMULA, _NUMBERS, _SHARED, _BOOLEAN, 0x203, 0x27E}
_MENDED, _LEAST_FORMULA, _LEAST_BOOLEAN = frozenset({_FORMULA, _BOOLEAN}), 22, 8
_OF_FORMULA = frozenset({_GOES_ON, 0x36, 0x37, 0x236, 0x21, 0x221, 0xBC, 0x4BC})
"""What may stand between a formula and its text: what is a table, an array, or shared by several cells."""
_LARGEST = 65_536 * 256
_FIRST_HALF = 0xD8 >> 2
"""The first six bits of the first half of a letter that takes two."""
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb")
_ASTRAY = "This old workbook holds a text that belongs to no formula; save it as .xlsx or CSV and try again."
_OUT_OF_ORDER = (
    "The cells of this old workbook are not in the order of its rows; save it as .xlsx or CSV and try again."
)
_CUT = "How this old workbook is written cuts a word in the midst of a letter; save it as .xlsx or CSV and try again."
_Record = tuple[int, int, int]  # type, where its bytes begin, where they end
_HEAD = struct.Struct("<HH")


def checked_stream(stream: bytes, most: int, turn: Callable[[], None]) -> bytearray:
    """The stream of an old workbook, whose sheets hold at most ``most`` cells together, empty ones between included.

    Formulas are without what they work out, and errors that the library does not know are one that it does. Raises
    UnreadableFile, and Locked.
    """
    try:
        return _checked(stream, most, turn)
    except (struct.error, IndexError):
        raise UnreadableFile(DAMAGED) from None


def _checked(stream: bytes, most: int, turn: Callable[[], None]) -> bytearray:
    sheets: list[int] = []
    strings: list[tuple[int, int]] = []
    last = front = 0
    for kind, start, end in _records(stream, 0, turn):
        front = end
        if kind == _STOP:
            break
        if kind == _LOCK and stream[start : start + 2] != b"\0\0":
            raise Locked
        if kind == _BOUND_SHEET:
            sheets.append(struct.unpack_from("<I", stream, start)[0])
        elif kind == _STRINGS:
            strings = [(start, end)]
        elif kind == _GOES_ON and last == _STRINGS:
            strings.append((start, end))
        last = last if kind == _GOES_ON else kind
    check_sheets(len(sheets))
    lengths = _lengths(stream, strings)
    made = bytearray(stream)
    sizes: dict[int, tuple[int, int, int, int]] = {}
    cells = text = 0
    for sheet in sheets:
        if sheet not in sizes:
            sizes[sheet] = _size(stream, sheet, lengths, made, turn)
            _check_apart(sheet, sizes, front)
        held, characters, longest, _ = sizes[sheet]
        cells, text = cells + held, text + characters
        check_size(cells, 1, most=most)
        check_text(text, longest)
    return made


def _check_apart(sheet: int, sizes: dict[int, tuple[int, int, int, int]], front: int) -> None:
    """Raises UnreadableFile for a sheet that lies in another, or in the records before all: what is mended in one would
    be something else in the other."""
    end = sizes[sheet][3]
    if sheet < front or any(other < end and sheet < found[3] for other, found in sizes.items() if other != sheet):
        raise UnreadableFile(DAMAGED)


def _records(stream: bytes, at: int, turn: Callable[[], None]) -> Iterator[_Record]:
    """The records from one place on; ``turn`` may raise in between."""
    if at > len(stream):
        raise UnreadableFile(DAMAGED)
    unpack, whole = _HEAD.unpack_from, len(stream)
    for number in count(1):
        if at >= whole:
            return
        if number % 50_000 == 0:
            turn()
        kind, length = unpack(stream, at)
        end = at + 4 + length
        if end > whole:
            raise UnreadableFile(DAMAGED)
        yield kind, at + 4, end
        at = end


def _records_of_sheet(stream: bytes, at: int, turn: Callable[[], None]) -> Iterator[_Record]:
    """Those of a sheet up to its end; charts within it, each with an end of its own, are passed over by the library."""
    begun, depth = False, 0
    for kind, start, end in _records(stream, at, turn):
        if kind == _STOP and not depth:
            return
        depth += begun if kind == _BEGIN else -(kind == _STOP)
        begun = begun or kind == _BEGIN
        yield _PASSED if depth else kind, start, end


def _size(
    stream: bytes, at: int, lengths: list[int], made: bytearray, turn: Callable[[], None]
) -> tuple[int, int, int, int]:
    """Cells of a sheet from its first to its last corner, characters of its texts, and of the longest, and where the
    sheet ends. Each cell stands behind those before it, so that none takes another's place. Those that the library
    would refuse the workbook for are mended in ``made``."""
    top = left = 1 << 16
    bottom = right = -1
    text = longest = 0
    awaited, before = False, (-1, -1)
    place = struct.Struct("<HH").unpack_from
    end = at
    for kind, start, end in _records_of_sheet(stream, at, turn):
        if kind == _DIMENSIONS:
            _check_dimensions(stream[start:end])
        if kind == _RESULT and not awaited:  # it has no place: the library puts it where the last formula was
            raise UnreadableFile(_ASTRAY)
        if kind in _WITH_TEXT:
            length = _length(stream, kind, start, lengths)
            text, longest = text + length, max(longest, length)
        awaited = (awaited and kind in _OF_FORMULA) or (kind == _FORMULA and _is_text(stream, start))
        if kind not in _CELLS:
            continue
        if kind in _MENDED:
            _mend(made, kind, start, end)
        row, first = place(stream, start)
        if (row, first) <= before:  # it would write over what stands there, a name of a column among it
            raise UnreadableFile(_OUT_OF_ORDER)
        final = struct.unpack_from("<H", stream, end - 2)[0] if kind == _NUMBERS else first
        before = row, final
        top, bottom = min(top, row), max(bottom, row)
        left, right = min(left, first), max(right, final)
    return max(bottom - top + 1, 0) * max(right - left + 1, 0), text, longest, end


def _length(stream: bytes, kind: int, start: int, lengths: list[int]) -> int:
    """Characters that the library makes room for."""
    if kind == _SHARED:
        index = struct.unpack_from("<I", stream, start + 6)[0]
        return lengths[index] if index < len(lengths) else 0
    stated: int = struct.unpack_from("<H", stream, start if kind == _RESULT else start + 6)[0]
    return stated


def _is_text(stream: bytes, start: int) -> bool:
    """Whether what a formula came to is a text, which stands in a record behind it."""
    return stream[start + 6] == 0 and stream[start + 12 : start + 14] == b"\xff\xff"


def _mend(made: bytearray, kind: int, start: int, end: int) -> None:
    """A formula works nothing out, which the library loses its way in; a value that there is not becomes an error."""
    if kind == _FORMULA and end - start >= _LEAST_FORMULA:
        made[start + 20 : start + 22] = bytes(2)  # how many bytes say what it works out
        what, code = made[start + 6], made[start + 8]
        if made[start + 12 : start + 14] == b"\xff\xff" and (what > 3 or (what == 2 and code not in ERROR_CODES)):
            made[start + 6], made[start + 8] = 2, NOT_AVAILABLE
    elif kind == _BOOLEAN and end - start >= _LEAST_BOOLEAN:
        code, is_error = made[start + 6 : start + 8]
        if is_error > 1 or (is_error and code not in ERROR_CODES):
            made[start + 6 : start + 8] = NOT_AVAILABLE, 1


def _check_dimensions(record: bytes) -> None:
    """The library makes room for all cells that a sheet states."""
    top, bottom, left, right = struct.unpack_from("<HHHH" if len(record) == 10 else "<IIHH", record)
    if bottom and right and (max(bottom - top, 0) * max(right - left, 0) > _LARGEST or bottom < top or right < left):
        raise UnreadableFile(DAMAGED)


def _lengths(stream: bytes, parts: list[tuple[int, int]]) -> list[int]:
    """Characters of each shared string; one that does not fit its record goes on in the next.

    The library reads each part for itself. Where they part hangs on all strings before, so a letter that is cut there,
    or a part that begins as a mark of how letters are written, would be read by what other rows say: both are refused.
    """
    if not parts:
        return []
    (at, end), rest = parts[0], iter(parts[1:])
    stated = struct.unpack_from("<i", stream, at + 4)[0]
    if not 0 <= stated <= len(stream):
        raise UnreadableFile(DAMAGED)
    at += 8
    lengths = []

    def more() -> tuple[int, int]:
        found = next(rest, None)
        if found is None:
            raise UnreadableFile(DAMAGED)
        return found

    for _ in range(stated):
        if at == end:
            at, end = more()
        length, flags = struct.unpack_from("<HB", stream, at)
        at += 3
        beside = 0
        if flags & 8:
            beside += 4 * struct.unpack_from("<H", stream, at)[0]
            at += 2
        if flags & 4:
            beside += struct.unpack_from("<I", stream, at)[0]
            at += 4
        lengths.append(length)
        wide, left = flags & 1, length
        marked = stream[at : at + 3].startswith(_MARKS)
        while left:
            taken = min((end - at) >> wide, left)
            at, left = at + (taken << wide), left - taken
            if left:
                cut = bool(wide) and taken > 0 and stream[at - 1] >> 2 == _FIRST_HALF
                at, end = more()
                wide, at = stream[at] & 1, at + 1
                if marked or cut or stream[at : at + 3].startswith(_MARKS):
                    raise UnreadableFile(_CUT)
        while beside:
            if at >= end:
                at, end = more()
            taken = min(end - at, beside)
            at, beside = at + taken, beside - taken
    if at < end or next(rest, None) is not None:  # the library reads on, whatever number is stated
        raise UnreadableFile(DAMAGED)
    return lengths
