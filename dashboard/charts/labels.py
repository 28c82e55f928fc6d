"""Where to write a line's name so that it touches neither a line nor another name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dashboard.charts.theme import Figure, translucent
from dpcore.validate import FloatArray

AREA = (600.0, 400.0)  # pixels of a chart as wide as two thirds of a page

_CHARACTER, _LINE = 7.2, 18.0  # pixels of 13-px text
_REACH = (8.0, 45.0, 90.0, 140.0)  # pixels from the line; beyond the first a thin leader joins name and line
_HOPELESS = 200.0


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


def place(
    x: FloatArray,
    lines: list[FloatArray],
    names: list[str],
    size: tuple[float, float],
    y_range: tuple[float, float],
    fence: list[FloatArray],
    fence_name: str = "",
) -> list[Place | None]:
    """A place for each of ``lines`` (each of shape (m,) over ``x`` in axis units), or None where there is none.

    ``size`` is the plotting area in pixels; ``fence`` holds further lines to keep clear of, the first
    with ``fence_name`` written above its left end. Greedy: the longest names first, each at the free spot nearest the
    middle.
    """
    width, height = size
    px = (x - x[0]) / max(x[-1] - x[0], 1e-12) * width
    span = max(y_range[1] - y_range[0], 1e-12)
    everything = [*lines, *fence]
    pys = [np.clip(np.nan_to_num((line - y_range[0]) / span, nan=-0.5), -0.5, 1.5) * height for line in everything]
    dense = np.linspace(px[0], px[-1], 110)
    curves = np.array([np.interp(dense, px, py) for py in pys])
    index, to_left, above, reach = (
        part.ravel()
        for part in np.meshgrid(np.arange(1, len(px) - 1, 3), [True, False], [True, False], _REACH, indexing="ij")
    )
    # A name beside its line is lifted by its gap, one farther off by a little more than half its height.
    rise = np.where(reach == _REACH[0], _REACH[0], _LINE / 2)
    lift = np.where(above, rise, -rise - _LINE)
    places: list[Place | None] = [None] * len(lines)
    taken = np.empty((0, 4))
    if fence and fence_name:
        bottom = pys[len(lines)][0]
        taken = np.array([[0.0, len(fence_name) * _CHARACTER, bottom, bottom + _LINE]])
    for i in sorted(range(len(lines)), key=lambda j: -len(names[j])):
        label = len(names[i]) * _CHARACTER
        left = np.where(to_left, px[index] - reach - label, px[index] + reach)
        bottom = pys[i][index] + lift
        boxes = np.column_stack([left, left + label, bottom, bottom + _LINE])
        outside = (left < 0) | (boxes[:, 1] > width) | (bottom < 2) | (boxes[:, 3] > height - 2)
        penalty = _crossings(boxes, dense, curves) + 200.0 * _overlaps(boxes, taken) + np.abs(px[index] / width - 0.5)
        penalty += 0.02 * (reach - _REACH[0])
        penalty[outside] = np.inf
        best = int(np.argmin(penalty)) if penalty.size else -1
        if best < 0 or penalty[best] >= _HOPELESS:
            continue
        side = bool(to_left[best])
        places[i] = Place(
            index=int(index[best]),
            shift_x=float(-reach[best] if side else reach[best]),
            shift_y=float(lift[best] + _LINE / 2),
            anchor="right" if side else "left",
            leader=bool(reach[best] > _REACH[0]),
        )
        taken = np.vstack([taken, boxes[best]])
    return places


def _crossings(boxes: FloatArray, dense: FloatArray, curves: FloatArray) -> FloatArray:
    """A cost for every curve sample inside each box, shape (boxes,): any crossing is worse than a long leader."""
    inside = (dense >= boxes[:, :1] - 3) & (dense <= boxes[:, 1:2] + 3)
    hits = np.zeros(boxes.shape[0])
    for curve in curves:
        hits += (inside & (curve > boxes[:, 2:3] - 3) & (curve < boxes[:, 3:] + 3)).sum(axis=1)
    return 4.0 * hits


def _overlaps(boxes: FloatArray, taken: FloatArray) -> FloatArray:
    if taken.shape[0] == 0:
        return np.zeros(boxes.shape[0])
    return (
        (
            (boxes[:, None, 0] < taken[None, :, 1] + 6)
            & (boxes[:, None, 1] > taken[None, :, 0] - 6)
            & (boxes[:, None, 2] < taken[None, :, 3] + 3)
            & (boxes[:, None, 3] > taken[None, :, 2] - 3)
        )
        .sum(axis=1)
        .astype(float)
    )


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
) -> list[Figure]:
    """``names`` as annotations beside their ``lines``, as far as there is place; see ``place``."""
    found = place(x, lines, names, area, y_range, fence, fence_name)
    return [
        {
            "x": float(x[spot.index]),
            "y": float(line[spot.index]),
            "text": name,
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
