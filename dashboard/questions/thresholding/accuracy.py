"""How far apart answers must lie: α against the number of answers, its two noises, and the two ways to be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Block, Picture, Text
from dashboard.case import Case
from dashboard.charts.promise import Line, promise
from dashboard.promise import Promise, along
from dashboard.questions.thresholding.watched import Series
from dashboard.words import accuracy as said
from dashboard.words import promise as theory_said
from dpcore.theorems import theorems
from dpcore.thresholding import AboveThreshold, alpha_against_queries, error_kinds
from dpcore.validate import FloatArray

MOST = 1e9
PLACES = 13
ERRORS = 41


def theory(
    case: Case,
    series: Series,
    in_use: AboveThreshold,
    epsilon: float,
    beta: float,
    book_name: str,
    name: str,
) -> Sequence[Block]:
    """Theorem 3.24 with the exact α of the algorithm it is about, and of the method in use."""
    size = float(series.answers.size)
    book = AboveThreshold(epsilon=epsilon, sensitivity=in_use.sensitivity)
    places = _places(size)
    made = {"book": book} | ({} if in_use == book or name == book_name else {"use": in_use})
    curves = {key: _exact(case, one, places, beta) for key, one in made.items()}
    names = {"book": theory_said.strategy(book_name), "use": theory_said.strategy(name)}
    here = int(np.flatnonzero(places == size)[0])
    return Promise(
        key="thresholding-theory",
        theorem=theorems()["above_threshold"],
        axis="k",
        x=along(2.0, max(MOST, size)),
        settings={"epsilon": epsilon, "beta": beta, "sensitivity": in_use.sensitivity},
        chosen=size,
        truth=float(curves["book"][here]),
        truth_name=names["book"],
        exact=tuple(Line(key=key, name=names[key], x=places, values=values) for key, values in curves.items()),
        x_title=theory_said.QUERIES,
        y_title=theory_said.alpha(series.unit),
        unit=f" {series.unit}",
    ).blocks()


def split(case: Case, series: Series, in_use: AboveThreshold, beta: float) -> Sequence[Block]:
    """α of the method in use against the number of answers with one noise at a time, and its two errors."""
    size = float(series.answers.size)
    places = _places(size)
    frame = _against(case, in_use, places, beta)
    here = frame[frame["k"] == size].iloc[0]
    alpha = float(here["exact"])
    parts = [
        Line(key=key, name=said.PARTS[key], x=places, values=np.maximum(frame[key].to_numpy(), 1e-12))
        for key in ("exact", "threshold", "queries")
    ]
    bound = Line(key="theorem", name=said.PARTS["theorem"], x=places, values=frame["theorem"].to_numpy(), bound=True)
    unit, scale = _unit(in_use)
    around = np.geomspace(1 / 30, 3, ERRORS) * alpha / scale

    def errors() -> tuple[FloatArray, FloatArray]:
        found = [error_kinds(unit, int(size), float(one)) for one in [*around, alpha / scale]]
        return np.array([one.false_alarm for one in found]), np.array([one.missed for one in found])

    both = case.memo(("two errors", repr(unit), size, beta), errors)
    apart, (false, missed) = around * scale, (one[:-1] for one in both)
    false_here, missed_here = (float(one[-1]) for one in both)
    told = [
        Line(key="false_alarm", name=said.FALSE_ALARM, x=apart, values=100 * false),
        Line(key="missed", name=said.MISSED, x=apart, values=100 * missed),
        Line(key="beta", name=said.BETA, x=apart, values=np.full(ERRORS, 100 * beta), bound=True),
    ]
    what = series.unit
    return [
        Text(said.against(size, alpha, float(here["threshold"]), float(here["queries"]), what)),
        Picture(
            key="thresholding-alpha-queries",
            figure=lambda dark: promise(
                [*parts, bound],
                x_title=theory_said.QUERIES,
                y_title=theory_said.alpha(what),
                chosen=(size, f"k = {words.whole(size)}"),
                dark=dark,
            ),
            alt=said.against_alt(size, alpha, float(here["threshold"]), float(here["queries"]), what),
            data=frame,
            code=said.code_split(said.made(in_use), int(size), beta),
        ),
        Text(said.two_errors(alpha, beta, false_here, missed_here, what)),
        Picture(
            key="thresholding-two-errors",
            figure=lambda dark: promise(
                told,
                x_title=theory_said.alpha(what),
                y_title=said.CHANCE,
                chosen=(alpha, f"α = {words.number(alpha)}"),
                dark=dark,
            ),
            alt=said.errors_alt(alpha, false_here, missed_here),
            data=lambda: pd.DataFrame({"alpha": apart, "false alarm": false, "missed": missed}),
            code=said.code_errors(said.made(in_use), int(size), alpha),
        ),
    ]


def _places(size: float) -> FloatArray:
    """Numbers of answers from 2 to 10⁹, the series' own among them."""
    return np.union1d(np.unique(np.rint(np.geomspace(2, MOST, PLACES))), [size])


def _unit(mechanism: AboveThreshold) -> tuple[AboveThreshold, float]:
    """The same at Δ = ε = 1, and what its α is to be multiplied by: nothing is computed again when ε moves."""
    scale = mechanism.sensitivity / mechanism.epsilon
    offset = float(f"{mechanism.offset / scale:.12g}")
    return replace(mechanism, epsilon=1.0, sensitivity=1.0, threshold_share=mechanism.share, offset=offset), scale


def _exact(case: Case, mechanism: AboveThreshold, places: FloatArray, beta: float) -> FloatArray:
    unit, scale = _unit(mechanism)
    key = ("exact alpha", repr(unit), beta, float(places.sum()))
    found = case.memo(key, lambda: np.array([unit.exact_alpha(int(k), beta) for k in places]))
    return np.asarray(found * scale)


def _against(case: Case, mechanism: AboveThreshold, places: FloatArray, beta: float) -> pd.DataFrame:
    unit, scale = _unit(mechanism)
    key = ("alpha against queries", repr(unit), beta, float(places.sum()))
    found = case.memo(key, lambda: alpha_against_queries(unit, [int(k) for k in places], beta))
    return found.assign(**{name: found[name] * scale for name in found.columns if name != "k"})
