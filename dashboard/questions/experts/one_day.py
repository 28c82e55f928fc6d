"""Change one day: the plays of weighted majority before and after, what each gives away, and its sum."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Ask, Block, Picture, Small, Text
from dashboard.case import Case
from dashboard.charts.laws import curves
from dashboard.charts.theme import palette
from dashboard.charts.worlds import place_worlds
from dashboard.controls import Choice, Number, Read, slug
from dashboard.questions.experts.followed import Followed
from dashboard.questions.experts.losses_code import losses_code
from dashboard.words import change_one as said
from dpcore.experts import ExpertsProblem, changed_day, hedge_rate, learning_rate
from dpcore.validate import FloatArray

MOST = 500_000
"""Losses that are compared: the first rounds of a longer table."""
MOST_DRAWN = 600
MOST_CODE = 3000


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


def blocks(case: Case, read: Read, whom: Followed, problem: ExpertsProblem, epsilon: float) -> Sequence[Block]:
    """The plays in both worlds with what each gives away, then the sum of it."""
    experts, of = problem.experts, problem.n
    rounds = min(of, max(10, MOST // experts))
    day = Number(
        key=slug("one_day", case.source.key, whom.name),
        label=said.DAY,
        default=float(max(1, rounds // 3)),
        low=1.0,
        high=float(rounds),
        whole=True,
        linked=case.source.public,
    )
    then = Choice(
        key="one_day_losses",
        label=said.LOSSES_THEN,
        options=tuple(said.OTHERS),
        names=said.OTHERS,
        default="best_loses",
    )
    pace = Choice(key="one_day_rate", label=said.RATE, options=tuple(said.RATES), names=said.RATES, default="private")
    place, other_kind, rule = int(read(day, "tab")) - 1, read(then, "tab"), read(pace, "tab")
    rate = {
        "private": lambda: learning_rate(epsilon, problem.delta, of),
        "textbook": lambda: learning_rate(epsilon, problem.delta, of, "textbook"),
        "free": lambda: hedge_rate(of, experts),
    }[rule]()
    table = np.asarray(whom.losses.values[:rounds], dtype=np.float64)
    other = _changed(table, place, other_kind)
    key: tuple[Hashable, ...] = ("one day", *whom.key, problem.delta, rounds, place, other_kind, rate)
    found = case.memo(key, lambda: _found(table, place, other, rate))
    unit, name = whom.unit, whom.losses.names[found.expert]
    days = found.places + 1.0
    ends = {"sum": found.total, "most": found.promised * days, "epsilon": np.full(days.size, epsilon)}
    most = found.promised * rounds
    made = losses_code(case, whom, of) or (f"losses = {table.tolist()!r}\n" if table.size <= MOST_CODE else "")
    changed = ", ".join(f"{one!r}" for one in other.tolist())
    code = said.code_day(made, rounds, place, changed, rate) if made else None
    return [
        Text(said.day_look(unit, place + 1, found.most, found.promised)),
        Ask((day, then, pace)),
        Picture(
            key="experts-one-day",
            figure=lambda dark: place_worlds(
                days,
                100 * found.before,
                100 * found.after,
                {"kept": found.worst},
                found.promised,
                said.day_words(found.promised, words.html(name)),
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
            code=code,
        ),
        Text(said.sum_look(found.sum, rounds, found.promised, epsilon, rule)),
        Picture(
            key="experts-one-day-sum",
            figure=lambda dark: curves(
                days,
                ends,
                said.SUM_LINES,
                {"sum": palette(dark).accent, "most": palette(dark).soft, "epsilon": palette(dark).good},
                x_title=words.html(unit),
                y_title=said.SUM_NOTE,
                dark=dark,
            ),
            alt=said.sum_alt(found.sum, most, epsilon),
            data=lambda: pd.DataFrame({unit: days, **ends}),
            code=code,
        ),
        *([Small(said.first_rounds(rounds, of, unit))] if rounds < of else []),
    ]


def _changed(table: FloatArray, place: int, kind: str) -> FloatArray:
    """The losses of the changed day."""
    if kind == "turned":
        return np.asarray(1.0 - table[place])
    other = np.zeros(table.shape[1])
    other[int(np.argmin(table.sum(axis=0)))] = 1.0
    return other


def _found(table: FloatArray, place: int, other: FloatArray, rate: float) -> Found:
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
