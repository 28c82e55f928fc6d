"""A picture that no longer answers what is asked, greyed until the new one is there."""

from __future__ import annotations

from dashboard.charts.theme import Figure, palette, translucent


def faded(figure: Figure, *, dark: bool = False) -> Figure:
    """``figure`` behind a veil, in grey, with a sign that it belongs to the earlier question; nothing to hover."""
    look = palette(dark)
    base = figure["layout"]
    veil = {
        "type": "rect",
        "xref": "paper",
        "yref": "paper",
        **{"x0": 0, "x1": 1, "y0": 0, "y1": 1},
        "fillcolor": translucent(look.paper, 0.65),
        "line": {"width": 0},
        "layer": "above",
    }
    sign = {
        "text": "the earlier question",
        "xref": "paper",
        "yref": "paper",
        **{"x": 0.5, "y": 0.5},
        "showarrow": False,
        "bgcolor": look.paper,
        "bordercolor": look.soft,
        "borderpad": 6,
        "font": {"color": look.ink, "size": 15},
    }
    names = [note | {"opacity": 0.45} for note in base.get("annotations", [])]
    shapes = [*base.get("shapes", []), veil]
    grey = {"hovermode": False, "shapes": shapes, "annotations": [*names, sign]}
    return figure | {"layout": base | grey}
