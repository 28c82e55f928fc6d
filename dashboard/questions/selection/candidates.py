"""What can be chosen among: the categories of a column with their counts, or rows of a table with their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dashboard.words import many
from dpcore.datasets import Column, Schema, Table
from dpcore.releases.cells import entry_sensitivity
from dpcore.validate import BoolArray, FloatArray, Neighbours


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Candidates with their scores, larger being better.

    ``counted`` says that a score is a number of rows; ``one_way`` that one person added or removed moves all scores the
    same way, as counts do. One person can move a score by ``sensitivity``: what was declared, else the rows they can
    have, else the whole declared range; one in another's place by ``replaced``. ``flipped`` scores were given as
    "lower is better" and are shown with their sign turned back.
    """

    column: str
    names: tuple[str, ...]
    scores: FloatArray
    counted: bool
    one_way: bool
    unit: str
    sensitivity: float = 1.0
    replaced: float = 1.0
    flipped: bool = False

    @property
    def shown(self) -> FloatArray:
        """Scores as the person gave them."""
        return -self.scores if self.flipped else self.scores

    @property
    def best(self) -> BoolArray:
        """Which candidates have the best score, shape (k,)."""
        best: BoolArray = self.scores == self.scores.max()
        return best

    def under(self, relation: Neighbours) -> Candidates:
        """The same candidates where neighbours differ so."""
        return self if relation == "add_remove" else replace(self, sensitivity=self.replaced)

    def with_shown(self, shown: FloatArray) -> Candidates:
        """The same candidates with other scores."""
        return replace(self, scores=-shown if self.flipped else shown)


def columns(schema: Schema) -> tuple[str, ...]:
    """Columns that make a "which option" question."""
    if schema.each_row == "option":
        return tuple(column.name for column in schema.columns if column.is_numeric)
    return tuple(column.name for column in schema.of_type("category", "yes/no"))


def naming(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a table of options that could say which option a row is: free texts, else categories.

    Nobody may move what says that, so where there are several a private answer does not take the first.
    """
    every = tuple(columns)
    texts = tuple(one for one in every if one.type == "text")
    return texts or tuple(one for one in every if one.type == "category")


def candidates(table: Table, column: str) -> Candidates:
    """The candidates of ``column``; rows with nothing in it are left out."""
    schema = table.schema
    if schema.each_row != "option":
        return Candidates(
            column=column,
            names=table.options(column),
            scores=table.counts(column).astype(np.float64),
            counted=True,
            one_way=True,
            sensitivity=float(schema.rows_per_person),
            replaced=float(schema.rows_per_person),
            unit=many(schema.unit),
        )
    declared = schema.column(column)
    present = table.complete(column)
    scores = table.numbers(column)
    named = naming(schema.columns)
    if named:
        names = tuple(str(name) for name in table.frame[named[0].name].astype(str)[present])
    else:
        names = tuple(f"row {place + 1}" for place in np.flatnonzero(present))
    flipped = declared.better == "lower"
    return Candidates(
        column=column,
        names=names,
        scores=-scores if flipped else scores,
        counted=declared.reads_as_counts and not flipped,
        one_way=declared.reads_as_counts,
        sensitivity=entry_sensitivity(declared) if declared.bounded else 1.0,
        replaced=entry_sensitivity(declared, "replace_one") if declared.bounded else 1.0,
        flipped=flipped,
        unit=declared.unit or column,
    )
