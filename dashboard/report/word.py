"""A report as DOCX, written by python-docx: real headings, tables with header rows, alternative texts, page numbers."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from docx import Document
from docx.enum.section import WD_SECTION
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.oxml import serialize_part_xml
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

from dashboard.report.pdf import png
from dashboard.report.value import Drawing, Facts, Grid, Heading, Line, Listing, Paragraph, Part, Report, Section
from dashboard.words import report as said

INK, SOFT, WARN = RGBColor(0x1B, 0x23, 0x33), RGBColor(0x5B, 0x65, 0x79), RGBColor(0xA6, 0x3D, 0x00)
_BLIP, _EMBED = qn("a:blip"), qn("r:embed")
_STAMP = (1980, 1, 1, 0, 0, 0)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A section as the document holds it: its XML, and the pictures that it shows, in order."""

    xml: bytes
    pictures: tuple[bytes, ...]


def piece(section: Section) -> Piece:
    """A section by itself: python-docx takes the square of what stands in a document, and nobody can stop it."""
    document = Document()
    document.add_heading(_text(section.title), level=2)
    _run(document.add_paragraph(), said.KINDS[section.kind], colour=SOFT, size=9.5)
    for part in section.parts:
        _part(document, part)
    body = document.element.body
    parts = document.part.related_parts
    return Piece(serialize_part_xml(body), tuple(parts[one.get(_EMBED)].image.blob for one in body.iter(_BLIP)))


def docx(report: Report, pieces: Sequence[Piece] = ()) -> bytes:
    """The bytes of the document; the same for equal reports. ``pieces`` are those of its sections, where they are there
    already."""
    document = Document()
    _styles(document)
    _properties(document, report)
    for place, section in enumerate(report.sections):
        page = document.sections[0] if place == 0 else document.add_section(WD_SECTION.NEW_PAGE)
        _page(page, report.mark(section), report)
        if place == 0:
            _front(document, report)
        _put(document, pieces[place] if pieces else piece(section))
    for number, drawn in enumerate(document.element.body.iter(qn("wp:docPr")), 1):
        drawn.set("id", str(number))
    stream = io.BytesIO()
    document.save(stream)
    return _settled(stream.getvalue())


def _put(document: Any, found: Piece) -> None:
    """A section at the end of the document."""
    body, last = parse_xml(found.xml), document.element.body.sectPr
    for one, picture in zip(body.iter(_BLIP), found.pictures, strict=True):
        one.set(_EMBED, document.part.get_or_add_image(io.BytesIO(picture))[0])
    for child in list(body)[:-1]:  # the last says how its pages are
        last.addprevious(child)


def _styles(document: Any) -> None:
    usual = document.styles["Normal"]
    usual.font.name, usual.font.size, usual.font.color.rgb = "Calibri", Pt(10.5), INK
    usual.paragraph_format.space_after = Pt(5)
    for level, size in ((1, 20), (2, 14), (3, 11.5)):
        style = document.styles[f"Heading {level}"]
        style.font.name, style.font.size, style.font.color.rgb = "Calibri", Pt(size), SOFT if level == 3 else INK
    language = OxmlElement("w:lang")
    language.set(qn("w:val"), said.LANGUAGE)
    usual.element.get_or_add_rPr().append(language)


def _properties(document: Any, report: Report) -> None:
    made = datetime(report.day.year, report.day.month, report.day.day, tzinfo=UTC)
    core = document.core_properties
    core.title, core.author, core.language = _text(report.title)[:255], _text(report.author)[:255], said.LANGUAGE
    core.created = core.modified = made
    core.last_modified_by, core.comments, core.revision = said.PRODUCT, "", 1


def _page(page: Any, mark: str, report: Report) -> None:
    """A4 with the mark above and the page's number below, on every page of a section."""
    page.page_width, page.page_height = Mm(210), Mm(297)
    page.left_margin = page.right_margin = Mm(22)
    page.top_margin, page.bottom_margin = Mm(24), Mm(20)
    page.header.is_linked_to_previous = page.footer.is_linked_to_previous = False
    head = page.header.paragraphs[0]
    head.alignment = WD_ALIGN_PARAGRAPH.CENTER
    if mark:
        _run(head, mark, strong=True, colour=WARN, size=10)
    foot = page.footer.paragraphs[0]
    _run(foot, f"{said.PRODUCT} · {report.day.isoformat()} · {said.PAGE} ", colour=SOFT, size=8.5)
    _field(foot, "PAGE")
    _run(foot, f" {said.OF} ", colour=SOFT, size=8.5)
    _field(foot, "NUMPAGES")


def _front(document: Any, report: Report) -> None:
    if report.logo is not None:
        place = document.add_paragraph()
        place.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        drawn = place.add_run().add_picture(io.BytesIO(report.logo), height=Mm(14))
        drawn._inline.docPr.set("descr", said.LOGO)
    document.add_heading(_text(report.title), level=1)
    for name, told in report.about:
        line = document.add_paragraph()
        _run(line, f"{name}: ", colour=SOFT)
        _run(line, told)
    if report.notice:
        _run(document.add_paragraph(), report.notice, strong=True, colour=WARN)
    if len(report.sections) > 1:
        document.add_heading(said.CONTENTS, level=2)
        for section in report.sections:
            _run(document.add_paragraph(style="List Number"), f"{section.title} ({said.KINDS[section.kind]})")


def _part(document: Any, part: Part) -> None:
    match part:
        case Heading():
            document.add_heading(_text(part.text), level=3)
        case Paragraph():
            size = {"large": 13.0, "small": 9.0, "usual": None}[part.size]
            _line(document.add_paragraph(), part.line, size=size, colour=SOFT if part.size == "small" else None)
        case Listing():
            for line in part.lines:
                _line(document.add_paragraph(style="List Bullet"), line)
        case Drawing():
            _drawing(document, part)
        case Grid():
            _grid(document, part)
        case Facts():
            _facts(document, part)


def _drawing(document: Any, part: Drawing) -> None:
    shape = document.add_picture(io.BytesIO(png(part)), width=Mm(166))
    shape._inline.docPr.set("descr", _text(part.alt))
    _line(document.add_paragraph(), part.caption, size=9, colour=SOFT)


def _grid(document: Any, part: Grid) -> None:
    table = document.add_table(rows=1, cols=len(part.head), style="Light Grid Accent 1")
    _header(table.rows[0], part.head)
    _described(table, part.caption)
    for place, row in enumerate(part.rows):
        cells = table.add_row().cells
        for column, told in enumerate(row):
            line = cells[column].paragraphs[0]
            line.alignment = WD_ALIGN_PARAGRAPH.LEFT if column == 0 else WD_ALIGN_PARAGRAPH.RIGHT
            _run(line, told, strong=place == part.marked, size=9.5)
    _run(document.add_paragraph(), part.caption, colour=SOFT, size=9)


def _facts(document: Any, part: Facts) -> None:
    table = document.add_table(rows=1, cols=2, style="Table Grid" if part.boxed else "Light List Accent 1")
    _header(table.rows[0], said.FACTS_HEAD)
    _described(table, part.caption)
    for name, told in part.rows:
        cells = table.add_row().cells
        _run(cells[0].paragraphs[0], name, strong=True, size=9.5)
        _line(cells[1].paragraphs[0], told, size=9.5)
    for row in table.rows:
        row.cells[0].width, row.cells[1].width = Mm(50), Mm(116)
    document.add_paragraph()


def _header(row: Any, names: tuple[str, ...]) -> None:
    """The row that names the columns, repeated on every page and told as such to a reader."""
    for cell, name in zip(row.cells, names, strict=True):
        _run(cell.paragraphs[0], name, strong=True, size=9)
    mark = OxmlElement("w:tblHeader")
    mark.set(qn("w:val"), "true")
    row._tr.get_or_add_trPr().append(mark)


def _described(table: Any, caption: str) -> None:
    told = OxmlElement("w:tblDescription")
    told.set(qn("w:val"), _text(caption)[:1000])
    table._tbl.tblPr.append(told)


def _line(paragraph: Any, line: Line, *, size: float | None = None, colour: Any = None) -> None:
    for run in line:
        _run(paragraph, run.text, strong=run.strong, slanted=run.slanted, code=run.code, size=size, colour=colour)


def _run(
    paragraph: Any,
    told: str,
    *,
    strong: bool = False,
    slanted: bool = False,
    code: bool = False,
    size: float | None = None,
    colour: Any = None,
) -> None:
    run = paragraph.add_run(_text(told))
    run.bold, run.italic = strong or None, slanted or None
    if code:
        run.font.name = "Consolas"
    if size is not None:
        run.font.size = Pt(size)
    if colour is not None:
        run.font.color.rgb = colour


def _field(paragraph: Any, name: str) -> None:
    """A number that the reader's program works out: the page's, or how many there are."""
    run = paragraph.add_run()
    run.font.size, run.font.color.rgb = Pt(8.5), SOFT
    for kind in ("begin", None, "end"):
        if kind is None:
            told = OxmlElement("w:instrText")
            told.set(qn("xml:space"), "preserve")
            told.text = name
        else:
            told = OxmlElement("w:fldChar")
            told.set(qn("w:fldCharType"), kind)
        run._r.append(told)


def _text(told: str) -> str:
    """Characters that XML can hold."""
    return _NOT_XML.sub("\ufffd", told)


def _settled(package: bytes) -> bytes:
    """The package with the same time on every part, so that equal reports are equal files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as read, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as write:
        for name in read.namelist():
            write.writestr(zipfile.ZipInfo(name, _STAMP), read.read(name), zipfile.ZIP_DEFLATED)
    return stream.getvalue()
