"""Tables: samples, a person's own file, and what they declare about it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dpcore.datasets.completion import completed_from
from dpcore.datasets.conversion import MOST_LETTERS, MOST_WORDS, Account, Applied, apply
from dpcore.datasets.declaration import Declaration
from dpcore.datasets.entry import QUESTIONS, Question, Sample
from dpcore.datasets.private_rows import PrivateRows
from dpcore.datasets.report import Alternative, ColumnReading, Notice, ReadColumn, Report
from dpcore.datasets.samples import expanded, load_sample, sample, sample_rows, samples
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.size import Fits, Size
from dpcore.datasets.steps import (
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    SplitOptions,
    Step,
    TicksToRows,
)
from dpcore.datasets.suitability import Suited, questions_for
from dpcore.datasets.table import Table
from dpcore.datasets.template import Fit, Template, fitted, loaded, loaded_file, recognised, saved
from dpcore.datasets.twin import Relation, related, twin
from dpcore.errors import NoRoom, ReadingCancelled, UnavailableSample, UnreadableFile

if TYPE_CHECKING:
    from dpcore.datasets.reading import (
        Likeness,
        Reading,
        fingerprint,
        likeness,
        read_csv,
        read_pasted,
        read_table,
        sketch,
    )

__all__ = [
    "MOST_LETTERS",
    "MOST_WORDS",
    "QUESTIONS",
    "Account",
    "Alternative",
    "Applied",
    "Column",
    "ColumnReading",
    "Declaration",
    "Fit",
    "Fits",
    "LeaveOutTotals",
    "Likeness",
    "MonthsToRows",
    "NoRoom",
    "Notice",
    "OneRowPer",
    "PrivateRows",
    "Question",
    "ReadAsMissing",
    "ReadColumn",
    "Reading",
    "ReadingCancelled",
    "Relation",
    "Report",
    "Sample",
    "Schema",
    "Size",
    "SplitOptions",
    "Step",
    "Suited",
    "Table",
    "Template",
    "TicksToRows",
    "UnavailableSample",
    "UnreadableFile",
    "apply",
    "completed_from",
    "expanded",
    "fingerprint",
    "fitted",
    "likeness",
    "load_sample",
    "loaded",
    "loaded_file",
    "questions_for",
    "read_csv",
    "read_pasted",
    "read_table",
    "recognised",
    "related",
    "sample",
    "sample_rows",
    "samples",
    "saved",
    "sketch",
    "twin",
]

# Reading loads DuckDB, so it is imported when it is first asked for.
_LAZY = (
    *("Likeness", "Reading", "fingerprint", "likeness", "read_csv", "read_pasted", "read_table"),
    *("sketch",),
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module("dpcore.datasets.reading"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
