"""The small world as it was, and with one person moved: everything that follows from what is set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dashboard.case import Case
from dashboard.controls import Group, Number, Read
from dashboard.question import CannotAsk
from dashboard.questions.selection.one_ball_controls import METRIC, PEOPLE, SHAPES, ends, need_control, places
from dashboard.usual import BETA, SEED, neighbours
from dashboard.words import one_ball as said
from dpcore.datasets import Column
from dpcore.training import BallWorld
from dpcore.validate import FloatArray

CELLS = {1: 401, 2: 61}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """The points with everything that was chosen, the world as it was, and the world with one person moved.

    ``columns`` are those of the points, the one that is fitted last; ``at`` their values, (n, 1 or 2), in their units.
    ``name`` names all that the world depends on besides ε.
    """

    case: Case
    read: Read
    statistic: str
    columns: tuple[Column, ...]
    at: FloatArray
    who: int
    to: tuple[float, ...]
    before: BallWorld
    world: BallWorld
    metric: str
    seed: int
    group: Group
    keys: tuple[str, str, str | None]
    need: Number
    goal: float
    name: tuple[Any, ...]

    @classmethod
    def of(cls, case: Case, read: Read, statistic: str, columns: tuple[Column, ...]) -> Setting:
        names = [column.name for column in columns]
        rows = np.flatnonzero(case.table.complete(*names))[: read(PEOPLE)]
        if rows.size < 2:
            raise CannotAsk(said.FEW)
        at = np.stack([case.table.frame[one].to_numpy(np.float64, na_value=np.nan)[rows] for one in names], axis=1)
        at = np.clip(at, *np.array([ends(column) for column in columns]).T)
        controls = places(case, columns, read(PEOPLE))
        who, *to = (read(one, "sentence") for one in controls)
        relation = read(replace(neighbours("ball_neighbours", case.table.schema.unit), default="replace_one"))
        steep, cap, ridge, radius = (read(one, "sentence") for one in SHAPES)
        beta, metric, seed = read(BETA), read(METRIC, "need"), int(read(SEED))
        need = need_control(metric)
        settings: dict[str, Any] = {
            "statistic": statistic,
            "epsilon": case.epsilon,
            "radius": radius,
            "steepness": steep,
            "ridge": ridge,
            "cap": cap or None,
            "beta": beta,
            "neighbours": relation,
            "cells": CELLS[len(columns)],
        }
        place = min(int(who), int(rows.size)) - 1
        others = {key: value for key, value in settings.items() if key != "epsilon"}
        name = ("one ball", case.table.fingerprint, *names, rows.size, place, *to, *others.values())

        def make() -> tuple[BallWorld, BallWorld]:
            points = scaled(at, columns)
            first = BallWorld(points=points if statistic == "line" else points[:, 0], **settings)
            moved = scaled(np.array([to]), columns)[0]
            return first, first.moved(place, moved if statistic == "line" else float(moved[0]))

        before, world = case.memo((*name, case.epsilon), make)
        return cls(
            case=case,
            read=read,
            statistic=statistic,
            columns=columns,
            at=at,
            who=place,
            to=tuple(to),
            before=before,
            world=world,
            metric=metric,
            seed=seed,
            group=Group(label=said.MOVE, controls=controls, notes=said.MOVE_NOTES, icon=":material/open_with:"),
            keys=(controls[0].key, controls[1].key, controls[2].key if len(controls) > 2 else None),
            need=need,
            goal=read(need, "need"),
            name=name,
        )

    @property
    def epsilon(self) -> float:
        return self.case.epsilon

    @property
    def fitted(self) -> Column:
        return self.columns[-1]

    @property
    def made(self) -> str:
        """What the world is made with besides its points, as Python."""
        names = ("statistic", "epsilon", "radius", "steepness", "ridge", "cap", "beta", "neighbours", "cells")
        return ", ".join(f"{one}={getattr(self.world, one)!r}" for one in names)

    @property
    def most(self) -> float:
        """Δ/n."""
        return self.world.sensitivity / self.world.n


def scaled(at: FloatArray, columns: tuple[Column, ...]) -> FloatArray:
    """Values (n, columns) brought to −1…1 by declared bounds."""
    lows, highs = np.array([ends(column) for column in columns]).T
    return np.asarray(np.clip(2.0 * (at - lows) / (highs - lows) - 1.0, -1.0, 1.0))


def least(world: BallWorld) -> tuple[float, float]:
    """The place of the least loss, for a line."""
    place = world.grid[int(np.argmin(world.loss))]
    return float(place[0]), float(place[-1])


def square(world: BallWorld, values: FloatArray) -> FloatArray:
    """Values on the grid as a square map, rows along the second number of w; NaN outside the ball."""
    found = np.full((world.cells, world.cells), np.nan)
    at = np.rint((world.grid + world.radius) / (2.0 * world.radius) * (world.cells - 1)).astype(int)
    found[at[:, 1], at[:, 0]] = values
    return found
