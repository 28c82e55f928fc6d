"""A report as a tagged PDF, typeset by Typst.

The report goes to a fixed template as JSON: what a person's table says is data there and never markup. PDF/UA-1 is
asked for, which checks tags, titles and alternative texts; letters that no font here has would fail that check, and
then the same page is made as a tagged PDF without the claim.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import typst

from dashboard.report.logo import bare, pixels
from dashboard.report.value import Drawing, Facts, Grid, Heading, Line, Listing, Paragraph, Part, Report
from dashboard.words import report as said

MOST_PIXELS = 2_000_000
"""Of a logo. Typst keeps what it decoded of the last ten."""
TEMPLATE = r"""
#let data = json(bytes(sys.inputs.report))
#let ink = rgb("#1b2333")
#let soft = rgb("#5b6579")
#let rule = rgb("#c9d0dd")
#let warn = rgb("#a63d00")
#set document(title: data.title, author: data.author)
#set text(font: ("Libertinus Serif", "DejaVu Sans"), size: 10.5pt, fill: ink, lang: data.lang)
#set par(leading: 0.62em, spacing: 0.85em)
#set table(stroke: none, inset: (x: 5pt, y: 3.6pt))
#show heading: set block(sticky: true)
#show heading.where(level: 1): it => block(text(size: 20pt, it.body), below: 0.9em)
#show heading.where(level: 2): it => block(text(size: 14pt, it.body), above: 1.1em, below: 0.8em)
#show heading.where(level: 3): it => block(text(size: 11.5pt, fill: soft, it.body), above: 1.35em, below: 0.65em)
#show figure: set block(breakable: false)
#show figure.caption: set text(size: 9pt, fill: soft)
#show figure.caption: it => block(width: 100%, align(left, it))

#let one(run) = {
  let body = if run.code { raw(run.text) } else { run.text }
  if run.strong { body = strong(body) }
  if run.slanted { body = emph(body) }
  body
}
#let line(runs) = runs.map(one).join()
#let bound(body) = { show raw: set text(size: 0.9em); body }

#let part(it) = {
  if it.kind == "heading" { heading(level: 3, it.text) }
  else if it.kind == "paragraph" {
    if it.size == "large" { block(text(size: 13pt, line(it.line))) }
    else if it.size == "small" { block(text(size: 9pt, fill: soft, line(it.line))) }
    else { block(line(it.line)) }
  }
  else if it.kind == "listing" { list(..it.lines.map(line)) }
  else if it.kind == "drawing" {
    figure(
      image(bytes(it.svg), format: "svg", width: 92%, alt: it.alt),
      alt: it.alt, kind: "picture", supplement: none, numbering: none, caption: line(it.caption),
    )
  }
  else if it.kind == "grid" {
    figure(
      kind: "table", supplement: none, numbering: none, caption: figure.caption(position: bottom, it.caption),
      {
        set text(size: 9.5pt)
        table(
          columns: (auto,) + (1fr,) * (it.head.len() - 1),
          align: (column, row) => if column == 0 { left } else { right },
          stroke: (x, y) => if y == 0 { (bottom: 0.8pt + ink) } else { (bottom: 0.4pt + rule) },
          table.header(..it.head.map(cell => text(weight: "bold", cell))),
          ..it.rows.enumerate().map(((place, row)) => row.map(
            cell => if place == it.marked { strong(cell) } else { cell }
          )).flatten(),
        )
      },
    )
  }
  else if it.kind == "facts" {
    let body = table(
      columns: (31%, 1fr),
      align: left,
      stroke: (x, y) => (bottom: 0.4pt + rule),
      table.header(..it.head.map(cell => text(size: 8.5pt, fill: soft, cell))),
      ..it.rows.map(((name, told)) => (text(weight: "bold", name), bound(line(told)))).flatten(),
    )
    set text(size: 9.5pt)
    if it.boxed {
      block(stroke: 1.2pt + ink, inset: 7pt, radius: 2pt, width: 100%, breakable: false, body)
    } else { body }
  }
}

#let foot = context grid(
  columns: (1fr, auto),
  text(size: 8.5pt, fill: soft, data.foot),
  text(size: 8.5pt, fill: soft, [#data.page #counter(page).display() #data.of #counter(page).final().first()]),
)
#let head(mark) = if mark != "" { align(center, text(size: 10pt, weight: "bold", fill: warn, mark)) }

#for (place, section) in data.sections.enumerate() {
  page(
    paper: "a4", margin: (x: 22mm, top: 24mm, bottom: 20mm), header: head(section.mark), footer: foot,
    {
      if place == 0 {
        if data.logo != none { align(right, image(bytes(data.logo), height: 14mm, alt: data.logoalt)) }
        heading(level: 1, data.title)
        grid(columns: 2, column-gutter: 14pt, row-gutter: 6pt,
          ..data.about.map(((name, told)) => (text(fill: soft, name), told)).flatten())
        v(4pt)
        if data.notice != "" { block(stroke: 1pt + warn, inset: 7pt, width: 100%, text(fill: warn, data.notice)) }
        if data.sections.len() > 1 {
          heading(level: 2, data.contents)
          enum(..data.sections.map(one => [#one.title #text(fill: soft)[(#one.what)]]))
        }
      }
      heading(level: 2, section.title)
      text(fill: soft, size: 9.5pt, section.what)
      for one in section.parts { part(one) }
    },
  )
}
"""
STANDARD = "ua-1"


def pdf(report: Report) -> bytes:
    """The bytes of the PDF; the same for equal reports. Raises typst.TypstError."""
    inputs = {"report": json.dumps(plain(report), ensure_ascii=False)}
    made = datetime(report.day.year, report.day.month, report.day.day, tzinfo=UTC)
    try:
        return _compiled(inputs, made, [STANDARD])
    except typst.TypstError as error:
        if "PDF/UA-1 error" not in str(error):
            raise
        return _compiled(inputs, made, [])


def _compiled(inputs: dict[str, str], made: datetime, standards: list[Any]) -> bytes:
    found = typst.compile(
        TEMPLATE.encode(), format="pdf", sys_inputs=inputs, pdf_standards=standards, timestamp=made, pdf_tags=True
    )
    if not isinstance(found, bytes):
        raise TypeError("a PDF is one file")
    return found


def png(drawing: Drawing, *, density: float = 200.0) -> bytes:
    """A picture as PNG, for documents that take no SVG; ``density`` in pixels per inch at 160 mm width."""
    source = (
        '#set page(width: 160mm, height: auto, margin: 0pt)\n#image(bytes(sys.inputs.svg), format: "svg", width: 100%)'
    )
    found = typst.compile(source.encode(), format="png", ppi=density, sys_inputs={"svg": drawing.svg})
    if not isinstance(found, bytes):
        raise TypeError("a picture is one page")
    return found


def settable(picture: bytes) -> bool:
    """Whether a PNG or JPEG of at most ``MOST_PIXELS``, and nothing beside it (``bare``), can be set on a page; nothing
    else is decoded."""
    if not 0 < pixels(picture) <= MOST_PIXELS or picture != bare(picture):
        return False
    source = "#set page(width: 20mm, height: 20mm)\n#image(bytes(json(bytes(sys.inputs.logo))), width: 10mm)"
    try:
        typst.compile(source.encode(), format="pdf", sys_inputs={"logo": json.dumps(list(picture))})
    except typst.TypstError:
        return False
    return True


def plain(report: Report) -> dict[str, Any]:
    """The report as JSON can hold it."""
    return {
        "title": report.title,
        "author": report.author,
        "lang": said.LANGUAGE,
        "foot": f"{said.PRODUCT} · {report.day.isoformat()}",
        "page": said.PAGE,
        "of": said.OF,
        "contents": said.CONTENTS,
        "notice": report.notice,
        "logo": None if report.logo is None else list(report.logo),
        "logoalt": said.LOGO,
        "about": [list(pair) for pair in report.about],
        "sections": [
            {
                "title": section.title,
                "what": said.KINDS[section.kind],
                "mark": report.mark(section),
                "parts": [_part(part) for part in section.parts],
            }
            for section in report.sections
        ],
    }


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Heading():
            return {"kind": "heading", "text": part.text}
        case Paragraph():
            return {"kind": "paragraph", "line": _line(part.line), "size": part.size}
        case Listing():
            return {"kind": "listing", "lines": [_line(line) for line in part.lines]}
        case Drawing():
            return {"kind": "drawing", "svg": part.svg, "alt": part.alt, "caption": _line(part.caption)}
        case Grid():
            return {
                "kind": "grid",
                "head": list(part.head),
                "rows": [list(row) for row in part.rows],
                "caption": part.caption,
                "marked": part.marked,
            }
        case Facts():
            rows = [[name, _line(told)] for name, told in part.rows]
            return {"kind": "facts", "rows": rows, "boxed": part.boxed, "head": list(said.FACTS_HEAD)}


def _line(line: Line) -> list[dict[str, Any]]:
    return [{"text": run.text, "strong": run.strong, "slanted": run.slanted, "code": run.code} for run in line] or [
        {"text": "", "strong": False, "slanted": False, "code": False}
    ]
