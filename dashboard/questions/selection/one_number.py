"""One number, one ball: a mean or median chosen by its loss, what is GOOD and BAD, and what more numbers cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard.blocks import Ask, Block, Picture, Small, Text
from dashboard.case import Case
from dashboard.charts.ball import ball
from dashboard.charts.promise import Line, promise
from dashboard.controls import Choice, Number, Read, slug
from dashboard.words import one_number as said
from dpcore.training import BallWorld, approximate_excess, pure_excess
from dpcore.validate import FloatArray, Neighbours

DELTA = 1e-6
MOST_CODE = 1000
WHERE = 20
"""Numbers in w at which the two kinds of promise are compared in words."""
STATISTIC = Choice(
    key="ball_statistic",
    label=said.STATISTIC,
    options=tuple(said.STATISTICS),
    names=said.STATISTICS,
    default="median",
    look="buttons",
)
STEEP = Number(key="ball_steepness", label=said.STEEP, default=1.0, low=0.1, high=10.0, step=0.5)
CAP = Number(key="ball_cap", label=said.CAP, default=0.0, low=0.0, high=20.0, step=0.1)
RIDGE = Number(key="ball_ridge", label=said.RIDGE, default=0.0, low=0.0, high=10.0, step=0.1)


def blocks(
    case: Case,
    read: Read,
    values: FloatArray,
    bounds: tuple[float, float],
    column: str,
    relation: Neighbours,
    epsilon: float,
) -> Sequence[Block]:
    """The world of ``values`` with one person moved, and d/ε against √d/ε."""
    low, high = bounds
    points = np.clip(2.0 * (values - low) / (high - low) - 1.0, -1.0, 1.0)
    place = Number(
        key=slug("ball_point", case.source.key, column),
        label=said.POINT,
        default=1.0,
        low=-1.0,
        high=1.0,
        step=0.1,
        linked=case.source.public,
    )
    statistic, moved_to = read(STATISTIC, "tab"), read(place, "tab")
    steepness, cap, ridge = read(STEEP, "tab"), read(CAP, "tab"), read(RIDGE, "tab")
    settings: dict[str, Any] = {
        "statistic": statistic,
        "epsilon": epsilon,
        "steepness": steepness,
        "ridge": ridge,
        "cap": cap or None,
        "neighbours": relation,
    }
    key = ("ball", case.table.fingerprint, column, moved_to, *settings.values())

    def make() -> tuple[BallWorld, BallWorld]:
        world = BallWorld(points=points, **settings)
        return world, world.moved(0, moved_to)

    before, world = case.keeping(2.0 * points.size)(key, make)
    moved, most = float(before.effect(world).max()), world.sensitivity / world.n
    finite = bool(np.isfinite(world.bound))
    w = world.grid[:, 0]
    code = None
    if points.size <= MOST_CODE:
        listed = ", ".join(f"{one!r}" for one in points.tolist())
        code = said.code(listed, ", ".join(f"{name}={value!r}" for name, value in settings.items()), moved_to)
    return [
        Text(said.look(moved, most)),
        Ask((STATISTIC, place)),
        Ask((STEEP, CAP, RIDGE)),
        Picture(
            key="quantile-ball",
            figure=lambda dark: ball(
                w,
                world.loss,
                before.loss,
                world.density,
                world.good.astype(np.float64),
                float(world.loss.min()) + world.bound if finite else None,
                said.PICTURE,
                dark=dark,
            ),
            alt=said.alt(world.expected_excess, world.bad_chance, moved, most),
            data=lambda: pd.DataFrame(
                {"w": w, "loss before": before.loss, "loss": world.loss, "density": world.density, "good": world.good}
            ),
            code=code,
            note=said.bad(world.bad_chance, world.beta, world.near, world.tail),
        ),
        *_dimensions(case, points.size, relation, epsilon),
        Small(said.ABOUT),
    ]


def _dimensions(case: Case, n: int, relation: Neighbours, epsilon: float) -> Sequence[Block]:
    """What (ε, δ) saves when many numbers are chosen at once."""
    d = np.union1d(np.geomspace(2, 300, 25), [float(WHERE)])

    def make() -> tuple[FloatArray, FloatArray]:
        return pure_excess(d, n, epsilon, relation), approximate_excess(d, n, epsilon, DELTA, relation)

    pure, approximate = case.memo(("ball dimensions", n, relation, epsilon), make)
    here = int(np.flatnonzero(d == float(WHERE))[0])
    told = float(pure[here]), float(approximate[here])
    lines = [
        Line(key="pure", name=said.PURE, x=d, values=pure),
        Line(key="approximate", name=said.APPROXIMATE, x=d, values=approximate),
    ]
    return [
        Text(said.dimensions(n, epsilon, DELTA, *told, WHERE)),
        Picture(
            key="quantile-ball-dimensions",
            figure=lambda dark: promise(
                lines, x_title=said.D_AXIS, y_title=said.EXCESS_AXIS, chosen=(float(WHERE), f"d = {WHERE}"), dark=dark
            ),
            alt=said.dimensions_alt(*told, WHERE),
            data=lambda: pd.DataFrame({"d": d, "pure": pure, "approximate": approximate}),
            code=said.code_dimensions(n, epsilon, DELTA, relation),
        ),
    ]
