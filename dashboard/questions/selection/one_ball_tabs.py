"""The tabs below the small world: how it works, two worlds, many numbers at once, the theorem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Formula, Note, Picture, Small, Text
from dashboard.charts.ball_plane import ratio_map
from dashboard.charts.promise import Line, promise
from dashboard.charts.theme import EPSILON_TITLE
from dashboard.charts.worlds import WorldWords, place_worlds
from dashboard.promise import Promise, along
from dashboard.questions.selection.one_ball_controls import AT_ONCE, AXIS, ends
from dashboard.questions.selection.one_ball_picture import axes_words, picture
from dashboard.questions.selection.one_ball_setting import Setting, square
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, View
from dashboard.words import one_ball as said
from dashboard.words import one_number as number_said
from dashboard.words import promise as theory_said
from dpcore.theorems import theorems
from dpcore.training import Ball, BallProblem, approximate_excess, pure_excess
from dpcore.validate import FloatArray

DELTA = 1e-6


def how(setting: Setting) -> Sequence[Block]:
    """What is chosen from what, and the formula."""
    world = setting.world
    return [
        Text(said.how(said.STATISTICS[setting.statistic], world.n, world.lipschitz, world.sensitivity, world.radius)),
        Formula(latex=said.FORMULA, source=said.SOURCE),
    ]


def two_worlds(setting: Setting) -> Sequence[Block]:
    """The log-ratio of the laws with the person here and there, and of a version that takes Δ for half."""

    def make() -> tuple[FloatArray, FloatArray]:
        found = []
        for factor in (1.0, 2.0):  # half the Δ is the law of twice the ε
            pair = [replace(one, epsilon=factor * setting.epsilon) for one in (setting.before, setting.world)]
            found.append(pair[0].two_worlds(pair[1]).log_ratio)
        return found[0], found[1]

    kept, leaky = setting.case.memo((*setting.name, setting.epsilon, "two worlds"), make)
    most, worst = float(np.abs(kept).max()), float(np.abs(leaky).max())
    world, before = setting.world, setting.before
    column = setting.fitted
    low, high = ends(column)
    names = WorldWords(
        before=said.WITHOUT,
        after=said.WITH,
        ratios={"kept": said.KEPT, "leaky": said.LEAKY},
        law_axis=number_said.PICTURE.density_axis,
        ratio_axis=said.RATIO,
        bound=f"ε = {words.number(setting.epsilon)}",
    )

    def drawn(dark: bool) -> dict[str, Any]:
        if setting.statistic == "line":
            axis = np.linspace(-world.radius, world.radius, world.cells)
            titles = (said.RATIO, axes_words(setting).height, axes_words(setting).slope)
            return ratio_map(axis, square(world, kept), setting.epsilon, titles, dark=dark)
        return place_worlds(
            low + (world.grid[:, 0] + 1.0) / 2.0 * (high - low),
            before.density,
            world.density,
            {"kept": kept, "leaky": leaky},
            setting.epsilon,
            names,
            x_title=words.html(said.axis_title(column.name, column.unit)),
            dark=dark,
        )

    table = {f"w{place + 1}": world.grid[:, place] for place in range(world.d)}
    return [
        Text(said.two_worlds(setting.epsilon, most, worst)),
        Picture(
            key="ball-two-worlds",
            figure=drawn,
            alt=said.two_alt(setting.epsilon, most, worst),
            data=lambda: pd.DataFrame(
                table
                | {
                    "as it was": before.probabilities,
                    "moved": world.probabilities,
                    "log ratio": kept,
                    "log ratio with half the Δ": leaky,
                }
            ),
            code=picture(setting).code,
        ),
    ]


def many(setting: Setting) -> Sequence[Block]:
    """Pure against approximate, along d, ε or n."""
    axis, d = setting.read(AXIS, "tab"), setting.read(AT_ONCE, "tab")
    n, epsilon, relation = float(setting.world.n), setting.epsilon, setting.world.neighbours
    chosen = {"d": d, "epsilon": epsilon, "n": n}[axis]
    grid = {
        "d": np.geomspace(2, 300, 25),
        "epsilon": np.geomspace(EPSILON_LOW, EPSILON_HIGH, 25),
        "n": np.geomspace(10, 1e9, 25),
    }[axis]
    places = np.concatenate([grid, [chosen, 2.0 * chosen]])

    def make() -> tuple[FloatArray, FloatArray]:
        at = {"d": d, "epsilon": epsilon, "n": n} | {axis: places}
        size, level, people = at["d"], at["epsilon"], at["n"]
        return (
            pure_excess(size, people, level, relation),
            approximate_excess(size, people, level, DELTA, relation),
        )

    pure, approximate = setting.case.memo(("ball many", axis, d, n, epsilon, relation), make)
    told = float(pure[-2]), float(approximate[-2])
    grown = float(pure[-1] / pure[-2]), float(approximate[-1] / approximate[-2])
    place = said.place(axis, chosen)
    values = {said.PURE: pure[:-2], said.APPROXIMATE: approximate[:-2]}
    lines = [Line(key=key, name=key, x=grid, values=found) for key, found in values.items()]
    title = {"d": number_said.D_AXIS, "epsilon": EPSILON_TITLE, "n": said.PEOPLE_AXIS}[axis]
    ends = f"np.geomspace({float(grid[0])!r}, {float(grid[-1])!r}, 25)"
    given = {"d": repr(d), "n": repr(n), "epsilon": repr(epsilon)} | {axis: ends}
    return [
        Text(said.many(axis, told, grown, place)),
        Ask((AXIS, AT_ONCE)),
        Picture(
            key="ball-many",
            figure=lambda dark: promise(
                lines, x_title=title, y_title=said.EXCESS_AXIS, chosen=(chosen, place), dark=dark
            ),
            alt=said.many_alt(told, place),
            data=lambda: pd.DataFrame({axis: grid, "pure": pure[:-2], "approximate": approximate[:-2]}),
            code=said.code_many(given["d"], given["n"], given["epsilon"], DELTA, relation),
        ),
        Small(said.many_note(DELTA)),
    ]


def theory(setting: Setting, view: View) -> Sequence[Block]:
    """The theorem against people up to 10⁹, and the exact excess that is seldom passed."""
    world, x = setting.world, along(10.0, 1e9)
    if world.cap is not None or world.ridge:
        return [Note(said.PLAIN_LOSS)]
    halves = 1.0 if world.neighbours == "add_remove" else 2.0
    x = x[x * setting.epsilon / halves >= world.d]
    problem = BallProblem(world=world)

    def make() -> FloatArray:
        return problem.evaluate(Ball.key, "likely", np.full(x.size, setting.epsilon), x).value

    exact = setting.case.memo((*setting.name, setting.epsilon, "theory"), make)
    floor = np.maximum(exact, world.half_cell * 1e-3)
    return Promise(
        key="ball-theory",
        theorem=theorems()["ball"],
        axis="n",
        x=x,
        settings={
            "d": float(world.d),
            "epsilon": setting.epsilon,
            "spread": world.sensitivity,
            "halves": halves,
            "beta": world.beta,
        },
        chosen=float(world.n),
        truth=view.at(Ball.key, "likely"),
        truth_name=said.EXACT,
        exact=(Line(key="here", name=said.EXACT, x=x, values=floor),),
        x_title=theory_said.PEOPLE,
        y_title=said.EXCESS,
        offset=world.half_cell,
    ).blocks()
