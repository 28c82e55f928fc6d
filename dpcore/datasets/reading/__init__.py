"""Reading a person's own file."""

from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.likeness import Likeness, likeness, sketch
from dpcore.datasets.reading.reader import Reading, fingerprint, read_csv, read_pasted, read_table

__all__ = [
    "Choices",
    "Likeness",
    "Reading",
    "fingerprint",
    "likeness",
    "read_csv",
    "read_pasted",
    "read_table",
    "sketch",
]
