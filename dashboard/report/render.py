"""A report in all its forms. Imported by worker processes: neither Streamlit nor a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from dashboard.report.value import Report, Section

if TYPE_CHECKING:
    from dashboard.report.word import Piece

MIMES = MappingProxyType(
    {
        "pdf": "application/pdf",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "html": "text/html",
        "ipynb": "application/x-ipynb+json",
        "py": "text/x-python",
    }
)
"""The forms of a report by the ending of their files, with what a browser calls them."""
SEALED = ("pdf", "docx", "html")
"""Forms that a ledger seals, so that a changed word is found out."""


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A report with what was made of its sections before, one by one; nothing where it is short."""

    report: Report
    pieces: tuple[Piece, ...] = ()


def rendered(report: Report, form: str, pieces: Sequence[Piece] = ()) -> tuple[str, bytes]:
    """The form and its bytes. Raises KeyError for another form."""
    if form == "docx":
        from dashboard.report.word import docx

        return form, docx(report, pieces)
    return form, _writer(form)(report)


def piece_of(_: None, section: Section) -> Piece:
    """One section of a long report, as one slice of work: no slice can be stopped, and what takes long of a report is
    its document, section by section."""
    from dashboard.report.word import piece

    return piece(section)


def one_form(whole: Whole, form: str) -> tuple[str, bytes]:
    """One form, as one slice of work."""
    return rendered(whole.report, form, whole.pieces)


def _writer(form: str) -> Callable[[Report], bytes]:
    # loaded where they are used: a page that makes no report loads no typesetter
    if form == "pdf":
        from dashboard.report.pdf import pdf

        return pdf
    if form == "html":
        from dashboard.report.web import html

        return html
    from dashboard.report.notebook import notebook, script

    return {"ipynb": notebook, "py": script}[form]
