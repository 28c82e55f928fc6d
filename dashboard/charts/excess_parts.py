"""What a model's excess risk is made of: one bar in parts, and another model's beside it."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.charts.theme import Figure, layout, palette, plain


def excess_parts(
    parts: Mapping[str, float],
    inks: Mapping[str, str],
    *,
    whole: str,
    other: str,
    beside: float,
    x_title: str,
    dark: bool = False,
) -> Figure:
    """``parts``, by their words, one after the other on the bar named ``whole``; ``beside`` is the bar ``other``.

    A part below 0 (noise that happens to help, or chance) starts where those before it end and goes back.
    """
    look = palette(dark)
    traces: list[Figure] = []
    start = 0.0
    for name, value in parts.items():
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": [whole],
                "x": [value],
                "base": [start],
                "marker": {"color": inks[name], "line": {"color": look.paper, "width": 1}},
                "hovertemplate": f"{name}: {plain(value)}<extra></extra>",
            }
        )
        start += value
    traces.append(
        {
            "type": "bar",
            "orientation": "h",
            "y": [other],
            "x": [beside],
            "showlegend": False,
            "marker": {"color": look.soft},
            "hovertemplate": f"{other}: {plain(beside)}<extra></extra>",
        }
    )
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=280,
            barmode="overlay",
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
            xaxis={"title": {"text": x_title}, "rangemode": "tozero", "tickformat": "~g"},
            yaxis={"automargin": True, "autorange": "reversed", "showgrid": False},
        ),
    }
