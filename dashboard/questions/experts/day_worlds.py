"""The plays of weighted majority in two worlds that differ in one round: what each gives away, and its sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Block, Picture, Small, Text
from dashboard.charts.laws import curves
from dashboard.charts.theme import palette
from dashboard.charts.worlds import place_worlds
from dashboard.words import change_one as said
from dpcore.experts import changed_day
from dpcore.validate import FloatArray

MOST = 500_000
"""Losses that are compared: the first rounds of a longer table."""
MOST_DRAWN = 600


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """What is drawn of two worlds, thinned to ``places`` (rounds from 0)."""

    places: FloatArray
    expert: int
    before: FloatArray
    after: FloatArray
    worst: FloatArray
    total: FloatArray
    most: float
    sum: float
    promised: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DayWorlds:
    """Both pictures of ``found``. Of ``of`` rounds, called ``unit``, the first ``rounds`` are compared; ``name`` is
    the expert that is drawn, ``day`` the changed round (from 0). ``promised``: whether ``epsilon`` is kept."""

    key: str
    found: Found
    unit: str
    name: str
    day: int
    rounds: int
    of: int
    epsilon: float
    promised: bool
    code: str | None

    @property
    def look(self) -> Block:
        return Text(said.day_look(self.unit, self.day + 1, self.found.most, self.found.promised))

    @property
    def pictures(self) -> Sequence[Block]:
        """The plays in both worlds with what each gives away, then the sum of it."""
        found, unit, name, rounds = self.found, self.unit, self.name, self.rounds
        days = found.places + 1.0
        ends = {"sum": found.total, "most": found.promised * days, "epsilon": np.full(days.size, self.epsilon)}
        most = found.promised * rounds
        return [
            Picture(
                key=self.key,
                figure=lambda dark: place_worlds(
                    days,
                    100 * found.before,
                    100 * found.after,
                    {"kept": found.worst},
                    found.promised,
                    said.day_words(found.promised, words.html(name), words.html(unit)),
                    x_title=words.html(unit),
                    bounds=(1,),
                    dark=dark,
                ),
                alt=said.day_alt(name, found.most, found.promised, found.sum, rounds),
                data=lambda: pd.DataFrame(
                    {
                        unit: days,
                        "before": found.before,
                        "after": found.after,
                        "largest log ratio": found.worst,
                        "sum": found.total,
                    }
                ),
                code=self.code,
            ),
            Text(said.sum_look(found.sum, rounds, found.promised, self.epsilon, self.promised)),
            Picture(
                key=f"{self.key}-sum",
                figure=lambda dark: curves(
                    days,
                    ends,
                    said.SUM_LINES,
                    {"sum": palette(dark).accent, "most": palette(dark).soft, "epsilon": palette(dark).good},
                    x_title=words.html(unit),
                    y_title=said.sum_note(words.html(unit)),
                    dark=dark,
                ),
                alt=said.sum_alt(found.sum, most, self.epsilon),
                data=lambda: pd.DataFrame({unit: days, **ends}),
                code=self.code,
            ),
            *([Small(said.first_rounds(rounds, self.of, unit))] if rounds < self.of else []),
        ]


def found_day(table: FloatArray, place: int, other: FloatArray, rate: float) -> Found:
    """Plays at ``rate`` on losses ``table`` (rounds, experts), and with ``other`` (experts,) in round ``place``."""
    worlds = changed_day(table, place, other, rate)
    ratios, worst, total = worlds.log_ratios, worlds.worst, worlds.total
    moved = np.abs(np.exp(worlds.before) - np.exp(worlds.after)).max(axis=0)
    expert = int(np.argmax(moved))
    rounds = len(ratios)
    kept = np.linspace(0, rounds - 1, min(rounds, MOST_DRAWN)).astype(int)
    # the day itself, and the one after it where the plays first differ, are never left out
    places = np.unique(np.concatenate([kept, [place, min(place + 1, rounds - 1)]]))
    return Found(
        places=places.astype(np.float64),
        expert=expert,
        before=np.exp(worlds.before[places, expert]),
        after=np.exp(worlds.after[places, expert]),
        worst=worst[places],
        total=total[places],
        most=float(worst.max()),
        sum=float(total[-1]),
        promised=worlds.promised,
    )
