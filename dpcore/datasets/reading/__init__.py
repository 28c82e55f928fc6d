"""Reading a person's own file."""

from dpcore.datasets.reading.reader import Choices, Reading, fingerprint, read_csv
from dpcore.datasets.report import Alternative, ColumnReading, Notice, ReadColumn, Report

__all__ = [
    "Alternative",
    "Choices",
    "ColumnReading",
    "Notice",
    "ReadColumn",
    "Reading",
    "Report",
    "fingerprint",
    "read_csv",
]
