"""What the tab says about the private models of other libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

from dashboard.words import number, safe, tiny, visible

TAB = "Other programs"
NAMES: Mapping[str, str] = {
    "scaled_descent": "Noisy descent on steps (ours)",
    "noisy_gradient_descent": "Noisy gradient descent (ours)",
    "interpret": "interpret-core’s boosted model",
    "diffprivlib": "diffprivlib’s linear model (stricter promise)",
    "trees": "Boosted trees without privacy",
    "guessing": "The same answer for everybody",
}
SHORT: Mapping[str, str] = {
    "scaled_descent": "ours, steps",
    "noisy_gradient_descent": "ours, gradient",
    "interpret": "interpret-core",
    "diffprivlib": "diffprivlib",
    "trees": "no privacy",
    "guessing": "same for all",
}
LINE, SAMPLE, TOLD = "program", "sample, rows", "what is predicted"
BAND = (
    "Thick: what the chart at the top draws thick, measured again here, with its standard error as a band; the table "
    "below has those of all lines. "
    "Measured at the ε of the table, drawn straight between."
)
NOT_THERE = "–"


class Question(Protocol):
    """What was predicted."""

    @property
    def target(self) -> str: ...

    @property
    def positive(self) -> str | None: ...

    @property
    def classifies(self) -> bool: ...


def headline(
    epsilon: float,
    column: str,
    values: Mapping[str, tuple[float, float]],
    written: date,
    delta: float,
    *,
    classifies: bool,
) -> str:
    """``values``: mean and standard error of every line, shares of right predictions or errors in the own unit."""

    def shown(line: str) -> str:
        return number((100.0 if classifies else 1.0) * values[line][0])

    private = [f"{NAMES[line]} {shown(line)}" for line in values if line not in ("trees", "guessing")]
    name = safe(visible(column, 30))
    what = (
        f"Of 100 rows kept aside, “{name}” predicted right at ε = {number(epsilon)} (more is better)"
        if classifies
        else f"How far predictions of “{name}” are off at ε = {number(epsilon)}, in its own unit (less is better)"
    )
    sign = 1.0 if classifies else -1.0
    below = [
        NAMES[line]
        for line in values
        if line not in ("trees", "guessing") and sign * values[line][0] < sign * values["guessing"][0]
    ]
    worse = f" Worse than that guess, so of no use here: {' and '.join(below)}." if below else ""
    if "diffprivlib" in values:
        worse += (
            f" But diffprivlib promises more, which costs accuracy: its protection has no exception, and that of the "
            f"others leaves a chance of {tiny(delta)} on top of ε."
        )
    return (
        f"**What do other programs get? {what}: {'; '.join(private)}.** Protecting nobody, boosted trees (a strong "
        f"method of another kind) get {shown('trees')}; looking at nobody, with one and the same guess for everybody, "
        f"it is {shown('guessing')}.{worse} Measured by us on this sample on {written.day} {written:%B %Y}, not now "
        "and not on your data."
    )


def unit_of_all(*, classifies: bool) -> str:
    """Above a table of samples: what its figures are."""
    return (
        "Right in 100 rows: more is better."
        if classifies
        else "Mean error, in the unit of what is predicted: less is better."
    )


def ahead(values: Mapping[str, tuple[float, float]], ours: Sequence[str], *, classifies: bool) -> str:
    """Whether one of the others does better than both of ours, by more than chance would often do."""
    sign = 1.0 if classifies else -1.0
    own = max((line for line in ours if line in values), key=lambda line: sign * values[line][0])
    others = [line for line in ("interpret", "diffprivlib") if line in values]
    best = max(others, key=lambda line: sign * values[line][0])
    gap = sign * (values[own][0] - values[best][0])
    unsure = 2.0 * math.hypot(values[own][1], values[best][1])
    if gap < -unsure:
        return f"On these data another library is ahead: {NAMES[best]}."
    if gap <= unsure:
        return f"{NAMES[own]} and {NAMES[best]} are too close to say which is better."
    beaten = sign * (values[own][0] - values["guessing"][0]) > 0.0
    return f"The best of these here, at this ε, and by more than chance would often do, is {NAMES[own]}." + (
        "" if beaten else " Yet none is better than the same answer for everybody."
    )


def axis(column: str, *, classifies: bool) -> str:
    return "right predictions in 100" if classifies else f"mean error in “{visible(column, 30)}”"


def place(epsilon: float) -> str:
    return f"ε = {number(epsilon)}"


def cell(value: tuple[float, float] | None, *, classifies: bool) -> str:
    """A mean with its standard error, in 100 or in the own unit."""
    if value is None:
        return NOT_THERE
    mean, spread = ((100.0 if classifies else 1.0) * one for one in value)
    return f"{mean:.1f} ± {spread:.1f}"


def told(one: Question) -> str:
    """What stands in the row of a sample."""
    column = visible(one.target, 30)
    if not one.classifies:
        return column
    return column if one.positive is None else f"{column} = {visible(one.positive, 30)}"


def measured_on(rows: int, splits: int, epsilon: float, nearest: float) -> str:
    near = "" if epsilon == nearest else f"Of the levels that were measured ε = {number(nearest)} is nearest to yours. "
    return (
        f"{near}The {rows:,} rows were divided {splits} times by chance: each program learnt from eight tenths and was "
        "tried on the rest, and the figure is the mean of these tries. ± is its standard error: after many more "
        "tries the mean would lie within it about two times in three; of other people it says nothing. The chart at "
        "the top was made with another division of the same rows, and its line without privacy is another model: "
        "compare only within one chart."
    )


def not_measured(*, sample_data: bool) -> str:
    if sample_data:
        return (
            "**This question was not measured with other libraries.** What was is each sample’s first question: its "
            "first column to predict, from all other columns."
        )
    return (
        "**Nobody has measured other libraries on your data, and this page does not run them.** What they get on the "
        "samples tells about what to expect: by how many rows and columns a sample resembles yours."
    )


def every(epsilon: float, first: Mapping[str, int], useless: Sequence[str]) -> str:
    """``first``: on how many samples each private line is first of all; ``useless``: samples on which none of them is
    better than the same answer for everybody."""
    leads = ", ".join(f"“{SHORT[line]}” on {count}" for line, count in first.items() if count)
    none = f" On {' and '.join(useless)} none is better than the same answer for everybody." if useless else ""
    return (
        f"**All {sum(first.values())} samples at ε = {number(epsilon)}: which private program comes first?** "
        f"First is {leads}.{none}"
    )


def how(versions: Mapping[str, str], written: date, delta: float) -> str:
    return (
        f"Measured beforehand, on {written.day} {written:%B %Y}, not while you look. {versions['interpret']} adds up a "
        f"curve for every column, learnt from noisy counts, at the same ε and δ = {tiny(delta)}. "
        f"{versions['diffprivlib']} has logistic and linear regression without δ. Each library has its own defaults "
        "and is told the same bounds and options; our defaults are the same on every table and were set on a part "
        "of the census table, which favours them there. Other columns or other people give other figures."
    )
