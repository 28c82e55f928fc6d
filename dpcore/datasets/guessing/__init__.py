"""Which type a column of text most likely has, with the reason, for the person to confirm."""

from dpcore.datasets.guessing.columns import read_columns

__all__ = ["read_columns"]
