"""The gentle entry to training: a mean, a median and a straight line, as loss minimisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Note, Picture, Slow, Small
from dashboard.case import Case
from dashboard.charts.theme import EPSILON_TITLE, colours
from dashboard.charts.tradeoff import HEIGHT, Scale, tradeoff
from dashboard.controls import Choice, Control, Read, slug
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, describe_at
from dashboard.words import predict as said
from dashboard.words import visible
from dpcore.datasets import Table
from dpcore.tradeoff import Problem, sweep_epsilon
from dpcore.training import LineProblem, OneNumberProblem
from dpcore.validate import FloatArray

LEVELS = tuple(np.geomspace(EPSILON_LOW, EPSILON_HIGH, 16).tolist())
MOST_ROWS, FEWEST_ROWS, SEEDS = 5000, 20, 20
ABOUT: Choice[str] = Choice(
    key="simple_about",
    label=said.LEARN,
    options=("mean", "median", "line"),
    names=said.SIMPLE,
    default="mean",
    look="buttons",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gentle:
    """A gentle problem: the mean or median of ``x``, or the line of ``y`` on ``x``."""

    about: str
    x: FloatArray
    y: FloatArray | None

    def problem(self) -> Problem:
        if self.about == "line" and self.y is not None:
            return LineProblem(x=self.x, y=self.y, seeds=SEEDS)
        return OneNumberProblem(values=self.x, statistic="median" if self.about == "median" else "mean")


def excess(task: Gentle, _: None) -> pd.DataFrame:
    """Excess loss of its methods against ε; for a worker process."""
    return sweep_epsilon(task.problem(), LEVELS)


def blocks(case: Case, read: Read) -> Sequence[Block]:
    """The tab: what to learn of which column, and how well that goes at every ε."""
    table = case.table
    columns = tuple(column.name for column in table.schema.columns if column.is_numeric and column.bounded)
    if not columns:
        return [Note(said.NO_NUMBERS)]
    about = read(ABOUT, "tab")
    name_control = _column("simple_column", said.OF, columns, case)
    name = read(name_control, "tab")
    asked: list[Control[str]] = [ABOUT, name_control]
    named = [name]
    others = tuple(other for other in columns if other != name)
    if about == "line":
        if not others:
            return [Ask(tuple(asked)), Note(said.NO_SECOND)]
        against = _column("simple_against", said.AGAINST, others, case)
        named.append(read(against, "tab"))
        asked.append(against)
    rows = np.flatnonzero(table.complete(*named))[:MOST_ROWS]
    if rows.size < FEWEST_ROWS:
        return [Ask(tuple(asked)), Note(said.few_values(FEWEST_ROWS))]
    scaled = [_scaled(table, column)[rows] for column in named]
    task = Gentle(about=about, x=scaled[-1], y=scaled[0] if about == "line" else None)
    return [
        Ask(tuple(asked)),
        Slow(
            slot="training-simple",
            key=("gentle", table.fingerprint, about, *named),
            work=excess,
            common=lambda: task,
            show=lambda frame: _drawn(task, frame, case.epsilon),
            what=said.GENTLE,
            height=HEIGHT,
        ),
    ]


def _column(key: str, label: str, options: tuple[str, ...], case: Case) -> Choice[str]:
    return Choice(
        key=slug(key, case.source.key),
        label=label,
        options=options,
        names=visible,
        default=case.source.first(options),
        linked=case.source.public,
    )


def _drawn(task: Gentle, frame: pd.DataFrame, epsilon: float) -> Sequence[Block]:
    called = {key: about.name for key, about in task.problem().abouts.items()}
    main = next(key for key in called if key != "theory")
    shown = Scale(title=said.EXCESS)
    return [
        Picture(
            key="training-simple-chart",
            figure=lambda dark: tradeoff(
                frame,
                x="epsilon",
                x_title=EPSILON_TITLE,
                scale=shown,
                names=called,
                colour=colours(list(called), dark),
                main=main,
                chosen=epsilon,
                dark=dark,
                log_y=True,
            ),
            alt=describe_at(frame, called, shown, "epsilon", epsilon, said.place("epsilon", epsilon)),
            data=frame,
        ),
        Small(said.SIMPLE_NOTES[task.about]),
    ]


def _scaled(table: Table, name: str) -> FloatArray:
    """A column on −1…1 by its declared bounds; NaN where missing."""
    column = table.schema.column(name)
    low, high = float(column.low or 0.0), float(column.high or 1.0)
    values = table.frame[name].to_numpy(np.float64, na_value=np.nan)
    return np.asarray(np.clip(2 * (values - low) / (high - low) - 1, -1.0, 1.0))
