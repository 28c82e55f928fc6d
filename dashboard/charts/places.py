"""Where to write a line's name so that it touches neither a line nor another name, however large the chart is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpcore.validate import BoolArray, FloatArray, IntArray

Box = tuple[float, float, float, float]  # left, right, bottom, top in pixels
Size = tuple[float, float]  # width and height in pixels

# The server does not know how wide a browser draws: a place must do on a page and on a phone. A picture grows with what
# stands above it, so that its height stays.
AREAS: tuple[Size, ...] = ((504.0, 350.0), (275.0, 350.0))

_CHARACTER, _LINE = 7.2, 18.0  # pixels of 13-px text
_LONGEST, _SHORT = 24, 13  # characters of one row of a name, and where that finds no good place
_FAR_AND_HIGH = ((8.0, 0.0), (45.0, 0.0), (90.0, 0.0), (140.0, 0.0), (16.0, 30.0), (16.0, 60.0), (45.0, 60.0))
_NEAR = 8.0  # pixels between a line and its name; beyond it a thin leader joins the two
_POOR, _HOPELESS = 4.0, 200.0
_RETRIES = 2  # how often a name with a poor place is tried before all others
_STEP = 5.5  # pixels between the points at which a name is kept off a curve
_CLOSE, _UNCLEAR = 12.0, 1.5  # pixels between lines at which a name could be either's, and what that costs
_NEARBY = 0.15  # for every point of another line as close to a name
_CROSSED = 1.5  # for each line that a leader crosses


@dataclass(frozen=True, slots=True)
class Place:
    """Anchor of one label: an index into the line, a shift in pixels (y upwards) and the side the text lies on.

    ``leader`` says that the name lies away from its line and needs a thin line to it; ``rows`` are the name's.
    """

    index: int
    shift_x: float
    shift_y: float
    anchor: str
    leader: bool
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Area:
    """The plotting area in one size in pixels: ``lines`` (lines, m) as they are given, ``curves`` the same every
    ``step`` pixels, and the names written so far."""

    width: float
    height: float
    lines: FloatArray
    step: float
    curves: FloatArray
    taken: list[Box]


def place(
    x: FloatArray,
    lines: list[FloatArray],
    names: list[str],
    y_range: tuple[float, float],
    fence: list[FloatArray],
    fence_name: str = "",
    sizes: Sequence[Size] = AREAS,
) -> list[Place | None]:
    """A place for each of ``lines`` (each of shape (m,) over ``x`` in axis units), or None where there is none.

    The same place must do in every one of ``sizes`` of the plotting area; ``fence`` holds further lines to keep clear
    of, the first with ``fence_name`` written above its left end. The longest names come first, each at the free spot
    nearest the middle; a name that finds only a poor one comes before all others where that is better for all.
    """
    along = (x - x[0]) / max(x[-1] - x[0], 1e-12)
    span = max(y_range[1] - y_range[0], 1e-12)
    shares = np.array([*lines, *fence], dtype=np.float64).reshape(-1, len(x)) - y_range[0]
    shares = np.clip(np.nan_to_num(shares / span, nan=-0.5), -0.5, 1.5)
    areas = [_area(size, along, shares) for size in sizes]
    if fence and fence_name:
        for area in areas:
            bottom = float(area.lines[len(lines), 0])
            area.taken.append((0.0, len(fence_name) * _CHARACTER, bottom, bottom + _LINE + 6))
    wanted = _Wanted(names, areas, along)
    order = sorted(range(len(lines)), key=lambda j: -len(names[j]))
    found = wanted.in_turn(order)
    for _ in range(_RETRIES):
        worst = max(order, key=lambda i: found[i].penalty, default=0)
        if not order or found[worst].penalty <= _POOR:
            break
        order = [worst, *(i for i in order if i != worst)]
        other = wanted.in_turn(order)
        if _cost(other) >= _cost(found):
            break
        found = other
    return [one.place for one in found]


@dataclass(frozen=True, slots=True)
class _Offered:
    """Every way to hang a name on a line, as columns of equal length."""

    index: IntArray
    to_left: BoolArray
    above: BoolArray
    reach: IntArray

    @classmethod
    def all(cls, points: int) -> _Offered:
        sides = ([True, False], [True, False], np.arange(len(_FAR_AND_HIGH)))
        return cls(*(part.ravel() for part in np.meshgrid(np.arange(1, points - 1, 3), *sides, indexing="ij")))


@dataclass(frozen=True, slots=True)
class _Found:
    """The best place of a name, if there is any, with its box in each area."""

    penalty: float
    place: Place | None = None
    boxes: Sequence[Box] = ()


def _cost(found: Sequence[_Found]) -> float:
    """Of all names together; one without a place costs what no place may."""
    return sum(min(one.penalty, _HOPELESS) for one in found)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """``names`` of the first lines of ``areas`` that are to be written."""

    names: Sequence[str]
    areas: Sequence[_Area]
    along: FloatArray

    def in_turn(self, order: Sequence[int]) -> list[_Found]:
        """The best place of each that those before it in ``order`` leave."""
        offered, count = _Offered.all(len(self.along)), len(self.names)
        written = [_Found(np.inf)] * count
        areas = [replace(area, taken=list(area.taken)) for area in self.areas]
        for i in order:
            usual, narrow = wrapped(self.names[i]), wrapped(self.names[i], _SHORT)
            found = _best(usual, i, offered, areas, self.along, count)
            if found.penalty > _POOR and len(narrow) > len(usual):
                other = _best(narrow, i, offered, areas, self.along, count)
                found = min(found, other, key=lambda one: one.penalty)
            if found.place is None or found.penalty >= _HOPELESS:
                continue
            written[i] = found
            for area, box in zip(areas, found.boxes, strict=True):
                area.taken.append(box)
        return written


def _best(
    rows: list[str], own: int, offered: _Offered, areas: Sequence[_Area], along: FloatArray, lines: int
) -> _Found:
    """Where ``rows`` are best written for line ``own`` of the first ``lines`` of each area."""
    index = offered.index
    label, tall = max(map(len, rows)) * _CHARACTER, len(rows) * _LINE
    far, high = np.array(_FAR_AND_HIGH).T[:, offered.reach]
    # A name beside its line is lifted by its gap, one farther off by a little more than half its height.
    rise = high + np.where(offered.reach == 0, _NEAR, _LINE / 2)
    lift = np.where(offered.above, rise, -rise - tall)
    start = np.where(offered.to_left, -far - label, far)
    possible = np.ones(index.size, dtype=bool)
    boxes = []
    for area in areas:
        line = area.lines[own, index]
        left, bottom = along[index] * area.width + start, line + lift
        box = np.column_stack([left, left + label, bottom, bottom + tall])
        possible &= (line >= 0) & (line <= area.height)  # a name of what cannot be seen is not drawn
        possible &= (bottom >= 2) & (bottom + tall <= area.height - 2)
        possible &= (left >= 0) & (left + label <= area.width) & ~_overlaps(box, area.taken)
        boxes.append(box)
    kept = np.flatnonzero(possible)
    if not kept.size:
        return _Found(np.inf)
    at, others = index[kept], [one for one in range(lines) if one != own]
    penalty = 2 * np.abs(along[at] - 0.5) + 0.02 * (far + high - _NEAR)[kept] + len(rows)
    reached = np.where(offered.to_left, -far, far)[kept]
    for area, box in zip(areas, boxes, strict=True):
        line = area.lines[own]
        close = np.abs(area.lines[others] - line) < _CLOSE
        penalty += _UNCLEAR * close.sum(axis=0)[at] / len(areas)
        penalty += _crossings(box[kept], area, own)
        ends = line[at] + (lift + tall / 2)[kept]
        penalty += _CROSSED * _crossed(along[at], line[at], reached / area.width, ends, along, area.lines[others])
    best = int(kept[np.argmin(penalty)])
    side = bool(offered.to_left[best])
    place = Place(
        index=int(index[best]),
        shift_x=float(-far[best] if side else far[best]),
        shift_y=float(lift[best] + tall / 2),
        anchor="right" if side else "left",
        leader=bool(offered.reach[best] > 0),
        rows=tuple(rows),
    )
    return _Found(float(penalty.min()), place, [tuple(box[best].tolist()) for box in boxes])


def wrapped(name: str, longest: int = _LONGEST) -> list[str]:
    """The name in rows of nearly equal length, as few as keep most to ``longest`` characters."""
    rows = -(-len(name) // longest)
    for width in range(max(1, len(name) // max(rows, 1)), len(name) + 1):
        found = textwrap.wrap(name, width, break_long_words=False, break_on_hyphens=False)
        if len(found) <= rows:
            return found
    return [name]


def _area(size: Size, along: FloatArray, shares: FloatArray) -> _Area:
    """The area with lines at ``shares`` (lines, m) of its height over ``along`` (m,), shares of its width."""
    width, height = size
    lines = shares * height
    evenly = np.linspace(0.0, 1.0, max(2, round(width / _STEP)))
    curves = np.full((len(lines), 2 * evenly.size + 3), np.inf)  # nothing is met beyond the picture
    for row, line in zip(curves, lines, strict=True):
        row[1 : evenly.size + 1] = np.interp(evenly, along, line)
    return _Area(width, height, lines, width * float(evenly[1]), curves, [])


def _crossings(boxes: FloatArray, area: _Area, own: int) -> FloatArray:
    """A cost for every curve sample inside each box, shape (boxes,): any crossing is worse than a long leader.

    Samples of other lines than ``own`` that only come near cost a little: the name would seem to be theirs. All boxes
    are equally wide.
    """
    across = 2 + int((boxes[0, 1] - boxes[0, 0] + 6) / area.step)
    first = np.floor((boxes[:, 0] - 3) / area.step).astype(int) + 1
    beside = sliding_window_view(area.curves, across, axis=1)[:, first]  # (curves, boxes, across)
    off = np.maximum(boxes[:, 2:3] - beside, beside - boxes[:, 3:])
    near = np.count_nonzero(off < _CLOSE, axis=2)
    near[own] = 0
    cost: FloatArray = 4.0 * np.count_nonzero(off < 3, axis=(0, 2)) + _NEARBY * near.sum(axis=0)
    return cost


def _crossed(
    start: FloatArray,
    height: FloatArray,
    reach: FloatArray,
    end: FloatArray,
    along: FloatArray,
    others: FloatArray,
) -> FloatArray:
    """How many of ``others`` lie between the two ends of each leader, which starts on its own line."""
    crossed: FloatArray = np.sum(
        [
            (np.interp(start, along, other) - height) * (np.interp(start + reach, along, other) - end) < 0.0
            for other in others
        ],
        axis=0,
    ) + np.zeros(start.size)
    return crossed


def _overlaps(boxes: FloatArray, taken: Sequence[Box]) -> BoolArray:
    hits = np.zeros(boxes.shape[0], dtype=bool)
    for left, right, bottom, top in taken:
        hits |= (
            (boxes[:, 0] < right + 6) & (boxes[:, 1] > left - 6) & (boxes[:, 2] < top + 3) & (boxes[:, 3] > bottom - 3)
        )
    return hits
