"""Pictures of alarms: where a run stops, one run step by step, and the attacker's odds against a broken variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.charts.steps import stepped
from dashboard.charts.theme import Figure, ending_colours, layout, palette, translucent
from dpcore.thresholding import Trace
from dpcore.validate import FloatArray

FRAMES = 40
FEW_FRAMES = 5  # fewer steps than these are one still picture


def stopping(
    names: Sequence[str],
    answers: FloatArray,
    threshold: float,
    law: FloatArray,
    window: tuple[int, int],
    *,
    unit: str,
    line: str,
    axis: str,
    endings: Mapping[str, str],
    height: int = 480,
    dark: bool = False,
) -> Figure:
    """The series with its line, and under it the chance of stopping at each query, ``law`` (k+1,), in 100.

    Queries before ``window`` are false alarms, within it on time, after it late. ``endings`` gives words for the
    endings that can be, by key; ``line`` names the line and ``axis`` the lower axis.
    """
    look, inks = palette(dark), ending_colours(dark)
    k = answers.size
    x = np.arange(k)
    kinds = ["false_alarm" if i < window[0] else "on_time" if i < window[1] else "late" for i in range(k)]
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
                "marker": {"color": [inks[kind] for kind in kinds]},
                "customdata": list(names),
                "hovertemplate": "%{customdata}<br>first alarm here %{y:.2~f} times in 100<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=height,
            bargap=0.1,
            clickmode="event+select",
            xaxis={**ticks, "anchor": "y"},
            yaxis={"domain": [0, 0.36], "title": {"text": axis}, "rangemode": "tozero"},
            yaxis2={"domain": [0.48, 1], "title": {"text": unit}, "anchor": "x", "rangemode": "tozero"},
            shapes=[_across(threshold, look.ink, width=1.5, yref="y2")],
            annotations=[
                {
                    **_at_left(threshold, line, look.ink),
                    "yref": "y2",
                    "yshift": 2,
                    "bgcolor": translucent(look.paper, 0.75),
                },
                {
                    "x": 0,
                    "xref": "paper",
                    "y": 0.42,
                    "yref": "paper",
                    "xanchor": "left",
                    "yanchor": "middle",
                    "showarrow": False,
                    "align": "left",
                    "text": _in_rows(
                        f'<span style="color:{inks[key]}">■ {said}</span>' for key, said in endings.items()
                    ),
                },
            ],
        ),
    }


def _in_rows(parts: Iterable[str]) -> str:
    """The first in a row of its own, because it is the longest."""
    first, *others = parts
    return f"{first}<br>{'   '.join(others)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWords:
    """What stands in the picture of one run: names of its lines and dots, and under its steps."""

    chosen: str
    noisy: str
    true: str
    compared: str
    alarm: str
    steps: Sequence[str]
    hover_true: str
    hover_noisy: str


def run(
    names: Sequence[str],
    answers: FloatArray,
    chosen: float,
    usual: tuple[float, float],
    trace: Trace,
    said: RunWords,
    *,
    unit: str,
    dark: bool = False,
) -> Figure:
    """One run: the line that was ``chosen``, the noisy line, each noisy answer, the alarms.

    ``usual`` is where noisy lines mostly lie. ``said.steps`` has one entry for each of ``shown_steps``. A run of a few
    steps stands still.
    """
    look = palette(dark)
    shown = shown_steps(trace)
    k, bar = answers.size, trace.noisy_threshold
    low = float(min(trace.noisy_answers.min(), answers.min(), usual[0], bar, 0.0))
    high = float(max(trace.noisy_answers.max(), answers.max(), bar, chosen, usual[1]))
    alarms = set(trace.alarms)

    def step(count: int) -> list[Figure]:
        x = np.arange(count)
        colour = [look.ink if i in alarms else look.accent for i in range(count)]
        return [
            {
                "x": x.astype(np.float32),
                "y": trace.noisy_answers[:count].astype(np.float32),
                "marker": {
                    "color": colour,
                    "size": [13 if i in alarms else 7 for i in range(count)],
                    "symbol": ["star" if i in alarms else "circle" for i in range(count)],
                },
            }
        ]

    figure: Figure = {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "name": said.compared,
                "hovertemplate": f"{said.hover_noisy}: %{{y:,.4~g}} {unit}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "name": said.true,
                "x": np.arange(k).astype(np.float32),
                "y": answers.astype(np.float32),
                "line": {"color": look.soft, "width": 1.5},
                "hovertemplate": f"{said.hover_true}: %{{y:,.4~g}} {unit}<extra></extra>",
            },
        ],
        "layout": layout(
            dark,
            height=380,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
            xaxis={"range": [-1, k], "showticklabels": False, "title": {"text": f"{names[0]} to {names[-1]}"}},
            yaxis={"range": [low - 0.05 * (high - low), high + 0.1 * (high - low)], "title": {"text": unit}},
            shapes=[
                {
                    "type": "rect",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": usual[0],
                    "y1": usual[1],
                    "fillcolor": translucent(look.soft, 0.18),
                    "line": {"width": 0},
                    "layer": "below",
                },
                _across(bar, look.series[5], width=2),
                _across(chosen, look.ink, width=1.5),
            ],
            annotations=[
                _at_left(bar, said.noisy, look.series[5]),
                _at_left(chosen, said.chosen, look.ink, below=chosen < bar),
                *(
                    {
                        "x": place,
                        "y": float(trace.noisy_answers[place]),
                        "yanchor": "bottom",
                        "yshift": 8,
                        "xanchor": "center" if 0.15 * k < place < 0.85 * k else "left" if place < 0.5 * k else "right",
                        "showarrow": False,
                        "text": said.alarm,
                        "font": {"color": look.ink},
                    }
                    for place in list(alarms)[:1]
                ),
            ],
        ),
    }
    if len(shown) < FEW_FRAMES:
        still = step(shown[-1])[0]
        return figure | {"data": [figure["data"][0] | still, *figure["data"][1:]]}
    return stepped(figure, [step(count) for count in shown], list(said.steps), dark=dark, pace=180, start=-1)


def shown_steps(trace: Trace) -> list[int]:
    """After how many comparisons the picture of a run has a step."""
    asked = trace.noisy_answers.size
    return [int(count) for count in np.unique(np.linspace(1, asked, min(asked, FRAMES)).astype(int))]


def _across(y: float, ink: str, *, width: float, yref: str = "y") -> Figure:
    """A dashed line over the whole width."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "yref": yref,
        "line": {"color": ink, "width": width, "dash": "dash"},
    }


def _at_left(y: float, text: str, ink: str, *, below: bool = False) -> Figure:
    """The name of a line, at its left end."""
    return {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "y": y,
        "yanchor": "top" if below else "bottom",
        "showarrow": False,
        "text": text,
        "font": {"color": ink},
    }


def odds(
    claimed: FloatArray,
    promised: FloatArray,
    right: FloatArray,
    broken: FloatArray,
    *,
    names: tuple[str, str, str],
    dark: bool = False,
) -> Figure:
    """How often, of 100 tries, an attacker is right against a variant that claims ε, beside what it promises.

    ``names``: of what is promised, of the right mechanism, of the variant.
    """
    look = palette(dark)
    lines = (
        (names[0], promised, look.soft, "dot"),
        (names[1], right, look.accent, "solid"),
        (names[2], broken, look.series[6], "solid"),
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
