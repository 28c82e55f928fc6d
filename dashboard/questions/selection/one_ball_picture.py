"""The points, the loss over the ball, and how likely each place of it is chosen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Drag, Picture
from dashboard.charts.ball import ball
from dashboard.charts.ball_plane import BallMap, Lines, PlaneWords, Points, plane, with_people
from dashboard.questions.selection.one_ball_controls import ends
from dashboard.questions.selection.one_ball_setting import Setting, least, scaled, square
from dashboard.words import one_ball as said
from dashboard.words import one_number as number_said
from dpcore.validate import FloatArray

DRAWN = 12


def picture(setting: Setting) -> Picture:
    """The points, the loss over the ball, and how likely each place of it is chosen."""
    world = setting.world
    line = setting.statistic == "line"
    best, was = (least(one) for one in (world, setting.before))
    frame = {f"w{place + 1}": world.grid[:, place] for place in range(world.d)}
    table = frame | {"loss before": setting.before.loss, "loss": world.loss, "density": world.density}
    listed = setting.before.points.tolist()
    to = scaled(np.array([setting.to]), setting.columns)[0].tolist()
    y = None if line else float(_bottom(setting))
    reach = tuple(ends(column) for column in setting.columns)
    return Picture(
        key="ball-ball",
        figure=partial(_plane if line else _line, setting),
        alt=said.plane_alt(
            said.moved_to(setting.to[0], setting.to[1] if line else None),
            best,
            was,
            world.bad_chance,
            world.expected_excess,
        )
        if line
        else number_said.alt(
            world.expected_excess, world.bad_chance, float(setting.before.effect(world).max()), setting.most
        ),
        data=lambda: pd.DataFrame(table | {"good": world.good}),
        code=said.code(repr(listed), setting.made, setting.who, repr(to if line else to[0]))
        if setting.case.source.public
        else None,
        note=(
            said.plane_note(world.near, world.tail, world.bad_chance, world.beta)
            if line
            else number_said.bad(world.bad_chance, world.beta, world.near, world.tail)
        )
        + said.person(world.lipschitz, world.sensitivity),
        drag=Drag(
            at=[(float(one[0]), float(one[1]) if y is None else y) for one in _shown(setting)],
            axes=("xaxis2", "yaxis2") if line else ("xaxis", "yaxis2"),
            keys=setting.keys,
            reach=(reach[0], reach[-1]),
        ),
    )


def _shown(setting: Setting) -> FloatArray:
    """Where everybody stands now."""
    at = setting.at.copy()
    at[setting.who] = setting.to
    return np.asarray(at)


def _bottom(setting: Setting) -> float:
    """Where the points of a line lie below its loss."""
    both = np.concatenate([setting.world.loss, setting.before.loss])
    return float(both.min() - 0.12 * max(float(np.ptp(both)), 1e-9))


def _points(setting: Setting) -> Points:
    reach = [ends(column) for column in setting.columns]
    if setting.statistic == "line":
        return Points(at=setting.at, who=setting.who, to=(setting.to[0], setting.to[1]), reach=(reach[0], reach[1]))
    low = _bottom(setting)
    flat = np.column_stack([setting.at[:, 0], np.full(len(setting.at), low)])
    return Points(at=flat, who=setting.who, to=(setting.to[0], low), reach=(reach[0], (low, low)))


def _line(setting: Setting, dark: bool) -> dict[str, Any]:
    """A loss over one number, in the column's own unit."""
    world, column = setting.world, setting.fitted
    finite = bool(np.isfinite(world.bound))
    low, high = ends(column)
    w = low + (world.grid[:, 0] + 1.0) / 2.0 * (high - low)
    title = words.html(said.axis_title(column.name, column.unit))
    figure = ball(
        w,
        world.loss,
        setting.before.loss,
        world.density * 2.0 / (high - low),
        world.good.astype(np.float64),
        float(world.loss.min()) + world.bound if finite else None,
        replace(number_said.PICTURE, x=title),
        dark=dark,
    )
    names = axes_words(setting)
    return with_people(figure, _points(setting), (names.people, names.moved, names.was), dark=dark)


def axes_words(setting: Setting) -> PlaneWords:
    """The names in the picture of a plane, its axes in the columns' own words."""
    titles = [words.html(said.axis_title(column.name, column.unit)) for column in setting.columns]
    return said.plane_words(titles[0], titles[-1])


def _plane(setting: Setting, dark: bool) -> dict[str, Any]:
    """A line through points, and the ball of lines."""
    world, before = setting.world, setting.before
    rng = np.random.Generator(np.random.PCG64(setting.seed))
    drawn = world.grid[rng.choice(len(world.grid), size=DRAWN, p=world.probabilities)]
    best, was = (least(one) for one in (world, before))
    lines = Lines(
        now=_ends_of(setting, np.array([best])), was=_ends_of(setting, np.array([was])), drawn=_ends_of(setting, drawn)
    )
    axis = np.linspace(-world.radius, world.radius, world.cells)
    mapped = BallMap(
        axis=axis,
        density=square(world, world.density),
        loss=square(world, world.loss),
        good=square(world, world.good.astype(np.float64)),
        limit=float(world.loss.min()) + world.bound if np.isfinite(world.bound) else None,
        best=best,
        was=was,
    )
    return plane(_points(setting), lines, mapped, axes_words(setting), dark=dark)


def _ends_of(setting: Setting, w: FloatArray) -> FloatArray:
    """Both ends of the lines w (m, 2), in the columns' own units, shape (m, 2, 2)."""
    sides = np.array([-1.0, 1.0])
    height = (w[:, :1] + w[:, 1:] * sides) / np.sqrt(2.0)
    at = np.stack([np.broadcast_to(sides, height.shape), height], axis=-1)
    lows, highs = np.array([ends(column) for column in setting.columns]).T
    return np.asarray(lows + (at + 1.0) / 2.0 * (highs - lows))
