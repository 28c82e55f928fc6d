"""A workbook of one sheet, written by hand: nothing that the product needs can write one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
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
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
    '<sheets><sheet name="Table" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


def workbook(rows: Sequence[Sequence[str]], *, merged: bool = False) -> bytes:
    """These rows as text cells of a sheet; an empty cell is none. Up to 26 columns.

    ``merged`` merges each cell of the first column with the empty ones below it.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in _PARTS.items():
            archive.writestr(name, _HEAD + text)
        cells = "".join(_row(number, row) for number, row in enumerate(rows, start=1))
        ranges = _merged(rows) if merged else ""
        sheet = f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData>{ranges}</worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return made.getvalue()


def _merged(rows: Sequence[Sequence[str]]) -> str:
    tops = [number for number, row in enumerate(rows, start=1) if row[0]]
    last = [after - 1 for after in tops[1:]] + [len(rows)]
    ranges = [f'<mergeCell ref="A{top}:A{end}"/>' for top, end in zip(tops, last, strict=True) if end > top]
    return f"<mergeCells>{''.join(ranges)}</mergeCells>" if ranges else ""


def _row(number: int, row: Sequence[str]) -> str:
    cells = (
        f'<c r="{chr(ord("A") + place)}{number}" t="inlineStr"><is><t xml:space="preserve">{escape(cell)}</t></is></c>'
        for place, cell in enumerate(row)
        if cell
    )
    return f'<row r="{number}">{"".join(cells)}</row>'
