"""How far the private model at the chosen ε can be trusted: who is told what, and whether its chances are true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dashboard.blocks import Block, Picture, Rows, Slow, Small, Text
from dashboard.case import Case
from dashboard.charts.calibration import calibration
from dashboard.questions.training import curves
from dashboard.questions.training.curves import Asked, methods
from dashboard.questions.training.prepared_rows import Task
from dashboard.words import number
from dashboard.words import trust as said
from dpcore.training import Judged, Sweep, absolute_errors, judge
from dpcore.validate import FloatArray

MODELS = 12
MOST_SHOWN = 12
"""Classes up to which the whole table is shown: a larger one is not read on a page."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToJudge:
    """What a worker process is asked: models of ``method`` at ``epsilon``, in the rows of ``sweep``."""

    sweep: Sweep
    method: str
    epsilon: float


def judged(task: ToJudge, number: int) -> Judged | FloatArray:
    """``judge`` for classes, else absolute errors, of one model; for a worker process."""
    make: Any = judge if task.sweep.metrics[0] == "accuracy" else absolute_errors
    found: Judged | FloatArray = make(task.sweep, task.method, task.epsilon, models=1, number=number)
    return found


def together(found: Sequence[Any]) -> Judged | FloatArray:
    """What was found of each model, of all of them."""
    return Judged.together(found) if isinstance(found[0], Judged) else np.concatenate(found)


def blocks(case: Case, task: Task, asked: Asked) -> Sequence[Block]:
    """The tab."""
    show = partial(_several if task.apart else _classes if task.two_classes else _number, task, asked)
    return [
        Slow(
            slot="training-trust",
            key=(*task.identity, "trust", asked.main, asked.epsilon, asked.delta, asked.seed),
            work=judged,
            common=lambda: ToJudge(
                sweep=curves.sweep(task, asked, "epsilon"), method=asked.main, epsilon=asked.epsilon
            ),
            show=show,
            parts=range(MODELS),
            put=together,
            what=said.JUDGING,
            height=420,
        )
    ]


def _classes(task: Task, asked: Asked, found: Judged) -> Sequence[Block]:
    other, positive = task.classes
    (spared, alarmed), (missed, right) = found.confusion
    frame = pd.DataFrame(
        {
            said.WHO: [positive, other],
            said.told(positive): [number(right), number(alarmed)],
            said.told(other): [number(missed), number(spared)],
        }
    )
    about = methods(task)[asked.main].about
    words = said.confusion(asked.epsilon, about.name, (other, positive), (right, missed, spared, alarmed), MODELS)
    one_class = bool(np.isnan(found.area).any())
    sides = said.ONE_CLASS if one_class else said.balanced(float(found.balanced.mean()), float(found.area.mean()))
    return [
        Text(words),
        _table(frame),
        Text(sides),
        Text(said.believed(found.gap, positive)),
        _believed(found, said.REALLY),
        Small(said.SIZES),
    ]


def _several(task: Task, asked: Asked, found: Judged) -> Sequence[Block]:
    names = task.classes
    about = methods(task)[asked.main].about
    table = pd.DataFrame({said.WHO: names})
    sizes = found.confusion.sum(axis=1)
    table[said.TO_JUDGE] = [number(size) for size in sizes]
    table[said.TOLD_RIGHT] = [
        number(100 * right / size) if size else said.NONE
        for right, size in zip(np.diag(found.confusion), sizes, strict=True)
    ]
    table[said.TAKEN_FOR] = [_taken_for(names, row, place) for place, row in enumerate(found.confusion)]
    blocks: list[Block] = [
        Text(said.several(asked.epsilon, about.name, float(np.trace(found.confusion)), float(sizes.sum()), MODELS)),
        _table(table),
    ]
    if len(names) <= MOST_SHOWN:
        whole = pd.DataFrame({said.WHO: names})
        for place, name in enumerate(names):
            whole[said.told(name)] = [number(value) for value in found.confusion[:, place]]
        blocks.append(_table(whole))
    alike = float(found.balanced.mean())
    return [
        *blocks,
        Text(said.ONE_CLASS if np.isnan(alike) else said.balanced_several(alike, int((sizes > 0).sum()))),
        Text(said.believed_told(found.gap)),
        _believed(found, said.REALLY_TOLD),
        Small(said.SIZES),
    ]


def _table(frame: pd.DataFrame) -> Rows:
    """Who is told right and who is not, with the same in words."""
    return Rows(frame=frame, alt=said.confusion_alt("; ".join(", ".join(map(str, row)) for row in frame.to_numpy())))


def _believed(found: Judged, really: str) -> Picture:
    """How far stated chances can be believed; ``really`` is what the picture holds them against."""
    return Picture(
        key="training-trust",
        figure=lambda dark: calibration(
            found.calibration, x_title=said.STATED, y_title=really, right=said.BELIEVED, dark=dark
        ),
        alt=said.believed_alt(found.gap),
        data=found.calibration,
    )


def _taken_for(names: Sequence[str], row: FloatArray, own: int) -> str:
    """The class that one is most often mistaken for, and how often in 100 of its rows."""
    wrong = np.delete(row, own)
    if not wrong.sum():
        return said.NONE
    place = int(np.argmax(wrong))
    other = [name for at, name in enumerate(names) if at != own][place]
    return said.mistaken(other, 100 * float(wrong[place] / row.sum()))


def _number(task: Task, asked: Asked, errors: FloatArray) -> Sequence[Block]:
    target = task.features.target
    unit = (target.high - target.low) / 2.0
    low, high = np.quantile(errors, (0.1, 0.9))
    guess = float(np.abs(task.rows.y_test - task.rows.y.mean()).mean())
    about = methods(task)[asked.main].about
    spread = (unit * float(errors.mean()), unit * float(low), unit * float(high))
    return [Text(said.in_own_unit(asked.epsilon, about.name, target.name, spread, unit * guess, MODELS))]
