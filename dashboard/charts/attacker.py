"""What the best possible attacker can achieve: misses against false alarms, one curve per guarantee."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.charts.labels import with_legend, written
from dashboard.charts.theme import Figure, layout, palette, translucent
from dpcore.validate import FloatArray

HEIGHT = 420


def attacker(
    false_alarms: FloatArray,
    curves: Sequence[tuple[str, FloatArray]],
    *,
    worst: FloatArray | None = None,
    dark: bool = False,
) -> Figure:
    """Curves (name, misses) over ``false_alarms`` (m,), rates between 0 and 1, under the diagonal of pure guessing.

    What lies under a curve is out of every attacker's reach; ``worst`` is the curve that the guarantee alone leaves,
    drawn as a shaded band above it.
    """
    look = palette(dark)
    x = 100 * false_alarms
    traces: list[Figure] = []
    if worst is not None:
        common = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "x": _f(x)}
        traces += [
            common | {"y": _f(100 * worst)},
            common | {"y": _f(100 - x), "fill": "tonexty", "fillcolor": translucent(look.bad, 0.14)},
        ]
    traces.append(_curve("guessing without looking", x, 100 - x, look.soft, "dot"))
    ramp = _ramp(len(curves), look.accent, look.bad)
    for (name, misses), ink in zip(curves, ramp, strict=True):
        traces.append(_curve(name, x, 100 * misses, ink, "solid"))
    lines = [100 * misses for _, misses in curves]
    names = [name for name, _ in curves]
    inks = list(ramp)
    notes, left_out = written(
        x,
        [100 - x, *lines],
        ["guessing without looking", *names],
        [look.soft, *inks],
        (0.0, 104.0),
        look.paper,
        [],
    )
    return {
        "data": traces,
        "layout": layout(
            dark,
            xaxis={
                "title": {"text": "false alarms, in 100 times that it is not so"},
                "range": [0, 100],
                "tickformat": "~g",
            },
            yaxis={
                "title": {"text": "misses, in 100 times that it is so"},
                "range": [0, 104],
                "tickformat": "~g",
            },
            annotations=notes,
            **with_legend(traces, left_out, HEIGHT),
        ),
    }


def _f(values: FloatArray) -> np.ndarray:
    return values.astype(np.float32)


def _curve(name: str, x: FloatArray, y: FloatArray, ink: str, dash: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": _f(x),
        "y": _f(y),
        "line": {"color": ink, "width": 2.5, "dash": dash},
        "hovertemplate": f"{name}: with %{{x:.0f}} false alarms in 100, at least %{{y:.1f}} misses<extra></extra>",
    }


def _ramp(count: int, start: str, end: str) -> list[str]:
    """``count`` colours from ``start`` to ``end``."""
    low = np.array([int(start[i : i + 2], 16) for i in (1, 3, 5)])
    high = np.array([int(end[i : i + 2], 16) for i in (1, 3, 5)])
    steps = np.linspace(0.0, 1.0, count) if count > 1 else np.zeros(1)
    mixed = [np.rint(low + share * (high - low)).astype(int) for share in steps]
    return ["#" + "".join(f"{part:02x}" for part in colour) for colour in mixed]
