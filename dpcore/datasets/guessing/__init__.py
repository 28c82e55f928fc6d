"""Which type a column of text most likely has, with the reason, for the person to confirm."""

from dpcore.datasets.guessing.columns import read_columns
from dpcore.datasets.guessing.rows import each_row

__all__ = ["each_row", "read_columns"]
