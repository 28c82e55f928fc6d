"""A report in all its forms. Imported by worker processes: neither Streamlit nor a page."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from dashboard.report.value import Report

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


def rendered(report: Report, form: str) -> tuple[str, bytes]:
    """The form and its bytes. Raises KeyError for another form."""
    return form, _writer(form)(report)


def every_form(report: Report, _: None) -> list[tuple[str, bytes]]:
    """All forms in one slice of work."""
    return [rendered(report, form) for form in MIMES]


def _writer(form: str) -> Callable[[Report], bytes]:
    # loaded where they are used: a page that makes no report loads no typesetter
    if form == "pdf":
        from dashboard.report.pdf import pdf

        return pdf
    if form == "docx":
        from dashboard.report.word import docx

        return docx
    if form == "html":
        from dashboard.report.web import html

        return html
    from dashboard.report.notebook import notebook, script

    return {"ipynb": notebook, "py": script}[form]
