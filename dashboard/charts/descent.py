"""Descent as it happens: the path over the loss, and what clipping and noise do at each step."""

from __future__ import annotations

import numpy as np

from dashboard.charts.steps import stepped
from dashboard.charts.theme import Figure, colour_bar, layout, log_ticks, palette, translucent
from dpcore.training import Trace
from dpcore.validate import FloatArray

FRAMES = 40


def path(trace: Trace, landscape: tuple[FloatArray, FloatArray, FloatArray], *, dark: bool = False) -> Figure:
    """The noisy path over the loss in the plane of its two main directions, step by step."""
    look = palette(dark)
    first, second, loss = landscape
    steps = trace.path.shape[0]
    ends = np.unique(np.linspace(1, steps, min(steps, FRAMES)).astype(int))
    optimum, released = trace.plane @ trace.optimum, trace.plane @ trace.released
    inside = min(1.0, 0.97 * float(first[-1]) / max(float(optimum[0]), 1e-12))
    optimum, best = inside * optimum, "best without privacy" if inside == 1.0 else "best without privacy: farther →"

    def step(count: int) -> list[Figure]:
        walked = trace.path[:count].astype(np.float32)
        return [{"x": walked[:, 0].copy(), "y": walked[:, 1].copy()}]

    figure: Figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "line": {"color": look.bad, "width": 2},
                "marker": {"size": 5, "color": look.bad},
                "hovertemplate": "step %{pointNumber}<extra></extra>",
            },
            {
                "type": "contour",
                "x": first.astype(np.float32),
                "y": second.astype(np.float32),
                "z": loss.astype(np.float32),
                "colorscale": [[0, translucent(look.accent, 0.55)], [1, translucent(look.accent, 0.02)]],
                "contours": {"coloring": "heatmap"},
                "line": {"color": look.grid, "width": 1},
                "ncontours": 18,
                "colorbar": colour_bar("how badly a model there fits (loss)"),
                "hovertemplate": "loss %{z:.4~g}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": [float(optimum[0]), float(released[0])],
                "y": [float(optimum[1]), float(released[1])],
                "text": [best, "released"],
                "textposition": ["top left", "top right"],
                "textfont": {"color": look.ink, "size": 13},
                "marker": {"size": 12, "color": [look.good, look.ink], "symbol": ["star", "diamond"]},
                "hoverinfo": "skip",
            },
        ],
        "layout": layout(
            dark,
            height=430,
            xaxis={"title": {"text": "towards the best model"}, "showgrid": False, "tickformat": "~g"},
            yaxis={"title": {"text": "away from it, where noise pushes"}, "showgrid": False, "tickformat": "~g"},
        ),
    }
    names = [f"after {count - 1} of {steps - 1} steps" for count in ends]
    return stepped(figure, [step(int(count)) for count in ends], names, dark=dark, pace=150, start=-1)


def signal(trace: Trace, *, dark: bool = False) -> Figure:
    """Length of the mean clipped gradient and of the noise on it, at every step."""
    look = palette(dark)
    x = np.arange(1, trace.signal.size + 1)
    lines = (("what the rows ask for, on average", trace.signal, look.accent), ("noise", trace.noise, look.bad))
    top = float(max(trace.signal.max(), trace.noise.max()))
    low = max(float(min(trace.signal.min(), trace.noise.min())), top * 1e-4)
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": x.astype(np.float32),
                "y": np.maximum(line, low).astype(np.float32),
                "line": {"color": ink, "width": 2},
                "hovertemplate": f"{name}: %{{y:.3~g}} at step %{{x}}<extra></extra>",
            }
            for name, line, ink in lines
        ],
        "layout": layout(
            dark,
            height=280,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": "step"}},
            yaxis={"title": {"text": "size"}, "type": "log", **log_ticks(low, top)},
        ),
    }


def lesson(
    x: FloatArray,
    value: FloatArray,
    low: FloatArray,
    high: FloatArray,
    quiet: FloatArray,
    *,
    x_title: str,
    y_title: str,
    dark: bool = False,
) -> Figure:
    """A curve with its band, and the same without noise."""
    look = palette(dark)
    xs = x.astype(np.float32)
    edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False, "x": xs}
    return {
        "data": [
            edge | {"y": low.astype(np.float32)},
            edge | {"y": high.astype(np.float32), "fill": "tonexty", "fillcolor": translucent(look.accent, 0.16)},
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "private (band: range of what you might see)",
                "x": xs,
                "y": value.astype(np.float32),
                "line": {"color": look.accent, "width": 3},
                "hovertemplate": "private: %{y:.4~g} at %{x:.4~g}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "name": "the same without noise",
                "x": xs,
                "y": quiet.astype(np.float32),
                "line": {"color": look.soft, "width": 2},
                "hovertemplate": "without noise: %{y:.4~g} at %{x:.4~g}<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=340,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"type": "log", "title": {"text": x_title}, **log_ticks(float(x.min()), float(x.max()))},
            yaxis={"title": {"text": y_title}, "tickformat": "~g"},
        ),
    }
