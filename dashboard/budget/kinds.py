"""Kinds of answers a plan can hold: what each costs at its ε, and the ε that makes it good enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from dashboard import catalogue
from dashboard.case import Source
from dashboard.plan import Goal, PlanKind
from dashboard.usual import requested
from dpcore.accounting import zcdp_epsilon
from dpcore.calibration import solve, zcdp_rho
from dpcore.costs import Cost
from dpcore.datasets import Table
from dpcore.grid import round_up
from dpcore.planning import PlannedAnswer
from dpcore.thresholding import AboveThreshold
from dpcore.training.count_noise import GaussianNoise, LaplaceNoise, Noise

ALARM_ENTRIES = 100


NEAR = Goal(
    label="within ± this many people, 95 times in 100",
    words="within ±{} people",
    default=10.0,
    low=0.5,
    high=1e6,
    step=1,
)
APART = Goal(
    label=f"tell counts this far from the line, 95 runs in 100 of {ALARM_ENTRIES} counts",
    words="telling counts {} from the line",
    default=50.0,
    low=1.0,
    high=1e6,
    step=5,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One line of a plan: ``count`` answers of a kind, each as good as ``target`` says, or with ``epsilon`` each."""

    kind: str
    count: int
    target: float | None = None
    epsilon: float | None = None
    column: str = ""


def gaussian(epsilon: float, delta: float) -> Cost:
    """As releases are charged: no event, since noise in whole rows has the ρ of continuous noise and not its δ."""
    return Cost(epsilon=epsilon, delta=delta, rho=zcdp_rho(epsilon, delta))


def _widest(noise: type[Noise], near: float) -> float:
    """The largest scale at which noise in whole rows is at most ``near`` rows 95 times in 100."""
    beyond = math.floor(near) + 1.0

    def outside(scale: float) -> float:
        return 2.0 * float(noise(scale=scale, counts=1).at_least(beyond))

    return solve(outside, 0.05, low=beyond / 20, high=beyond, increasing=True)


def _alarm(apart: float, delta: float, table: Table | None, column: str) -> float:
    unit = AboveThreshold.tuned(epsilon=1.0, k=ALARM_ENTRIES, noise="exponential")
    return unit.exact_alpha(ALARM_ENTRIES, 0.05) / apart


_OWN = (
    PlanKind(
        key="count",
        label="a count with Laplace noise",
        cost=lambda epsilon, delta: Cost.pure(epsilon),  # noise in whole rows is the worst case of its ε
        needed=lambda near, delta, table, column: 1.0 / _widest(LaplaceNoise, near),
        goal=NEAR,
    ),
    PlanKind(
        key="count_gaussian",
        label="a count with Gaussian noise",
        cost=gaussian,
        needed=lambda near, delta, table, column: zcdp_epsilon(0.5 / _widest(GaussianNoise, near) ** 2, delta),
        goal=NEAR,
    ),
    PlanKind(
        key="alarm",
        label=f"an alarm over {ALARM_ENTRIES} counts",
        cost=lambda epsilon, delta: Cost.pure(epsilon),
        needed=_alarm,
        goal=APART,
    ),
    PlanKind(key="any", label="anything with its own ε", cost=lambda epsilon, delta: Cost.pure(epsilon)),
)


@cache
def kinds() -> dict[str, PlanKind]:
    """Every kind of answer a plan can hold, by key: those of the questions, then those that have no page."""
    return {**catalogue.plans(), **{kind.key: kind for kind in _OWN}}


def planned(
    wishes: Sequence[Wish], delta: float, source: Source | None, counted: Callable[[Cost], Cost] | None = None
) -> list[PlannedAnswer] | None:
    """The plan in the engine's terms; None when some answer cannot be made that good at any ε up to 1,000.

    ``counted`` is what a budget makes of the cost of one answer. A Gaussian answer's own δ is one for which a page can
    ask, a small part of ``delta``; rules that know its noise do not use it.
    """
    total = sum(wish.count for wish in wishes)
    answers = []
    for wish in wishes:
        kind = kinds()[wish.kind]
        own = requested(delta / max(10, 2 * total))
        epsilon = wish.epsilon
        if wish.target is not None and kind.needed is not None:
            epsilon = kind.needed(wish.target, own, None if source is None else source.table, wish.column)
            if epsilon and source is not None and not source.public and wish.column:
                epsilon = round_up(epsilon)  # to the public list, as wherever one looks
        if epsilon is None or not epsilon > 0.0:
            return None
        answers.append(PlannedAnswer(name=kind.label, cost=_at(kind, own, counted), epsilon=epsilon, count=wish.count))
    return answers


def _at(kind: PlanKind, delta: float, counted: Callable[[Cost], Cost] | None) -> Callable[[float], Cost]:
    if counted is None:
        return lambda epsilon: kind.cost(epsilon, delta)
    return lambda epsilon: counted(kind.cost(epsilon, delta))
