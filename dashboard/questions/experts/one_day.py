"""Change one day: the plays of weighted majority before and after, what each gives away, and its sum."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from dashboard.blocks import Ask, Block
from dashboard.case import Case
from dashboard.controls import Choice, Number, Read, slug
from dashboard.questions.experts.day_worlds import MOST, DayWorlds, found_day
from dashboard.questions.experts.followed import Followed
from dashboard.questions.experts.losses_code import losses_code
from dashboard.words import change_one as said
from dpcore.experts import ExpertsProblem, hedge_rate, learning_rate
from dpcore.validate import FloatArray

MOST_CODE = 3000


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
    found = case.memo(key, lambda: found_day(table, place, other, rate))
    made = losses_code(case, whom, of) or (f"losses = {table.tolist()!r}\n" if table.size <= MOST_CODE else "")
    changed = ", ".join(f"{one!r}" for one in other.tolist())
    worlds = DayWorlds(
        key="experts-one-day",
        found=found,
        unit=whom.unit,
        name=whom.losses.names[found.expert],
        day=place,
        rounds=rounds,
        of=of,
        epsilon=epsilon,
        promised=rule != "free",
        code=said.code_day(made, rounds, place, changed, rate) if made else None,
    )
    return [worlds.look, Ask((day, then, pace)), *worlds.pictures]


def _changed(table: FloatArray, place: int, kind: str) -> FloatArray:
    """The losses of the changed day."""
    if kind == "turned":
        return np.asarray(1.0 - table[place])
    other = np.zeros(table.shape[1])
    other[int(np.argmin(table.sum(axis=0)))] = 1.0
    return other
