"""Exact output laws as pictures: the chance of each option, and densities laid over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.charts.theme import Figure, layout, palette, translucent


def chances(
    names: Sequence[str],
    laws: Mapping[str, np.ndarray],
    labels: Mapping[str, str],
    colour: Mapping[str, str],
    *,
    dark: bool = False,
) -> Figure:
    """Chance of each option in 100 under each method, as grouped horizontal bars."""
    rows = list(range(len(names)))[::-1]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "name": labels[key],
                "y": rows,
                "x": (100 * law).astype(np.float32),
                "text": [_in_100(chance) for chance in law],
                "textposition": "outside",
                "textfont": {"size": 11},
                "cliponaxis": False,
                "marker": {"color": colour[key]},
                "hovertemplate": f"{labels[key]}: %{{x:.2~f}} times in 100<extra></extra>",
            }
            for key, law in [*laws.items()][::-1]  # Plotly draws the first at the bottom
        ],
        "layout": layout(
            dark,
            height=80 + (16 * len(laws) + 12) * len(names),
            barmode="group",
            bargap=0.25,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "reversed"},
            xaxis={"title": {"text": "times chosen in 100"}, "rangemode": "tozero", "tickformat": "~g"},
            yaxis={"tickvals": rows, "ticktext": list(names), "showgrid": False},
        ),
    }


def _in_100(chance: float) -> str:
    """The number beside a bar, never rounded to certainty or impossibility."""
    if chance < 0.005:
        return "<1" if chance > 0.0 else "0"
    return ">99" if 0.995 <= chance < 1.0 else f"{100 * chance:.0f}"


def curves(
    x: np.ndarray,
    lines: Mapping[str, np.ndarray],
    labels: Mapping[str, str],
    colour: Mapping[str, str],
    *,
    x_title: str,
    y_title: str,
    marks: Mapping[float, str] | None = None,
    steps: Sequence[str] = (),
    height: int = 320,
    dark: bool = False,
) -> Figure:
    """Several functions of one variable; those named in ``steps`` are drawn as steps, ``marks`` are vertical lines."""
    look = palette(dark)
    top = max((float(line.max(initial=0.0)) for line in lines.values()), default=0.0)
    room = 1.18 if marks else 1.05  # the marks are named above the curves
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": labels[key],
                "x": x.astype(np.float32),
                "y": line.astype(np.float32),
                "line": {"color": colour[key], "width": 2.5, "shape": "hvh" if key in steps else "linear"},
                "hovertemplate": f"{labels[key]}: %{{y:.3~g}} at %{{x:.4~g}}<extra></extra>",
            }
            for key, line in lines.items()
        ],
        "layout": layout(
            dark,
            height=height,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": x_title}, "tickformat": "~g"},
            yaxis={"title": {"text": y_title}, "range": [0, room * top or 1.0], "tickformat": "~g"},
            shapes=[
                {
                    "type": "line",
                    "x0": at,
                    "x1": at,
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "line": {"color": look.soft, "width": 1, "dash": "dash"},
                }
                for at in (marks or {})
            ],
            annotations=[
                {
                    "x": at,
                    "y": 1,
                    "yref": "paper",
                    "text": text,
                    "showarrow": False,
                    "xanchor": "left",
                    "yanchor": "top",
                    "xshift": 4,
                    "bgcolor": translucent(look.paper, 0.75),
                    "font": {"color": look.soft},
                }
                for at, text in (marks or {}).items()
            ],
        ),
    }
