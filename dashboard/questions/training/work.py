"""What runs in worker processes: functions of plain data, without Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.tradeoff import sweep_epsilon
from dpcore.training import (
    LineProblem,
    NoisyGradientDescent,
    OneNumberProblem,
    Part,
    PartResult,
    Rows,
    Sweep,
    clipping_curve,
    run_slice,
    steps_curve,
)
from dpcore.validate import FloatArray


def slice_of(sweep: Sweep, part: Part) -> PartResult:
    """One slice of a sweep."""
    return run_slice(sweep, part)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """A small curve of noisy gradient descent: against ``steps`` or against the clipping norm."""

    about: str
    method: NoisyGradientDescent
    rows: Rows
    seed: int


def lesson(task: Lesson, _: None) -> pd.DataFrame:
    """The curve that ``task`` describes."""
    rng = np.random.Generator(np.random.SFC64(task.seed))
    make = steps_curve if task.about == "steps" else clipping_curve
    return make(task.method, task.rows, rng, replicas=12)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simple:
    """A gentle problem: the mean or median of ``x``, or the line of ``y`` on ``x``."""

    about: str
    x: FloatArray
    y: FloatArray | None
    epsilon: tuple[float, ...]


def simple(task: Simple, _: None) -> pd.DataFrame:
    """Excess loss of its methods against ε."""
    problem: Any
    if task.about == "line" and task.y is not None:
        problem = LineProblem(x=task.x, y=task.y, seeds=20)
    else:
        problem = OneNumberProblem(values=task.x, statistic="median" if task.about == "median" else "mean")
    return sweep_epsilon(problem, task.epsilon)
