"""The look of every picture: colours, fonts and axes, light and dark.

Figures are plain dictionaries (a validated ``go.Figure`` costs ten times as much to build) and carry their own
template, because importing Streamlit changes Plotly's global default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

Figure = dict[str, Any]

FONT = "'Source Sans', 'Source Sans Pro', 'Segoe UI', Helvetica, Arial, sans-serif"

# In two rows, or a phone has no room for it.
EPSILON_TITLE = "privacy loss ε<br>more privacy ⟵  ⟶ more accuracy"

# Okabe & Ito's colour-blind-safe set, darkened for white and lightened for dark paper until each keeps 3:1 contrast.
_LIGHT = ("#1f4e9e", "#c2570c", "#0b7a5e", "#8f3f97", "#7a6200", "#0e7490", "#a8324a", "#4b5563")
_DARK = ("#7fb0ff", "#f0975a", "#4fd1ab", "#d39be0", "#e3c64b", "#5cc8e0", "#f2879b", "#aeb8c8")


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one appearance."""

    ink: str
    soft: str
    grid: str
    paper: str
    accent: str
    good: str
    bad: str
    risk: str  # what an answer can add to a guess: nothing else has this colour
    series: tuple[str, ...]


LIGHT = Palette(
    ink="#1b2333",
    soft="#5b6579",
    grid="#e4e8f0",
    paper="#ffffff",
    accent="#1f4e9e",
    good="#0b7a5e",
    bad="#c2570c",
    risk="#7b5b3a",
    series=_LIGHT,
)
DARK = Palette(
    ink="#e6eaf2",
    soft="#a3aec2",
    grid="#2a3346",
    paper="#10151f",
    accent="#7fb0ff",
    good="#4fd1ab",
    bad="#f0975a",
    risk="#c9a47a",
    series=_DARK,
)


def palette(dark: bool) -> Palette:
    return DARK if dark else LIGHT


def colours(keys: Sequence[str], dark: bool) -> dict[str, str]:
    """One colour per method, by its place in the catalogue, so that hiding a method never recolours another."""
    series = palette(dark).series
    return {key: series[index % len(series)] for index, key in enumerate(keys)}


ENDINGS = ("on_time", "late", "missed", "false_alarm")
"""How an alarm can end."""


def ending_colours(dark: bool) -> dict[str, str]:
    """One colour for each of ``ENDINGS``, the same in every picture and in the dots."""
    look = palette(dark)
    return dict(zip(ENDINGS, (look.good, look.series[3], look.series[7], look.bad), strict=True))


def translucent(colour: str, alpha: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


MARGIN = MappingProxyType({"l": 10, "r": 16, "t": 14, "b": 10})


def layout(dark: bool, *, height: int, **overrides: Any) -> dict[str, Any]:
    """Layout of every figure; ``overrides`` replace whole entries."""
    look = palette(dark)
    axis = {
        "gridcolor": look.grid,
        "linecolor": look.grid,
        "zeroline": False,
        "tickfont": {"color": look.ink, "size": 13},
        "title": {"font": {"color": look.ink, "size": 14}, "standoff": 10},
        "automargin": True,
        "ticks": "outside",
        "ticklen": 5,
        "tickcolor": "rgba(0,0,0,0)",
        "fixedrange": True,
    }
    base: dict[str, Any] = {
        "template": {"layout": {"xaxis": axis, "yaxis": axis}},
        "font": {"family": FONT, "color": look.ink, "size": 13},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "height": height,
        "margin": dict(MARGIN),
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "dragmode": False,
    }
    return base | overrides


def colour_bar(title: str) -> dict[str, Any]:
    """A colour scale above the picture, where it takes no width from it on a phone."""
    return {
        "title": {"text": title, "side": "top", "font": {"size": 13}},
        "orientation": "h",
        "thickness": 12,
        "outlinewidth": 0,
        "ypad": 0,
        "x": 0,
        "xanchor": "left",
        "y": 1.02,
        "yanchor": "bottom",
    }


def log_ticks(low: float, high: float) -> dict[str, list[Any]]:
    """Plain numbers (0.01, not 10m) on a log axis from ``low`` to ``high``."""
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    span = np.log10(high / low)
    steps = (1, 2, 5) if span <= 2 else (1, 3) if span <= 3.5 else (1,)
    values = [step * 10.0**decade for decade in decades for step in steps]
    kept = [value for value in values if low * 0.999 <= value <= high * 1.001]
    return {"tickvals": kept, "ticktext": [plain(value) for value in kept]}


@lru_cache(maxsize=1024)
def plain(value: float) -> str:
    """A number as people write it: 0.01, 2.5, 1,200."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = 3 if abs(value) < 100 else 4
    text = f"{value:.{digits}g}"
    text = format(Decimal(text), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
