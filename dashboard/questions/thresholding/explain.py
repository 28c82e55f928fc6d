"""Sentences and tables about alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.questions.thresholding.series import Series
from dpcore.thresholding import AlarmLaw
from dpcore.thresholding.problem import AlarmProblem
from dpcore.validate import FloatArray


def headline(
    problem: AlarmProblem, series: Series, method: str, epsilon: float, chances: Mapping[str, float]
) -> tuple[str, str]:
    """The headline answer and its caption."""
    level = f"At ε = {words.number(epsilon)}"
    rest = (
        f"False alarm {words.times_in_100(chances['false alarm'])}, late {words.times_in_100(chances['late'])}, "
        f"missed {words.times_in_100(chances['missed'])}."
    )
    promise = problem.evaluate("theory", "on_time", np.array([epsilon]), np.array([float(problem.n)])).value[0]
    theory = (
        f"The textbook's theorem promises {words.times_in_100(float(promise))}."
        if promise > 0.005
        else ("The textbook's theorem promises nothing yet at this ε.")
    )
    if problem.crossing is None:
        return (
            f"{level} the private alarm stays silent, as it should, **{words.times_in_100(chances['on time'])}**.",
            f"The series never reaches the line. {theory}",
        )
    where = words.safe(series.names[problem.crossing])
    return (
        f"{level} the private alarm is raised on time **{words.times_in_100(chances['on time'])}**.",
        f"Without privacy it would be raised at {where}, every time. {rest} {theory}",
    )


def alt_when(names: Sequence[str], law: FloatArray, window: tuple[int, int]) -> str:
    """Words for the picture of where the alarm falls."""
    likeliest = int(np.argmax(law[:-1])) if law.size > 1 else 0
    before, within, after = law[: window[0]].sum(), law[window[0] : window[1]].sum(), law[window[1] : -1].sum()
    return (
        f"First alarm: {words.number(100 * before)} in 100 before the crossing, {words.number(100 * within)} on time, "
        f"{words.number(100 * after)} later, {words.number(100 * law[-1])} never; likeliest at {names[likeliest]}."
    )


def law_table(names: Sequence[str], answers: FloatArray, law: AlarmLaw) -> pd.DataFrame:
    """The exact law as numbers: one row per query and one for "never"."""
    return pd.DataFrame(
        {
            "query": [*names, "never"],
            "answer": [*answers.tolist(), None],
            "first alarm here": law.position[0],
            "any alarm here": [*law.per_query.tolist(), None],
        }
    )
