"""Reading a person's own file."""

from dpcore.datasets.reading.likeness import Likeness, likeness, sketch
from dpcore.datasets.reading.reader import Choices, Reading, fingerprint, read_csv

__all__ = ["Choices", "Likeness", "Reading", "fingerprint", "likeness", "read_csv", "sketch"]
