"""How a private choice is made, draw by draw: each option's score, its noise, and the winner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.charts.steps import stepped
from dashboard.charts.theme import Figure, layout, palette, plain, translucent


def noisy_race(names: Sequence[str], scores: np.ndarray, noise: np.ndarray, *, unit: str, dark: bool = False) -> Figure:
    """Bars of ``scores`` (k,) with the noise of each draw, ``noise`` of shape (draws, k), added one draw at a time."""
    look = palette(dark)
    best = float(scores.max())
    rows = list(range(len(names)))[::-1]
    base = translucent(look.accent, 0.28)

    def step(drawn: np.ndarray) -> list[Figure]:
        total = scores + drawn
        winner = int(np.argmax(total))
        right = scores[winner] == best
        ink = look.good if right else look.bad
        return [
            {
                "x": drawn.astype(np.float32),
                "marker": {"color": [ink if i == winner else look.soft for i in range(len(names))]},
            },
            {
                "x": [float(total[winner])],
                "y": [rows[winner]],
                "text": [f"  {'wins' if right else 'wins, wrongly'}"],
                "textfont": {"color": ink, "size": 14},
            },
        ]

    reach = (scores + noise).max() - min(0.0, float((scores + noise).min()))
    low = min(0.0, float((scores + noise).min()))
    figure: Figure = {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "y": rows,
                "x": noise[0].astype(np.float32),
                "base": scores.astype(np.float32),
                "width": 0.34,
                "hovertemplate": "noise: %{x:.3~g}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "text",
                "textposition": "middle right",
                "cliponaxis": False,
                "hoverinfo": "skip",
            },
            {
                "type": "bar",
                "orientation": "h",
                "y": rows,
                "x": scores.astype(np.float32),
                "width": 0.72,
                "marker": {"color": base},
                "hovertemplate": [
                    f"{name}: {plain(float(score))} {unit}<extra></extra>"
                    for name, score in zip(names, scores, strict=True)
                ],
            },
        ],
        "layout": layout(
            dark,
            height=90 + 34 * len(names),
            barmode="overlay",
            xaxis={
                "title": {"text": f"{unit} (wide bar) and noise (narrow bar)"},
                "range": [low, low + 1.18 * reach],
                "tickformat": "~g",
            },
            yaxis={"tickvals": rows, "ticktext": list(names), "showgrid": False},
        ),
    }
    return stepped(figure, [step(drawn) for drawn in noise], [f"draw {i + 1}" for i in range(len(noise))], dark=dark)
