"""Files of other kinds than text, as people have them, and files made to unfold to more than the memory holds."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
from pyarrow import feather, ipc
from pyarrow import parquet as pq

from dpcore.datasets import Reading
from dpcore.datasets.reading.compound import container_of
from tests.datasets.cases.table import case, names, notice, refused, rows, typed

SMALL = b"name,age,ill\nAnn,31,yes\nBob,45,no\nCy,27,yes\n"
_ROWS = [("Ann", "31", "yes"), ("Bob", "45", "no"), ("Cy", "27", "yes")]


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def sheet(fill: Callable[[Any, Any], None]) -> Callable[[], bytes]:
    """A workbook whose first sheet ``fill`` fills."""

    def make() -> bytes:
        book = openpyxl.Workbook()
        fill(book, book.active)
        made = io.BytesIO()
        book.save(made)
        return made.getvalue()

    return make


for _packed, _name in ((gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz")):

    @case("packed", f"a table in {_name}", _packed(SMALL))
    def _(reading: Reading, name: str = _name) -> None:
        assert rows(reading) == _ROWS
        assert notice(reading, name)


@case("packed", "a table in zip beside clutter", zipped({"__MACOSX/._a.csv": b"\0", "x/a.csv": SMALL, "x/.DS": b"\0"}))
def _(reading: Reading) -> None:
    assert rows(reading) == _ROWS
    assert reading.report.part == "x/a.csv"
    assert reading.report.certain


@case("packed", "several tables in zip", zipped({"a.csv": SMALL, "b.csv": b"x,y\n1,2\n", "read me.md": b"hello"}))
def _(reading: Reading) -> None:
    assert [(each.argument, each.value) for each in reading.report.alternatives] == [
        ("part", "a.csv"),
        ("part", "b.csv"),
    ]


@case("packed", "a workbook in zip", lambda: zipped({"a.xlsx": sheet(people_sheet)()}))
def _(reading: Reading) -> None:
    assert rows(reading) == _ROWS


refused("packed", "an archive in an archive", zipped({"a.csv.gz": gzip.compress(SMALL)}), "inside an archive")
refused("packed", "a zip archive cut short", zipped({"a.csv": SMALL * 1000})[:150], "cannot be opened")
refused("packed", "a gzip archive cut short", gzip.compress(SMALL * 1000)[:80], "breaks off")
refused("packed", "an empty archive", zipped({}), "empty zip archive")
refused("packed", "an archive of folders", zipped({"a/": b""}), "holds no file")


def _locked() -> bytes:
    """The flag that says a member is encrypted, set in both places where a zip archive keeps it."""
    made = bytearray(zipped({"a.csv": SMALL}))
    made[6] |= 1
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def _lying() -> bytes:
    """An archive that states a size of 30 bytes for 40 MB."""
    made = bytearray(zipped({"a.csv": b"0" * 40_000_000}))
    at = made.index(b"PK\x01\x02")
    made[at + 24 : at + 28] = (30).to_bytes(4, "little")
    made[22:26] = (30).to_bytes(4, "little")
    return bytes(made)


refused("packed", "a locked archive", _locked, "password")
refused("packed", "a zip bomb that states a small size", _lying, "far more than a table")


def people_sheet(book: Any, page: Any) -> None:
    for row in [("name", "age", "ill"), ("Ann", 31, "yes"), ("Bob", 45, "no"), ("Cy", 27, "yes")]:
        page.append(row)


@case("workbook", "a plain sheet", sheet(people_sheet))
def _(reading: Reading) -> None:
    assert rows(reading) == _ROWS
    assert reading.report.container == "workbook"
    assert reading.lines.tolist() == [2, 3, 4]
    assert reading.report.certain


def _report(book: Any, page: Any) -> None:
    page["B2"] = "Complaints by ward, 2024"
    page.merge_cells("B2:E2")
    for place, row in enumerate(
        [("ward", "kind", "cases", "since"), ("North", "noise", 12, date(2024, 1, 31)), (None, "litter", 7.5, None),
         ("South", "noise", 3, datetime(2024, 2, 1, 10, 30)), ("Total", None, 22.5, None)]
    ):  # fmt: skip
        for column, value in enumerate(row):
            page.cell(row=4 + place, column=2 + column, value=value)
    page.merge_cells("B5:B6")
    page.row_dimensions[7].hidden = True
    page.append([None, "Source: town hall"])


@case("workbook", "a report with title, merged cells, a total, a hidden row and a note", sheet(_report))
def _(reading: Reading) -> None:
    assert names(reading) == ["ward", "kind", "cases", "since"]
    assert rows(reading) == [
        ("North", "noise", "12", "2024-01-31"),
        ("North", "litter", "7.5", ""),
        ("South", "noise", "3", "2024-02-01 10:30:00"),
    ]
    assert reading.lines.tolist() == [5, 6, 7]
    assert notice(reading, "Lines above").texts == ("Complaints by ward, 2024",)
    assert notice(reading, "foot").count == 2
    assert notice(reading, "merged").lines == (6,)
    assert notice(reading, "Hidden rows").lines == (7,)
    assert [column.type for column in reading.columns] == ["category", "category", "number", "date"]


def _several(book: Any, page: Any) -> None:
    page["A1"] = "About this workbook"
    people_sheet(book, book.create_sheet("People"))
    book.create_sheet("More").append(["x", "y"])
    book.create_sheet("Notes").sheet_state = "hidden"


@case("workbook", "a cover, two sheets and a hidden one", sheet(_several))
def _(reading: Reading) -> None:
    assert reading.report.part == "People"
    assert rows(reading) == _ROWS
    assert {each.value for each in reading.report.alternatives} == {"Sheet", "People", "More"}
    assert notice(reading, "Hidden sheets").texts == ("Notes",)


def _two_headings(book: Any, page: Any) -> None:
    page.append(["ward", "2023", None, "2024", None])
    page.append([None, "cases", "visits", "cases", "visits"])
    page.merge_cells("A1:A2")
    page.merge_cells("B1:C1")
    page.merge_cells("D1:E1")
    for place in range(5):
        page.append([f"W{place}", place, place + 1, place + 2, place + 3])


@case("workbook", "two heading rows with merged cells", sheet(_two_headings))
def _(reading: Reading) -> None:
    assert names(reading) == ["ward", "2023 cases", "2023 visits", "2024 cases", "2024 visits"]
    assert reading.report.decided == (), "merged names move no row"


def _formulas(book: Any, page: Any) -> None:
    page.append(["x", "ok", "share"])
    page.append([0.125, True, "=1/3"])
    page.append([12345678901, False, "=2/3"])


def _respelt(value: bytes) -> Callable[[], bytes]:
    """The same workbook with its empty values spelt in one way; writers differ in it."""

    def make() -> bytes:
        made, source = io.BytesIO(), zipfile.ZipFile(io.BytesIO(sheet(_formulas)()))
        with source, zipfile.ZipFile(made, "w") as archive:
            for part in source.namelist():
                archive.writestr(part, re.sub(rb"<v ?/>|<v></v>", value, source.read(part)))
        return made.getvalue()

    return make


@case("workbook", "formulas never worked out, empty value", _respelt(b"<v></v>"))
@case("workbook", "formulas never worked out, closed value", _respelt(b"<v/>"))
@case("workbook", "formulas never worked out, no value", _respelt(b""))
@case("workbook", "formulas never worked out, yes and no, digits in full", sheet(_formulas))
def _(reading: Reading) -> None:
    assert notice(reading, "Formulas").count == 2
    assert rows(reading) == [("0.125", "TRUE", ""), ("12345678901", "FALSE", "")]
    assert reading.column("ok").type == "yes/no"


# The rows of people_sheet in the old binary kind, packed.
_OLD_WORKBOOK = (
    "c-rk)O=uHA6#iy6|FmgRQ=t_~C|I@jA|CY8uB~WKmgq$hL6dfo(zq$Hmw2evnxi0iQoIy;@ly3t6+P(9gHX|fAPR{dJqZdP+N^Kh&el|OXh4fU"
    "^DX=B+c)#=yv)3r?Cgu>WM%$dR~0{C5GHDF6rnnwpfl><BtYe^D^33zq0`m)s}POQK!$>N)cQOu$54)U6$b7Go)QD^={$ugj20X_y@?p+7_vgf"
    "FhDGDi#&03a#ZciW6WEa?{Lk>%m>(Wm3e^bR>VmxTcdsZRTiHxdblhO`P}=gdBdJP=)g0X#TTy$uWk@S#ffbG&n)N;v|s@=ZX>p17qj^aQZ#@I"
    "_~NF4&;Cq(lGgss^$U>y>w15<f&aP@0A}Hy;RG*JLcTS<Ntm$<Q+ay@`*^{X3oF%hvgd3n&z_Y$k<SwkISz5jK2JPc$WabE1)_tcm|UxQZYS2w"
    "?N-kD7UFTVv7O}1Pf#N(w?Dl+lFL}9*)z+{daM3+87N#_k_r;Xxg@|WBkp6xZsyDU)NO2cF{dbB>Drs=P{!dou5*P;d#Rnhj91o<I(sMC<&Q@n"
    "beBI^yU1P~sa{AezP9GkL!B~CdU?#DU-XNcHzXcf{#B?I;vIA6Ppd`5NT}Fd_1D&hRm9j#GJAKjcf{JAq54XyMFX{9wd{`>BgWAsF{9Li)d8h8"
    "8mJ9c2bJ0znI)w*SRGPovw_-Vby%rQRy#^<uC+aAv|~v&L~G=C#Gs*}p`oFnp`r1=K=6C5_ZBbT5QA!;5LVxHR_Uzi&m{jWj-f!uG;K@|(SBhX"
    "MU<M#pREWA|5;*#8vlEt#Bpl9h)Lu)j>)F;m-cz0{`YKHnD}*5sM+>w&BXbe+y4f^ThT%"
)


@case("workbook", "an old binary workbook", lambda: zlib.decompress(base64.b85decode(_OLD_WORKBOOK)))
def _(reading: Reading) -> None:
    assert rows(reading) == _ROWS
    assert reading.report.part == "People"


def _corners(book: Any, page: Any) -> None:
    page["A1"], page["XFD1048576"] = "x", 1


def sheet_xml(cells: bytes, behind: bytes = b"") -> bytes:
    """A workbook whose sheet holds these rows, written by hand, and something ``behind`` its table."""
    made, source = io.BytesIO(), zipfile.ZipFile(io.BytesIO(sheet(people_sheet)()))
    with source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in source.namelist():
            content = source.read(part)
            if part.endswith("sheet1.xml"):
                start, end = content.index(b"<sheetData>") + 11, content.index(b"</sheetData>")
                content = content[:start] + cells + content[end:].replace(b"</sheetData>", b"</sheetData>" + behind)
            archive.writestr(part, content)
    return made.getvalue()


_HIDDEN_CORNER = b'<row r="1"><c r="A1"><v>1</v></c>' + b"<c/>" * 300_000 + b'<c   r="XFD1"><v>1</v></c></row>'
refused("workbook", "a far corner deep in a long row", lambda: sheet_xml(_HIDDEN_CORNER), "columns; up to 500")
refused("workbook", "a tag without end", lambda: sheet_xml(b"<c " + b" " * 3_000_000 + b'r="XFD9"/>'), "damaged")


def _serial(book: Any, page: Any) -> None:
    page.append(["date", "x"])
    for day in range(5):
        page.append([45292 + day, day])


@case("workbook", "dates left as day counts", sheet(_serial))
def _(reading: Reading) -> None:
    assert [each.label for each in reading.column("date").readings][1].startswith("a spreadsheet's count")


refused("workbook", "two cells in opposite corners", sheet(_corners), "17,179,869,184 cells")
refused("workbook", "an empty sheet", sheet(lambda book, page: None), "sheets are empty")


@case("workbook", "a heading alone", sheet(lambda book, page: page.append(["a", "b"])))
def _(reading: Reading) -> None:
    assert (reading.frame.columns.tolist(), reading.rows) == (["a", "b"], 0)


def old_container(name: str) -> bytes:
    """One of office programs, with a stream of this name and the name of a workbook in what it holds."""
    own = "Workbook".encode("utf-16-le")
    before, _, behind = container_of(b"").partition(own)
    return before + name.encode("utf-16-le").ljust(64, b"\0") + behind[64 - len(own) :] + own + bytes(2)


refused("workbook", "a Word document", zipped({"word/document.xml": b"<x/>"}), "Word document")
refused("workbook", "a binary workbook", zipped({"xl/workbook.bin": b"\0"}), "binary Excel")
refused(
    "workbook", "a workbook locked with a password",
    old_container("EncryptedPackage"), "password",
)  # fmt: skip
refused("workbook", "an old Word document", old_container("WordDocument"), "without a sheet")


def opendocument(body: str) -> bytes:
    """An OpenDocument sheet with the given rows."""
    space = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{space}:office:1.0" '
        f'xmlns:table="{space}:table:1.0" xmlns:text="{space}:text:1.0"><office:body><office:spreadsheet>'
        f'<table:table table:name="T">{body}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    return zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": content.encode(),
            "META-INF/manifest.xml": b"<manifest/>",
        }
    )


def _cells(*words: str, more: str = "") -> str:
    cells = "".join(
        f'<table:table-cell office:value-type="string"{more}><text:p>{word}</text:p></table:table-cell>'
        for word in words
    )
    return f"<table:table-row>{cells}</table:table-row>"


_EMPTY_REST = (
    '<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="1024"/>'
    "</table:table-row>"
)


@case("workbook", "an OpenDocument sheet", opendocument(_cells("name", "k") + _cells("Ann", "x") * 3 + _EMPTY_REST))
def _(reading: Reading) -> None:
    assert names(reading) == ["name", "k"]
    assert len(reading.frame) == 3


refused(
    "workbook", "an OpenDocument cell repeated a million times",
    opendocument(_cells("a", more=' table:number-columns-repeated="16000"') * 3), "columns",
)  # fmt: skip


@case("json", "records", '[{"a": 1.50, "b": {"c": "x"}, "d": ["p", "q"]},\n {"a": 12345678901234567890, "e": true}]')
def _(reading: Reading) -> None:
    assert names(reading) == ["a", "b.c", "d", "e"]
    assert rows(reading) == [("1.50", "x", "p; q", ""), ("12345678901234567890", "", "", "true")]


@case("json", "one record per line", "\n".join(json.dumps({"n": i, "w": "äß"[i % 2]}) for i in range(30)))
def _(reading: Reading) -> None:
    assert len(reading.frame) == 30
    assert reading.column("n").type in ("integer", "text")


@case("json", "records under a name", '{"count": 2, "results": [{"a": "x"}, {"a": "y"}]}')
def _(reading: Reading) -> None:
    assert rows(reading) == [("x",), ("y",)]


@case("json", "columns side by side", '{"a": [1, 2, 3], "b": ["x", "y", null]}')
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "x"), ("2", "y"), ("3", "")]


@case("json", "columns of numbered cells", '{"a": {"0": 1, "1": 2, "2": 3}, "b": {"0": "x", "1": "y", "2": "z"}}')
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "x"), ("2", "y"), ("3", "z")]


@case("json", "lists under a heading", '[["a", "b"], [1, "x"], [2, "y"]]')
def _(reading: Reading) -> None:
    assert names(reading) == ["a", "b"]
    assert rows(reading) == [("1", "x"), ("2", "y")]


@case("json", "a list per line", '[1, "x"]\n[2, "y"]\n[3, "z"]\n')
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "x"), ("2", "y"), ("3", "z")]


@case("json", "lists of records inside records", '[{"a": 1, "orders": [{"x": 1}]}, {"a": 2, "orders": []}]')
def _(reading: Reading) -> None:
    assert notice(reading, "left out").columns == ("orders",)


@case("json", "half a character", '[{"a": "\\ud800x"}, {"a": "y"}]')
def _(reading: Reading) -> None:
    assert rows(reading) == [("?x",), ("y",)]


refused("json", "cut short", '[{"a": 1},\n {"a": 2', "line 2")
refused("json", "nested without end", '[{"a": ' + "[" * 200_000, "nested too deeply")
refused("json", "lines nested without end", "[" * 100_000 + "\n", "nested too deeply")
refused("json", "lists too long for a row", ("[" + "1," * 600 + "1]\n") * 2 + "[1]\n", "601 columns")
refused("json", "no records", "[[]]", "no records")
refused("json", "a column too many", json.dumps([{f"c{i}": i for i in range(501)}] * 2), "501 columns")


def _frame() -> pd.DataFrame:
    return pd.DataFrame({"n": [1, 2, None], "w": ["a", None, "c"], "d": pd.to_datetime(["2024-01-31"] * 3)})


def _feather(packing: str) -> bytes:
    made = io.BytesIO()
    feather.write_feather(pa.Table.from_pandas(_frame()), made, compression=packing)
    return made.getvalue()


def _stream() -> bytes:
    made, table = io.BytesIO(), pa.Table.from_pandas(_frame())
    with ipc.new_stream(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()


for _form in ("lz4", "zstd", "uncompressed", "stream"):

    @case("columnar", f"Arrow, {_form}", (lambda form=_form: _stream() if form == "stream" else _feather(form)))
    def _(reading: Reading) -> None:
        assert rows(reading) == [
            ("1", "a", "2024-01-31 00:00:00"),
            ("2", "", "2024-01-31 00:00:00"),
            ("", "c", "2024-01-31 00:00:00"),
        ]
        assert reading.column("d").type == "date"


def parquet_of_one_value(count: int, columns: int) -> bytes:
    """Cells that pack to nearly nothing."""
    made = io.BytesIO()
    column = pa.array(np.zeros(count, dtype=np.int8))
    pq.write_table(pa.table({f"c{i}": column for i in range(columns)}), made)
    return made.getvalue()


def _arrow_of_nothing() -> bytes:
    made, table = io.BytesIO(), pa.table({"x": pa.nulls(2_000_000_000)})
    with ipc.new_file(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()


def _arrow_bomb() -> bytes:
    made, table = io.BytesIO(), pa.table({f"c{i}": pa.array(np.zeros(2_000_000)) for i in range(30)})
    with ipc.new_file(made, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return made.getvalue()


refused(
    "columnar", "99 million cells in less than a megabyte", lambda: parquet_of_one_value(990_000, 100), "99,000,000",
    heavy=True,
)  # fmt: skip
refused("columnar", "two thousand million cells that take no room", _arrow_of_nothing, "2,000,000,000 cells")
refused("columnar", "an Arrow bomb", _arrow_bomb, "unpacks to more", heavy=True)
refused("columnar", "an Arrow file cut short", lambda: _feather("lz4")[:120], "damaged")
refused("columnar", "a file that only starts like Arrow", b"ARROW1\0\0" + b"x" * 200, "damaged")


def labelled(kind: str) -> bytes:
    import tempfile
    from pathlib import Path

    import pyreadstat

    frame = pd.DataFrame({"sex": [1.0, 2, 2, 1], "age": [31.0, 45, -9, 27], "name": ["Ann", "Bob", "Cy", "Dee"]})
    labels = {"sex": {1: "female", 2: "male", 3: "other"}, "age": {-9: "refused"}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a"
        if kind == "spss":
            pyreadstat.write_sav(
                frame, file, variable_value_labels=labels, column_labels={"sex": "Sex at birth"},
                missing_ranges={"age": [{"lo": -9, "hi": -9}]},
            )  # fmt: skip
        elif kind == "stata":
            pyreadstat.write_dta(frame, file, variable_value_labels={"sex": labels["sex"]})
        else:
            pyreadstat.write_xport(frame, file)
        return file.read_bytes()


@case("labelled", "SPSS with labels and a value declared missing", lambda: labelled("spss"))
def _(reading: Reading) -> None:
    assert [row[0] for row in rows(reading)] == ["female", "male", "male", "female"]
    assert [row[1] for row in rows(reading)] == ["31", "45", "", "27"]
    assert reading.column("sex").codebook == ("female", "male", "other")
    assert reading.column("sex").suggestion.about == "Sex at birth"
    assert reading.column("sex").type == "category"
    assert typed(reading, "age")[:2] == [31, 45]


@case("labelled", "Stata with labels", lambda: labelled("stata"))
def _(reading: Reading) -> None:
    assert reading.column("sex").codebook == ("female", "male", "other")
    assert [row[1] for row in rows(reading)] == ["31", "45", "-9", "27"]


@case("labelled", "SAS transport", lambda: labelled("transport"))
def _(reading: Reading) -> None:
    assert [row[0] for row in rows(reading)] == ["1", "2", "2", "1"]
    assert reading.report.container == "transport"


refused("labelled", "an SPSS file cut short", lambda: labelled("spss")[:300], "SPSS file is damaged")
STATA = b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>\1\0</K>"
refused("labelled", "a file that only starts like Stata", STATA + b"x" * 300, "Stata file is damaged")
