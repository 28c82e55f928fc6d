"""Pictures of alarms: where a run stops, one run step by step, and the attacker's odds against a broken variant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dashboard.charts.steps import stepped
from dashboard.charts.theme import Figure, layout, palette, translucent
from dpcore.thresholding import Trace
from dpcore.validate import FloatArray

FRAMES = 40


def stopping(
    names: Sequence[str],
    answers: FloatArray,
    threshold: float,
    law: FloatArray,
    window: tuple[int, int],
    *,
    unit: str,
    height: int = 480,
    dark: bool = False,
) -> Figure:
    """The series with its line, and under it the chance of stopping at each query, ``law`` (k+1,), in 100.

    Queries before ``window`` are false alarms, within it on time, after it late.
    """
    look = palette(dark)
    k = answers.size
    x = np.arange(k)
    kind = np.where(x < window[0], 0, np.where(x < window[1], 1, 2))
    inks, words = (look.bad, look.good, look.series[3]), ("false alarm", "on time", "late")
    over = answers >= threshold
    step = max(1, -(-k // 3))
    ticks = {"tickvals": x[::step].tolist(), "ticktext": [names[i] for i in x[::step]], "tickangle": 0}
    return {
        "data": [
            {
                "type": "bar",
                "x": x.astype(np.float32),
                "y": answers.astype(np.float32),
                "marker": {"color": [look.accent if high else translucent(look.accent, 0.35) for high in over]},
                "customdata": list(names),
                "hovertemplate": f"%{{customdata}}: %{{y:,.4~g}} {unit}<extra></extra>",
                "yaxis": "y2",
            },
            {
                "type": "bar",
                "x": x.astype(np.float32),
                "y": (100 * law[:-1]).astype(np.float32),
                "marker": {"color": [inks[i] for i in kind]},
                "customdata": [f"{name}: {words[i]}" for name, i in zip(names, kind, strict=True)],
                "hovertemplate": "%{customdata}<br>first alarm here %{y:.2~f} times in 100<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=height,
            bargap=0.1,
            clickmode="event+select",
            xaxis={**ticks, "anchor": "y"},
            yaxis={"domain": [0, 0.38], "title": {"text": "alarm here,<br>times in 100"}, "rangemode": "tozero"},
            yaxis2={"domain": [0.46, 1], "title": {"text": unit}, "anchor": "x", "rangemode": "tozero"},
            shapes=[
                {
                    "type": "line",
                    "x0": -0.5,
                    "x1": k - 0.5,
                    "y0": threshold,
                    "y1": threshold,
                    "yref": "y2",
                    "line": {"color": look.ink, "width": 1.5, "dash": "dash"},
                }
            ],
            annotations=[
                {
                    "x": 0,
                    "xref": "paper",
                    "y": threshold,
                    "yref": "y2",
                    "yanchor": "bottom",
                    "xanchor": "left",
                    "showarrow": False,
                    "yshift": 2,
                    "text": f"the line: {threshold:,.6g}",
                    "bgcolor": translucent(look.paper, 0.75),
                    "font": {"color": look.ink},
                },
                {
                    "x": 0,
                    "xref": "paper",
                    "y": 0.42,
                    "yref": "paper",
                    "xanchor": "left",
                    "yanchor": "middle",
                    "showarrow": False,
                    "text": ", ".join(
                        f'<span style="color:{ink}">{word}</span>' for ink, word in zip(inks, words, strict=True)
                    ),
                },
            ],
        ),
    }


def run(
    names: Sequence[str],
    answers: FloatArray,
    threshold: float,
    trace: Trace,
    spread: float,
    *,
    unit: str,
    dark: bool = False,
) -> Figure:
    """One run: the noisy line, each noisy answer, the first crossing. ``spread`` is the sd of the line's noise."""
    look = palette(dark)
    asked = trace.noisy_answers.size
    shown = np.unique(np.linspace(1, asked, min(asked, FRAMES)).astype(int))
    low = float(min(trace.noisy_answers.min(), answers.min(), 0.0))
    high = float(max(trace.noisy_answers.max(), answers.max(), trace.noisy_threshold, threshold + spread))
    alarms = set(trace.alarms)

    def step(count: int) -> list[Figure]:
        x = np.arange(count)
        colour = [look.bad if i in alarms else look.accent for i in range(count)]
        return [
            {
                "x": x.astype(np.float32),
                "y": trace.noisy_answers[:count].astype(np.float32),
                "marker": {"color": colour, "size": [12 if i in alarms else 7 for i in range(count)]},
            }
        ]

    k = answers.size
    figure: Figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "hovertemplate": f"asked with noise: %{{y:,.4~g}} {unit}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "x": np.arange(k).astype(np.float32),
                "y": answers.astype(np.float32),
                "line": {"color": look.soft, "width": 1},
                "hovertemplate": f"true: %{{y:,.4~g}} {unit}<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=360,
            xaxis={"range": [-1, k], "showticklabels": False, "title": {"text": f"{names[0]} to {names[-1]}"}},
            yaxis={"range": [low - 0.05 * (high - low), high + 0.08 * (high - low)], "title": {"text": unit}},
            shapes=[
                {
                    "type": "rect",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": threshold - spread,
                    "y1": threshold + spread,
                    "fillcolor": translucent(look.soft, 0.18),
                    "line": {"width": 0},
                    "layer": "below",
                },
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": trace.noisy_threshold,
                    "y1": trace.noisy_threshold,
                    "line": {"color": look.bad, "width": 2, "dash": "dash"},
                },
            ],
            annotations=[
                {
                    "xref": "paper",
                    "x": 0,
                    "xanchor": "left",
                    "y": trace.noisy_threshold,
                    "yanchor": "bottom",
                    "showarrow": False,
                    "text": "the noisy line of this run",
                    "font": {"color": look.bad},
                }
            ],
        ),
    }
    labels = [f"asked {count} of {k}" + (", alarm" if count - 1 in alarms else "") for count in shown]
    return stepped(figure, [step(int(count)) for count in shown], labels, dark=dark, pace=180, start=-1)


def odds(
    claimed: FloatArray, promised: FloatArray, right: FloatArray, broken: FloatArray, *, dark: bool = False
) -> Figure:
    """How often, of 100 tries, an attacker is right against a variant that claims ε, beside what it promises."""
    look = palette(dark)
    lines = (
        ("what ε promises", promised, look.soft, "dot"),
        ("the right mechanism", right, look.good, "solid"),
        ("this variant", broken, look.bad, "solid"),
    )
    values = [0.05, 0.1, 0.2, 0.5, 1, 2, 5]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": claimed.astype(np.float32),
                "y": (100 * line).astype(np.float32),
                "line": {"color": ink, "width": 2.5, "dash": dash},
                "hovertemplate": f"{name}: right %{{y:.1f}} times in 100 at ε = %{{x:.3~g}}<extra></extra>",
            }
            for name, line, ink, dash in lines
        ],
        "layout": layout(
            dark,
            height=340,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={
                "type": "log",
                "title": {"text": "ε that is claimed"},
                "tickvals": values,
                "ticktext": [f"{value:g}" for value in values],
            },
            yaxis={"title": {"text": "attacker right, times in 100"}, "range": [48, 101]},
        ),
    }
