"""Decimals as texts, the same ones however many digits and decimals one row makes their column have.

DuckDB holds ``MOST_DIGITS``. Those of a Parquet file with more it reads as doubles that are not rounded to the nearest,
so that 4 is 3.9999999999999996, and of Arrow's it reads none: Arrow writes them as texts instead.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

MOST_DIGITS = 38
_WRITTEN = 18  # a decimal of more digits may be a number that DuckDB cannot write


def in_duckdb(cell: str, digits: int, decimals: int) -> str:
    """SQL for the text of a decimal without zeros behind it; one that DuckDB cannot write is missing."""
    text = f"{cell}::VARCHAR"
    if digits > _WRITTEN:
        text = writable(cell, f"-{'9' * (digits - decimals)}.{'9' * decimals}::DECIMAL({digits},{decimals})")
    return f"rtrim(rtrim({text}, '0'), '.')" if decimals else text


def writable(cell: str, first: str) -> str:
    """SQL for the text of a cell that is not below the first one that DuckDB can write.

    It gives no answer at one below, even where ``CASE`` keeps it from being written.
    """
    return f"CASE WHEN {cell} >= {first} THEN greatest({cell}, {first})::VARCHAR END"


def of_arrow(cells: pa.Array) -> pa.Array:
    """The same texts of Arrow's decimals, of any number of digits."""
    words = cells.cast(pa.string()).to_pylist()
    return pa.array([None if word is None else fixed(word) for word in words], pa.string())


def fixed(word: str) -> str:
    """The digits of a number as Python reads one, without an exponent and without zeros behind them."""
    text = f"{Decimal(word):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
