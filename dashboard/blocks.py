"""What a page is made of below its chart, as values: text, pictures, tables, controls.

A question describes its tabs with these and draws nothing; ``dashboard.widgets.blocks`` draws them. So the same tab can
be tested, put into a report or read aloud without a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import pandas as pd

from dashboard.charts.theme import Figure
from dashboard.controls import Control

Figures = Callable[[bool], Figure]
"""A figure for the light (False) or the dark (True) appearance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """What clicking the place-th mark of a picture sets: the control ``key`` to ``values[place]``."""

    key: str
    values: Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drag:
    """Points of a picture that can be taken elsewhere: where one is let go sets three controls.

    ``at`` are the points as (x, y) on the ``axes`` of the picture, by Plotly's names; ``keys`` are the controls of who
    it was, counted from 1, and of where, within ``reach`` of either axis; without the third a point moves sideways
    only. What can be dragged can be typed too: the controls are on the page.
    """

    at: Sequence[tuple[float, float]]
    axes: tuple[str, str]
    keys: tuple[str, str, str | None]
    reach: tuple[tuple[float, float], tuple[float, float]]

    def place(self, axis: int, value: float) -> float:
        """``value`` as its control takes it: within reach, in thousandths of it."""
        low, high = self.reach[axis]
        part = round(1000 * (min(max(value, low), high) - low) / (high - low)) / 1000
        return float(f"{low + part * (high - low):.6g}")


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Picture:
    """A chart with all that goes with it.

    ``alt`` is computed from the data. ``data`` are its numbers, or what makes them once they are asked for; ``code`` is
    Python that computes them. ``note`` stands under the picture in Markdown. ``click`` makes its marks buttons, and
    ``drag`` its points handles.
    """

    key: str
    figure: Figures
    alt: str
    data: pd.DataFrame | Callable[[], pd.DataFrame] | None = None
    code: str | None = None
    note: str = ""
    click: Click | None = None
    drag: Drag | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """Markdown; text from a file only through ``words.safe``."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Small:
    """A line in small print: what helps, never what decides."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence that stands out: why something is not there, or what to mind."""

    markdown: str
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """The formula behind an expander, with its source."""

    latex: str
    source: str


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Rows:
    """A small table with words for those who do not see it."""

    frame: pd.DataFrame
    alt: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Controls side by side; the last one read wins where two tabs show the same."""

    controls: tuple[Control[Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """A button that gives controls their defaults again."""

    label: str
    controls: tuple[Control[Any], ...]
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """A link to another page of the product, by its key."""

    page: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """Named scenarios side by side, and a button that keeps ``current``, pairs of (what, value)."""

    current: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Download:
    """A file to take away, made when it is asked for."""

    label: str
    data: Callable[[], bytes | str]
    name: str
    mime: str = "text/csv"


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Slow:
    """Blocks that need work beside the page: ``work(common(), part)`` for each of ``parts`` in worker processes, then
    ``show(result)`` of what ``put`` makes of all of them. None of them can be stopped, so each is to be short.

    ``key`` names the data and every parameter; ``what`` says what is being computed, "Training models".
    """

    slot: str
    key: tuple[Hashable, ...]
    work: Callable[[Any, Any], Any]
    common: Callable[[], Any]
    show: Callable[[Any], Sequence[Block]]
    what: str
    parts: Sequence[Any] = (None,)
    put: Callable[[Sequence[Any]], Any] = itemgetter(0)
    height: int = 320


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tab:
    """A view below the chart; its blocks are made only while it is open."""

    key: str
    title: str
    blocks: Callable[[], Sequence[Block]] = field(default=tuple)


Block = Picture | Text | Small | Note | Formula | Rows | Ask | Undo | Go | Keep | Download | Slow
