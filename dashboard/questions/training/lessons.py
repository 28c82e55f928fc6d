"""Small lessons: one descent watched, too many steps, clipping, the price of tuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Formula, Keep, Picture, Slow, Small, Text
from dashboard.case import Case
from dashboard.charts import descent
from dashboard.controls import Choice, Number
from dashboard.questions.training.curves import Asked, methods, scale
from dashboard.questions.training.prepared_rows import Task
from dashboard.questions.training.training_code import rows_code
from dashboard.words import inside as said_inside
from dashboard.words import number, visible, whole
from dashboard.words import predict as said
from dpcore.training import (
    NoisyGradientDescent,
    Trace,
    clipping_curve,
    descent_trace,
    steps_curve,
    tuning_price,
)
from dpcore.training import Rows as Split
from dpcore.training.training_problem import METRICS

SHOWN_ROWS, LANDSCAPE_ROWS, LESSON_ROWS, REPLICAS = 5000, 1000, 4000, 12
LESSON: Choice[str] = Choice(
    key="training_lesson",
    label=said.LESSON,
    options=("steps", "clip"),
    names=said.LESSONS,
    default="steps",
    look="buttons",
    hide_label=True,
)
SETTINGS = Number(key="training_settings", label=said.SETTINGS, default=10.0, low=1.0, high=50.0, whole=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """What a worker tries noisy gradient descent on: once, or for a curve against ``steps`` or the clipping norm."""

    about: str
    method: NoisyGradientDescent
    rows: Split
    seed: int


def descend(task: Lesson, _: None) -> tuple[Trace, Any]:
    """One descent with the loss around its path; for a worker process."""
    X, y = task.rows.X, task.rows.y
    trace = descent_trace(task.method, X, y, np.random.Generator(np.random.PCG64(task.seed)))
    around = trace.landscape(task.method.loss, X[:LANDSCAPE_ROWS], y[:LANDSCAPE_ROWS], points=31)
    return replace(trace, gradients=trace.gradients[:, :0]), around  # nothing shows those of rows


def watched(case: Case, task: Task, asked: Asked) -> Sequence[Block]:
    """One noisy descent, step by step."""
    rows = min(task.n, SHOWN_ROWS)
    method = NoisyGradientDescent(epsilon=asked.epsilon, delta=asked.delta, loss=task.loss)
    then = said_inside.code_descent(asked.epsilon, asked.delta, asked.seed)
    code = rows_code(case, task, rows, (type(method).__name__, "descent_trace"), then)
    other = [] if asked.main == method.key else [Text(said.other_in_use(methods(task)[asked.main].about))]
    return [
        *other,
        Text(said.WATCHED),
        Slow(
            slot="training-descent",
            key=(*task.identity, "trace", asked.epsilon, asked.delta, asked.seed),
            work=descend,
            common=lambda: Lesson(about="descent", method=method, rows=task.rows.at_most(rows), seed=asked.seed),
            show=lambda found: _descent(task, found[0], found[1], code),
            what=said.TRAINING,
            height=340,
        ),
        Formula(latex=said.FORMULA, source=said.SOURCE),
    ]


def _descent(task: Task, trace: Trace, landscape: Any, code: str | None) -> Sequence[Block]:
    rows = min(task.n, SHOWN_ROWS)
    steps, louder = int(trace.signal.size), int((trace.noise > trace.signal).sum())
    return [
        Picture(
            key="training-path",
            figure=lambda dark: descent.path(trace, landscape, dark=dark),
            alt=said.path_alt(steps, float(trace.loss[-1] - trace.least)),
            data=lambda: pd.DataFrame(
                {"step": np.arange(steps + 1), "x": trace.path[:, 0], "y": trace.path[:, 1], "loss": trace.loss}
            ),
            code=code,
        ),
        Text(said.signal(louder, steps)),
        Picture(
            key="training-signal",
            figure=lambda dark: descent.signal(trace, dark=dark),
            alt=said.signal_alt(louder, steps),
            data=lambda: pd.DataFrame(
                {
                    "step": np.arange(1, steps + 1),
                    "signal": trace.signal,
                    "noise": trace.noise,
                    "clipped": trace.clipped,
                }
            ),
            code=code,
        ),
        Small(said.clipped(float(trace.clipped.mean()), rows, task.n)),
    ]


def curve(task: Lesson, _: None) -> pd.DataFrame:
    """The curve that ``task`` describes; for a worker process."""
    rng = np.random.Generator(np.random.SFC64(task.seed))
    make = steps_curve if task.about == "steps" else clipping_curve
    return make(task.method, task.rows, rng, replicas=REPLICAS)


def too_much(case: Case, task: Task, asked: Asked, kind: str) -> Sequence[Block]:
    """More steps can make it worse; what clipping does."""
    few = task.rows.at_most(LESSON_ROWS)
    method = NoisyGradientDescent(epsilon=asked.epsilon, delta=asked.delta, loss=task.loss)
    then = said_inside.code_lesson(kind, asked.epsilon, asked.delta, asked.seed, REPLICAS)
    code = rows_code(
        case, task, LESSON_ROWS, (type(method).__name__, {"steps": "steps_curve", "clip": "clipping_curve"}[kind]), then
    )
    work = Lesson(about=kind, method=method, rows=few, seed=asked.seed)
    return [
        Ask((LESSON,)),
        Text(said.LESSON_TEXTS[kind]),
        Slow(
            slot=f"training-lesson-{kind}",
            key=(*task.identity, "lesson", kind, asked.epsilon, asked.delta, asked.seed),
            work=curve,
            common=lambda: work,
            show=lambda frame: _lesson(task, frame, kind, int(few.X.shape[0]), code),
            what=said.TRAINING,
            height=340,
        ),
    ]


def _lesson(task: Task, frame: pd.DataFrame, kind: str, rows: int, code: str | None) -> Sequence[Block]:
    found = frame[frame["metric"] == task.metric].reset_index(drop=True)
    shown, higher = scale(task.metric), METRICS[task.metric].higher
    column = "steps" if kind == "steps" else "clip"
    columns = (column, "value", "low", "high", "without_noise")
    x, value, low, high, quiet = (found[name].to_numpy(float) for name in columns)
    best = int(np.argmax(value) if higher else np.argmin(value))
    factor = shown.factor
    return [
        Text(
            said.lesson_verdict(
                kind,
                best=(x[best], factor * value[best]),
                last=(x[-1], factor * value[-1]),
                quiet_last=factor * quiet[-1],
                within=bool(low[best] <= value[-1] <= high[best]),
                unit=shown.unit,
            )
        ),
        Picture(
            key=f"training-lesson-{kind}",
            figure=lambda dark: descent.lesson(
                x,
                factor * value,
                factor * low,
                factor * high,
                factor * quiet,
                x_title=said.LESSON_AXES[kind],
                y_title=shown.title,
                dark=dark,
            ),
            alt=said.lesson_alt(shown.title, kind, x[best]),
            data=found,
            code=code,
        ),
        Small(said.lesson_note(rows, REPLICAS)),
    ]


def what_if(task: Task, asked: Asked, value: float | None, tried: int) -> Sequence[Block]:
    """Scenarios side by side, and what tuning would cost."""
    price = tuning_price(tried, epsilon=asked.epsilon, delta=asked.delta)
    shown = scale(task.metric)
    return [
        Text(said.WHAT_IF_TEXT),
        Keep(
            current=(
                ("ε", number(asked.epsilon)),
                ("rows", whole(task.n)),
                ("predicts", visible(task.target, 30)),
                ("columns", str(len(task.columns))),
                ("method", methods(task)[asked.main].about.name),
                (shown.title, "–" if value is None else number(shown.factor * value)),
            )
        ),
        Text(said.TUNING_TITLE),
        Ask((SETTINGS,)),
        Text(said.tuning(tried, asked.epsilon, price.all_runs, price.random_stopping, price.share)),
    ]
