"""What a theorem promises about a question, beside what is true, on logarithmic axes: a tab that every question has.

A ``Promise`` is a value; ``blocks`` gives its words and its picture. Nothing is drawn here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.blocks import Block, Picture, Small, Text
from dashboard.charts.promise import Line, promise
from dashboard.words import number, whole
from dashboard.words import promise as said
from dpcore.theorem import Theorem
from dpcore.validate import FloatArray

POINTS = 61


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Promise:
    """``theorem`` along one of its settings, ``axis``, the others as in ``settings``.

    ``x`` are the places of the promised line; the others are ``exact`` and have places of their own. ``chosen`` is the
    point that the page is about, where ``truth``, called ``truth_name``, is exact. The promise is multiplied by
    ``factor``, and divided by the axis where ``share`` says so; a theorem that does not know the axis, a number of
    people, is a constant until then; ``offset`` comes on top. ``also`` are further theorems with their settings, and
    ``beside`` promised lines whose settings change along the axis. ``simulated``: what is true is so up to luck.
    """

    key: str
    theorem: Theorem
    axis: str
    x: FloatArray
    settings: Mapping[str, float]
    chosen: float
    truth: float
    truth_name: str
    exact: Sequence[Line]
    x_title: str
    y_title: str
    unit: str = ""
    factor: float = 1.0
    offset: float = 0.0
    share: bool = False
    also: Sequence[tuple[Theorem, Mapping[str, float]]] = ()
    beside: Sequence[Line] = ()
    simulated: bool = False

    def at(
        self, places: FloatArray, theorem: Theorem | None = None, settings: Mapping[str, float] | None = None
    ) -> FloatArray:
        """What is promised at ``places`` of the axis, as it is drawn."""
        law, asked = theorem or self.theorem, self.settings if settings is None else settings
        along_it = {self.axis: places} if self.axis in law.settings else {}
        value = law.value(**along_it, **asked) * self.factor
        return np.asarray((value / places if self.share else value) + self.offset)

    @property
    def loose_by(self) -> float:
        """By which factor the promise is above what is true at the chosen point; infinite where that is 0."""
        return float(self.at(np.array([self.chosen]))[0]) / self.truth if self.truth > 0.0 else float("inf")

    def lines(self) -> list[Line]:
        """Every line of the picture, the promised ones last."""
        proved = [(self.theorem, self.settings), *self.also]
        bounds = [
            Line(
                key=one.key,
                name=said.line(one),
                x=self.x,
                values=self.at(self.x, one, given),
                bound=True,
                hover=said.hover(one),
            )
            for one, given in proved
        ]
        return [*self.exact, *bounds, *self.beside]

    @property
    def place(self) -> str:
        """The chosen point in words."""
        symbol = {"n": "n", "rounds": "T", "rows": "T", "k": "k"}[self.axis]
        return f"{symbol} = {whole(self.chosen)}"

    def blocks(self) -> Sequence[Block]:
        """How loose it is, the picture, and under which conditions it holds."""
        lines = self.lines()
        kinds = {one.key: one.kind for one in (self.theorem, *(other for other, _ in self.also))}
        true = "simulated" if self.simulated else "exact"
        here = float(self.at(np.array([self.chosen]))[0])
        told = [(self.theorem.name, here), (self.truth_name, self.truth)]
        given = dict(self.settings)
        unit = (f" * {self.factor!r}" if self.factor != 1.0 else "") + (f" / {self.axis}" if self.share else "")
        unit += f" + {self.offset!r}" if self.offset else ""
        return [
            Text(said.loose(self.loose_by, self.place, self.truth_name)),
            Picture(
                key=self.key,
                figure=lambda dark: promise(
                    lines,
                    x_title=self.x_title,
                    y_title=self.y_title,
                    chosen=(self.chosen, self.place),
                    dark=dark,
                ),
                alt=said.alt(self.y_title, self.place, told),
                data=lambda: pd.concat(
                    [
                        pd.DataFrame(
                            {
                                "line": one.name,
                                self.axis: one.x,
                                "value": one.values,
                                "kind": kinds.get(one.key, "bound") if one.bound else true,
                            }
                        )
                        for one in lines
                    ],
                    ignore_index=True,
                ),
                code=said.code(
                    self.theorem.key,
                    self.axis,
                    (float(self.x[0]), float(self.x[-1])),
                    given,
                    unit,
                    known=self.axis in self.theorem.settings,
                ),
            ),
            Text(said.promised(self.theorem, f"{number(here)}{self.unit}", self.place)),
            Text(said.conditions(self.theorem)),
            Small(self.theorem.source),
        ]


def along(low: float, high: float) -> FloatArray:
    """Places from ``low`` to ``high``, evenly on a logarithmic axis."""
    return np.geomspace(low, high, POINTS)
