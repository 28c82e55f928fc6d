"""Training from inside: losses step by step, gradients as arrows, and curves with a band on logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.charts.promise import few
from dashboard.charts.steps import stepped
from dashboard.charts.theme import Figure, layout, log_ticks, palette, translucent
from dpcore.validate import FloatArray

_ROOM = 1.15
_DEEPEST = 1e-4
"""Parts of the largest value down to which a logarithmic axis reaches."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """One curve with its band, in the ``ink``-th colour; without a band where ``low`` is None, then drawn dashed."""

    name: str
    x: FloatArray
    value: FloatArray
    ink: int
    low: FloatArray | None = None
    high: FloatArray | None = None


def banded(runs: Sequence[Run], *, x_title: str, y_title: str, floor: float = 0.0, dark: bool = False) -> Figure:
    """``runs`` on logarithmic axes, bands behind the lines; the frame ends at ``floor`` where it would reach lower."""
    look = palette(dark)
    every = np.concatenate([part for run in runs for part in (run.value, run.low, run.high) if part is not None])
    top = float(every.max())
    bottom = max(float(every[every > 0.0].min()), top * _DEEPEST, floor)
    low, high = bottom / _ROOM, top * _ROOM
    xs = np.concatenate([run.x for run in runs])
    left, right = float(xs.min()), float(xs.max())
    bands: list[Figure] = []
    lines: list[Figure] = []
    for run in runs:
        ink, x = look.series[run.ink], run.x.astype(np.float64)
        if run.low is not None and run.high is not None:
            edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
            bands.append(edge | {"x": x, "y": np.maximum(run.low, low)})
            bands.append(
                edge | {"x": x, "y": np.maximum(run.high, low), "fill": "tonexty", "fillcolor": translucent(ink, 0.16)}
            )
        lines.append(
            {
                "type": "scatter",
                "mode": "lines" if run.low is None or run.x.size > 20 else "lines+markers",
                "name": run.name,
                "x": x,
                "y": np.where(run.value >= low, run.value, np.nan),
                "line": {"color": ink, "width": 2.5, "dash": "dash" if run.low is None else "solid"},
                "hovertemplate": f"{run.name}: %{{y:.3~g}} at %{{x:.3~g}}<extra></extra>",
            }
        )
    return {
        "data": bands + lines,
        "layout": layout(
            dark,
            height=380 + 26 * len(lines),
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={
                "type": "log",
                "title": {"text": x_title},
                "range": [np.log10(left) - 0.02, np.log10(right) + 0.02],
                **few(log_ticks(left, right)),
            },
            yaxis={
                "type": "log",
                "title": {"text": y_title},
                "range": [np.log10(low), np.log10(high)],
                **few(log_ticks(low, high), most=7),
            },
        ),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrowWords:
    """The names in the picture of arrows."""

    before: str
    after: str
    limit: str
    x: str
    y: str


def arrows(
    before: Sequence[FloatArray],
    after: Sequence[FloatArray],
    limit: float,
    names: Sequence[str],
    said: ArrowWords,
    *,
    dark: bool = False,
) -> Figure:
    """Arrows from 0, an array (m, 2) a step: as they are, and cut at the circle of radius ``limit``."""
    look = palette(dark)
    reach = _ROOM * max(limit, *(float(np.abs(one).max()) for one in before))
    angle = np.linspace(0.0, 2.0 * np.pi, 121)

    def rays(ends: FloatArray) -> Figure:
        stretched = np.full((ends.shape[0], 3, 2), np.nan)
        stretched[:, 0], stretched[:, 1] = 0.0, ends
        flat = stretched.reshape(-1, 2).astype(np.float32)
        return {"x": flat[:, 0].copy(), "y": flat[:, 1].copy()}

    def drawn(name: str, ink: str, width: float, size: float) -> Figure:
        return {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "line": {"color": ink, "width": width},
            "marker": {"size": size, "color": ink},
            "hoverinfo": "skip",
        }

    axis = {"range": [-reach, reach], "tickformat": "~g", "nticks": 7}
    figure: Figure = {
        "data": [
            drawn(said.before, look.bad, 1.2, 4),
            drawn(said.after, look.accent, 2.6, 6),
            {
                "type": "scatter",
                "mode": "lines",
                "name": said.limit,
                "x": (limit * np.cos(angle)).astype(np.float32),
                "y": (limit * np.sin(angle)).astype(np.float32),
                "line": {"color": look.ink, "width": 1.5, "dash": "dash"},
                "hoverinfo": "skip",
            },
        ],
        "layout": layout(
            dark,
            height=460,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": said.x}, "constrain": "domain", **axis},
            yaxis={"title": {"text": said.y}, "scaleanchor": "x", "constrain": "domain", **axis},
        ),
    }
    steps = [[rays(one), rays(other)] for one, other in zip(before, after, strict=True)]
    return stepped(figure, steps, names, dark=dark, pace=300)
