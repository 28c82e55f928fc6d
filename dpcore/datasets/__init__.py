"""Tables: samples, a person's own file, and what they declare about it."""

from dpcore.datasets.conversion import Account, Applied
from dpcore.datasets.entry import QUESTIONS, Question, Sample
from dpcore.datasets.samples import expanded, load_sample, sample, samples
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.table import Table
from dpcore.errors import UnavailableSample, UnreadableFile

__all__ = [
    "QUESTIONS",
    "Account",
    "Applied",
    "Column",
    "Question",
    "Sample",
    "Schema",
    "Table",
    "UnavailableSample",
    "UnreadableFile",
    "expanded",
    "load_sample",
    "sample",
    "samples",
]
