"""What can be chosen among: the categories of a column with their counts, or rows of a table with their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.data.source import Source
from dpcore.datasets import Table
from dpcore.validate import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Options:
    """Candidates with their scores, larger being better.

    ``counted`` says that a score is a number of rows; otherwise it is a declared score. One person can move it by
    ``sensitivity``: the rows they can have, or what was declared. ``flipped`` scores were given as "lower is better"
    and are shown with their sign turned back.
    """

    column: str
    names: tuple[str, ...]
    scores: FloatArray
    counted: bool
    sensitivity: float = 1.0
    flipped: bool = False
    unit: str = "people"

    @property
    def shown(self) -> FloatArray:
        """Scores as the person gave them."""
        return -self.scores if self.flipped else self.scores


def columns(table: Table) -> list[str]:
    """Columns that make a "which option" question."""
    if table.schema.each_row == "option":
        return [column.name for column in table.schema.columns if column.is_numeric]
    return [column.name for column in table.schema.of_type("category", "yes/no")]


def options(source: Source, column: str) -> Options:
    """The options of ``column``; rows with nothing in it are left out."""
    table = source.table
    if table.schema.each_row != "option":
        return Options(
            column=column,
            names=table.options(column),
            scores=table.counts(column).astype(np.float64),
            counted=True,
            sensitivity=float(table.schema.rows_per_person),
            unit=_people(table),
        )
    declared = table.schema.column(column)
    present = table.complete(column)
    scores = table.numbers(column)
    words = [c.name for c in table.schema.columns if not c.is_numeric]
    if words:
        names = tuple(str(name) for name in table.frame[words[0]].astype(str)[present])
    else:
        names = tuple(f"row {i + 1}" for i in np.flatnonzero(present))
    flipped = declared.better == "lower"
    counted = declared.sensitivity in (None, 1.0) and not flipped and bool((scores >= 0).all())
    return Options(
        column=column,
        names=names,
        scores=-scores if flipped else scores,
        counted=counted and declared.type == "integer",
        sensitivity=declared.sensitivity or 1.0,
        flipped=flipped,
        unit=declared.unit or column,
    )


def _people(table: Table) -> str:
    return "people" if table.schema.unit == "person" else f"{table.schema.unit}s"
