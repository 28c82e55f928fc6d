"""Tables as pandas writes them: where one row has no number, a column of whole ones is one of decimals."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from dpcore.audit.files import File, Question, Row
from dpcore.datasets import read_table

WrittenAs = Literal["CSV", "Parquet", "JSON"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrameQuestion(Question):
    """A question whose tables are bytes as pandas writes them."""

    written: WrittenAs

    def file(self, rows: Sequence[Row], *, from_bytes: bool) -> File:
        found = read_table(as_written(framed(self.names, rows), self.written))
        return File(frame=found.frame, private=found.private)


def framed(names: Sequence[str], rows: Sequence[Row]) -> pd.DataFrame:
    """The cells in columns of numbers where all that hold anything are numbers, as pandas reads a table."""
    width = len(names)
    cells = zip(*((*row[:width], *[""] * (width - len(row))) for row in rows), strict=True)
    return pd.DataFrame({name: _typed(own) for name, own in zip(names, cells, strict=True)})


def _typed(cells: tuple[str, ...]) -> pd.Series:
    there = [cell or None for cell in cells]
    try:
        return pd.Series(pd.to_numeric(pd.Series(there, dtype="object")))
    except (ValueError, TypeError):
        return pd.Series(there, dtype="object")


def as_written(frame: pd.DataFrame, kind: WrittenAs) -> bytes:
    """The table as a file."""
    if kind == "CSV":
        return frame.to_csv(index=False).encode()
    if kind == "JSON":
        return str(frame.to_json(orient="records")).encode()
    made = io.BytesIO()
    frame.to_parquet(made, index=False)
    return made.getvalue()
