"""How many people: what learning one of k rules asks for, with privacy and without, and from where it is free."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dashboard.blocks import Ask, Block, Picture, Small, Text
from dashboard.case import Case
from dashboard.charts.promise import Line, promise
from dashboard.charts.theme import EPSILON_TITLE
from dashboard.controls import Choice, Number, Read
from dashboard.promise import Promise, along
from dashboard.words import how_many as said
from dashboard.words import promise as theory_said
from dpcore.selection import FiniteClassProblem, crossover, learning_constant, people_curves, query_tolerance
from dpcore.selection.learning import hard_excess
from dpcore.theorems import theorems
from dpcore.validate import FloatArray, Neighbours

PLACES = 9
MOST_PEOPLE = 1e9
HARDEST = 3e4
"""People up to which the hard world is gone through exactly."""
WORLDS = {
    "agnostic": ("pac", "private", "private_sharp", "exact_agnostic", "queries", "data_exact"),
    "realizable": ("pac_realizable", "private_realizable", "exact_realizable"),
}
ALPHA = Number(key="how_many_alpha", label=said.ALPHA, help=said.ALPHA_HELP, default=5.0, low=0.5, high=50.0, step=0.5)
AXIS = Choice(
    key="how_many_axis",
    label=said.AXIS,
    options=("epsilon", "alpha"),
    names=said.AXES,
    default="epsilon",
    look="buttons",
)
WORLD = Choice(
    key="how_many_world",
    label=said.WORLD,
    options=tuple(WORLDS),
    names=said.WORLDS,
    default="agnostic",
    look="buttons",
)


def blocks(
    case: Case, read: Read, k: int, people: int, method: str, relation: Neighbours, epsilon: float, beta: float
) -> Sequence[Block]:
    """People against ε or against accuracy on one chart, the crossover marked, and the query oracle's tolerance."""
    alpha, axis, world = read(ALPHA, "tab") / 100.0, read(AXIS, "tab"), read(WORLD, "tab")
    used = method if method in ("exponential", "permute_and_flip") else "exponential"
    grid = np.geomspace(0.01, 10.0, PLACES) if axis == "epsilon" else np.geomspace(0.005, 0.5, PLACES)

    def curves(level: ArrayLike, target: ArrayLike) -> pd.DataFrame:
        return people_curves(k, epsilon=level, alpha=target, beta=beta, method=used, relation=relation)

    key = ("how many", k, used, relation, beta)
    if axis == "epsilon":  # nothing but one point hangs on the chosen ε
        along_axis = case.memo((*key, axis, alpha), lambda: curves(grid, alpha))
    else:
        along_axis = case.memo((*key, axis, epsilon), lambda: curves(epsilon, grid))
    point = case.memo((*key, epsilon, alpha), lambda: curves(epsilon, alpha))
    frame = pd.concat([along_axis, point], ignore_index=True).drop_duplicates(["line", axis]).sort_values(axis)
    x, chosen = ("epsilon", epsilon) if axis == "epsilon" else ("alpha", alpha)
    factor = 1.0 if axis == "epsilon" else 100.0
    lines = [
        Line(
            key=line,
            name=said.LINES[line],
            x=part[x].to_numpy() * factor,
            values=part["n"].to_numpy(),
            bound=bool(part["kind"].iloc[0] == "bound"),
        )
        for line, part in ((name, frame[frame["line"] == name]) for name in WORLDS[world])
    ]
    free = crossover(alpha, used, relation)
    constant = learning_constant(used, relation, 2)
    turn = free if axis == "epsilon" else epsilon / constant
    marks = []
    if world == "agnostic" and frame[x].min() <= turn <= frame[x].max():
        marks.append((turn * factor, said.FREE if axis == "epsilon" else said.FREE_BELOW))
    here = point.set_index("line")["n"]
    names = WORLDS[world]
    oracle = query_tolerance(k, people, epsilon, beta)
    return [
        Text(
            said.look(free, alpha, here["private_sharp"], here["pac"], epsilon)
            if world == "agnostic"
            else said.look_realizable(here["private_realizable"], here["pac_realizable"], epsilon)
        ),
        Ask((WORLD, AXIS, ALPHA)),
        Picture(
            key="rule-how-many",
            figure=lambda dark: promise(
                lines,
                x_title=EPSILON_TITLE if axis == "epsilon" else said.ALPHA_AXIS,
                y_title=said.PEOPLE,
                chosen=(chosen * factor, said.chosen(axis, chosen)),
                marks=marks,
                dark=dark,
            ),
            alt=said.alt(said.chosen(axis, chosen), [(said.LINES[name], float(here[name])) for name in names], free),
            data=frame,
            code=said.code(k, axis, epsilon, alpha, beta, used, relation),
        ),
        Text(said.oracle(k, people, oracle.sampling, oracle.noise, oracle.total)),
        Small(said.CONDITIONS),
    ]


def theory(
    case: Case, problem: FiniteClassProblem, method: str, k: int, epsilon: float, identity: tuple[object, ...]
) -> Sequence[Block]:
    """The learning theorem against people up to 10⁹, the sharper one, a hard world exactly, and these data."""
    used = method if method in ("exponential", "permute_and_flip") else "exponential"
    relation, beta, people = problem.relation, problem.beta, float(problem.n)
    constant = learning_constant(used, relation, 2)
    x = along(10.0, max(MOST_PEOPLE, 10 * people))
    sizes = np.rint(np.geomspace(11, HARDEST, PLACES))

    def exact() -> tuple[FloatArray, float, FloatArray]:
        hard = np.array([hard_excess(k, int(n), epsilon / constant, beta, used) for n in sizes])
        average = problem.central.evaluate(method, "excess", np.full(x.size, epsilon), x).value
        return hard, hard_excess(k, problem.n, epsilon / constant, beta, used), np.asarray(average)

    hard, truth, average = case.memo((*identity, "rule theory", method, epsilon), exact)
    given = {"k": float(k), "epsilon": epsilon, "beta": beta, "c": learning_constant(method, relation, k)}
    known = theorems()
    return Promise(
        key="rule-theory",
        theorem=known["learning"],
        axis="n",
        x=x,
        settings={**given, "rows": float(problem.rows_per_person)},
        chosen=people,
        truth=100.0 * truth,
        truth_name=theory_said.FREE,
        exact=(
            Line(key="hard", name=theory_said.FREE, x=sizes, values=100.0 * hard),
            Line(key="here", name=theory_said.AVERAGE, x=x, values=100.0 * average),
        ),
        also=((known["learning_sharp"], {**given, "c": constant}),) if problem.rows_per_person == 1 else (),
        x_title=theory_said.PEOPLE,
        y_title=theory_said.EXCESS,
        unit=" in 100",
        factor=100.0,
    ).blocks()
