"""The series that is watched: counts per day or group, or a column of a table in time order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard import words
from dpcore.datasets import Column, Table
from dpcore.validate import FloatArray

LONGEST = 5000  # queries a picture can hold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """``answers`` (k,) with their ``names``, in the order they are asked.

    ``people``: whom they count. ``sensitivity``: how far one person moves one answer; ``one_way``: whether one person
    added or removed moves all answers the same way.
    """

    names: tuple[str, ...]
    answers: FloatArray
    people: int
    sensitivity: float
    one_way: bool
    unit: str
    step: str


def sources(table: Table) -> dict[str, str]:
    """What can be watched: key to words, the best first."""
    schema = table.schema
    found: dict[str, str] = {}
    if schema.each_row != "record":
        for column in schema.columns:
            if column.is_numeric:
                found[f"column:{column.name}"] = words.visible(column.name)
        return found
    for column in (*schema.of_type("date"), *schema.of_type("category")):
        found[f"rows:{column.name}"] = f"rows per {words.visible(column.name)}"
        for yes in schema.of_type("yes/no"):
            name = f"“yes” in {words.visible(yes.name)} per {words.visible(column.name)}"
            found[f"yes:{column.name}:{yes.name}"] = name
    return found


def columns_of(key: str) -> list[str]:
    """The columns that a series is made from."""
    return [name for name in key.split(":")[1:] if name]


def read(table: Table, key: str) -> Series:
    """The series behind one of ``sources``. Raises KeyError for a key that is not among them."""
    if key not in sources(table):
        raise KeyError(key)
    kind, _, rest = key.partition(":")
    if kind == "column":
        return _column(table, table.schema.column(rest))
    group, _, yes = rest.partition(":")
    return _grouped(table, table.schema.column(group), yes or None)


def _column(table: Table, column: Column) -> Series:
    present = table.complete(column.name)
    answers = table.numbers(column.name)
    labels = [other for other in table.schema.columns if other.type in ("date", "text", "category")]
    if labels:
        raw = table.frame[labels[0].name][present]
        dates = labels[0].type == "date"
        names = tuple(raw.dt.strftime("%d %b %Y")) if dates else tuple(words.visible(str(name), 24) for name in raw)
    else:
        names = tuple(f"{i + 1}" for i in np.flatnonzero(present))
    counts = column.type == "integer" and (column.sensitivity or 1.0) == 1.0 and bool((answers >= 0).all())
    return Series(
        names=names,
        answers=answers,
        people=max(1, round(float(answers.sum()))) if counts else max(1, answers.size),
        sensitivity=column.sensitivity or 1.0,
        one_way=counts,
        unit=column.unit or column.name,
        step="step" if table.schema.each_row == "step" else "row",
    )


def _grouped(table: Table, group: Column, yes: str | None) -> Series:
    frame = table.frame[[group.name] if yes is None else [group.name, yes]].dropna()
    chosen = frame if yes is None else frame[frame[yes].astype(bool)]
    if group.type == "date":
        counted = chosen.groupby(group.name, observed=False).size()
        first = pd.Timestamp(group.earliest) if group.earliest else frame[group.name].min()
        last = pd.Timestamp(group.latest) if group.latest else frame[group.name].max()
        counted = counted.reindex(pd.date_range(first, last, freq="D"), fill_value=0)
        names = tuple(counted.index.strftime("%d %b %Y"))
        step = "day"
    else:
        counted = chosen.groupby(group.name, observed=False).size()
        names = tuple(words.visible(str(name), 24) for name in counted.index)
        step = group.name
    answers = counted.to_numpy(np.float64)
    rows = table.schema.rows_per_person
    return Series(
        names=names,
        answers=answers,
        people=max(1, int(answers.sum())),
        sensitivity=float(rows),
        one_way=True,
        unit="people" if rows == 1 else "rows",
        step=step,
    )


def sensible_threshold(series: Series) -> float:
    """A line to begin with, a third of the way from the usual to the highest answer, rounded."""
    usual, highest = float(np.median(series.answers)), float(series.answers.max())
    line = usual + (highest - usual) * 0.35
    scale = 10.0 ** np.floor(np.log10(max(abs(line), 1e-9)))
    return float(f"{round(line / (scale / 2)) * scale / 2:.6g}")
