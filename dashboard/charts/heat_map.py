"""The ε × n map: how good the answer is at every privacy level and sample size, with the line where it is enough."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dashboard.charts.theme import EPSILON_TITLE, Figure, colour_bar, layout, log_ticks, palette
from dashboard.charts.tradeoff import HEIGHT, Scale


def heat_map(
    frame: pd.DataFrame,
    *,
    scale: Scale,
    n_title: str,
    chosen: tuple[float, float],
    target: float | None = None,
    higher_is_better: bool = True,
    dark: bool = False,
) -> Figure:
    """A frame of ``dpcore.tradeoff.sweep_both`` as a map; ``chosen`` is (ε, n); the line is where ``target`` is met."""
    look = palette(dark)
    epsilon, n = np.unique(frame["epsilon"]), np.unique(frame["n"])
    grid = frame["value"].to_numpy().reshape(n.size, epsilon.size) * scale.factor
    ramp: list[tuple[float, str]] = [(0.0, look.bad), (0.5, look.grid), (1.0, look.accent)]
    if not higher_is_better:
        ramp = [(1 - stop, colour) for stop, colour in reversed(ramp)]
    shared = {"x": epsilon.astype(np.float32), "y": n.astype(np.float32), "z": grid.astype(np.float32)}
    traces: list[Figure] = [
        {
            "type": "heatmap",
            **shared,
            "colorscale": ramp,
            "zsmooth": "best",
            "colorbar": colour_bar(scale.title),
            "hovertemplate": f"ε = %{{x:.3~g}}, n = %{{y:,.0f}}: %{{z:.3~g}}{scale.unit}<extra></extra>",
            **({"zmin": 0, "zmax": 100} if scale.hundred else {}),
        }
    ]
    annotations: list[Figure] = []
    if target is not None:
        level = target * scale.factor
        traces.append(
            {
                "type": "contour",
                **shared,
                "showscale": False,
                "hoverinfo": "skip",
                "contours": {"coloring": "lines", "start": level, "end": level, "size": 1, "showlabels": False},
                "line": {"width": 2.5, "dash": "dash", "color": look.ink},
                "colorscale": [[0, look.ink], [1, look.ink]],
            }
        )
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "cliponaxis": False,
            "x": [chosen[0]],
            "y": [chosen[1]],
            "marker": {"size": 14, "color": look.paper, "line": {"color": look.ink, "width": 3}},
            "hovertemplate": "your setting<extra></extra>",
        }
    )
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=HEIGHT + 40,  # the scale above it
            xaxis={
                "type": "log",
                "title": {"text": EPSILON_TITLE},
                "range": [float(np.log10(epsilon[0])), float(np.log10(epsilon[-1]))],
                **log_ticks(float(epsilon[0]), float(epsilon[-1])),
            },
            yaxis={
                "type": "log",
                "title": {"text": n_title},
                "range": [float(np.log10(n[0])), float(np.log10(n[-1]))],
                **log_ticks(float(n[0]), float(n[-1])),
            },
            annotations=annotations,
        ),
    }
