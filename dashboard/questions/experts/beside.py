"""Many experts over many rounds: what takes long is evaluated beside the page, and the same question asked with it.

All that takes long is an evaluation of the problem, or the law of the strategy in use. A worker makes them in the order
in which the question asks for them and hands back each by what was asked; the page looks there before it evaluates. So
it says the same numbers as it would at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from dashboard.case import Case, Memo, unremembered
from dashboard.question import Work
from dashboard.questions.experts import follow_controls as controls
from dashboard.questions.experts import other_rounds
from dashboard.questions.experts.follow_controls import NON_PRIVATE
from dashboard.view import View, epsilon_frame, needed_most, size_frame
from dashboard.words import follow as said
from dpcore.experts import ExpertsProblem, Strategy, catalog
from dpcore.experts.hedge import Losses
from dpcore.tradeoff import Estimate
from dpcore.validate import FloatArray

T = TypeVar("T")
MOST_AT_ONCE = 200_000
"""Losses up to which a page evaluates all of it by itself, while it is drawn."""
HEAD = "experts-head"
"""The place of what the headline, the cards and the tabs rest on."""
LAW, NEEDED, OTHERS, ROUNDS = PARTS = ("law", "needed", "others", "rounds")
AXES = ("epsilon", "n", "both")
MOST_SHOWN = 400
REGRET = "regret_per_round"


class Told(Protocol):
    """By what name something is remembered, and where."""

    @property
    def identity(self) -> tuple[Hashable, ...]: ...
    @property
    def memo(self) -> Memo: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Remembering(ExpertsProblem):
    """The same problem, each of whose evaluations is asked for by ``remember`` first."""

    remember: Memo = unremembered

    @classmethod
    def of(cls, problem: ExpertsProblem, remember: Memo) -> Remembering:
        return cls(**{one.name: getattr(problem, one.name) for one in fields(ExpertsProblem)}, remember=remember)

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        asked = (self.assumption, self.delta, self.band, method, metric, _bytes(epsilon), _bytes(n))
        made = partial(ExpertsProblem.evaluate, self, method, metric, epsilon, n)
        return self.remember(("evaluated", *asked), made)


def _bytes(numbers: FloatArray) -> bytes:
    return np.asarray(numbers, np.float64).tobytes()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """What a worker evaluates: a view without what it remembers, and the seed of other rounds."""

    view: View
    problem: ExpertsProblem
    seed: int


def slot(axis: str) -> str:
    """The place of what the chart against ``axis`` rests on."""
    return f"experts-{axis}"


def is_large(losses: FloatArray) -> bool:
    return losses.size > MOST_AT_ONCE


def found_so_far(case: Case) -> Mapping[Hashable, Any]:
    """What workers have handed back, by what was asked."""
    places = (HEAD, *(slot(axis) for axis in AXES))
    return {key: value for place in places for part in case.results.get(place, ()) for key, value in part.items()}


def looking(found: Mapping[Hashable, Any], memo: Memo) -> Memo:
    """As ``memo``, of which what was ``found`` is known."""

    def remembered(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        return found[key] if key in found else memo(key, make)

    return remembered


def works(view: View, problem: ExpertsProblem, seed: int, axis: str) -> tuple[Work, ...]:
    """What the question waits for: the head first, then the chart where it does not rest on the same."""
    plain = Remembering.of(problem, unremembered)  # what is sent holds nothing of this page
    asked = Asked(view=replace(view, memo=unremembered, problem=plain, extra={}), problem=plain, seed=seed)
    shown = (*view.identity, view.metric, view.main, view.sizes)
    head = Work(
        slot=HEAD,
        key=("beside", *shown, view.epsilon, view.target, seed),
        run=worked,
        common=lambda: asked,
        parts=lambda: PARTS,
        what=said.EVALUATING,
        enough=lambda results: len(results) == len(PARTS),
    )
    if axis not in AXES:
        return (head,)
    at = view.epsilon if axis == "n" else None
    chart = replace(head, slot=slot(axis), key=("beside", axis, *shown, tuple(view.methods), at), parts=lambda: (axis,))
    return (head, replace(chart, enough=bool))


def worked(asked: Asked, part: str) -> dict[Hashable, Any]:
    """In a worker: all that the question asks for one part of itself."""
    kept: dict[Hashable, Any] = {}

    def remember(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        if key not in kept:
            kept[key] = make()
        found: T = kept[key]
        return found

    asked.problem.losses.setflags(write=False)  # a copy could lie in memory in another order, and sums end in others
    problem = Remembering.of(asked.problem, remember)
    view = replace(asked.view, problem=problem, memo=remember)
    if part == LAW:
        weights(view, view.main, view.epsilon, problem)
        for method, metric in ((view.main, view.metric), (view.main, REGRET), (NON_PRIVATE, REGRET)):
            view.at(method, metric)
        view.chosen("epsilon")
    elif part == NEEDED:
        view.needed()
        if problem.band:
            needed_most(view)
    elif part == OTHERS:
        widest, here = compared(problem), (np.array([view.epsilon]), np.array([float(problem.n)]))
        for key in catalog():
            if key in widest.methods:
                for metric in {view.metric, REGRET}:
                    controls.one_value(widest, key, metric, *here)
    elif part == ROUNDS:
        if other_rounds.few_enough(problem.losses):
            other_days(view, view.epsilon, problem, asked.seed)
    elif part == "epsilon":
        epsilon_frame(view, problem, view.identity)
    elif part == "n":
        size_frame(view, problem, view.identity)
    else:
        view.picture(part)
    return kept


def compared(problem: ExpertsProblem) -> ExpertsProblem:
    """All strategies side by side, whatever somebody is ready to assume."""
    return replace(problem, assumption="independent", band=0.0)


def weights(view: Told, main: str, epsilon: float, problem: ExpertsProblem) -> FloatArray:
    """The chance of each expert over time, at most 400 rounds, the last one among them."""
    made = partial(_thinned, problem.strategy(main, epsilon), problem.losses)
    return view.memo((*view.identity, "weights", main, epsilon), made)


def other_days(view: Told, epsilon: float, problem: ExpertsProblem, seed: int) -> tuple[float, float]:
    """How often another expert would be best had other rounds come, and how often learning is wrong at the end."""
    people = view.memo((*view.identity, "other days", seed), partial(other_rounds.another_best, problem.losses, seed))
    learner = problem.strategy(NON_PRIVATE, epsilon)
    best = int(np.argmin(problem.losses.sum(axis=0)))
    without = view.memo(
        (*view.identity, "learnt at the end"),
        lambda: 1.0 - float(learner.weights(problem.losses, np.array([learner.rounds - 1]))[0, best]),
    )
    return people, without


def _thinned(strategy: Strategy, losses: Losses) -> FloatArray:
    last = strategy.rounds - 1
    return strategy.weights(losses, np.unique(np.linspace(0, last, min(last + 1, MOST_SHOWN)).astype(np.int64)))
