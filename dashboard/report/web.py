"""A report as one HTML file: no script, nothing fetched, readable on paper and on a screen."""

from __future__ import annotations

from base64 import b64encode
from html import escape

from dashboard.report.value import Drawing, Facts, Grid, Heading, Line, Listing, Paragraph, Part, Report
from dashboard.words import report as said

STYLE = """
body{font:16px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;color:#1b2333;background:#fff;max-width:46rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.8rem;margin:.2em 0}h2{font-size:1.3rem;margin:1.6em 0 .2em}h3{font-size:1rem;color:#5b6579;
margin:1.6em 0 .4em}
.mark{color:#a63d00;font-weight:700;border:2px solid #a63d00;padding:.3em .7em;margin:1em 0}
.what,figcaption,caption,.small,footer{color:#5b6579;font-size:.85rem}.large{font-size:1.2rem}
table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.6em 0}caption{caption-side:bottom;text-align:left}
th,td{border-bottom:1px solid #c9d0dd;padding:.3em .5em;text-align:left;vertical-align:top;overflow-wrap:anywhere}
.grid td,.grid th{text-align:right}.grid td:first-child,.grid th:first-child{text-align:left}
.grid tr.marked{font-weight:700}.facts th{width:31%}.boxed{border:2px solid #1b2333;padding:.4em .8em}
figure{margin:.6em 0}svg{max-width:100%;height:auto}.logo{float:right;max-height:4rem}
@media print{body{margin:0;max-width:none}section{break-before:page}section:first-of-type{break-before:auto}
h2,h3{break-after:avoid}tr,figure{break-inside:avoid}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html(report: Report) -> bytes:
    """The bytes of the page, UTF-8."""
    sections = "".join(_section(report, place) for place in range(len(report.sections)))
    mark = said.MARKS["what_if"] if not report.private else ""
    title = f"{mark}: {report.title}" if mark else report.title
    notice = f'<p class="mark">{escape(report.notice)}</p>' if report.notice else ""
    logo = _logo(report.logo) if report.logo is not None else ""
    about = "<br>".join(f"{escape(name)}: {escape(told)}" for name, told in report.about)
    page = (
        f'<!doctype html>\n<html lang="{said.LANGUAGE}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>{logo}"
        f"<h1>{escape(report.title)}</h1><p>{about}</p>{notice}{sections}</main>"
        f"<footer>{escape(said.PRODUCT)} · {report.day.isoformat()}</footer></body></html>\n"
    )
    return page.encode("utf-8", "xmlcharrefreplace")


def _section(report: Report, place: int) -> str:
    section = report.sections[place]
    mark = report.mark(section)
    marked = f'<p class="mark">{escape(mark)}</p>' if mark else ""
    parts = "".join(_part(part, place) for part in section.parts)
    return (
        f'<section>{marked}<h2>{escape(section.title)}</h2><p class="what">{escape(said.KINDS[section.kind])}</p>'
        f"{parts}</section>"
    )


def _part(part: Part, place: int) -> str:
    match part:
        case Heading():
            return f"<h3>{escape(part.text)}</h3>"
        case Paragraph():
            kind = "" if part.size == "usual" else f' class="{part.size}"'
            return f"<p{kind}>{_line(part.line)}</p>"
        case Listing():
            return "<ul>" + "".join(f"<li>{_line(line)}</li>" for line in part.lines) + "</ul>"
        case Drawing():
            # pictures of one page must not share the names of their parts
            drawn = part.svg
            for name in ("frame", "hatch"):
                drawn = drawn.replace(f'id="{name}"', f'id="{name}{place}"')
                drawn = drawn.replace(f"url(#{name})", f"url(#{name}{place})")
            return f"<figure>{drawn}<figcaption>{_line(part.caption)}</figcaption></figure>"
        case Grid():
            head = "".join(f'<th scope="col">{escape(name)}</th>' for name in part.head)
            rows = "".join(
                ('<tr class="marked">' if at == part.marked else "<tr>")
                + "".join(f"<td>{escape(cell)}</td>" for cell in row)
                + "</tr>"
                for at, row in enumerate(part.rows)
            )
            caption = f"<caption>{escape(part.caption)}</caption>"
            return f'<table class="grid">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        case Facts():
            rows = "".join(
                f'<tr><th scope="row">{escape(name)}</th><td>{_line(told)}</td></tr>' for name, told in part.rows
            )
            table = f'<table class="facts" aria-label="{escape(part.caption)}"><tbody>{rows}</tbody></table>'
            return f'<div class="boxed">{table}</div>' if part.boxed else table


def _line(line: Line) -> str:
    found = []
    for run in line:
        told = escape(run.text)
        for whether, tag in ((run.code, "code"), (run.slanted, "em"), (run.strong, "strong")):
            told = f"<{tag}>{told}</{tag}>" if whether else told
        found.append(told)
    return "".join(found)


def _logo(logo: bytes) -> str:
    kind = "png" if logo.startswith(b"\x89PNG") else "jpeg"
    data = b64encode(logo).decode("ascii")
    return f'<img class="logo" alt="{escape(said.LOGO)}" src="data:image/{kind};base64,{data}">'
