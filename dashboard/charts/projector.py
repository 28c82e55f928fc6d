"""Any picture of the product in the size of a projector: every text large enough for the back of a room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.charts.theme import Figure

LEAST = 20
"""Pixels of the smallest text of a projected picture, on a screen 720 pixels high."""
_GROWN = 1.55
_FONTS = {"font", "tickfont", "textfont", "insidetextfont", "outsidetextfont"}
_LENGTHS = {"xshift", "yshift", "ax", "ay", "standoff", "thickness"}
_WIDE, _AROUND = 620, 110
"""Pixels of a stage's plotting area from left to right, and of what lies above and below it."""
_BEFORE = {"left": 0.0, "center": 0.5, "auto": 0.5, "right": 1.0}
_BELOW = {"bottom": 0.0, "middle": 0.5, "auto": 0.5, "top": 1.0}
Box = tuple[float, float, float, float]
_HIDDEN = 2  # pixels: a text so small is there to be left out


def projected(figure: Figure, height: int) -> Figure:
    """A copy of ``figure`` that is ``height`` pixels high, its texts at least ``LEAST`` and all else in proportion."""
    grown: Figure = _grown(figure)
    layout = grown["layout"]
    font = dict(layout.get("font", {}))
    font["size"] = max(LEAST, font.get("size", LEAST))
    margin = {side: round(_GROWN * size) for side, size in layout.get("margin", {}).items()}
    return _uncrowded(grown | {"layout": layout | {"height": height, "font": font, "margin": margin}})


def _uncrowded(figure: Figure) -> Figure:
    """Names beside lines that would lie on one another when so large go into a legend, all but the first.

    The name of the thickest line stays before any other. Only pictures whose axes give their ranges are looked at.
    """
    layout, traces = figure["layout"], figure["data"]
    notes = layout.get("annotations", [])
    wide, high = layout.get("xaxis", {}).get("range"), layout.get("yaxis", {}).get("range")
    if wide is None or high is None or any("visible" in layout[axis] for axis in ("xaxis", "yaxis")):
        return figure
    thick = max(traces, key=lambda trace: float(trace.get("line", {}).get("width", 0.0)), default=Figure()).get("name")
    names = {trace.get("name") for trace in traces}
    order = sorted(notes, key=lambda note: (_plain(note) != thick, _plain(note) in names))
    kept: list[Box] = []
    moved: set[str] = set()
    for note in order:
        box = _box(note, wide, high, layout["height"])
        crowded = any(_meet(box, other) for other in kept)
        if crowded and _plain(note) in names:
            moved.add(_plain(note))
        else:
            kept.append(box)
    if not moved:
        return figure
    shown = [trace | {"showlegend": True} if trace.get("name") in moved else trace for trace in traces]
    left = [note for note in notes if _plain(note) not in moved]
    return figure | {"data": shown, "layout": layout | {"annotations": left, "showlegend": True}}


def _plain(note: Figure) -> str:
    return str(note.get("text", "")).replace("<br>", " ")


def _box(note: Figure, x_range: Sequence[float], y_range: Sequence[float], height: int) -> Box:
    """Left, right, bottom and top of a text in pixels, at the width that a stage has for a picture."""
    rows = str(note.get("text", "")).split("<br>")
    size = note.get("font", {}).get("size", LEAST)
    wide, high = 0.52 * size * max(len(row) for row in rows), 1.3 * size * len(rows)
    x = note["x"] if note.get("xref") == "paper" else (note["x"] - x_range[0]) / (x_range[1] - x_range[0])
    y = note["y"] if note.get("yref") == "paper" else (note["y"] - y_range[0]) / (y_range[1] - y_range[0])
    left = x * _WIDE + note.get("xshift", note.get("ax", 0)) - wide * _BEFORE[note.get("xanchor", "center")]
    low = y * (height - _AROUND) + note.get("yshift", -note.get("ay", 0)) - high * _BELOW[note.get("yanchor", "middle")]
    return left, left + wide, low, low + high


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _grown(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        if key in _FONTS and "size" in value:
            return {**value, "size": _text(value["size"])}
        if key == "pad":
            return {side: _GROWN * size for side, size in value.items()}
        if key == "marker" and isinstance(value.get("size"), (int, float)):
            value = {**value, "size": _GROWN * value["size"]}
        if key == "line" and isinstance(value.get("width"), (int, float)):
            value = {**value, "width": 1.4 * value["width"]}
        return {name: _grown(part, name) for name, part in value.items()}
    if isinstance(value, (list, tuple)) and any(isinstance(part, dict) for part in value):
        return [_grown(part) for part in value]
    if key in _LENGTHS and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _GROWN * value
    return value


def _text(size: Any) -> Any:
    if isinstance(size, (int, float)):
        return size if size <= _HIDDEN else max(LEAST, round(_GROWN * size))
    return [_text(one) for one in size] if isinstance(size, (list, tuple)) else size
