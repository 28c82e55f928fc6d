"""What others' private models get on the samples: measured beforehand by ``benchmarks.others``, never on the page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from dashboard.blocks import Block, Picture, Rows, Small, Text
from dashboard.case import Case
from dashboard.charts.theme import EPSILON_TITLE, colours, palette
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.questions.training.curves import Asked
from dashboard.questions.training.prepared_rows import Task
from dashboard.view import describe_at
from dashboard.words import others as said
from dpcore.datasets import sample
from dpcore.tradeoff import COLUMNS
from dpcore.training import NoisyGradientDescent, ScaledSteps

FILE = Path(__file__).with_name("others.json")
OURS = (ScaledSteps.key, NoisyGradientDescent.key)
PRIVATE = (*OURS, "interpret", "diffprivlib")
INKED = (NoisyGradientDescent.key, ScaledSteps.key, "interpret", "diffprivlib")
"""In the order of their colours: ours have those of the main chart."""
PUBLIC = ("trees", "guessing")
"""Lines that no ε moves: each has one figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One sample's first question, and its figures: ``scores`` are (mean, standard error) at every ε, or once.

    ``measure`` is "accuracy", a share, or "error", the mean absolute one in the column's own unit.
    """

    sample: str
    target: str
    positive: str | None
    columns: tuple[str, ...]
    rows: int
    splits: int
    measure: str
    scores: Mapping[str, Sequence[tuple[float, float]]]

    @property
    def classifies(self) -> bool:
        return self.measure == "accuracy"

    def value(self, line: str, place: int) -> tuple[float, float] | None:
        """Mean and standard error of a line at the place-th ε; None where it was not measured."""
        own = self.scores.get(line)
        return None if own is None else own[place if len(own) > 1 else 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All that was measured, at ``levels`` of ε, and when, by which versions."""

    written: date
    delta: float
    levels: tuple[float, ...]
    versions: Mapping[str, str]
    tables: tuple[Measured, ...]

    def nearest(self, epsilon: float) -> int:
        """The place of the level nearest to an ε, by ratio."""
        return int(np.argmin([abs(math.log(level / epsilon)) for level in self.levels]))


@cache
def figures() -> Figures:
    """The file that the benchmark wrote."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    tables = [
        Measured(
            sample=one["sample"],
            target=one["target"],
            positive=one["positive"],
            columns=tuple(one["columns"]),
            rows=one["rows"],
            splits=one["splits"],
            measure=one["measure"],
            scores={line: [(mean, error) for mean, error in each] for line, each in one["scores"].items()},
        )
        for one in found["tables"]
    ]
    return Figures(
        written=date.fromisoformat(found["written"]),
        delta=found["delta"],
        levels=tuple(found["levels"]),
        versions=found["versions"],
        tables=tuple(tables),
    )


def blocks(case: Case, task: Task, asked: Asked) -> Sequence[Block]:
    """The tab: this very question where it is one of those that were measured, then all of them."""
    found = figures()
    place = found.nearest(asked.epsilon)
    own = next((one for one in found.tables if case.source.public and _same(one, case, task)), None)
    return [
        *(_measured(own, found, place, asked) if own else [Text(said.not_measured(sample_data=case.source.public))]),
        Text(said.every(found.levels[place], *_first(found, place))),
        *_every(found, place),
        Small(said.how(found.versions, found.written, found.delta)),
    ]


def _same(one: Measured, case: Case, task: Task) -> bool:
    """Whether a question is the one that was measured."""
    return (one.sample, one.target, one.positive, set(one.columns)) == (
        case.source.key,
        task.target,
        None if task.features.target.kind == "yes/no" else task.positive,
        set(task.columns),
    ) and not (task.apart or task.pairs)


def _measured(own: Measured, found: Figures, place: int, asked: Asked) -> Sequence[Block]:
    values = {line: cell for line in (*PRIVATE, *PUBLIC) if (cell := own.value(line, place)) is not None}
    told = said.headline(found.levels[place], own.target, values, found.written, found.delta, classifies=own.classifies)
    names = {line: said.NAMES[line] for line in values}
    return [
        Text(told),
        Text(said.ahead(values, OURS, classifies=own.classifies)),
        _picture(own, found, place, names, asked.main if asked.main in OURS else OURS[0]),
        _table(own, found, names),
        Small(said.measured_on(own.rows, own.splits, asked.epsilon, found.levels[place])),
    ]


def _picture(own: Measured, found: Figures, place: int, names: Mapping[str, str], main: str) -> Picture:
    """Every line against ε, with its standard error as a band around the one that is ``main``."""
    scale = Scale(
        title=said.axis(own.target, classifies=own.classifies),
        factor=100.0 if own.classifies else 1.0,
        unit=" in 100" if own.classifies else "",
        zoom=True,
    )
    lines = []
    for line in names:
        cells = [own.value(line, at) or (math.nan, math.nan) for at in range(len(found.levels))]
        for level, (mean, error) in zip(found.levels, cells, strict=True):
            kind = "exact" if line in PUBLIC else "simulated"
            lines.append((line, level, own.rows, own.measure, mean, mean - error, mean + error, kind))
    frame = pd.DataFrame(lines, columns=list(COLUMNS))
    drawn = pd.concat([_finer(part) for _, part in frame.groupby("method", sort=False)], ignore_index=True)
    beside = drawn["method"] != main  # one band can be read, four cannot
    drawn.loc[beside, "low"] = drawn.loc[beside, "high"] = drawn.loc[beside, "value"]

    def ink(dark: bool) -> dict[str, str]:
        look = palette(dark)
        return {**colours(INKED, dark), "trees": look.ink, "guessing": look.soft}

    return Picture(
        key="training-others",
        figure=lambda dark: tradeoff(
            drawn,
            x="epsilon",
            x_title=EPSILON_TITLE,
            scale=scale,
            names=names,
            colour=ink(dark),
            main=main,
            chosen=found.levels[place],
            dark=dark,
        ),
        alt=describe_at(frame, names, scale, "epsilon", found.levels[place], said.place(found.levels[place])),
        data=frame,
        note=said.BAND,
    )


def _finer(part: pd.DataFrame) -> pd.DataFrame:
    """One line with points between those that were measured, so that its name finds a place beside it."""
    at = part["epsilon"].to_numpy(float)
    places = np.unique(np.concatenate([at, np.geomspace(at[0], at[-1], 25)]))
    between = {name: np.interp(np.log(places), np.log(at), part[name]) for name in ("value", "low", "high")}
    fixed = {name: part[name].iloc[0] for name in ("method", "n", "metric", "kind")}
    return pd.DataFrame({"epsilon": places, **between, **fixed})[list(COLUMNS)]


def _table(own: Measured, found: Figures, names: Mapping[str, str]) -> Rows:
    """The same figures with their standard errors."""
    rows = [
        {said.LINE: name}
        | {
            said.place(level): said.cell(own.value(line, at), classifies=own.classifies)
            for at, level in enumerate(found.levels)
        }
        for line, name in names.items()
    ]
    return _said(rows)


def _said(rows: Sequence[Mapping[str, str]]) -> Rows:
    """A table of texts, which is heard row by row."""
    frame = pd.DataFrame(rows)
    return Rows(frame=frame, alt="; ".join(", ".join(row) for row in frame.to_numpy()) + ".")


def _name(one: Measured) -> str:
    return sample(one.sample).title.split(",")[0]


def _first(found: Figures, place: int) -> tuple[dict[str, int], list[str]]:
    """On how many samples each private model is first of all, and the samples where none beats what needs no data."""
    first, useless = dict.fromkeys(PRIVATE, 0), []
    for one in found.tables:
        sign = 1.0 if one.classifies else -1.0
        means = {line: sign * cell[0] for line in (*PRIVATE, *PUBLIC) if (cell := one.value(line, place)) is not None}
        best = max((line for line in PRIVATE if line in means), key=means.__getitem__)
        first[best] += 1
        if means[best] <= means["guessing"]:
            useless.append(_name(one))
    return first, useless


def _every(found: Figures, place: int) -> Iterator[Block]:
    """Every sample's first question at one ε: shares, of which more is better, and errors, of which less is."""
    for classifies in (True, False):
        rows = [
            {said.SAMPLE: f"{_name(one)}, {one.rows:,}", said.TOLD: said.told(one)}
            | {
                said.SHORT[line]: said.cell(one.value(line, place), classifies=classifies)
                for line in (*PRIVATE, *PUBLIC)
            }
            for one in found.tables
            if one.classifies == classifies
        ]
        if rows:
            yield Small(said.unit_of_all(classifies=classifies))
            yield _said(rows)
