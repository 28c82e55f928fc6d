"""Two neighbouring worlds: the laws of one output in both, and under them the log-ratio between its bounds ±ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.charts.theme import Figure, Palette, layout, palette
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray

OFFERED, SHOWN = 12, 8
"""Options that one person can be asked about, and that are drawn."""
NEVER = 1e-250
"""Chances below this in both worlds are no outcomes that anybody meets; their ratio is not drawn."""
_LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
_UPPER, _LOWER = (0.56, 1.0), (0.0, 0.38)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pair:
    """Two worlds on all options, and the log-ratios that can be told."""

    worlds: TwoWorlds
    ratio: FloatArray

    @classmethod
    def of(cls, worlds: TwoWorlds) -> Pair:
        met = np.maximum(worlds.before, worlds.after) > NEVER
        return cls(worlds=worlds, ratio=np.where(met, worlds.log_ratio, 0.0))

    @property
    def most(self) -> float:
        return float(np.abs(self.ratio).max())


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldWords:
    """The names in such a picture: its two worlds, its lower lines by key, its axes, and what bounds the ratio."""

    before: str
    after: str
    ratios: Mapping[str, str]
    law_axis: str
    ratio_axis: str
    bound: str


def option_worlds(
    names: Sequence[str],
    before: FloatArray,
    after: FloatArray,
    ratios: Mapping[str, FloatArray],
    promised: float,
    said: WorldWords,
    *,
    dark: bool = False,
) -> Figure:
    """Chances of named options, in 100, and each log-ratio of ``ratios``: the first is the one that is promised."""
    look, rows = palette(dark), list(range(len(names)))[::-1]
    laws = {said.before: (before, look.soft), said.after: (after, look.accent)}
    most = ratio_range(ratios, promised)
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": rows,
            "x": (100 * law).astype(np.float32),
            "marker": {"color": ink},
            "hovertemplate": f"{name}: %{{x:.4~g}} times in 100<extra></extra>",
            "xaxis": "x2",
            "yaxis": "y2",
        }
        for name, (law, ink) in laws.items()
    ]
    for (key, ratio), ink in zip(ratios.items(), (look.good, look.bad), strict=False):
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": said.ratios[key],
                "y": rows,
                "x": np.clip(ratio, -most, most).astype(np.float32),
                "marker": {"color": ink},
                "hovertemplate": f"{said.ratios[key]}: %{{x:.3~g}}<extra></extra>",
            }
        )
    ticks = {"tickvals": rows, "ticktext": list(names), "showgrid": False}
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=240 + 68 * len(names),
            barmode="group",
            bargap=0.25,
            showlegend=True,
            legend=_LEGEND,
            xaxis={"title": {"text": said.ratio_axis}, "range": [-most, most], "tickformat": "~g", "nticks": 6},
            yaxis={**ticks, "domain": list(_LOWER)},
            xaxis2={
                "title": {"text": said.law_axis},
                "anchor": "y2",
                "rangemode": "tozero",
                "tickformat": "~g",
                "nticks": 6,
            }
            | _axis(look),
            yaxis2={**ticks, "domain": list(_UPPER), "anchor": "x2"} | _axis(look) | {"showgrid": False},
            shapes=[_bound(look, promised * side, upright=True) for side in (-1, 1)],
            annotations=[_named(look, said.bound, x=promised)],
        ),
    }


def place_worlds(
    x: FloatArray,
    before: FloatArray,
    after: FloatArray,
    ratios: Mapping[str, FloatArray],
    promised: float,
    said: WorldWords,
    *,
    x_title: str,
    ticks: tuple[Sequence[float], Sequence[str]] | None = None,
    bounds: Sequence[float] = (-1, 1),
    steps: bool = False,
    dark: bool = False,
) -> Figure:
    """The same along a line: places in order, rounds, or numbers. ``bounds`` are the sides of 0 with a bound."""
    look = palette(dark)
    most = ratio_range(ratios, promised)
    shape = "hvh" if steps else "linear"

    def line(name: str, y: FloatArray, ink: str, dash: str, upper: bool) -> Figure:
        return {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": x.astype(np.float64),
            "y": y.astype(np.float32),
            "line": {"color": ink, "width": 2.5, "dash": dash, "shape": shape},
            "hovertemplate": f"{name}: %{{y:.4~g}}<extra></extra>",
        } | ({"yaxis": "y2"} if upper else {})

    traces = [
        line(said.before, before, look.soft, "solid", True),
        line(said.after, after, look.accent, "dot", True),
    ]
    for (key, ratio), ink in zip(ratios.items(), (look.good, look.bad), strict=False):
        traces.append(line(said.ratios[key], np.clip(ratio, -most, most), ink, "solid", False))
    axis: Figure = {"title": {"text": x_title}, "anchor": "y", "tickformat": "~g"}
    if ticks is not None:
        axis |= {"tickvals": list(ticks[0]), "ticktext": list(ticks[1]), "tickangle": 0}
    low = -most if -1 in bounds else min(0.0, -0.05 * most)
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=500,
            showlegend=True,
            legend=_LEGEND,
            xaxis=axis,
            yaxis={
                "title": {"text": said.ratio_axis},
                "domain": list(_LOWER),
                "range": [low, most],
                "tickformat": "~g",
                "nticks": 6,
            },
            yaxis2={
                "title": {"text": said.law_axis},
                "domain": [0.48, 1.0],
                "rangemode": "tozero",
                "tickformat": "~g",
                "nticks": 6,
            }
            | _axis(look),
            shapes=[_bound(look, promised * side, upright=False) for side in bounds],
            annotations=[_named(look, said.bound, y=promised)],
        ),
    }


def ratio_range(ratios: Mapping[str, FloatArray], promised: float) -> float:
    """How far the axis of log-ratios goes either way: past the bound and past every finite ratio up to 6 times it."""
    largest = max((float(np.abs(r[np.isfinite(r)]).max(initial=0.0)) for r in ratios.values()), default=0.0)
    return 1.25 * max(promised, min(largest, 6.0 * promised))


def _axis(look: Palette) -> Figure:
    return {
        "gridcolor": look.grid,
        "linecolor": look.grid,
        "zeroline": False,
        "tickfont": {"color": look.ink, "size": 13},
        "automargin": True,
        "fixedrange": True,
    }


def _bound(look: Palette, at: float, *, upright: bool) -> Figure:
    across, along = ("x", "y") if upright else ("y", "x")
    return {
        "type": "line",
        f"{across}0": at,
        f"{across}1": at,
        f"{across}ref": across,
        f"{along}0": _LOWER[0] if upright else 0,
        f"{along}1": _LOWER[1] if upright else 1,
        f"{along}ref": "paper",
        "line": {"color": look.ink, "width": 1.5, "dash": "dash"},
    }


def _named(look: Palette, text: str, *, x: float | None = None, y: float | None = None) -> Figure:
    """The name of the bound: above its upright line, or on its level one."""
    where = (
        {"x": x, "y": _LOWER[1], "yref": "paper", "yanchor": "bottom", "xanchor": "right"}
        if x is not None
        else {"x": 1, "xref": "paper", "y": y, "yref": "y", "yanchor": "bottom", "xanchor": "right"}
    )
    return {"text": text, "showarrow": False, "font": {"color": look.ink, "size": 13}, **where}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofWords:
    """The names in a picture of the proof: the noisy line and answers, the alarm, and each step."""

    line: str
    answers: str
    alarm: str
    steps: Sequence[str]
    axis: str


def proof(
    names: Sequence[str],
    lines: Sequence[float],
    answers: Sequence[FloatArray],
    alarms: Sequence[int | None],
    said: ProofWords,
    *,
    dark: bool = False,
) -> Figure:
    """Noisy ``answers`` beside the noisy line in each step of the proof; ``alarms``: the first that reaches it."""
    from dashboard.charts.steps import stepped

    look, x = palette(dark), list(range(len(names)))
    frames: list[list[Figure]] = []
    for line, noisy, alarm in zip(lines, answers, alarms, strict=True):
        colours = [look.bad if place == alarm else look.accent for place in x]
        frames.append(
            [
                {"x": [-0.5, len(x) - 0.5], "y": [line, line]},
                {"x": x, "y": noisy.tolist(), "marker": {"size": 10, "color": colours}},
                {"x": [] if alarm is None else [alarm], "y": [] if alarm is None else [float(noisy[alarm])]},
            ]
        )
    every = np.concatenate([np.concatenate(answers), np.array(lines)])
    room = 0.1 * float(np.ptp(every) or 1.0)
    step = max(1, -(-len(x) // 3))
    base: Figure = {
        "data": [
            {"type": "scatter", "mode": "lines", "name": said.line, "line": {"color": look.ink, "dash": "dash"}},
            {
                "type": "scatter",
                "mode": "markers",
                "name": said.answers,
                "hovertemplate": f"{said.answers}: %{{y:.4~g}}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "markers",
                "name": said.alarm,
                "marker": {"size": 20, "color": "rgba(0,0,0,0)", "line": {"color": look.bad, "width": 2.5}},
                "hoverinfo": "skip",
            },
        ],
        "layout": layout(
            dark,
            height=320,
            showlegend=True,
            legend=_LEGEND,
            xaxis={"tickvals": x[::step], "ticktext": [names[i] for i in x[::step]], "tickangle": 0},
            yaxis={
                "title": {"text": said.axis},
                "range": [float(every.min()) - room, float(every.max()) + room],
                "tickformat": "~g",
            },
        ),
    }
    return stepped(base, frames, list(said.steps), dark=dark, pace=1800)


def round_ticks(count: int, names: Sequence[str]) -> tuple[list[float], list[str]]:
    """About four places of ``count`` with their names."""
    step = max(1, -(-count // 4))
    places = list(range(0, count, step))
    return [float(place) for place in places], [names[place] for place in places]
