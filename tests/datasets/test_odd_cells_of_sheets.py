"""Workbooks of each kind: a cell that holds what the library knows no value for is missing in its row, and the file is
read as with any other missing cell there."""

from __future__ import annotations

import functools
import io
import random
import struct
import zipfile
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import python_calamine

from dpcore.datasets import Reading, UnreadableFile, read_table
from dpcore.datasets.reading import compound, excel_parts, odd_cells, old_sheets, workbook
from tests.datasets.cases.kinds import opendocument, sheet_xml, zipped
from tests.datasets.test_old_workbook_bombs import begin, number, record, stream
from tests.datasets.test_old_workbook_formulas import EMPTY, TEXT, label, text, worked_out
from tests.datasets.test_workbook_bombs import with_part

ROWS, PLACE = 7, 4
NEWER = ("#CALC!", "#SPILL!", "#GETTING_DATA", "#FIELD!", "#BLOCKED!", "#UNKNOWN!", "#CONNECT!", "#BUSY!", "#EXTERNAL!",
         "#PYTHON!", "#ERROR!", "Err:502")  # fmt: skip
STRINGS = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>first</t></si><si/></sst>'


def typed(kind: str, *values: str) -> dict[str, str]:
    return {f"{kind}: {value}": f'<c r="A1" t="{kind}"><v>{value}</v></c>' for value in values}


EXCEL = {
    **typed("e", *NEWER, "#n/a", " #N/A", "#N/A ", "0", "a &amp; b", "\u00e4"),
    **typed("n", "abc", "-", "1,5", " 5", "5 ", " ", "1e", "0x1", "1_0", "\u0663", "2024-01-31", "#N/A"),
    **typed("s", "2", "99", "-1", "+1", " 0", "x", "\u0660", "9" * 25),
    **typed("b", "2", "x", "yes", "-1"),
    **typed("zz", "5", ""),
    **typed("", "5", ""),
    "of a formula": '<c r="A1" t="e"><f>FILTER(B:B,A:A=1)</f><v>#CALC!</v></c>',
    "of a kind of its own": '<c r="A1" s="1" t="e" vm="1"><v>#SPILL!</v></c>',
    "spelt otherwise": "<c t='e' r='A1' ><v >#CALC!</v ></c >",
    "with a prefix": '<x:c xmlns:x="u" r="A1" t="e"><x:v>#CALC!</x:v></x:c>',
    "without a place": '<c t="e"><v>#CALC!</v></c>',
    "behind another": '<c r="A1" t="e"><v>#N/A</v><v>#CALC!</v><v>#SPILL!</v></c>',
    "behind one within another": '<c r="A1" t="e"><v><v>#CALC!</v></v><v>#CALC!</v></c>',
    "with more than a value": '<c r="A1" t="e"><v>#N/A</v><extLst><ext uri="u"><v>1</v></ext></extLst></c>',
    "with more and no value": '<c r="A1"><extLst/></c>',
    "a cell in it": '<c r="A1"><v>5</v><c r="A1"><v>6</v></c></c>',
    "with a remark in it": '<c r="A1" t="e"><v>#N/<!-- -->A</v></c>',
    "with a tag in it": '<c r="A1" t="n"><v>-<x/>5</v></c>',
    "with a letter by its number": '<c r="A1" t="b"><v>tr&#117;e</v></c>',
    "of another text for others": '<c r="A1" t="s"><v>0<!-- -->1</v></c>',
    "closed": '<c r="A1" t="zz"><v/></c>',
}


def inline(place: str, word: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{word}</t></is></c>'


@functools.cache
def base() -> bytes:
    return with_part(sheet_xml(b""), "xl/sharedStrings.xml", lambda _: STRINGS)


def excel(cells: Sequence[str]) -> bytes:
    rows = [inline("A1", "x") + inline("B1", "note") + inline("C1", "age")]
    for row, cell in enumerate(cells, start=2):
        own = cell.replace("A1", f"A{row}")
        rows.append(f'{own}{inline(f"B{row}", f"w{row}")}<c r="C{row}"><v>{20 + row}</v></c>')
    table = "".join(f'<row r="{row}">{cells}</row>' for row, cells in enumerate(rows, start=1))
    tag = b"<sheetData>"
    return with_part(base(), "xl/worksheets/sheet1.xml", lambda sheet: sheet.replace(tag, tag + table.encode()))


CELL = "table:table-cell"


def valued(value: str, kind: str = "float", more: str = "") -> str:
    return f'<{CELL} office:value-type="{kind}" office:value="{value}"{more}><text:p>{value}</text:p></{CELL}>'


def word(spelt: str) -> str:
    return f'<{CELL} office:value-type="string"><text:p>{spelt}</text:p></{CELL}>'


OPEN = {
    **{f"value: {value}": valued(value) for value in ("abc", "", "-", "1,5", " 5", "5 ", "1e", "0x1", "5&#48;&#32;")},
    **{f"kind: {kind}": valued("abc", kind) for kind in ("string", "percentage", "currency", "date", "error", "", "x")},
    "of a formula": valued("Err:502", more=' table:formula="of:=1/0"'),
    "before a text": valued("abc", more=' office:string-value="b"'),
    "without a kind": f'<{CELL} office:value="abc"/>',
    "without a kind, with words": f'<{CELL} office:value="abc"><text:p>b</text:p></{CELL}>',
    "covered": valued("abc").replace(CELL, "table:covered-table-cell"),
    "spelt otherwise": f"<{CELL}\noffice:value = 'abc' ></{CELL} >",
    **{f"spaces: {count}": word(f'a<text:s text:c="{count}"/>b') for count in ("x", "", " 3", "9" * 30)},
    "spaces, twice": word('a<text:s text:c="x"/><text:s text:c="y"/>b'),
    "spaces in a part": word('a<text:span><text:s text:c="x"/></text:span>b'),
}


def open_document(cells: Sequence[str]) -> bytes:
    rows = [word("x") + word("note") + word("age")]
    rows += [f"{cell}{word(f'w{row}')}{valued(str(20 + row))}" for row, cell in enumerate(cells, start=2)]
    return opendocument("".join(f"<table:table-row>{cells}</table:table-row>" for cells in rows))


def boolean(row: int, value: int, is_error: int) -> bytes:
    return record(0x205, struct.pack("<HHHBB", row, 0, 0, value, is_error))


def came_to(*value: int) -> Callable[[int], bytes]:
    return lambda row: worked_out(row, 0, bytes([*value[:3], 0, 0, 0, 255, 255]))


def of_tokens(tokens: bytes, stated: int | None = None) -> Callable[[int], bytes]:
    """A formula that came to 1, by what it works out."""
    size = len(tokens) if stated is None else stated
    return lambda row: record(0x06, struct.pack("<HHHdHIH", row, 0, 0, 1.0, 0, 0, size) + tokens)


OLD: dict[str, Callable[[int], bytes]] = {
    **{f"error {code}": functools.partial(boolean, value=code, is_error=1) for code in (0x01, 0x2C, 0x2D, 0x99, 0xFF)},
    **{f"neither {what}": functools.partial(boolean, value=1, is_error=what) for what in (2, 3, 255)},
    **{f"came to error {code}": came_to(2, 0, code) for code in (0x01, 0x2C, 0xFF)},
    **{f"came to nothing known {what}": came_to(what, 0, 1) for what in (4, 5, 127, 255)},
}
FORMULAS = {
    "a name, as before Excel 97": of_tokens(b"\x44\0\0\0\x63\0\x88\x29\xff\x7d\xff\2\0\0\x67\xff\0\0\5"),
    **{f"token {token}": of_tokens(bytes([token])) for token in range(256)},
    "more than there is": of_tokens(b"\x16", 99),
    "nothing": of_tokens(b""),
}


def old(cells: Sequence[Callable[[int], bytes]], version: int = 0x600) -> bytes:
    rows = [label(0, 0, "x") + label(0, 1, "note") + label(0, 2, "age")]
    rows += [cell(row) + label(row, 1, f"w{row + 1}") + number(row, 2) for row, cell in enumerate(cells, start=1)]
    made = stream(b"".join(rows))
    return compound.container_of(made.replace(begin(5)[:6], begin(5)[:4] + struct.pack("<H", version)))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a workbook of a kind is written with these cells in its first column, one a row."""

    write: Callable[[Sequence[Any]], bytes]
    usual: Any
    missing: Any
    odd: Mapping[str, Any]

    def at(self, cell: Any, place: int = PLACE) -> bytes:
        return self.write([cell if row == place else self.usual for row in range(1, ROWS + 1)])


KINDS: dict[str, Kind] = {
    "xlsx": Kind(write=excel, usual='<c r="A1"><v>1</v></c>', missing='<c r="A1" t="e"><v>#N/A</v></c>', odd=EXCEL),
    "ods": Kind(
        write=open_document,
        usual=valued("1"),
        missing=f'<{CELL} office:value-type="string" office:string-value=""><text:p>Err:502</text:p></{CELL}>',
        odd=OPEN,
    ),
    "xls": Kind(
        write=old,
        usual=lambda row: number(row, 0),
        missing=functools.partial(boolean, value=0x2A, is_error=1),
        odd=OLD,
    ),
}
EACH = [(kind, name) for kind, of in KINDS.items() for name in of.odd]
SAID = "hold nothing of the kind that they say"


def read(data: bytes) -> Reading:
    return read_table(data, header_rows=1, header_line=1, keep_footer=True)


def told(data: bytes) -> tuple[object, ...]:
    """All that a file says, but that cells of it are odd."""
    found = read(data)
    said = [notice for notice in found.report.notices if SAID not in notice.sentence]
    cells = (list(found.frame.columns), found.frame.to_numpy().tolist())
    return cells, found.records, list(found.places), said


@functools.cache
def as_missing(kind: str, place: int = PLACE) -> tuple[object, ...]:
    return told(KINDS[kind].at(KINDS[kind].missing, place))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_known_to_be_missing_is_in_its_row_alone(kind: str) -> None:
    whole, found = read(KINDS[kind].at(KINDS[kind].usual)).frame, read(KINDS[kind].at(KINDS[kind].missing)).frame
    whole.loc[PLACE - 1, "x"] = ""
    assert whole.equals(found)


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_an_odd_cell_is_missing_and_nothing_else_is(kind: str, name: str) -> None:
    assert told(KINDS[kind].at(KINDS[kind].odd[name])) == as_missing(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_in_the_first_row_and_the_last_and_in_all(kind: str) -> None:
    of = KINDS[kind]
    for place in (1, ROWS):
        for name in list(of.odd)[::9]:
            assert told(of.at(of.odd[name], place)) == as_missing(kind, place)
    assert told(of.write(list(of.odd.values()))) == told(of.write([of.missing] * len(of.odd)))


@pytest.mark.parametrize("version", [0x600, 0x500])
def test_what_a_formula_of_an_old_workbook_works_out_is_nothing_to_read(version: int) -> None:
    ones: list[Callable[[int], bytes]] = [lambda row: number(row, 0)] * len(FORMULAS)
    assert told(old(list(FORMULAS.values()), version)) == told(old(ones, version))


def library(data: bytes) -> object:
    """What the library makes of the cell in a file as it is; None where it refuses the file or ends."""
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        return book.get_sheet_by_index(0).to_python()[PLACE][0]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


@pytest.mark.parametrize("kind", KINDS)
def test_the_library_would_refuse_the_file_or_read_another_cell(kind: str) -> None:
    of = KINDS[kind]
    assert library(of.at(of.missing)) == ""
    assert [name for name, cell in of.odd.items() if library(of.at(cell)) == ""] == []


HOLES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "xlsx": lambda patch: patch.setattr(excel_parts, "is_known", lambda *_: True),
    "ods": lambda patch: patch.setattr(workbook, "is_number", lambda _: True),
    "xls": lambda patch: patch.setattr(old_sheets, "_MENDED", frozenset()),
}


@pytest.mark.parametrize("kind", HOLES)
def test_these_tests_can_fail(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    HOLES[kind](monkeypatch)
    of = KINDS[kind]
    with pytest.raises(UnreadableFile, match="damaged"):
        told(of.at(next(iter(of.odd.values()))))
    if kind == "xls":
        with pytest.raises(UnreadableFile, match="damaged"):
            told(old([FORMULAS["a name, as before Excel 97"]], 0x500))


KNOWN = {
    **dict.fromkeys(typed("e", *sorted(odd_cells.ERROR_NAMES), "").values(), ""),
    **{cell: "" for kind in "nsb" for cell in typed(kind, "").values()},
    **dict(
        zip(typed("n", "5", "-1.5e3", "+.5", "1.", "1E+2").values(), ("5", "-1500", "0.5", "1", "100"), strict=True)
    ),
    **dict(zip(typed("s", "0", "00", "1").values(), ("first", "first", ""), strict=True)),
    **dict(zip(typed("b", "0", "1", "true", "False").values(), ("FALSE", "TRUE", "TRUE", "FALSE"), strict=True)),
    '<c r="A1"><v>abc</v></c>': "abc",
    '<c r="A1" t="str"><v>#CALC!</v></c>': "#CALC!",
    '<c r="A1" t="d"><v>2024-01-31</v></c>': "2024-01-31",
    '<c r="A1" t="d"><v>2024-13-31</v></c>': "2024-13-31",
    '<c r="A1" t="inlineStr"><v>9</v><is><r><rPr><b/></rPr><t>a</t></r><rPh><t>b</t></rPh></is></c>': "a",
}
"""Cells that are none of these, and what is read of them."""


def test_cells_that_the_library_knows_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel_parts, "mended", lambda *_: pytest.fail("something was mended"))
    assert read(excel(list(KNOWN))).frame["x"].tolist() == list(KNOWN.values())


def test_a_number_is_what_the_library_takes_for_one() -> None:
    """Of all that could be one, at random; it takes infinity and NaN too, which are no numbers here."""
    draw = random.Random(7)
    texts = ["".join(draw.choices("+-.eE019x_ ", k=draw.randint(1, 6))) for _ in range(4000)]
    kept = [text for text in texts if odd_cells.is_number(text)]
    assert 200 < len(kept) < 3800
    cells = [typed("n", text)[f"n: {text}"] for text in texts]
    frame = read(excel(cells)).frame
    assert [float(cell) for cell in frame["x"] if cell] == [float(text) for text in kept]
    assert not any(map(odd_cells.is_number, ("inf", "NaN", "-Infinity", "")))


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (excel([EXCEL["e: #CALC!"], EXCEL["s: 99"], EXCEL["b: x"], EXCEL["zz: 5"]]), 3),
        (open_document([OPEN["value: abc"], valued("1"), OPEN["spaces, twice"]]), 2),
        (excel([EXCEL["e: #CALC!"], KINDS["xlsx"].missing]), 0),
    ],
)
def test_cells_that_are_no_errors_are_told(data: bytes, count: int) -> None:
    """An error of a formula is missing in silence, as ever."""
    assert sum(notice.count for notice in read(data).report.notices if SAID in notice.sentence) == count


def test_of_several_sheets_each_is_mended_and_macros_are_told() -> None:
    book, part, more = excel([EXCEL["e: #CALC!"]] * 3), "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"
    content = zipfile.ZipFile(io.BytesIO(book)).read(part)
    kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    relation = b'<Relationship Type="%s" Target="/%s" Id="rId99"/></Relationships>' % (kind, more.encode())
    named = b'<sheet name="More" sheetId="2" r:id="rId99"/></sheets>'
    for name, change in {
        more: lambda _: content.replace(b"w2", b"other").replace(b"#CALC!", b"#SPILL!"),
        "xl/_rels/workbook.xml.rels": lambda text: text.replace(b"</Relationships>", relation),
        "xl/workbook.xml": lambda text: text.replace(b"</sheets>", named),
        "xl/vbaProject.bin": lambda _: b"x",
    }.items():
        book = with_part(book, name, change)
    for chosen, word in {"Sheet": "w2", "More": "other"}.items():
        found = read_table(book, header_rows=1, header_line=1, keep_footer=True, part=chosen)
        assert found.frame["note"].tolist() == [word, "w3", "w4"]
        assert found.frame["x"].tolist() == [""] * 3
        assert any("holds macros" in notice.sentence for notice in found.report.notices)


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_they_are_found_in_a_sheet_that_is_read_in_pieces(before: bytes) -> None:
    """The letters before them are some of one byte and some of two."""
    names = [name for name in EXCEL if name.startswith("e: ")] * 2
    long = {f"w{row}": "\u00e4x" * 40_000 for row in range(5, len(names), 3)}

    def change(sheet: bytes) -> bytes:
        for word, more in long.items():
            sheet = sheet.replace(f"<t>{word}<".encode(), f"<t>{more}<".encode())
        return before + sheet

    book = with_part(excel([EXCEL[name] for name in names]), "xl/worksheets/sheet1.xml", change)
    frame = read(book).frame
    assert len("".join(frame["note"]).encode()) > 1 << 20
    assert frame["x"].tolist() == [""] * len(names)
    assert frame["age"].tolist() == [str(20 + row) for row in range(2, len(names) + 2)]


def test_a_part_is_written_anew_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytes(range(256)) * 5
    archive = zipped({"a": content, "folder/": b"", "b": content})
    places = array("Q", [0, 0, 3, 9, 9, 9, 250, 1000, 1280, 1280])
    expected = b"-" + content[:3] + b"-" + content[9:9] + b"-" + content[9:250] + b"-" + content[1000:] + b"-"
    for piece in (1, 7, 1 << 20):
        monkeypatch.setattr(odd_cells, "_PART", piece)
        with zipfile.ZipFile(io.BytesIO(odd_cells.mended(archive, "b", places, b"-"))) as made:
            assert {name: made.read(name) for name in made.namelist()} == {"a": content, "folder/": b"", "b": expected}


def within(inner: bytes, at: int) -> bytes:
    """An old workbook whose second sheet begins so many bytes after its first does."""
    made = bytearray(stream(inner, b""))
    places = [made.index(b"S%03d" % place) - 8 for place in range(2)]
    struct.pack_into("<I", made, places[1], struct.unpack_from("<I", made, places[0])[0] + at)
    return compound.container_of(bytes(made))


@pytest.mark.parametrize("at", [-1, -20, len(begin(0x10)), len(begin(0x10)) + 30])
def test_a_sheet_that_lies_in_what_is_mended_is_refused(at: int) -> None:
    """What is written over in one would be another record of the other, whose cells nobody counted."""
    tokens = record(0x203, struct.pack("<HHHd", 65_535, 255, 0, 1.0)) * 3 + record(0x0A)
    inner = label(0, 0, "x") + of_tokens(tokens)(1) + number(2, 0)
    assert read(compound.container_of(stream(inner, b""))).rows == 2
    with pytest.raises(UnreadableFile, match="damaged"):
        read(within(inner, at))


def test_formulas_that_came_to_a_text_or_nothing_are_read_as_before() -> None:
    rows = [
        lambda row: worked_out(row, 0, TEXT) + text("found"),
        lambda row: worked_out(row, 0, EMPTY),
        came_to(1, 0, 1),
    ]
    assert read(old(rows)).frame["x"].tolist() == ["found", "", "TRUE"]
