"""“Alarm, live”: what is declared before anybody taps, and when the alarm would go off in a simulated room.

Everything here is public. Private is whether and when each phone taps: one row, replaced by any other
(``replace_one``). A tap is not taken back, so one phone moves all counts the same way, which the noise relies on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dashboard.poll.asked import (
    EPSILON_DIGITS,
    FEWEST_PEOPLE,
    LEAST_EPSILON,
    LONGEST_QUESTION,
    MOST_EPSILON,
    MOST_PEOPLE,
    check,
    line,
    shown_as_it_is,
)
from dashboard.words import live as said
from dashboard.words import poll as poll_words
from dpcore.releases.taps import TapAlarm
from dpcore.validate import FloatArray, IntArray

FEWEST_LOOKS, MOST_LOOKS = 5, 120
SHORTEST, LONGEST = 1.0, 30.0
"""Seconds between two looks."""


@dataclass(frozen=True, kw_only=True)
class Watch:
    """When an alarm should go off: once ``bar`` phones have tapped, among ``looks`` looks, ``seconds`` apart.

    ``people`` is how many the speaker says will come; ``epsilon`` is what the whole listening costs, and all that this
    room ever spends. ``counts`` says that the true counts may be shown afterwards, which phones are told before they
    tap. Raises PollRefused with a sentence.
    """

    question: str
    bar: int = 10
    looks: int = 30
    seconds: float = 2.0
    people: int = 30
    epsilon: float = 1.0
    counts: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", line(self.question))
        check(self.question != "", poll_words.NO_QUESTION)
        check(shown_as_it_is(self.question), poll_words.UNSEEN)
        check(len(self.question) <= LONGEST_QUESTION, poll_words.too_long(LONGEST_QUESTION))
        people = poll_words.people_between(FEWEST_PEOPLE, MOST_PEOPLE)
        check(isinstance(self.people, int) and FEWEST_PEOPLE <= self.people <= MOST_PEOPLE, people)
        check(isinstance(self.bar, int) and 1 <= self.bar <= MOST_PEOPLE, said.bar_between(1, MOST_PEOPLE))
        looks = said.looks_between(FEWEST_LOOKS, MOST_LOOKS)
        check(isinstance(self.looks, int) and FEWEST_LOOKS <= self.looks <= MOST_LOOKS, looks)
        apart = math.isfinite(self.seconds) and SHORTEST <= self.seconds <= LONGEST
        check(apart, said.seconds_between(SHORTEST, LONGEST))
        good = math.isfinite(self.epsilon) and LEAST_EPSILON <= self.epsilon <= MOST_EPSILON
        check(good, poll_words.epsilon_between(LEAST_EPSILON, MOST_EPSILON))
        object.__setattr__(self, "epsilon", round(self.epsilon, EPSILON_DIGITS))

    @property
    def answers(self) -> int:
        """How many answers the room may give: one, which ends the listening."""
        return 1

    @cached_property
    def request(self) -> TapAlarm:
        """What will be released: made from this declaration alone."""
        return TapAlarm(subject=self.question, line=self.bar, looks=self.looks, epsilon=self.epsilon)

    # -- in a simulated room -------------------------------------------------------------------------------------------

    def simulated(self, tapping: int) -> IntArray:
        """Counts at each look, shape (looks,), when ``tapping`` of 100 of the declared people tap, evenly over the
        whole time."""
        most = self.people * tapping / 100
        return np.floor(most * np.arange(1, self.looks + 1) / self.looks + 1e-9).astype(np.int64)

    def law(self, tapping: int) -> FloatArray:
        """The chance that the alarm goes off at each look there, then that it stays silent, shape (looks + 1,)."""
        return self.request.law(self.simulated(tapping))

    @cached_property
    def false_alarm(self) -> float:
        """The chance that the alarm goes off though nobody taps, exact."""
        return 1.0 - float(self.law(0)[-1])

    def reached(self, tapping: int) -> int | None:
        """The look, from 1, at which the line is truly reached there; None where it never is."""
        places = np.flatnonzero(self.simulated(tapping) >= self.bar)
        return int(places[0]) + 1 if places.size else None
