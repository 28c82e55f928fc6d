"""Where to write a line's name so that it touches neither a line nor another name, however wide the chart is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.charts.theme import Figure, translucent
from dpcore.validate import FloatArray

AREA = (600.0, 400.0)  # pixels of a chart as wide as two thirds of a page
# The server does not know how wide a browser draws: a place must do on a phone, on a tablet and on a page.
NARROW = (275.0, 420.0)

_CHARACTER, _LINE = 7.2, 18.0  # pixels of 13-px text
_LONGEST = 24  # characters of one line of a name
_FAR_AND_HIGH = ((8.0, 0.0), (45.0, 0.0), (90.0, 0.0), (140.0, 0.0), (16.0, 30.0), (16.0, 60.0), (45.0, 60.0))
_NEAR = 8.0  # pixels between a line and its name; beyond it a thin leader joins the two
_HOPELESS = 200.0
_STEP = 5.5  # pixels between the points at which a name is kept off a curve
_CLOSE, _UNCLEAR = 12.0, 3.0  # pixels between lines at which a name could be either's, and what that costs
_CROSSED = 2.5  # for each line that a leader crosses


@dataclass(frozen=True, slots=True)
class Place:
    """Anchor of one label: an index into the line, a shift in pixels (y upwards) and the side the text lies on.

    ``leader`` says that the name lies away from its line and needs a thin line to it.
    """

    index: int
    shift_x: float
    shift_y: float
    anchor: str
    leader: bool


@dataclass(frozen=True, slots=True)
class _Area:
    """The plotting area at one width in pixels: its curves at evenly ``dense`` points, and the names written so far."""

    width: float
    dense: FloatArray
    curves: FloatArray
    taken: list[tuple[float, float, float, float]]


def place(
    x: FloatArray,
    lines: list[FloatArray],
    names: list[str],
    size: tuple[float, float],
    y_range: tuple[float, float],
    fence: list[FloatArray],
    fence_name: str = "",
    narrow: Sequence[float] = (),
) -> list[Place | None]:
    """A place for each of ``lines`` (each of shape (m,) over ``x`` in axis units), or None where there is none.

    ``size`` is the plotting area in pixels and ``narrow`` further widths at which the same place must do; ``fence``
    holds further lines to keep clear of, the first with ``fence_name`` written above its left end. Greedy: the longest
    names first, each at the free spot nearest the middle.
    """
    height = size[1]
    along = (x - x[0]) / max(x[-1] - x[0], 1e-12)
    span = max(y_range[1] - y_range[0], 1e-12)
    pys = [
        np.clip(np.nan_to_num((line - y_range[0]) / span, nan=-0.5), -0.5, 1.5) * height for line in [*lines, *fence]
    ]
    areas = [_area(width, along, pys) for width in (size[0], *narrow)]
    if fence and fence_name:
        bottom = float(pys[len(lines)][0])
        for area in areas:
            area.taken.append((0.0, len(fence_name) * _CHARACTER, bottom, bottom + _LINE))
    index, to_left, above, reach = (
        part.ravel()
        for part in np.meshgrid(
            np.arange(1, len(x) - 1, 3), [True, False], [True, False], np.arange(len(_FAR_AND_HIGH)), indexing="ij"
        )
    )
    far, high = np.array(_FAR_AND_HIGH).T[:, reach]
    # A name beside its line is lifted by its gap, one farther off by a little more than half its height.
    rise = high + np.where(reach == 0, _NEAR, _LINE / 2)
    places: list[Place | None] = [None] * len(lines)
    for i in sorted(range(len(lines)), key=lambda j: -len(names[j])):
        rows = wrapped(names[i])
        label, tall = max(map(len, rows)) * _CHARACTER, len(rows) * _LINE
        bottom = pys[i][index] + np.where(above, rise, -rise - tall)
        boxes = []
        possible = (bottom >= 2) & (bottom + tall <= height - 2)
        for area in areas:
            left = along[index] * area.width + np.where(to_left, -far - label, far)
            boxes.append(np.column_stack([left, left + label, bottom, bottom + tall]))
            possible &= (left >= 0) & (left + label <= area.width)
        kept = np.flatnonzero(possible)
        penalty = np.abs(along[index[kept]] - 0.5) + 0.02 * (far + high - _NEAR)[kept]
        others = [py for j, py in enumerate(pys[: len(lines)]) if j != i]
        for other in others:
            penalty += _UNCLEAR * (np.abs(other - pys[i])[index[kept]] < _CLOSE)
        reached = np.where(to_left, -far, far)[kept]
        ends = (bottom + tall / 2)[kept]
        for area, box in zip(areas, boxes, strict=True):
            penalty += _crossings(box[kept], area) + 200.0 * _overlaps(box[kept], area.taken)
            penalty += _CROSSED * _crossed(
                along[index[kept]], pys[i][index[kept]], reached / area.width, ends, along, others
            )
        if not kept.size or penalty.min() >= _HOPELESS:
            continue
        best = int(kept[np.argmin(penalty)])
        side = bool(to_left[best])
        places[i] = Place(
            index=int(index[best]),
            shift_x=float(-far[best] if side else far[best]),
            shift_y=float(bottom[best] + tall / 2 - pys[i][index[best]]),
            anchor="right" if side else "left",
            leader=bool(reach[best] > 0),
        )
        for area, box in zip(areas, boxes, strict=True):
            area.taken.append(tuple(box[best]))
    return places


def wrapped(name: str) -> list[str]:
    """The name in rows of nearly equal length, none longer than a phone has room for beside a line."""
    rows = -(-len(name) // _LONGEST)
    for width in range(max(1, len(name) // max(rows, 1)), len(name) + 1):
        found = textwrap.wrap(name, width, break_long_words=False, break_on_hyphens=False)
        if len(found) <= rows:
            return found
    return [name]


def _area(width: float, along: FloatArray, pys: list[FloatArray]) -> _Area:
    evenly = np.linspace(0.0, 1.0, max(2, round(width / _STEP)))
    return _Area(width, evenly * width, np.array([np.interp(evenly, along, py) for py in pys]), [])


def _crossings(boxes: FloatArray, area: _Area) -> FloatArray:
    """A cost for every curve sample inside each box, shape (boxes,): any crossing is worse than a long leader."""
    inside = (area.dense >= boxes[:, :1] - 3) & (area.dense <= boxes[:, 1:2] + 3)
    hits = np.zeros(boxes.shape[0])
    for curve in area.curves:
        hits += np.count_nonzero(inside & (curve > boxes[:, 2:3] - 3) & (curve < boxes[:, 3:] + 3), axis=1)
    return 4.0 * hits


def _crossed(
    start: FloatArray,
    height: FloatArray,
    reach: FloatArray,
    end: FloatArray,
    along: FloatArray,
    others: list[FloatArray],
) -> FloatArray:
    """How many of ``others`` lie between the two ends of each leader, which starts on its own line."""
    return np.sum(
        [
            (np.interp(start, along, other) - height) * (np.interp(start + reach, along, other) - end) < 0.0
            for other in others
        ],
        axis=0,
    ) + np.zeros(start.size)


def _overlaps(boxes: FloatArray, taken: Sequence[tuple[float, float, float, float]]) -> FloatArray:
    hits = np.zeros(boxes.shape[0])
    for left, right, bottom, top in taken:
        hits += (
            (boxes[:, 0] < right + 6) & (boxes[:, 1] > left - 6) & (boxes[:, 2] < top + 3) & (boxes[:, 3] > bottom - 3)
        )
    return hits


def written(
    x: np.ndarray,
    lines: list[np.ndarray],
    names: list[str],
    inks: list[str],
    y_range: tuple[float, float],
    paper: str,
    fence: list[np.ndarray],
    fence_name: str = "",
    *,
    area: tuple[float, float] = AREA,
) -> tuple[list[Figure], list[str]]:
    """``names`` as annotations beside their ``lines``, and the names for which there is no place; see ``place``."""
    found = place(x, lines, names, area, y_range, fence, fence_name, NARROW)
    notes = [
        {
            "x": float(x[spot.index]),
            "y": float(line[spot.index]),
            "text": "<br>".join(wrapped(name)),
            "align": spot.anchor,
            **_offset(spot, ink),
            "xanchor": spot.anchor,
            "yanchor": "middle",
            "bgcolor": translucent(paper, 0.75),
            "borderpad": 1,
            "font": {"color": ink, "size": 13},
        }
        for spot, line, name, ink in zip(found, lines, names, inks, strict=True)
        if spot is not None
    ]
    return notes, [name for spot, name in zip(found, names, strict=True) if spot is None]


def with_legend(traces: list[Figure], left_out: list[str]) -> Figure:
    """Layout of a legend for the traces named in ``left_out``; changes who of ``traces`` is in it."""
    for trace in traces:
        trace["showlegend"] = trace.get("name") in left_out
    return {
        "showlegend": bool(left_out),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    }


def _offset(spot: Place, ink: str) -> Figure:
    if not spot.leader:
        return {"xshift": spot.shift_x, "yshift": spot.shift_y, "showarrow": False}
    return {
        "ax": spot.shift_x,
        "ay": -spot.shift_y,
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": translucent(ink, 0.5),
    }
