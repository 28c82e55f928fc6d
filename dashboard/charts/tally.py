"""How many of each, as bars with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.charts.theme import Figure, layout, palette


def tally(
    names: Sequence[str], counts: Sequence[int], *, marked: Sequence[bool] = (), size: int = 15, dark: bool = False
) -> Figure:
    """One bar for each name, its count beside it; ``marked`` ones stand out. ``size`` of the type in pixels."""
    look = palette(dark)
    rows = list(range(len(names)))[::-1]
    stands_out = list(marked) or [False] * len(names)
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": rows,
                "x": [int(count) for count in counts],
                "text": [f"<b>{count:,}</b>" for count in counts],
                "textposition": "outside",
                "cliponaxis": False,
                "textfont": {"size": size, "color": look.ink},
                "marker": {"color": [look.good if out else look.accent for out in stands_out]},
                "hoverinfo": "skip",
            }
        ],
        "layout": layout(
            dark,
            height=round(30 + 2.6 * size * len(names)),
            bargap=0.35,
            margin={"l": 10, "r": 10 + 3 * size, "t": 10, "b": 10},
            xaxis={"visible": False, "range": [0, max(1, *counts) * 1.05]},
            yaxis={"tickvals": rows, "ticktext": list(names), "showgrid": False, "tickfont": {"size": size}},
        ),
    }
