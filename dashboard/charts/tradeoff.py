"""Accuracy against privacy level or against sample size: the chart every page is built around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.charts.labels import Keep, anew, with_legend, written
from dashboard.charts.theme import MARGIN, Figure, layout, log_ticks, palette, plain, translucent

HEIGHT = 440
ROOM = 1.25
"""Height of the axis over the highest line that is no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a metric is written: axis title, factor, suffix in hover, and whether it is a share of 100.

    ``zoom`` fits the axis to the lines instead of starting it at 0: for metrics whose interesting part is narrow.
    """

    title: str
    factor: float = 1.0
    unit: str = ""
    hundred: bool = False
    zoom: bool = False


YOURS = {"epsilon": "your ε", "n": "as many as here"}
"""What the upright line is, by what the picture is drawn against."""


def tradeoff(
    frame: pd.DataFrame,
    *,
    x: str,
    x_title: str,
    scale: Scale,
    names: Mapping[str, str],
    colour: Mapping[str, str],
    main: str,
    chosen: float,
    target: float | None = None,
    ghost: pd.DataFrame | None = None,
    ghost_name: str = "as it was",
    goal_name: str = "goal set",
    dark: bool = False,
    log_y: bool = False,
    keep: Keep = anew,
) -> Figure:
    """Lines of one metric from a tidy frame (columns of ``dpcore.tradeoff.COLUMNS``) against column ``x``.

    Exact laws are solid, simulations carry their band, bounds are dotted. ``main`` is drawn thicker, with a marker at
    ``chosen``; ``target`` (in the metric's own unit) is a dashed line called ``goal_name``; ``ghost`` holds the
    unedited case of ``main``. ``log_y`` is for metrics that span decades. Names stand where they do whatever is
    ``chosen``, so that ``keep`` may know where.
    """
    look = palette(dark)
    traces: list[Figure] = []
    others = (frame["method"] != main).to_numpy()
    xs = np.unique(frame[x].to_numpy()[others if others.any() else slice(None)])
    lines: list[np.ndarray] = []
    labels: list[str] = []
    inks: list[str] = []
    bounds: list[bool] = []
    methods = frame["method"].to_numpy()
    for method in [m for m in dict.fromkeys(methods) if m != main] + [main]:
        rows = np.flatnonzero(methods == method)
        if not rows.size:
            continue
        rows = rows[np.argsort(frame[x].to_numpy()[rows], kind="stable")]
        kind = frame["kind"].iloc[rows[0]]
        ink = look.soft if kind == "bound" else colour.get(method, look.soft)
        px = frame[x].to_numpy()[rows]
        values, low, high = (frame[name].to_numpy()[rows] * scale.factor for name in ("value", "low", "high"))
        if (kind == "simulated" or method == main) and bool((high - low > 0).any()):
            traces += _band(px, low, high, translucent(ink, 0.16 if method == main else 0.06))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": names[method],
                "x": px.astype(np.float32),
                "y": values.astype(np.float32),
                "line": {"color": ink, "width": 3.5 if method == main else 2, "dash": _dash(str(kind))},
                "hovertemplate": (
                    f"{names[method]}: %{{y:.3~g}}{scale.unit}<br>at {_symbol(x)} = %{{x:.3~g}}<extra></extra>"
                ),
            }
        )
        lines.append(np.interp(np.log(xs), np.log(px), values))
        labels.append(names[method])
        inks.append(ink)
        bounds.append(bool(kind == "bound"))
    if ghost is not None and not ghost.empty:
        traces.insert(
            0,
            {
                "type": "scatter",
                "mode": "lines",
                "name": ghost_name,
                "x": ghost[x].to_numpy(np.float32),
                "y": (ghost["value"] * scale.factor).to_numpy(np.float32),
                "line": {"color": look.soft, "width": 1.5},
                "opacity": 0.6,
                "hovertemplate": f"{ghost_name}: %{{y:.3~g}}<extra></extra>",
            },
        )
        lines.append(np.interp(np.log(xs), np.log(ghost[x].to_numpy()), ghost["value"].to_numpy() * scale.factor))
        labels.append(ghost_name)
        inks.append(look.soft)
        bounds.append(False)
    if log_y:
        lines = [np.log10(np.maximum(line, 1e-12)) for line in lines]
    y_range = _log_range(lines) if log_y else _y_range(lines, bounds, scale)
    away = [bound and not bool((line <= y_range[1]).any()) for line, bound in zip(lines, bounds, strict=True)]
    gone = {name for name, far in zip(labels, away, strict=True) if far}  # nothing names a line that is not there
    traces = [trace for trace in traces if trace.get("name") not in gone]
    kept = [place for place, far in enumerate(away) if not far]
    lines, labels, inks = [lines[at] for at in kept], [labels[at] for at in kept], [inks[at] for at in kept]
    # The target's line is an obstacle to names like any other line, but is named at the edge.
    goal = None if target is None else target * scale.factor
    level = None if goal is None else float(np.log10(max(goal, 1e-12))) if log_y else goal  # as the axis counts
    fence = [] if level is None else [np.full_like(xs, level, dtype=float)]
    needed = "" if goal is None else f"{goal_name}: {plain(goal)}"
    annotations, left_out = written(np.log10(xs), lines, labels, inks, y_range, look.paper, fence, needed, keep)
    shapes: list[Figure] = [
        _rule(x0=chosen, x1=chosen, y0=0, y1=1, yref="paper", color=look.soft, width=1)
        | {
            "label": {
                "text": YOURS.get(x, ""),
                "textposition": "end",
                "textangle": 0,
                "yanchor": "bottom",
                "padding": 1,
                "font": {"color": look.soft, "size": 13},
            }
        }
    ]
    if level is not None:
        above = level < y_range[0] + 0.93 * (y_range[1] - y_range[0])
        shapes.append(
            _rule(x0=0, x1=1, xref="paper", y0=goal, y1=goal, color=look.soft)
            | {"line": {"color": look.soft, "width": 1.5, "dash": "dash"}}
        )
        annotations.append(
            {
                "x": 0,
                "xref": "paper",
                "y": level,
                "text": needed,
                "showarrow": False,
                "xanchor": "left",
                "yanchor": "bottom" if above else "top",
                "yshift": 2 if above else -2,
                "bgcolor": translucent(look.paper, 0.75),
                "font": {"color": look.soft, "size": 13},
            }
        )
    read = read_columns(frame, x, chosen, ("value",), method=main)
    if read is not None:
        height = read[0] * scale.factor
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [chosen],
                "y": [height],
                "cliponaxis": False,
                "marker": {
                    "size": 13,
                    "color": colour.get(main, look.accent),
                    "line": {"color": look.paper, "width": 2},
                },
                "hovertemplate": (
                    f"{names[main]}: {plain(height)}{scale.unit} at {_symbol(x)} = {plain(chosen)}<extra></extra>"
                ),
            }
        )
    return {
        "data": traces,
        "layout": layout(
            dark,
            xaxis={
                "type": "log",
                "title": {"text": x_title},
                "range": [float(np.log10(xs[0])), float(np.log10(xs[-1]))],
                **log_ticks(float(xs[0]), float(xs[-1])),
            },
            yaxis={
                "title": {"text": scale.title},
                "range": list(y_range),
                "tickformat": "~g",
                **({"type": "log", **log_ticks(10.0 ** y_range[0], 10.0 ** y_range[1])} if log_y else {}),
            },
            shapes=shapes,
            annotations=annotations,
            margin=MARGIN | {"t": 22},  # above the picture stands what the upright line is
            **with_legend(traces, left_out, HEIGHT),
        ),
    }


def read_off(part: pd.DataFrame, x: str, at: float, column: str = "value") -> float | None:
    """A line's height at ``at``, between its points on a log scale; None where it is not drawn (yet)."""
    found = read_columns(part, x, at, (column,))
    return None if found is None else found[0]


def read_all(frame: pd.DataFrame, x: str, at: float) -> dict[str, float]:
    """Every line's height at ``at``, by method, of those drawn there; in the frame's order."""
    read = {str(one): read_columns(frame, x, at, ("value",), method=one) for one in dict.fromkeys(frame["method"])}
    return {method: found[0] for method, found in read.items() if found is not None}


def read_columns(frame: pd.DataFrame, x: str, at: float, columns: Sequence[str], **of: str) -> tuple[float, ...] | None:
    """As ``read_off`` for several columns at once, of the rows whose other columns are what ``of`` says."""
    # by arrays: frames take ten times as long for the same, and a page reads off dozens of times
    places = frame[x].to_numpy(float)
    rows = np.arange(places.size)
    for name, value in of.items():
        rows = rows[frame[name].to_numpy()[rows] == value]
    rows = rows[np.argsort(places[rows], kind="stable")]
    places = places[rows]
    slack = 1 + 1e-9
    if places.size == 0 or not places[0] / slack <= at <= places[-1] * slack:
        return None
    along, here = np.log(places), np.log(at)
    return tuple(float(np.interp(here, along, frame[name].to_numpy(float)[rows])) for name in columns)


def _symbol(x: str) -> str:
    return "ε" if x == "epsilon" else x


def _dash(kind: str) -> str:
    return "dot" if kind == "bound" else "solid"


def _rule(*, color: str, width: float = 1.5, **where: object) -> Figure:
    return {"type": "line", "layer": "below", "line": {"color": color, "width": width}, **where}


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, fill: str) -> list[Figure]:
    common = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": x.astype(np.float32)}
    return [
        common | {"y": low.astype(np.float32)},
        common | {"y": high.astype(np.float32), "fill": "tonexty", "fillcolor": fill},
    ]


def _log_range(lines: list[np.ndarray]) -> tuple[float, float]:
    finite = np.concatenate([line[np.isfinite(line)] for line in lines])
    return (float(finite.min()) - 0.05, float(finite.max()) + 0.1)


def _y_range(lines: list[np.ndarray], bounds: list[bool], scale: Scale) -> tuple[float, float]:
    """Room for every line but the bounds, which may lie far above all that matters and then leave the picture."""
    if scale.hundred:
        return (0.0, 104.0)
    kept = [line[np.isfinite(line)] for line, bound in zip(lines, bounds, strict=True) if not bound] or lines
    values = np.concatenate(kept)
    if scale.zoom:
        room = 0.12 * max(float(np.ptp(values)), 1e-6)
        return (float(values.min()) - room, float(values.max()) + room)
    top, low = float(values.max(initial=0.0)), min(0.0, float(values.min(initial=0.0)))
    return (low, max(top * ROOM, 1e-9))
