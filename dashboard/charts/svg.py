"""A picture as SVG, drawn from its own figure without a browser: for documents, which have no Plotly.

Knows what the pictures of trade-offs, plans and budgets are made of: lines, bands, points and lying bars on linear or
logarithmic axes, straight lines and grounds as shapes, and names written beside the lines. Text is only ever text:
names are escaped, never markup.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from dashboard.charts.theme import Figure, plain

WIDTH, HEIGHT = 720, 430
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 18, 14, 62
_LEGEND_ROW = 18
_SIZE = 13
_DASHES = {"dot": "1.5 5", "dash": "7 5", "solid": ""}
_PACKED = {"f4": np.float32, "f8": np.float64, "i4": np.int32, "u1": np.uint8}
_HATCH = (
    '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="2" height="7" fill="#ffffff"/></pattern></defs>'
)
Scale = Callable[[float], float]


def svg(figure: Figure, *, font: str, title: str, height: int = HEIGHT) -> str:
    """``figure`` as an SVG of ``WIDTH`` × ``height``; ``font`` names its letters, ``title`` is its description."""
    layout = figure["layout"]
    named = [trace for trace in figure["data"] if trace.get("showlegend") and trace.get("name")]
    legend_rows = _legend_rows(named) if layout.get("showlegend") else []
    top = _TOP + _LEGEND_ROW * len(legend_rows)
    right, bottom = WIDTH - _RIGHT, height - _BOTTOM
    left = _LEFT if layout["yaxis"].get("showticklabels", True) else _RIGHT
    x, y = _axis(layout["xaxis"], left, right), _axis(layout["yaxis"], bottom, top)
    ink = layout["font"]["color"]
    grid = layout["template"]["layout"]["xaxis"]["gridcolor"]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f"font-family={quoteattr(font)} font-size={quoteattr(str(_SIZE))}>",
        f"<title>{escape(title)}</title>",
        f'<clipPath id="frame"><rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}"/></clipPath>',
        *([_HATCH] if any(trace["type"] == "bar" for trace in figure["data"]) else []),
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for value, label in _ticks(layout["xaxis"]):
        at = x(value)
        out.append(_segment(at, top, at, bottom, grid))
        out.append(_text(at, bottom + 18, label, ink, anchor="middle"))
    for value, label in _ticks(layout["yaxis"]) if left == _LEFT else []:
        at = y(value)
        out.append(_segment(left, at, right, at, grid))
        out.append(_text(left - 8, at + 4, label, ink, anchor="end"))
    for place, row in enumerate(_rows(layout["xaxis"]["title"]["text"])):
        out.append(_text((left + right) / 2, bottom + 37 + 16 * place, row, ink, anchor="middle"))
    middle = (top + bottom) / 2
    name = " ".join(_rows(layout["yaxis"].get("title", {}).get("text", "")))
    out.append(
        f'<text x="16" y="{middle:.1f}" fill="{_colour(ink)}" text-anchor="middle" '
        f'transform="rotate(-90 16 {middle:.1f})">{escape(name)}</text>'
    )
    frame = left, top, right, bottom
    out += [_shape(shape, layout, x, y, frame) for shape in layout.get("shapes", [])]
    out.append('<g clip-path="url(#frame)">')
    before: tuple[np.ndarray, np.ndarray] | None = None
    for trace in figure["data"]:
        if trace["type"] == "bar":
            out += _bars(trace, x, y)
            continue
        xs, ys = _places(_numbers(trace["x"]), x, layout["xaxis"]), _places(_numbers(trace["y"]), y, layout["yaxis"])
        if "lines" in trace["mode"]:
            if trace.get("fill") == "tonexty" and before is not None:
                out.append(_area(before, (xs, ys), trace["fillcolor"]))
            out.append(_line(xs, ys, trace))
            before = xs, ys
    out.append("</g>")
    for trace in figure["data"]:
        if "markers" in trace.get("mode", ""):
            xs, ys = (
                _places(_numbers(trace["x"]), x, layout["xaxis"]),
                _places(_numbers(trace["y"]), y, layout["yaxis"]),
            )
            look = {"color": trace.get("line", {}).get("color")} | trace["marker"]
            out += [_dot(float(a), float(b), look) for a, b in zip(xs, ys, strict=True)]
    out += [_note(note, layout, x, y, frame) for note in layout.get("annotations", [])]
    for place, traces in enumerate(legend_rows):
        start = float(_LEFT)
        for trace in traces:
            at = _TOP + _LEGEND_ROW * place + 4
            out.append(_line(np.array([start, start + 26]), np.array([at, at]), trace))
            out.append(_text(start + 32, at + 4, trace["name"], ink))
            start += 50 + _wide(trace["name"])
    return "".join([*out, "</svg>"])


def _axis(axis: Figure, start: float, end: float) -> Scale:
    """Where a value of an axis lies: ``range`` is in powers of ten on a logarithmic one, and so are values here."""
    low, high = (float(value) for value in axis["range"])
    return lambda value: start + (value - low) / (high - low) * (end - start)


def _places(values: np.ndarray, scale: Scale, axis: Figure) -> np.ndarray:
    if axis.get("type") == "log":
        values = np.log10(np.maximum(values, 1e-300))
    return np.array([scale(float(value)) for value in values])


def _ticks(axis: Figure) -> list[tuple[float, str]]:
    """Marks of an axis in its own units, powers of ten on a logarithmic one, with their words."""
    low, high = (float(value) for value in axis["range"])
    if axis.get("type") == "log":
        marks = zip(axis["tickvals"], axis["ticktext"], strict=True)
        return [(math.log10(value), str(label)) for value, label in marks if low <= math.log10(value) <= high]
    if "tickvals" in axis:
        return list(zip(map(float, axis["tickvals"]), map(str, axis["ticktext"]), strict=True))
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= 6)
    first = math.ceil(low / step - 1e-9)
    values = [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]
    return [(value, plain(round(value, 12))) for value in values]


def _numbers(values: Any) -> np.ndarray:
    """A trace's numbers, packed or not."""
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), _PACKED[values["dtype"]]).astype(float)
    return np.asarray(values, dtype=float)


def _line(xs: np.ndarray, ys: np.ndarray, trace: Figure) -> str:
    look = trace.get("line", {})
    width = look.get("width", 2)
    if not width or not len(xs):
        return ""
    dash = _DASHES.get(look.get("dash", "solid"), "")
    style = f' stroke-dasharray="{dash}" stroke-linecap="round"' if dash else ""
    opacity = f' opacity="{trace["opacity"]:g}"' if "opacity" in trace else ""
    ink = f'stroke="{_colour(look["color"])}" stroke-width="{width:g}"'
    return f'<path d="{_path(xs, ys)}" fill="none" {ink}{style}{opacity}/>'


def _path(xs: np.ndarray, ys: np.ndarray) -> str:
    kept = [(a, b) for a, b in zip(xs, ys, strict=True) if math.isfinite(a) and math.isfinite(b)]
    return "M" + "L".join(f"{a:.1f} {min(max(b, -9999.0), 9999.0):.1f}" for a, b in kept)


def _area(low: tuple[np.ndarray, np.ndarray], high: tuple[np.ndarray, np.ndarray], fill: str) -> str:
    path = _path(np.concatenate([low[0], high[0][::-1]]), np.concatenate([low[1], high[1][::-1]]))
    return f'<path d="{path}Z" {_fill(fill)}/>'


def _dot(x: float, y: float, marker: Figure) -> str:
    edge = marker.get("line", {})
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{marker["size"] / 2:g}" fill="{_colour(marker["color"])}" '
        f'stroke="{_colour(edge.get("color", "#ffffff"))}" stroke-width="{edge.get("width", 0):g}"/>'
    )


def _bars(trace: Figure, x: Scale, y: Scale) -> list[str]:
    """Lying bars from 0, hatched where the figure has a pattern."""
    half = float(trace["width"]) / 2
    marker, found = trace["marker"], []
    shapes = marker.get("pattern", {}).get("shape", [""] * len(trace["y"]))
    lengths = _numbers(trace["x"])
    for middle, length, colour, hatched in zip(trace["y"], lengths, marker["color"], shapes, strict=True):
        top, start = y(middle + half), x(0.0)
        place = f'x="{start:.1f}" y="{top:.1f}" width="{x(float(length)) - start:.1f}" '
        place += f'height="{y(middle - half) - top:.1f}"'
        found.append(f'<rect {place} fill="{_colour(colour)}"/>')
        found += [f'<rect {place} fill="url(#hatch)"/>'] if hatched else []
    return found


def _shape(shape: Figure, layout: Figure, x: Scale, y: Scale, frame: tuple[float, float, float, float]) -> str:
    """A straight line, with a name above its end where it has one, or a ground; an end is in the data's units, or a
    share of the picture."""
    left, top, right, bottom = frame
    unit = math.log10 if layout["xaxis"].get("type") == "log" else float
    ends = []
    for end in ("0", "1"):
        a, b = float(shape[f"x{end}"]), float(shape[f"y{end}"])
        across = shape.get("xref") == "paper"
        ends.append((left + a * (right - left) if across else x(unit(a)),
                     bottom - b * (bottom - top) if shape.get("yref") == "paper" else y(b)))  # fmt: skip
    (x0, y0), (x1, y1) = ends
    if shape["type"] == "rect":
        place = f'x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" height="{abs(y1 - y0):.1f}"'
        return f"<rect {place} {_fill(shape['fillcolor'])}/>"
    look, label = shape["line"], shape.get("label", {})
    name = _text(x1, y1 - 4, label["text"], label["font"]["color"], anchor="middle") if label.get("text") else ""
    return _segment(x0, y0, x1, y1, look["color"], look.get("width", 1), look.get("dash", "solid")) + name


def _segment(x0: float, y0: float, x1: float, y1: float, colour: str, width: float = 1, dash: str = "solid") -> str:
    style = f' stroke-dasharray="{_DASHES[dash]}"' if _DASHES.get(dash) else ""
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{_colour(colour)}" '
        f'stroke-width="{width:g}"{style}/>'
    )


def _note(note: Figure, layout: Figure, x: Scale, y: Scale, frame: tuple[float, float, float, float]) -> str:
    """Words in the picture, with a thin line to what they name where they stand apart from it."""
    left, top, right, bottom = frame
    across = note.get("xref") == "paper"
    at_x = left + float(note["x"]) * (right - left) if across else x(float(note["x"]))
    at_y = bottom - float(note["y"]) * (bottom - top) if note.get("yref") == "paper" else y(float(note["y"]))
    colour, leader = note["font"]["color"], ""
    if note.get("showarrow"):
        from_x, from_y = at_x, at_y
        at_x, at_y = at_x + float(note["ax"]), at_y + float(note["ay"])
        leader = _segment(from_x, from_y, at_x, at_y, colour, 0.7)
    else:
        at_x, at_y = at_x + float(note.get("xshift", 0)), at_y - float(note.get("yshift", 0))
    rows = _rows(note["text"])
    anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", "center"), "middle")
    lift = {"bottom": -4.0, "top": 14.0}.get(note.get("yanchor", "middle"), 4.5)
    first = at_y + lift - (len(rows) - 1) * 8.0
    width = max(_wide(row) for row in rows)
    edge = {"start": at_x, "end": at_x - width, "middle": at_x - width / 2}[anchor]
    paper = (
        f'<rect x="{edge - 1:.1f}" y="{first - 12:.1f}" width="{width + 2:.1f}" height="{16.0 * len(rows):.1f}" '
        'fill="#ffffff" fill-opacity="0.75"/>'
    )
    names = (_text(at_x, first + 16.0 * place, row, colour, anchor=anchor) for place, row in enumerate(rows))
    return leader + paper + "".join(names)


def _legend_rows(traces: Sequence[Figure]) -> list[list[Figure]]:
    rows: list[list[Figure]] = []
    room = 0.0
    for trace in traces:
        need = 50 + _wide(trace["name"])
        if not rows or room < need:
            rows.append([])
            room = float(WIDTH - _LEFT - _RIGHT)
        rows[-1].append(trace)
        room -= need
    return rows


def _wide(text: str) -> float:
    """About how wide a text is, in pixels."""
    return 6.4 * len(text)


def _text(x: float, y: float, text: str, colour: str, *, anchor: str = "start") -> str:
    plain_text = html.unescape(re.sub(r"</?(?:b|i|br|sub|sup)>", "", text))
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_colour(colour)}" text-anchor="{anchor}">{escape(plain_text)}</text>'


def _rows(text: str) -> list[str]:
    return re.split(r"<br ?/?>", text)


def _fill(colour: str) -> str:
    found = re.fullmatch(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)", colour.replace(" ", ""))
    if found is None:
        return f'fill="{_colour(colour)}"'
    red, green, blue = (int(part) for part in found.groups()[:3])
    return f'fill="#{red:02x}{green:02x}{blue:02x}" fill-opacity="{found.group(4)}"'


def _colour(colour: str) -> str:
    """A colour that is one, and nothing else. Raises ValueError."""
    if not re.fullmatch(r"#[0-9a-fA-F]{3,8}", colour):
        raise ValueError("a colour of a picture must be written as #rrggbb")
    return colour
