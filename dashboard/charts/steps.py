"""A picture in steps, with play, pause and a slider; nothing moves until somebody presses play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.charts.theme import Figure, palette


def stepped(
    figure: Figure,
    steps: Sequence[Sequence[Figure]],
    names: Sequence[str],
    *,
    dark: bool,
    pace: int = 700,
    start: int = 0,
) -> Figure:
    """``figure`` with one frame per entry of ``steps``.

    Each step gives the figure's traces in order, as dictionaries of what changes. ``names`` label the slider; ``pace``
    is milliseconds per step, ``start`` the step shown before anybody presses play.
    """
    look = palette(dark)
    frames = [
        {"name": str(index), "data": list(traces), "traces": list(range(len(traces)))}
        for index, traces in enumerate(steps)
    ]
    still: dict[str, Any] = {
        "mode": "immediate",
        "transition": {"duration": 0},
        "frame": {"duration": 0, "redraw": True},
    }
    moving = {"fromcurrent": True, "transition": {"duration": 0}, "frame": {"duration": pace, "redraw": True}}
    button = {"font": {"color": look.ink}, "bgcolor": look.paper, "bordercolor": look.grid}
    base = figure["layout"]
    margin = dict(base.get("margin", {}))
    margin["b"] = margin.get("b", 0) + 140
    controls = {
        "margin": margin,
        "height": base.get("height", 400) + 120,
        "updatemenus": [
            {
                "type": "buttons",
                "direction": "left",
                "showactive": False,
                "x": 0,
                "y": 0,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": 56, "r": 8},
                "buttons": [
                    {"label": "▶ Play", "method": "animate", "args": [None, moving]},
                    {"label": "❚❚ Pause", "method": "animate", "args": [[None], still]},
                ],
                **button,
            }
        ],
        "sliders": [
            {
                "active": start % len(steps),
                "x": 0,
                "y": 0,
                "len": 1,
                "pad": {"t": 96},
                "currentvalue": {"prefix": "", "font": {"color": look.ink, "size": 13}},
                "font": {"color": "rgba(0,0,0,0)", "size": 1},
                "ticklen": 0,
                "minorticklen": 0,
                "bgcolor": look.grid,
                "bordercolor": look.grid,
                "activebgcolor": look.accent,
                "steps": [
                    {"label": name, "method": "animate", "args": [[str(index)], still]}
                    for index, name in enumerate(names)
                ],
            }
        ],
    }
    first = [trace | change for trace, change in zip(figure["data"], steps[start], strict=False)]
    rest = list(figure["data"][len(first) :])
    return {"data": first + rest, "layout": base | controls, "frames": frames}
