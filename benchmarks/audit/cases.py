"""Neighbours on which each kind of release is easiest to tell apart, at ε = 2. Every kind must have a case here."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from dpcore.releases.alarm import AlarmRun
from dpcore.releases.plays import PrivatePlays
from dpcore.releases.quantile import QuantileValue
from dpcore.releases.selection import BestRule, BestScore, MostCommonOption
from dpcore.selection.rules import Categories

EPSILON = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One release asked about two neighbours. ``less`` is how much less noise its broken twin has.

    ``answers`` per side are enough to see that twin with chance above 0.999, by the exact law where there is one.
    """

    name: str
    request: Any
    here: Any
    there: Any
    outcome: Callable[[Any], Hashable] = field(default=lambda answer: answer["index"])
    answers: int
    less: float = 0.8
    quick: int = 2_000  # answers per side that show a twin at half the noise, for the tests

    @property
    def key(self) -> str:
        return str(self.request.key)


TWO = ("a", "b")
CASES: tuple[Case, ...] = (
    Case(
        name="most common, permute-and-flip, one added",
        request=MostCommonOption(epsilon=EPSILON, options=TWO),
        here=[],
        there=["a"],
        answers=8_000,
    ),
    Case(
        name="most common, permute-and-flip, one replaced",
        request=MostCommonOption(epsilon=EPSILON, options=TWO, neighbours="replace_one"),
        here=["a", "b"],
        there=["a", "a"],
        answers=8_000,
    ),
    Case(
        name="most common, exponential mechanism, one added",
        request=MostCommonOption(epsilon=EPSILON, options=TWO, rule="exponential"),
        here=[],
        there=["a"],
        answers=6_000,
        less=0.6,
    ),
    Case(
        name="best score, exponential mechanism, general",
        request=BestScore(epsilon=EPSILON, candidates=TWO, rule="exponential"),
        here=[1.0, 0.0],
        there=[2.0, -1.0],
        answers=16_000,
        less=0.7,
        quick=6_000,
    ),
    Case(
        name="best score in fractions, permute-and-flip",
        request=BestScore(epsilon=EPSILON, candidates=TWO, sensitivity=0.5, resolution=1e-3),
        here=[0.25, 0.25],
        there=[0.75, -0.25],
        answers=8_000,
    ),
    Case(
        name="median, permute-and-flip, one added",
        request=QuantileValue(epsilon=EPSILON, low=0.0, high=1.0, points=3, rule="permute_and_flip"),
        here=[0.25],
        there=[0.25, 0.75],
        answers=8_000,
        less=0.7,
    ),
    Case(
        name="best rule, permute-and-flip, one added",
        request=BestRule(epsilon=EPSILON, columns=(Categories(column="x", values=("a",)),), target="y"),
        here={"x": [], "y": []},
        there={"x": ["b"], "y": [0]},
        answers=8_000,
        less=0.6,
    ),
    Case(
        name="alarm, geometric noise",
        request=AlarmRun(epsilon=EPSILON, threshold=0.0, entries=2),
        here=[-1, 0],
        there=[0, -1],
        outcome=lambda answer: tuple(answer["alarms"]),
        answers=4_000,
        less=0.6,
    ),
    Case(
        name="alarm, Laplace noise",
        request=AlarmRun(epsilon=EPSILON, threshold=0.0, entries=4, noise="laplace"),
        here=[-1, -1, -1, 0],
        there=[0, 0, 0, -1],
        outcome=lambda answer: tuple(answer["alarms"]),
        answers=5_000,
        less=0.5,
        quick=4_000,
    ),
    Case(
        name="whom to follow from now on",
        request=PrivatePlays(epsilon=EPSILON, delta=0.0, rounds=2, experts=TWO, way="from_now_on"),
        here=[[0.0, 1.0], [1.0, 0.0]],
        there=[[1.0, 0.0], [1.0, 0.0]],
        outcome=lambda answer: tuple(answer["plays"]),
        answers=10_000,
        less=0.7,
    ),
    Case(
        name="whom to follow, doubling",
        request=PrivatePlays(epsilon=EPSILON, delta=0.0, rounds=2, experts=TWO, way="doubling_leader"),
        here=[[0.0, 1.0], [0.0, 0.0]],
        there=[[1.0, 0.0], [0.0, 0.0]],
        outcome=lambda answer: answer["plays"][-1],
        answers=6_000,
        less=0.5,
    ),
    Case(
        name="whom to follow, batched",
        request=PrivatePlays(epsilon=EPSILON, delta=1e-6, rounds=2, experts=TWO, hold=1),
        here=[[0.0, 1.0], [0.0, 0.0]],
        there=[[1.0, 0.0], [0.0, 0.0]],
        outcome=lambda answer: answer["plays"][-1],
        answers=4_000,
        less=0.3,
    ),
)
