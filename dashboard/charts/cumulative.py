"""What answers cost together, one line per composition rule, against the number of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard.charts.labels import with_legend, written
from dashboard.charts.theme import Figure, layout, palette, plain, translucent

HEIGHT = 420


def cumulative(
    frame: pd.DataFrame,
    *,
    names: Mapping[str, str],
    colour: Mapping[str, str],
    planned: Sequence[str],
    counts_with: Sequence[str],
    cap: float,
    done: int,
    delta: str,
    dark: bool = False,
) -> Figure:
    """Lines of ``frame`` (columns ``answers, rule, epsilon``) from (0, 0), up to and a little above ``cap``.

    Rules in ``planned`` hold only for plans and are dashed; those in ``counts_with`` are the budget's own and thick.
    ``done`` answers have been given: to the right of them is what more would cost, on a shaded ground.
    """
    look = palette(dark)
    last = int(frame["answers"].max())
    grid = np.unique(np.concatenate([[0], frame["answers"].to_numpy()])).astype(float)
    top = 1.12 * max(cap, _highest(frame, counts_with))
    traces: list[Figure] = []
    lines, labels, inks = [], [], []
    for rule in dict.fromkeys(frame["rule"]):
        part = frame[frame["rule"] == rule]
        x = np.concatenate([[0.0], part["answers"].to_numpy(float)])
        y = np.concatenate([[0.0], part["epsilon"].to_numpy(float)])
        traces.append(_line(rule, x, y, names, colour, rule in planned, rule in counts_with, delta))
        lines.append(np.interp(grid, x, y))
        labels.append(names[rule])
        inks.append(colour[rule])
    x, lines, fence = _finer(grid, lines, [np.full_like(grid, cap)])
    cap_name = f"the budget: ε = {plain(cap)}"
    left = not _crossed(x, lines, cap, 0.0, 0.3) or _crossed(x, lines, cap, 0.7, 1.0)
    shapes: list[Figure] = [
        _rule(x0=0, x1=1, xref="paper", y0=cap, y1=cap, line={"color": look.soft, "width": 1.5, "dash": "dash"})
    ]
    if 0 < done < last:
        shapes.append(_rule(x0=done, x1=done, y0=0, y1=1, yref="paper", line={"color": look.soft, "width": 1}))
    if done < last:
        ground = {"type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": translucent(look.soft, 0.07)}
        shapes.append(ground | {"x0": done, "x1": last, "y0": 0, "y1": 1, "yref": "paper"})
    notes, left_out = written(x, lines, labels, inks, (0.0, top), look.paper, fence, cap_name if left else "")
    return {
        "data": traces,
        "layout": layout(
            dark,
            xaxis={"title": {"text": "number of answers"}, "range": [0, last], **_whole_ticks(last)},
            yaxis={"title": {"text": f"ε of all of them together{delta}"}, "range": [0, top], "tickformat": "~g"},
            shapes=shapes,
            annotations=[
                *notes,
                {
                    "x": 0 if left else 1,
                    "xref": "paper",
                    "y": cap,
                    "text": cap_name,
                    "showarrow": False,
                    "xanchor": "left" if left else "right",
                    "yanchor": "bottom",
                    "yshift": 2,
                    "bgcolor": translucent(look.paper, 0.75),
                    "font": {"color": look.soft, "size": 13},
                },
            ],
            **with_legend(traces, left_out, HEIGHT),
        ),
    }


def _crossed(x: np.ndarray, lines: list[np.ndarray], level: float, start: float, end: float) -> bool:
    """Whether a line reaches ``level`` within that part of the picture's width."""
    places = [float(x[np.argmax(line >= level)] / x[-1]) for line in lines if line[-1] >= level]
    return any(start <= place <= end for place in places)


def _highest(frame: pd.DataFrame, rules: Sequence[str]) -> float:
    own = frame[frame["rule"].isin(rules)]
    return float(own.groupby("answers")["epsilon"].min().max()) if len(own) else 0.0


def _line(
    rule: str,
    x: np.ndarray,
    y: np.ndarray,
    names: Mapping[str, str],
    colour: Mapping[str, str],
    planned: bool,
    own: bool,
    delta: str,
) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers" if x.size <= 12 else "lines",
        "name": names[rule],
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "marker": {"size": 6},
        "line": {"color": colour[rule], "width": 3.5 if own else 2, "dash": "dash" if planned else "solid"},
        "hovertemplate": f"{names[rule]}: %{{x}} answers together cost ε = %{{y:.4~g}}{delta}<extra></extra>",
    }


def _rule(**parts: object) -> Figure:
    return {"type": "line", "layer": "below", **parts}


def _whole_ticks(last: int) -> Figure:
    """About eight whole numbers from 0 to ``last``."""
    step = next(step * 10**power for power in range(7) for step in (1, 2, 5) if step * 10**power * 8 >= last)
    values = list(range(0, last + 1, step))
    return {"tickvals": values, "ticktext": [f"{value:,}" for value in values]}


def _finer(
    x: np.ndarray, lines: list[np.ndarray], fence: list[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """More points on the same lines, so that few answers leave room to choose a name's place from."""
    fine = np.linspace(x[0], x[-1], 61)
    return fine, [np.interp(fine, x, line) for line in lines], [np.interp(fine, x, line) for line in fence]
