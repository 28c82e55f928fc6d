"""Names of lines written beside them, and a legend for those without a place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dashboard.charts.places import Place, place
from dashboard.charts.theme import Figure, translucent

LEGEND = 30
"""Pixels of a legend of one row, as which nearly all are."""
Places = list[Place | None]
Keep = Callable[[Callable[[], Places]], Places]
"""Gives what the function in it finds, which may have been found before: it takes a quarter of a picture's time."""


def anew(find: Callable[[], Places]) -> Places:
    """Nothing was found before."""
    return find()


def written(
    x: np.ndarray,
    lines: list[np.ndarray],
    names: list[str],
    inks: list[str],
    y_range: tuple[float, float],
    paper: str,
    fence: list[np.ndarray],
    fence_name: str = "",
    keep: Keep = anew,
) -> tuple[list[Figure], list[str]]:
    """``names`` as annotations beside their ``lines``, and the names for which there is no place; see ``place``.

    ``keep`` may know the places of these very lines.
    """
    found = keep(lambda: place(x, lines, names, y_range, fence, fence_name))
    notes = [
        {
            "x": float(x[spot.index]),
            "y": float(line[spot.index]),
            "text": "<br>".join(spot.rows),
            "align": spot.anchor,
            **_offset(spot, ink),
            "xanchor": spot.anchor,
            "yanchor": "middle",
            "bgcolor": translucent(paper, 0.75),
            "borderpad": 1,
            "font": {"color": ink, "size": 13},
        }
        for spot, line, ink in zip(found, lines, inks, strict=True)
        if spot is not None
    ]
    return notes, [name for spot, name in zip(found, names, strict=True) if spot is None]


def with_legend(traces: list[Figure], left_out: list[str], height: int) -> Figure:
    """Layout of a picture ``height`` pixels high and, above it, a legend for the traces named in ``left_out``, which
    takes nothing from it; changes who of ``traces`` is in the legend."""
    for trace in traces:
        trace["showlegend"] = trace.get("name") in left_out
    return {
        "height": height + LEGEND * bool(left_out),
        "showlegend": bool(left_out),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    }


def _offset(spot: Place, ink: str) -> Figure:
    if not spot.leader:
        return {"xshift": spot.shift_x, "yshift": spot.shift_y, "showarrow": False}
    return {
        "ax": spot.shift_x,
        "ay": -spot.shift_y,
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": translucent(ink, 0.5),
    }
