"""What is watched: counts per day or per group, or a column of a table in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.words import alarm as said
from dpcore.datasets import Column, Declaration, Schema, Table
from dpcore.datasets.suitability import counts_time
from dpcore.releases.cells import entry_sensitivity, stand_in
from dpcore.thresholding.laws import LARGEST_ANSWER
from dpcore.validate import FloatArray, Neighbours

LONGEST = 5000
"""Answers that a picture can hold."""
LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class Watched:
    """A series, named by the columns it is made from.

    ``rows`` counts the rows per day or option of ``column``, ``yes`` those of them where ``yes`` holds; ``column``
    takes the entries of a table of steps or options as they are.
    """

    kind: Literal["rows", "yes", "column"]
    column: str
    yes: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is made from."""
        return (self.column, self.yes) if self.yes else (self.column,)

    @property
    def code(self) -> str:
        """Its name in a link: different series have different ones, whatever their columns are called."""
        parts = (part.replace("~", "~0").replace(":", "~1") for part in self.columns)
        return ":".join((self.kind, *parts))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """``answers`` (k,) with their ``names``, in the order they are asked.

    ``people``: whom they count, or how many entries there are. ``sensitivity``: how far one person can move one answer,
    as ``stated``, or else over the whole declared range; ``replaced``: one in another's place. ``counts``: declared to
    count people, so that one person added or removed moves all answers the same way. ``unit`` is what an answer counts,
    ``step`` what it belongs to (a day), ``timed`` whether those follow each other in time.
    """

    names: tuple[str, ...]
    answers: FloatArray
    people: int
    sensitivity: float
    replaced: float
    stated: bool
    counts: bool
    unit: str
    step: str
    timed: bool

    def under(self, relation: Neighbours) -> Series:
        """The same series where neighbours differ so."""
        return self if relation == "add_remove" else replace(self, sensitivity=self.replaced)

    def one_way(self, relation: Neighbours) -> bool:
        """Whether neighbouring data move all answers the same way."""
        return self.counts and relation == "add_remove"


def offered(schema: Schema) -> tuple[Watched, ...]:
    """What can be watched, the best first; what is declared longer than a picture holds only where nothing else is
    there, so that a sentence says why it cannot."""
    if schema.each_row != "record":
        return tuple(Watched("column", column.name) for column in schema.columns if column.is_numeric)
    found = []
    groups = [*schema.of_type("date"), *schema.of_type("category")]
    fit = [group for group in groups if _declared(group) <= LONGEST]
    declared = any(group.releasable for group in fit)  # one that nobody declared takes no declared one's place
    for group in [group for group in groups if group in fit or (group.releasable and not declared)] or groups:
        found.append(Watched("rows", group.name))
        found += [Watched("yes", group.name, yes.name) for yes in schema.of_type("yes/no")]
    return tuple(found)


def _declared(group: Column) -> int:
    """How many days or options a column is declared to have; 0 where it is not."""
    if group.earliest is None or group.latest is None:
        return len(group.categories)
    return int((pd.Timestamp(group.latest).normalize() - pd.Timestamp(group.earliest).normalize()).days) + 1


def series_of(table: Table, watched: Watched) -> Series | str:
    """The series, or one sentence why it cannot be watched."""
    schema = table.schema
    column = schema.column(watched.column)
    size = _size(table, watched, column)
    if size > LONGEST:  # before it is counted: days can be millions
        return said.too_long(size, LONGEST)
    return _entries(table, column) if watched.kind == "column" else _counted(table, column, watched.yes)


def _size(table: Table, watched: Watched, column: Column) -> int:
    """How many answers there are; 0 where that cannot be told."""
    if watched.kind == "column":
        return table.rows
    if column.type != "date":
        return len(column.categories)
    if table.frame[column.name].isna().all() and not column.bounded:
        return 0
    first, last = _days(table, column)
    return int((last - first).days) + 1


def entries(table: Table, column: Column) -> FloatArray:
    """The entries of a column in order, shape (rows,); a missing one counts as 0, or as the bound nearest to it."""
    values = table.frame[column.name].astype("float64").fillna(stand_in(column))
    return np.clip(values.to_numpy(dtype=np.float64), -LARGEST_ANSWER, LARGEST_ANSWER)


def counted(table: Table, group: Column, yes: str) -> FloatArray:
    """Rows per day or option of ``group`` (those where ``yes`` holds), days and options without rows included."""
    frame = table.frame
    chosen = frame if not yes else frame[frame[yes].fillna(False).astype(bool)]
    if group.type == "date":
        first, last = _days(table, group)
        days = chosen[group.name].dropna().dt.normalize()
        places = (days - first).dt.days.to_numpy(np.int64)
        length = (last - first).days + 1
        inside = places[(places >= 0) & (places < length)]
        return np.bincount(inside, minlength=length).astype(np.float64)
    codes = chosen[group.name].cat.codes.to_numpy(np.int64)
    return np.bincount(codes[codes >= 0], minlength=len(group.categories)).astype(np.float64)


def naming(declared: Declaration) -> tuple[str, ...]:
    """The declared columns whose cells could say in an answer what a row is called: dates of steps, texts of options.

    What they say is given away, so no question asks about them in private (``GIVES_NAMES``), and where there are
    several an answer does not take the first.
    """
    kind = "date" if declared.each_row == "step" else "text"
    return tuple(column.name for column in declared.columns if column.type == kind)


def labels(table: Table) -> tuple[str, ...]:
    """What a picture calls the rows of a table of steps or options."""
    schema = table.schema
    first = next((column.name for column in schema.columns if column.type in ("date", "text", "category")), None)
    named = _counted_up(table) or first  # rows are shown anyway
    if named is None:
        return tuple(f"{place + 1}" for place in range(table.rows))
    raw = table.frame[named]
    if schema.column(named).type == "date":
        told = raw.dt.strftime(said.DAY)
    else:
        told = (raw.astype("Int64") if schema.column(named).is_numeric else raw).astype("string")
    unnamed = [pd.isna(name) or not str(name).strip() for name in told]
    called = [f"{place + 1}" if none else str(told.iloc[place]) for place, none in enumerate(unnamed)]
    return tuple(words.shortened(called, LONGEST_NAME))


def _counted_up(table: Table) -> str | None:
    """The whole numbers that rise with the steps, years say, where no date names them: for pictures, which show the
    rows anyway. A release never takes names from a column of numbers, which could be entries to protect."""
    schema = table.schema
    if schema.each_row != "step" or schema.of_type("date"):
        return None
    for column in schema.of_type("integer"):
        if counts_time(column.name) and bool((table.frame[column.name].astype("float64").diff().iloc[1:] > 0).all()):
            return column.name
    return None


def first_line(series: Series) -> float:
    """A line to begin with, for data that everybody may see: a third of the way up, or, where that is reached at once,
    just below the last entry that rises most above all before it."""
    answers = series.answers
    usual, highest = float(np.median(answers)), float(answers.max())
    line = float(f"{usual + (highest - usual) * 0.35:.1g}")
    if line > answers[0]:
        return line
    record = np.maximum.accumulate(answers)
    rises = np.diff(record)
    if not (rises > 0).any():
        return line
    place = int(np.flatnonzero(rises == rises.max())[-1])
    return _roundest(float(record[place]), float(record[place] + record[place + 1]) / 2.0)


def own_line(schema: Schema, watched: Watched) -> float:
    """A line to begin with, from declared facts alone."""
    column = schema.column(watched.column)
    if watched.kind != "column":
        return 10.0 * schema.rows_per_person
    if column.from_file or column.low is None or column.high is None:
        return 10.0
    return float(f"{column.low + (column.high - column.low) / 2.0:.3g}")


def _roundest(low: float, high: float) -> float:
    """The roundest number above ``low`` and up to ``high``, the highest of them."""
    decade = int(np.floor(np.log10(max(abs(low), abs(high), 1e-9))))
    for place in range(decade + 1, decade - 8, -1):
        for digit in (5.0, 2.0, 1.0):
            step = digit * 10.0**place
            found = float(np.floor(high / step) * step)
            if found > low:
                return float(f"{found:.6g}")
    return high


def _entries(table: Table, column: Column) -> Series | str:
    schema, answers = table.schema, entries(table, column)
    if answers.size == 0:
        return said.NOTHING_THERE
    if column.moved is None and (column.low is None or column.high is None):
        return said.no_range(column.name)
    total = float(answers.sum())
    return Series(
        names=labels(table),
        answers=answers,
        people=max(1, round(total)) if column.counts and total > 0 else answers.size,
        sensitivity=entry_sensitivity(column),
        replaced=entry_sensitivity(column, "replace_one"),
        stated=column.moved is not None or schema.protects_rows,
        counts=column.reads_as_counts,
        unit=words.visible(column.unit or column.name, LONGEST_NAME),
        step=row_word(schema),
        timed=schema.each_row == "step",
    )


def row_word(declared: Schema | Declaration) -> str:
    """What a row of a table of steps or options is called by what is declared."""
    if declared.each_row == "option":
        return said.OPTION
    if declared.unit != "person":
        return words.visible(declared.unit, LONGEST_NAME)
    return said.A_DAY if any(column.type == "date" for column in declared.columns) else said.STEP


def _counted(table: Table, group: Column, yes: str) -> Series | str:
    if not group.bounded and not table.complete(group.name).any():
        return said.NOTHING_THERE  # neither days nor options were declared, and none occur
    answers, schema = counted(table, group, yes), table.schema
    if group.type == "date":
        first, last = _days(table, group)
        names = tuple(pd.date_range(first, last, freq="D").strftime(said.DAY))
    else:
        names = tuple(words.shortened(group.categories, LONGEST_NAME))
    return Series(
        names=names,
        answers=answers,
        people=max(1, int(answers.sum())),
        sensitivity=float(schema.rows_per_person),
        replaced=float(schema.rows_per_person),
        stated=True,
        counts=True,
        unit=said.counted_unit(schema),
        step=said.A_DAY if group.type == "date" else words.visible(group.name, LONGEST_NAME),
        timed=group.type == "date",
    )


def _days(table: Table, group: Column) -> tuple[pd.Timestamp, pd.Timestamp]:
    """First and last day as declared; where they are not, those of the table."""
    days = table.frame[group.name].dropna()
    first = pd.Timestamp(group.earliest) if group.earliest else days.min()
    last = pd.Timestamp(group.latest) if group.latest else days.max()
    return first.normalize(), last.normalize()


def names_of(schema: Schema, found: Sequence[Watched]) -> dict[Watched, str]:
    """Words for each series."""
    return {one: said.series(schema, one.kind, one.column, one.yes) for one in found}
