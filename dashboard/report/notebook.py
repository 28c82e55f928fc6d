"""The notebook and the script that compute a report's numbers again, one cell a section."""

from __future__ import annotations

import json
from pprint import pformat
from typing import Any

from dashboard.report.value import Report, Section
from dashboard.words import report as said
from dpcore.datasets.text import visible

IMPORTS = """\
from datetime import date
from math import exp, inf, isfinite

from dashboard.report.again import asked, compare, file_source, sample_source, twin_source
from dpcore.accounting import Cost, compose
from dpcore.datasets import *
from dpcore.datasets.declaration import Declaration
from dpcore.events import *
from dpcore.tradeoff import sweep_epsilon"""


CODING = "# -*- coding: utf-8 -*-"
"""Stands on the first line: Python would take how a file is to be decoded from a comment on one of the first two."""
_LONGEST = 500


def script(report: Report) -> bytes:
    """The Python script. What tables are called stands in comments, on one line each, and in quoted text."""
    head = _head(report)
    pieces = ["\n".join([CODING, *(f"# {row}".rstrip() for row in head.splitlines())]), IMPORTS]
    pieces += [f"# {'-' * 100}\n# {visible(section.title, _LONGEST)}\n\n{cell(section)}" for section in report.sections]
    return ("\n\n".join(pieces) + "\n").encode()


def notebook(report: Report) -> bytes:
    """The notebook (nbformat 4.5): text in Markdown, every character of it escaped, and code."""
    cells = [_markdown(_head(report), "head"), _code(IMPORTS, "imports")]
    for place, section in enumerate(report.sections):
        cells.append(_markdown(visible(section.title, _LONGEST), f"title-{place}", heading=True))
        cells.append(_code(cell(section), f"numbers-{place}"))
    whole = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


def _head(report: Report) -> str:
    return said.script_head(visible(report.title, _LONGEST), _mark(report))


def cell(section: Section) -> str:
    """Python that computes a section's numbers into ``found`` and compares them."""
    if not section.code:
        return f"print({said.NO_CODE!r})"
    reported = pformat(dict(section.numbers), sort_dicts=False, width=100)
    return f"{section.code}\n\nreported = {reported}\ncompare(reported, found)"


def _mark(report: Report) -> str:
    return said.MARKS["what_if"] if not report.private else report.sections[0].mark


def _markdown(told: str, key: str, *, heading: bool = False) -> dict[str, Any]:
    safe = "".join(f"\\{sign}" if sign in r"\`*_{}[]()#+-.!|~$:<>&" else sign for sign in told)
    source = f"## {safe}" if heading else safe
    return {"cell_type": "markdown", "id": key, "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str, key: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": key,
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }
