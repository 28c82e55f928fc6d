"""Chances as countable dots: what you might see, and the odds of being found out."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from dashboard.charts.theme import Figure, layout, palette

_ROW = 30


def outcomes(
    names: Sequence[str],
    counts: Sequence[int],
    *,
    inks: Sequence[str],
    rings: Sequence[int] = (),
    dark: bool = False,
    per_row: int = 25,
) -> Figure:
    """One strip of dots per outcome, ``counts`` of them, in its colour of ``inks``. ``rings`` are drawn answers of
    each outcome, beside its name.
    """
    look = palette(dark)
    x, y, colour, texts, rows = [], [], [], [], 0.0
    ticks: list[tuple[float, str]] = []
    for name, count, ink in zip(names, counts, inks, strict=True):
        lines = max(1, -(-count // per_row))
        ticks.append((-rows, f"{name}  <b>{count}</b>"))
        for i in range(count):
            x.append(i % per_row)
            y.append(-rows - i // per_row * 0.55)
            colour.append(ink)
            texts.append(f"{name}: {count} of {sum(counts)}")
        rows += 1 + 0.55 * (lines - 1)
    ringed = [(place, number) for place, count in enumerate(rings) if place < len(ticks) for number in range(count)]
    row_of = [at for at, _ in ticks]
    annotations = [
        {
            "x": -0.5,
            "y": at + 0.5,
            "text": text,
            "showarrow": False,
            "xanchor": "left",
            "yanchor": "middle",
            "font": {"size": 13, "color": look.ink},
        }
        for at, text in ticks
    ]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": np.asarray(x, np.float32),
                "y": np.asarray(y, np.float32),
                "text": texts,
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"size": 8, "color": colour},
            },
            *(
                [
                    {
                        "type": "scatter",
                        "mode": "markers",
                        "x": np.asarray([per_row - 1 - number % 12 for _, number in ringed], np.float32),
                        "y": np.asarray([row_of[place] + 0.5 for place, _ in ringed], np.float32),
                        "hovertemplate": "a private answer that was drawn<extra></extra>",
                        "marker": {
                            "size": 13,
                            "symbol": "circle-open",
                            "color": look.ink,
                            "line": {"width": 3, "color": look.ink},
                        },
                    }
                ]
                if ringed
                else []
            ),
        ],
        "layout": layout(
            dark,
            height=int(34 + _ROW * 1.35 * rows),
            margin={"l": 0, "r": 0, "t": 4, "b": 0},
            xaxis={"visible": False, "range": [-0.6, per_row], "fixedrange": True},
            yaxis={"visible": False, "range": [-rows + 0.4, 0.9], "fixedrange": True},
            annotations=annotations,
        ),
    }


def beside(share: float, sign: str = "", *, in_100: bool = True) -> str:
    """The number beside a bar: a share of 1 in 100, or a number to two digits."""
    if not in_100:
        return f"{sign}{format(Decimal(f'{share:.2g}'), 'f')}"
    value = 100 * share
    digits = 1 if sign and value < 9.95 else 0
    return "<1 in 100" if value < 0.95 and not sign else f"{sign}{value:.{digits}f} in 100"


def two_bars_inks(dark: bool) -> tuple[str, str]:
    """The colours of privacy noise and of having only these people."""
    look = palette(dark)
    return look.bad, look.soft


def two_bars(
    noise: float, people: float, names: tuple[str, str], *, sign: str = "", in_100: bool = True, dark: bool = False
) -> Figure:
    """Two shares of 1 as bars out of 100, each with its number: privacy noise, and having only these people.

    ``names`` are theirs, in that order. With a ``sign``, "±", they say how far off something may be, and the longer
    one fills half; unless ``in_100`` that is no share but a number.
    """
    values = [100 * people, 100 * noise]
    full = 2.0 * max(*values, 1e-9) if sign else 100.0
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "x": values,
                "y": list(names[::-1]),
                "text": [beside(share, sign, in_100=in_100) for share in (people, noise)],
                "textposition": "outside",
                "cliponaxis": False,
                "marker": {"color": list(two_bars_inks(dark)[::-1])},
                "hovertemplate": "%{y}: %{text}<extra></extra>",
            }
        ],
        "layout": layout(
            dark,
            height=54,
            margin={"l": 126, "r": 10 if sign else 74, "t": 0, "b": 0},  # "100 in 100" beside a bar that is full
            xaxis={"visible": False, "range": [0, full], "fixedrange": True},
            yaxis={"showgrid": False, "fixedrange": True},
            bargap=0.3,
        ),
    }


def odds_grid(right: float, *, before: int = 50, dark: bool = False) -> Figure:
    """100 dots: those that a guess starts from (of an even one 50), those an answer can add up to ``right``, and the
    rest."""
    look = palette(dark)
    index = np.arange(100)
    most = int(np.ceil(right - 1e-9))
    colour = [look.soft if i < before else look.risk if i < most else look.paper for i in index]
    said = [
        "right before" if i < before else "right at most with the answer" if i < most else "still wrong" for i in index
    ]
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": (index % 25).astype(np.float32),
                "y": -(index // 25).astype(np.float32),
                "marker": {"size": 9, "color": colour, "symbol": "circle", "line": {"width": 1, "color": look.soft}},
                "text": said,
                "hovertemplate": "%{text}<extra></extra>",
            }
        ],
        "layout": layout(
            dark,
            height=72,
            margin={"l": 0, "r": 0, "t": 0, "b": 0},
            xaxis={"visible": False, "range": [-0.7, 24.7]},
            yaxis={"visible": False, "range": [-3.7, 0.7]},
        ),
    }


def shares(probabilities: Sequence[float], total: int) -> list[int]:
    """Whole dots for each probability that add up to ``total`` (largest remainders)."""
    exact = np.asarray(probabilities, float) * total
    counts = np.floor(exact).astype(int)
    missing = total - int(counts.sum())
    if missing > 0:
        counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return [int(count) for count in counts]
