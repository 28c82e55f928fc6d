"""Lines that grow round by round, named beside their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.charts.theme import Figure, layout, palette

HEIGHT = 380


def growing(
    lines: Mapping[str, Sequence[float]],
    *,
    rounds: int,
    dashed: Sequence[str],
    x_title: str,
    y_title: str,
    size: int = 16,
    dark: bool = False,
) -> Figure:
    """``lines`` (name: value after round 1, 2, …, as far as it has come) on axes that have room for all ``rounds``."""
    look = palette(dark)
    inks = dict(zip(lines, (look.soft, look.accent, look.bad, look.good), strict=False))
    top = max([1.0, *(float(max(values)) for values in lines.values() if len(values))])
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": np.arange(0, len(values) + 1, dtype=np.float32),
                "y": np.array([0.0, *values], dtype=np.float32),
                "line": {"color": inks[name], "width": 3, "dash": "dot" if name in dashed else "solid"},
                "marker": {"size": 8},
                "showlegend": True,
                "hovertemplate": f"{name}: %{{y:.3~g}} after round %{{x}}<extra></extra>",
            }
            for name, values in lines.items()
        ],
        "layout": layout(
            dark,
            height=HEIGHT,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": size}},
            xaxis={"title": {"text": x_title, "font": {"size": size}}, "range": [0, rounds + 0.2], "dtick": 1,
                   "tickfont": {"size": size}},
            yaxis={"title": {"text": y_title, "font": {"size": size}}, "range": [min(0.0, _lowest(lines)), 1.1 * top],
                   "tickfont": {"size": size}},
        ),
    }  # fmt: skip


def _lowest(lines: Mapping[str, Sequence[float]]) -> float:
    return 1.1 * min((float(min(values)) for values in lines.values() if len(values)), default=0.0)
