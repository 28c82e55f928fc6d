"""A theorem on logarithmic axes beside what is true: bounds dashed, exact laws solid, the chosen point marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.charts.theme import Figure, layout, log_ticks, palette, translucent
from dpcore.validate import FloatArray

_BELOW = 1e-3
"""How far under the least bound the frame reaches for lines that fall without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """``values`` along the axis, one for each of ``x``; ``bound`` where it is promised rather than true.

    ``hover`` is said over it besides its numbers, in HTML.
    """

    key: str
    name: str
    x: FloatArray
    values: FloatArray
    bound: bool = False
    hover: str = ""


def frame_of(lines: Sequence[Line]) -> tuple[float, float]:
    """Least and greatest value shown: every bound is inside, and exact lines down to a thousandth of them."""
    bounds = np.concatenate([line.values for line in lines if line.bound or not any(one.bound for one in lines)])
    finite = bounds[np.isfinite(bounds) & (bounds > 0.0)]
    floor = float(finite.min()) * _BELOW
    every = np.concatenate([line.values for line in lines])
    shown = every[np.isfinite(every) & (every >= floor)]
    return float(shown.min()) / 1.5, float(max(shown.max(), finite.max())) * 1.5


def promise(
    lines: Sequence[Line],
    *,
    x_title: str,
    y_title: str,
    chosen: tuple[float, str] | None = None,
    marks: Sequence[tuple[float, str]] = (),
    height: int = 440,
    dark: bool = False,
) -> Figure:
    """``lines`` on logarithmic axes; ``chosen`` and ``marks`` are upright, with words."""
    look = palette(dark)
    low, high = frame_of(lines)
    xs = np.concatenate([line.x for line in lines])
    left, right = float(xs.min()), float(xs.max())
    inks = iter([ink for ink in look.series if ink != look.accent] * 2)
    traces: list[Figure] = []
    first = True
    for line in lines:
        ink = look.accent if not line.bound and first else next(inks)
        first = first and line.bound
        inside = np.where(line.values >= low, line.values, np.nan)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": line.name,
                "x": line.x.astype(np.float64),
                "y": inside.astype(np.float64),
                "line": {"color": ink, "width": 2.5, "dash": "dash" if line.bound else "solid"},
                "hovertemplate": f"{line.name}: %{{y:.3~g}} at %{{x:.3~g}}{line.hover}<extra></extra>",
            }
        )
    upright = [*([chosen] if chosen is not None else []), *marks]
    return {
        "data": traces,
        "layout": layout(
            dark,
            height=height + 26 * len(lines),
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={
                "type": "log",
                "title": {"text": x_title},
                "range": [np.log10(left), np.log10(right)],
                **few(log_ticks(left, right)),
            },
            yaxis={
                "type": "log",
                "title": {"text": y_title},
                "range": [np.log10(low), np.log10(high)],
                **few(log_ticks(low, high), most=7),
            },
            shapes=[
                {
                    "type": "line",
                    "x0": at,
                    "x1": at,
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "line": {"color": look.soft, "width": 1.5, "dash": "dot"},
                }
                for at, _ in upright
            ],
            annotations=[
                {
                    "x": float(np.log10(at)),
                    "y": 1 - 0.09 * place,
                    "yref": "paper",
                    "text": text,
                    "showarrow": False,
                    "xanchor": "left" if np.log10(at / left) < 0.5 * np.log10(right / left) else "right",
                    "yanchor": "top",
                    "bgcolor": translucent(look.paper, 0.8),
                    "font": {"color": look.ink},
                }
                for place, (at, text) in enumerate(upright)
            ],
        ),
    }


def few(ticks: dict[str, list[float | str]], most: int = 5) -> dict[str, list[float | str]]:
    """About ``most`` of ``ticks``, evenly, with short names for large ones."""
    step = max(1, -(-len(ticks["tickvals"]) // most))
    values = ticks["tickvals"][::step]
    names = {6: "million", 9: "billion"}
    texts: list[float | str] = []
    for value, text in zip(values, ticks["ticktext"][::step], strict=True):
        number = float(value)
        power = 9 if number >= 1e9 else 6 if number >= 1e6 else 0
        texts.append(f"{number / 10**power:g} {names[power]}" if power else text)
    return {"tickvals": values, "ticktext": texts}
