"""Simulated losses of experts, each showing when private learning is easy, hard, or fooled. All 0 or 1.

The first rounds of a longer run are the shorter run, so that T can be varied on one story.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, IntArray, in_range, one_of, whole

ZeroOne = NDArray[np.uint8]
LEADERS = 3  # who take turns when the leader changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A kind of simulated losses: its ``label``, one plain sentence, and whether its rounds are independent draws."""

    label: str
    about: str
    independent: bool
    chances: Callable[[Scenario, IntArray], FloatArray] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Losses by a named story: ``experts`` of them, good ones wrong with chance ½ − ``gap``, others with ½.

    ``period`` is how many rounds a leader leads (switching), how long the late one is bad (late), or how long a drift
    takes to come round (drifting). ``seed`` makes it repeatable. Raises InvalidArgument.
    """

    story: str
    experts: int = 10
    gap: float = 0.1
    period: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(tuple(STORIES), story=self.story)
        whole(2, experts=self.experts)
        in_range(0.0, 0.5, gap=self.gap)
        whole(2, period=self.period)
        whole(0, seed=self.seed)

    @property
    def label(self) -> str:
        return STORIES[self.story].label

    def losses(self, rounds: int) -> ZeroOne:
        """The first ``rounds`` rounds, shape (rounds, experts), uint8. Raises InvalidArgument."""
        whole(1, rounds=rounds)
        chances = STORIES[self.story].chances
        if chances is None:
            return _against_the_leader(rounds, self.experts)
        rng = np.random.Generator(np.random.SFC64(self.seed))
        losses = np.empty((rounds, self.experts), dtype=np.uint8)
        step = max(1, (1 << 18) // self.experts)
        for start in range(0, rounds, step):
            days = np.arange(start, min(start + step, rounds))
            losses[days] = rng.random((days.size, self.experts), dtype=np.float32) < chances(self, days)
        return losses


def _gap(scenario: Scenario, days: IntArray) -> FloatArray:
    wrong = np.full((days.size, scenario.experts), 0.5)
    wrong[:, 0] -= scenario.gap
    return wrong


def _switching(scenario: Scenario, days: IntArray) -> FloatArray:
    wrong = np.full((days.size, scenario.experts), 0.5)
    leader = days // scenario.period % min(LEADERS, scenario.experts)
    wrong[np.arange(days.size), leader] -= scenario.gap
    return wrong


def _late(scenario: Scenario, days: IntArray) -> FloatArray:
    wrong = np.full((days.size, scenario.experts), 0.5)
    wrong[:, -1] += np.where(days < scenario.period, scenario.gap, -2 * min(scenario.gap, 0.25))
    wrong[:, 0] -= scenario.gap / 2
    return wrong


def _drifting(scenario: Scenario, days: IntArray) -> FloatArray:
    phase = days[:, None] / scenario.period + np.arange(scenario.experts) / scenario.experts
    wrong: FloatArray = 0.5 - scenario.gap * np.sin(2 * np.pi * phase)
    return wrong


def _against_the_leader(rounds: int, experts: int) -> ZeroOne:
    """Each round the expert with the least total loss so far (the first of equals) is the only one who is wrong."""
    losses = np.zeros((rounds, experts), dtype=np.uint8)
    losses[np.arange(rounds), np.arange(rounds) % experts] = 1
    return losses


STORIES: MappingProxyType[str, Story] = MappingProxyType(
    {
        "gap": Story(
            label="One expert is better",
            about="Every day is like every other; the first expert is wrong less often than the rest.",
            independent=True,
            chances=_gap,
        ),
        "switching": Story(
            label="The leader changes",
            about="Three experts take turns at being better than the rest.",
            independent=False,
            chances=_switching,
        ),
        "late": Story(
            label="Right, but late",
            about="One expert starts out worst and ends up best; another is a little better all along.",
            independent=False,
            chances=_late,
        ),
        "drifting": Story(
            label="Slow drift",
            about="Every expert gets better and worse in turn, like seasons.",
            independent=False,
            chances=_drifting,
        ),
        "adversarial": Story(
            label="Against whoever leads",
            about="The expert with the best record is always the next to be wrong: who follows the leader loses daily.",
            independent=False,
            chances=None,
        ),
    }
)


def scenario_losses(story: str, rounds: int, experts: int = 10, *, gap: float = 0.1, seed: int = 0) -> ZeroOne:
    """Losses of a story with ten changes over the run. Raises InvalidArgument."""
    if whole(1, rounds=rounds) * whole(2, experts=experts) > 10**9:
        raise InvalidArgument("rounds", "times experts must be at most 1,000,000,000")
    period = max(2, rounds // 10)
    return Scenario(story=story, experts=experts, gap=gap, period=period, seed=seed).losses(rounds)
