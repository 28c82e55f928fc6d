"""Kinds of answers a plan can hold: what each costs at its ε, and the ε that makes it good enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dashboard.case import Source
from dashboard.questions.selection.candidates import candidates as options
from dashboard.questions.selection.candidates import columns
from dpcore.accounting import gaussian_epsilon
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.costs import Cost
from dpcore.planning import PlannedAnswer
from dpcore.selection import MostCommon
from dpcore.thresholding import AboveThreshold
from dpcore.tradeoff import epsilon_for

WITHIN = 1.959964  # a normal deviate stays within this many standard deviations 95 times in 100
LAPLACE_WITHIN = 2.995732  # and a Laplace one within this many scales: ln 20
ALARM_ENTRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How good an answer shall be, as a person says it: a number with its limits."""

    label: str
    words: str
    default: float
    low: float
    high: float
    step: float


RIGHT = Goal(label="right, times in 100", words="right {} times in 100", default=95.0, low=1.0, high=99.9, step=1.0)
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
class Kind:
    """One kind of answer. ``column`` says that it is about a column of the data in view."""

    label: str
    cost: Callable[[float, float], Cost]
    needed: Callable[[float, float, Source | None, str], float | None] | None = None
    goal: Goal | None = None
    column: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One line of a plan: ``count`` answers of a kind, each as good as ``target`` says, or with ``epsilon`` each."""

    kind: str
    count: int
    target: float | None = None
    epsilon: float | None = None
    column: str = ""


def _choice(method: str) -> Callable[[float, float, Source | None, str], float | None]:
    def needed(right: float, delta: float, source: Source | None, column: str) -> float | None:
        if source is None or column not in columns(source.table.schema):
            return None
        chosen = options(source.table, column)
        problem = MostCommon(
            scores=chosen.scores, relation="replace_one", sensitivity=chosen.sensitivity, counted=chosen.counted
        )
        return epsilon_for(right / 100, problem, method=method, metric="success", low=1e-6, high=1e3)

    return needed


def _gaussian(epsilon: float, delta: float) -> Cost:
    return Cost.gaussian(gaussian_noise_multiplier(epsilon, delta), delta)


def _alarm(apart: float, delta: float, source: Source | None, column: str) -> float:
    unit = AboveThreshold.tuned(epsilon=1.0, k=ALARM_ENTRIES, noise="exponential")
    return unit.exact_alpha(ALARM_ENTRIES, 0.05) / apart


KINDS = {
    "choice": Kind(
        label="the most common option, by permute and flip",
        cost=lambda epsilon, delta: Cost.pure(epsilon),
        needed=_choice("permute_and_flip"),
        goal=RIGHT,
        column=True,
    ),
    "choice_em": Kind(
        label="the most common option, by the exponential mechanism",
        cost=lambda epsilon, delta: Cost.bounded_range(epsilon, adaptive=False),
        needed=_choice("exponential"),
        goal=RIGHT,
        column=True,
    ),
    "count": Kind(
        label="a count with Laplace noise",
        cost=lambda epsilon, delta: Cost.laplace(1.0 / epsilon),
        needed=lambda near, delta, source, column: LAPLACE_WITHIN / near,
        goal=NEAR,
    ),
    "count_gaussian": Kind(
        label="a count with Gaussian noise",
        cost=_gaussian,
        needed=lambda near, delta, source, column: gaussian_epsilon(near / WITHIN, delta),
        goal=NEAR,
    ),
    "alarm": Kind(
        label=f"an alarm over {ALARM_ENTRIES} counts",
        cost=lambda epsilon, delta: Cost.pure(epsilon),
        needed=_alarm,
        goal=APART,
    ),
    "any": Kind(label="anything with its own ε", cost=lambda epsilon, delta: Cost.pure(epsilon)),
}


def planned(wishes: Sequence[Wish], delta: float, source: Source | None) -> list[PlannedAnswer] | None:
    """The plan in the engine's terms; None when some answer cannot be made that good at any ε up to 1,000.

    A Gaussian answer's own δ is a small part of ``delta``; rules that know its noise do not use it.
    """
    total = sum(wish.count for wish in wishes)
    answers = []
    for wish in wishes:
        kind = KINDS[wish.kind]
        own = delta / (2 * max(total, 1))
        epsilon = wish.epsilon
        if wish.target is not None and kind.needed is not None:
            epsilon = kind.needed(wish.target, own, source, wish.column)
        if epsilon is None or not epsilon > 0.0:
            return None
        answers.append(PlannedAnswer(name=kind.label, cost=_at(kind, own), epsilon=epsilon, count=wish.count))
    return answers


def _at(kind: Kind, delta: float) -> Callable[[float], Cost]:
    return lambda epsilon: kind.cost(epsilon, delta)
