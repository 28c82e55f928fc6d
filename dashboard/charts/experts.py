"""Pictures of following experts: who is followed over time, and one run with its regret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.charts.steps import stepped
from dashboard.charts.theme import Figure, layout, palette, translucent
from dpcore.validate import FloatArray, IntArray

POINTS, FRAMES, RIBBONS = 240, 40, 7


def ribbon(
    names: Sequence[str], weights: FloatArray, *, rounds: int, time: str, height: int = 480, dark: bool = False
) -> Figure:
    """Chance of following each expert, ``weights`` (points, experts) evenly over ``rounds``, as bands over time."""
    look = palette(dark)
    points, experts = weights.shape
    at = np.unique(np.linspace(0, points - 1, min(points, POINTS)).astype(int))
    x = 1 + at * ((rounds - 1) / max(points - 1, 1))
    order = np.argsort(-weights.mean(axis=0), kind="stable")
    shown = order[:RIBBONS]
    bands = [(names[i], weights[at, i], look.series[place % len(look.series)]) for place, i in enumerate(shown)]
    if experts > RIBBONS:
        bands.append(("the others", weights[at][:, order[RIBBONS:]].sum(axis=1), look.soft))
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "stackgroup": "all",
                "name": name,
                "x": x.astype(np.float32),
                "y": (100 * band).astype(np.float32),
                "line": {"width": 0.5, "color": ink},
                "fillcolor": translucent(ink, 0.75),
                "hovertemplate": f"{name}: %{{y:.1f}} times in 100<br>{time} %{{x:,.0f}}<extra></extra>",
            }
            for name, band, ink in bands
        ],
        "layout": layout(
            dark,
            height=height,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
            xaxis={"title": {"text": time}, "range": [1, rounds]},
            yaxis={"title": {"text": "followed, times in 100"}, "range": [0, 100]},
        ),
    }


def life(
    names: Sequence[str],
    plays: IntArray,
    regret: FloatArray,
    expected: FloatArray,
    *,
    time: str,
    dark: bool = False,
) -> Figure:
    """One simulated run: who is followed, and by how much it has lost more than the best expert so far."""
    look = palette(dark)
    rounds = plays.size
    at = np.unique(np.linspace(0, rounds - 1, min(rounds, POINTS)).astype(int))
    ends = np.unique(np.linspace(1, at.size, min(at.size, FRAMES)).astype(int))
    used, place = np.unique(plays[at], return_inverse=True)

    def step(count: int) -> list[Figure]:
        x = (at[:count] + 1).astype(np.float32)
        return [
            {"x": x, "y": place[:count].astype(np.float32)},
            {"x": x, "y": regret[at[:count]].astype(np.float32)},
        ]

    low, high = float(min(regret.min(), expected.min(), 0.0)), float(max(regret.max(), expected.max(), 1.0))
    figure: Figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "marker": {"size": 5, "color": look.accent, "symbol": "square"},
                "yaxis": "y2",
                "hovertemplate": f"{time} %{{x:,.0f}}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "line": {"color": look.bad, "width": 2.5},
                "hovertemplate": "this run: %{y:,.3~g} lost more than the best so far<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "x": (at + 1).astype(np.float32),
                "y": expected[at].astype(np.float32),
                "line": {"color": look.soft, "width": 1.5},
                "hovertemplate": "on average: %{y:,.3~g}<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=420,
            xaxis={"range": [1, rounds], "title": {"text": time}, "anchor": "y"},
            yaxis={
                "domain": [0, 0.5],
                "range": [low, high * 1.05],
                "title": {"text": "points lost more<br>than the best so far"},
            },
            yaxis2={
                "domain": [0.56, 1],
                "anchor": "x",
                "range": [-0.6, used.size - 0.4],
                "tickvals": list(range(used.size)) if used.size <= 12 else [],
                "ticktext": [names[i] for i in used] if used.size <= 12 else [],
                "title": {"text": "followed"},
                "showgrid": False,
            },
        ),
    }
    labels = [f"{time} {at[count - 1] + 1:,} of {rounds:,}" for count in ends]
    return stepped(figure, [step(int(count)) for count in ends], labels, dark=dark, pace=160, start=-1)
