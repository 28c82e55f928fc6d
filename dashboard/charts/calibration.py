"""Stated chances against what is really so: whether a model's chances can be believed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dashboard.charts.theme import Figure, layout, palette

_SMALLEST, _LARGEST = 7.0, 26.0


def calibration(table: pd.DataFrame, *, x_title: str, y_title: str, right: str, dark: bool) -> Figure:
    """One dot for every step of stated chances (``chance``), at the ``share`` that are really of the class, both shown
    in 100; larger where more ``rows`` are. On the dashed line, which ``right`` explains, chances are what they say."""
    look = palette(dark)
    chance, share = 100.0 * table["chance"].to_numpy(float), 100.0 * table["share"].to_numpy(float)
    rows = table["rows"].to_numpy(float)
    sizes = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(rows / rows.max())
    parts = 100.0 * rows / rows.sum()
    span = {"range": [-4, 104], "tickvals": [0, 25, 50, 75, 100]}
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "x": [0, 100],
                "y": [0, 100],
                "line": {"color": look.soft, "width": 1.5, "dash": "dash"},
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": chance.astype(np.float32),
                "y": share.astype(np.float32),
                "text": [f"{part:.3g} in 100 of the rows" for part in parts],
                "line": {"color": look.accent, "width": 1.5},
                "marker": {"color": look.accent, "size": sizes, "line": {"color": look.paper, "width": 1}},
                "cliponaxis": False,
                "hovertemplate": "says %{x:.3g} in 100, is %{y:.3g} in 100<br>%{text}<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=340,
            xaxis={"title": {"text": x_title}, **span},
            yaxis={"title": {"text": y_title}, **span},
            annotations=[
                {
                    "x": 0,
                    "y": 103,
                    "text": right,
                    "showarrow": False,
                    "xanchor": "left",
                    "yanchor": "top",
                    "font": {"color": look.soft, "size": 13},
                }
            ],
        ),
    }
