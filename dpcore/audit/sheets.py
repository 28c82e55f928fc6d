"""A workbook of one sheet, written by hand: nothing that the product needs can write one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from xml.sax.saxutils import escape

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="Table" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
}


NUMBER, DAY, SPAN = 0, 1, 2
"""How the numbers of a column are shown: as such, as days, or as hours and minutes."""
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts>'
    '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>'
)


def workbook(
    rows: Sequence[Sequence[str]], *, merged: bool = False, numbers: Mapping[int, int] = MappingProxyType({})
) -> bytes:
    """These rows as text cells of a sheet; an empty cell is none. Up to 26 columns.

    ``merged`` merges each cell of the first column with the empty ones below it. Below the first row the columns at
    the places of ``numbers`` hold numbers, shown as it says.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in _PARTS.items():
            archive.writestr(name, _HEAD + text)
        archive.writestr("xl/styles.xml", _HEAD + _STYLES)
        cells = "".join(_row(number, row, numbers if number > 1 else {}) for number, row in enumerate(rows, start=1))
        ranges = _merged(rows) if merged else ""
        sheet = f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData>{ranges}</worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return made.getvalue()


def _merged(rows: Sequence[Sequence[str]]) -> str:
    tops = [number for number, row in enumerate(rows, start=1) if row[0]]
    last = [after - 1 for after in tops[1:]] + [len(rows)]
    ranges = [f'<mergeCell ref="A{top}:A{end}"/>' for top, end in zip(tops, last, strict=True) if end > top]
    return f"<mergeCells>{''.join(ranges)}</mergeCells>" if ranges else ""


def _row(number: int, row: Sequence[str], numbers: Mapping[int, int]) -> str:
    cells = (
        _cell(f"{chr(ord('A') + place)}{number}", cell, numbers.get(place)) for place, cell in enumerate(row) if cell
    )
    return f'<row r="{number}">{"".join(cells)}</row>'


def _cell(name: str, cell: str, shown: int | None) -> str:
    if shown is not None:
        return f'<c r="{name}" s="{shown}"><v>{escape(cell)}</v></c>'
    return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
