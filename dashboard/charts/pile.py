"""Private answers piling up: one row of dots for each different answer, a dot for every time it was drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dashboard.charts.theme import Figure, layout, palette

_LEAST_WIDE = 12
MOST_ROWS = 6


def pile(answers: Sequence[str], *, others: str = "other answers", dark: bool = False) -> Figure:
    """``answers`` in the order in which they were drawn, as words for a picture; the newest has a ring.

    The commonest ``MOST_ROWS`` are shown by name, the rest together as ``others``.
    """
    look = palette(dark)
    counts = Counter(answers)
    names = [name for name, _ in counts.most_common(MOST_ROWS)]
    if len(counts) > MOST_ROWS:
        names = [*names[:-1], others]
    rows = [names.index(answer) if answer in names else len(names) - 1 for answer in answers]
    x, seen = [], [0] * len(names)
    for row in rows:
        x.append(seen[row])
        seen[row] += 1
    wide = max(_LEAST_WIDE, *seen) if seen else _LEAST_WIDE
    newest = [3 if place == len(rows) - 1 else 0 for place in range(len(rows))]
    labels = [
        {
            "x": -0.5,
            "y": -row + 0.42,
            "text": f"{name}  <b>{seen[row]}</b>",
            "showarrow": False,
            "xanchor": "left",
            "yanchor": "middle",
            "font": {"size": 14, "color": look.ink},
        }
        for row, name in enumerate(names)
    ]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": np.asarray(x, np.float32),
                "y": np.asarray([-float(row) for row in rows], np.float32),
                "text": [names[row] for row in rows],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"size": 11, "color": look.accent, "line": {"width": newest, "color": look.bad}},
            }
        ],
        "layout": layout(
            dark,
            height=60 + 60 * max(len(names), 1),
            margin={"l": 0, "r": 0, "t": 4, "b": 0},
            xaxis={"visible": False, "range": [-0.7, wide], "fixedrange": True},
            yaxis={"visible": False, "range": [-max(len(names), 4) + 0.4, 0.9], "fixedrange": True},
            annotations=labels,
        ),
    }


def told(answers: Sequence[str]) -> str:
    """The same in words, the commonest first."""
    return "; ".join(f"{count} × {name}" for name, count in Counter(answers).most_common()) or "none"
