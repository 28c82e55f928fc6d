"""A loss over a ball of one number, its good part, and how likely each number of the ball is chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.charts.theme import Figure, layout, palette, translucent
from dpcore.validate import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class BallWords:
    """The names in the picture."""

    loss: str
    ghost: str
    bound: str
    density: str
    good: str
    bad: str
    x: str
    loss_axis: str
    density_axis: str


def ball(
    w: FloatArray,
    loss: FloatArray,
    ghost: FloatArray,
    density: FloatArray,
    good: FloatArray,
    bound: float | None,
    said: BallWords,
    *,
    dark: bool = False,
) -> Figure:
    """``loss`` with its ``ghost`` of one point elsewhere above; the ``density`` below, GOOD and BAD in two colours.

    ``good`` is 1 where a number is GOOD and 0 elsewhere; ``bound`` the loss up to which it is, or None.
    """
    look = palette(dark)
    x = w.astype(np.float64)

    def area(name: str, part: FloatArray, ink: str) -> Figure:
        return {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": x,
            "y": (density * part).astype(np.float32),
            "line": {"color": ink, "width": 1.5},
            "fill": "tozeroy",
            "fillcolor": translucent(ink, 0.35),
            "hovertemplate": f"{name}: %{{x:.3~g}}<extra></extra>",
        }

    def line(name: str, y: FloatArray, ink: str, dash: str) -> Figure:
        return {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": x,
            "y": y.astype(np.float64),
            "yaxis": "y2",
            "line": {"color": ink, "width": 2.5, "dash": dash},
            "hovertemplate": f"{name}: %{{y:.4~g}} at %{{x:.3~g}}<extra></extra>",
        }

    traces = [line(said.ghost, ghost, look.soft, "solid"), line(said.loss, loss, look.accent, "dot")]
    if bound is not None:
        traces.append(line(said.bound, np.full(x.size, bound), look.ink, "dash"))
    traces += [area(said.good, good, look.good), area(said.bad, 1.0 - good, look.bad)]
    axis: Figure = {"gridcolor": look.grid, "zeroline": False, "automargin": True, "fixedrange": True, "nticks": 6}
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=560,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": said.x}, "anchor": "y", "tickformat": "~g"},
            yaxis={"title": {"text": said.density_axis}, "domain": [0.0, 0.42], "rangemode": "tozero", "nticks": 5},
            shapes=[
                {
                    "type": "rect",
                    "x0": float(x[first]),
                    "x1": float(x[last - 1]),
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "fillcolor": translucent(look.bad, 0.12),
                    "line": {"width": 0},
                    "layer": "below",
                }
                for first, last in _runs(good < 0.5)
            ],
            yaxis2={"title": {"text": said.loss_axis}, "domain": [0.52, 1.0], "tickformat": "~g", **axis},
        ),
    }


def _runs(marked: np.ndarray) -> list[tuple[int, int]]:
    """First place of each stretch of True, and the place after its last."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in turns.reshape(-1, 2)]
