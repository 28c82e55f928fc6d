"""A line through points and the ball it is chosen from: two panels, and the same points under a number's loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.charts.theme import Figure, colour_bar, layout, palette, translucent
from dpcore.validate import FloatArray

HEIGHT = 780


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneWords:
    """The names in the picture."""

    people: str
    moved: str
    was: str
    best: str
    best_was: str
    drawn: str
    density: str
    bad: str
    bound: str
    ball: str
    x: str
    y: str
    height: str
    slope: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points:
    """Everybody's ``at``, shape (n, 2) in the data's own units; ``who`` has moved ``to`` there.

    ``reach`` are the ends of both axes, the declared bounds.
    """

    at: FloatArray
    who: int
    to: tuple[float, float]
    reach: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """Both ends of lines, shape (m, 2, 2) as (line, end, (x, y)): the best ``now`` and as it ``was``, and ``drawn``."""

    now: FloatArray
    was: FloatArray
    drawn: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BallMap:
    """The ball on a square of ``axis`` × ``axis``, rows along the second number of w; NaN outside.

    ``good`` is 1 where w is GOOD and 0 where BAD, up to the loss ``limit`` where there is one; ``best`` and ``was`` are
    the two least places of L.
    """

    axis: FloatArray
    density: FloatArray
    loss: FloatArray
    good: FloatArray
    limit: float | None
    best: tuple[float, float]
    was: tuple[float, float]


def plane(points: Points, lines: Lines, ball: BallMap, said: PlaneWords, *, dark: bool = False) -> Figure:
    """Above, the points with the best line before and after one of them moved, and private lines; below, the ball."""
    look = palette(dark)
    upper = {"xaxis": "x2", "yaxis": "y2"}
    traces = [
        _rays(lines.drawn, said.drawn, translucent(look.accent, 0.35), 1.2) | upper,
        _rays(lines.was, said.best_was, look.soft, 2.5)
        | {"line": {"color": look.soft, "width": 2.5, "dash": "dot"}}
        | upper,
        _rays(lines.now, said.best, look.good, 3.0) | upper,
        *(trace | upper for trace in people(points, said.people, said.moved, said.was, dark=dark)),
    ]
    radius = float(ball.axis[-1])
    angle = np.linspace(0.0, 2.0 * np.pi, 121)
    shared = {"x": ball.axis.astype(np.float32), "y": ball.axis.astype(np.float32)}
    bad = np.where(np.isnan(ball.good), np.nan, np.where(ball.good < 0.5, 1.0, np.nan))
    traces += [
        {
            "type": "heatmap",
            **shared,
            "z": ball.density.astype(np.float32),
            "colorscale": [[0, translucent(look.accent, 0.0)], [1, look.accent]],
            "zmin": 0.0,
            "showscale": False,
            "hovertemplate": f"{said.density}: %{{z:.3~g}}<br>w = (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
        },
        {
            "type": "heatmap",
            **shared,
            "z": bad.astype(np.float32),
            "colorscale": [[0, translucent(look.bad, 0.28)], [1, translucent(look.bad, 0.28)]],
            "showscale": False,
            "hoverinfo": "skip",
        },
        {
            "type": "contour",
            **shared,
            "z": ball.loss.astype(np.float32),
            "contours": {"coloring": "none"},
            "line": {"color": look.soft, "width": 0.8},
            "ncontours": 12,
            "showlegend": False,
            "showscale": False,
            "hoverinfo": "skip",
        },
        _square(said.bad, translucent(look.bad, 0.5)),
        _square(said.density, look.accent),
        {
            "type": "scatter",
            "mode": "lines",
            "name": said.ball,
            "x": (radius * np.cos(angle)).astype(np.float32),
            "y": (radius * np.sin(angle)).astype(np.float32),
            "line": {"color": look.ink, "width": 1.5},
            "hoverinfo": "skip",
            "showlegend": False,
        },
        _star(ball.was, said.best_was, look.ink, "star-open"),
        _star(ball.best, said.best, look.good, "star"),
    ]
    if ball.limit is not None and float(np.nanmax(ball.loss)) > ball.limit:
        traces += [
            {
                "type": "contour",
                **shared,
                "z": ball.loss.astype(np.float32),
                "contours": {"coloring": "lines", "start": ball.limit, "end": ball.limit, "size": 1},
                "colorscale": [[0, look.ink], [1, look.ink]],
                "line": {"width": 2, "dash": "dash"},
                "showscale": False,
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "name": said.bound,
                "x": [None],
                "y": [None],
                "line": {"color": look.ink, "width": 2, "dash": "dash"},
            },
        ]
    axis: Figure = {"gridcolor": look.grid, "zeroline": False, "automargin": True, "fixedrange": True, "nticks": 6}
    room = 1.06 * radius
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=HEIGHT,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": said.height}, "range": [-room, room], "constrain": "domain", "tickformat": "~g"},
            yaxis={
                "title": {"text": said.slope},
                "domain": [0.0, 0.48],
                "range": [-room, room],
                "scaleanchor": "x",
                "constrain": "domain",
                "tickformat": "~g",
            },
            xaxis2={"title": {"text": said.x}, "anchor": "y2", "range": _wider(points.reach[0]), "tickformat": "~g"}
            | axis,
            yaxis2={
                "title": {"text": said.y},
                "domain": [0.6, 1.0],
                "anchor": "x2",
                "range": _wider(points.reach[1]),
                "tickformat": "~g",
            }
            | axis,
        ),
    }


def people(points: Points, people: str, moved: str, was: str, *, dark: bool = False) -> list[Figure]:
    """Everybody as dots, the one who moved as a large one with the ghost of where they were."""
    look = palette(dark)
    stay = np.arange(len(points.at)) != points.who
    ghost = points.at[points.who]
    dots: Figure = {"type": "scatter", "mode": "markers", "hovertemplate": "(%{x:.4~g}, %{y:.4~g})<extra></extra>"}
    return [
        dots
        | {
            "name": people,
            "x": points.at[stay, 0].astype(np.float64),
            "y": points.at[stay, 1].astype(np.float64),
            "marker": {"size": 6, "color": look.soft, "opacity": 0.7},
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": [float(ghost[0]), points.to[0]],
            "y": [float(ghost[1]), points.to[1]],
            "line": {"color": look.bad, "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
            "showlegend": False,
        },
        dots
        | {
            "name": was,
            "x": [float(ghost[0])],
            "y": [float(ghost[1])],
            "marker": {"size": 11, "color": look.bad, "symbol": "circle-open", "line": {"width": 2}},
        },
        dots
        | {
            "name": moved,
            "x": [points.to[0]],
            "y": [points.to[1]],
            "cliponaxis": False,
            "marker": {"size": 13, "color": look.bad},
        },
    ]


def with_people(figure: Figure, points: Points, names: tuple[str, str, str], *, dark: bool = False) -> Figure:
    """``figure`` of a loss over a line (``charts.ball``) with the points below the loss, in its upper panel."""
    traces = [trace | {"yaxis": "y2"} for trace in people(points, *names, dark=dark)]
    return figure | {"data": [*figure["data"], *traces]}


def ratio_map(
    axis: FloatArray, ratio: FloatArray, promised: float, titles: tuple[str, str, str], *, dark: bool = False
) -> Figure:
    """Log-ratios of two worlds over the ball (NaN outside), on a scale that ends at ±``promised``.

    ``titles`` are those of the scale and of both axes.
    """
    look = palette(dark)
    room = 1.06 * float(axis[-1])
    return {
        "data": [
            {
                "type": "heatmap",
                "x": axis.astype(np.float32),
                "y": axis.astype(np.float32),
                "z": ratio.astype(np.float32),
                "zmin": -promised,
                "zmax": promised,
                "colorscale": [[0, look.bad], [0.5, look.grid], [1, look.accent]],
                "colorbar": colour_bar(titles[0]),
                "hovertemplate": "%{z:.3~g} at w = (%{x:.2f}, %{y:.2f})<extra></extra>",
            }
        ],
        "layout": layout(
            dark,
            height=520,
            xaxis={"title": {"text": titles[1]}, "range": [-room, room], "constrain": "domain", "tickformat": "~g"},
            yaxis={
                "title": {"text": titles[2]},
                "range": [-room, room],
                "scaleanchor": "x",
                "constrain": "domain",
                "tickformat": "~g",
            },
        ),
    }


def _wider(ends: tuple[float, float]) -> list[float]:
    room = 0.04 * (ends[1] - ends[0])
    return [ends[0] - room, ends[1] + room]


def _rays(ends: FloatArray, name: str, ink: str, width: float) -> Figure:
    """Separate straight lines as one trace."""
    parted = np.full((len(ends), 3, 2), np.nan)
    parted[:, :2] = ends
    flat = parted.reshape(-1, 2)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": flat[:, 0].copy(),
        "y": flat[:, 1].copy(),
        "line": {"color": ink, "width": width},
        "hoverinfo": "skip",
    }


def _square(name: str, ink: str) -> Figure:
    """An entry of the legend for a colour of the map."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [None],
        "y": [None],
        "marker": {"size": 12, "symbol": "square", "color": ink},
    }


def _star(at: tuple[float, float], name: str, ink: str, symbol: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [at[0]],
        "y": [at[1]],
        "showlegend": False,
        "marker": {"size": 14, "color": ink, "symbol": symbol, "line": {"width": 1.5, "color": ink}},
        "hovertemplate": f"{name}: w = (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
    }
