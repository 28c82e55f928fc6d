"""What a plan costs under each composition rule, as bars against what is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.charts.theme import Figure, layout, palette, plain, translucent


def prices(
    rules: Sequence[str],
    epsilons: Sequence[float],
    *,
    names: Mapping[str, str],
    colour: Mapping[str, str],
    planned: Sequence[str],
    left: float | None = None,
    dark: bool = False,
) -> Figure:
    """One bar per rule, the cheapest on top; rules in ``planned`` are hatched; ``left`` is a line."""
    look = palette(dark)
    rows = list(range(len(rules)))[::-1]
    most = max([*epsilons, left or 0.0, 1e-9])
    # A rule far above the others would flatten the bars that matter.
    reach = min(most, 4 * max(min(epsilons), left or 0.0))
    shapes = []
    notes = [
        {
            "x": min(epsilon, reach),
            "y": row - 0.17,
            "text": f"ε = {plain(epsilon)}" + (" →" if epsilon > reach else ""),
            "showarrow": False,
            "xanchor": "left",
            "xshift": 6,
            "bgcolor": translucent(look.paper, 0.75),
            "font": {"color": look.ink, "size": 13},
        }
        for row, epsilon in zip(rows, epsilons, strict=True)
    ]
    notes += [
        {
            "x": 0,
            "xref": "paper",
            "y": row + 0.12,
            "text": names[rule],
            "showarrow": False,
            "xanchor": "left",
            "yanchor": "bottom",
            "bgcolor": translucent(look.paper, 0.75),
            "font": {"color": look.ink, "size": 13},
        }
        for row, rule in zip(rows, rules, strict=True)
    ]
    if left is not None:
        shapes.append(
            {
                "type": "line",
                "x0": left,
                "x1": left,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "line": {"color": look.soft, "width": 1.5, "dash": "dash"},
            }
        )
        notes.append(
            {
                "x": left,
                "y": 1,
                "yref": "paper",
                "text": f"left: ε = {plain(left)}",
                "showarrow": False,
                "xanchor": "left",
                "yanchor": "bottom",
                "xshift": 4,
                "font": {"color": look.soft, "size": 13},
            }
        )
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": [row - 0.17 for row in rows],
                "x": np.minimum(np.asarray(epsilons, float), reach).astype(np.float32),
                "width": 0.44,
                "marker": {
                    "color": [colour[rule] for rule in rules],
                    "pattern": {
                        "shape": ["/" if rule in planned else "" for rule in rules],
                        "fillmode": "overlay",
                        "fgcolor": look.paper,
                        "size": 7,
                        "solidity": 0.25,
                    },
                },
                "hovertemplate": [
                    f"{names[rule]}: ε = {plain(epsilon)} together<extra></extra>"
                    for rule, epsilon in zip(rules, epsilons, strict=True)
                ],
            }
        ],
        "layout": layout(
            dark,
            height=78 + 48 * len(rules),
            margin={"l": 10, "r": 16, "t": 30, "b": 10},
            xaxis={"title": {"text": "ε of all of them together"}, "range": [0, 1.25 * reach], "tickformat": "~g"},
            yaxis={"showticklabels": False, "showgrid": False, "range": [-0.5, len(rules) - 0.3]},
            shapes=shapes,
            annotations=notes,
        ),
    }
