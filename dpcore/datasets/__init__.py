"""Tables: samples, a person's own file, and what they declare about it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dpcore.datasets.conversion import Account, Applied
from dpcore.datasets.entry import QUESTIONS, Question, Sample
from dpcore.datasets.report import Alternative, ColumnReading, Notice, ReadColumn, Report
from dpcore.datasets.samples import expanded, load_sample, sample, samples
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.table import Table
from dpcore.errors import ReadingCancelled, UnavailableSample, UnreadableFile

if TYPE_CHECKING:
    from dpcore.datasets.reading import Reading, fingerprint, read_csv

__all__ = [
    "QUESTIONS",
    "Account",
    "Alternative",
    "Applied",
    "Column",
    "ColumnReading",
    "Notice",
    "Question",
    "ReadColumn",
    "Reading",
    "ReadingCancelled",
    "Report",
    "Sample",
    "Schema",
    "Table",
    "UnavailableSample",
    "UnreadableFile",
    "expanded",
    "fingerprint",
    "load_sample",
    "read_csv",
    "sample",
    "samples",
]

# Reading loads DuckDB, so it is imported when it is first asked for.
_LAZY = ("Reading", "fingerprint", "read_csv")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module("dpcore.datasets.reading"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
