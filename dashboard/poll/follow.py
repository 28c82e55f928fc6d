"""“Whom to follow, live”: what is declared before anybody predicts, and how good it would be in a simulated room.

The experts of the textbook are teams of phones. A phone's team follows from the order in which phones came, so it is
public, and so is what really happened in each round. Private are the predictions: all that one phone says in all rounds
is one row, replaced by any other (``replace_one``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dashboard.poll.asked import (
    EPSILON_DIGITS,
    FEWEST_PEOPLE,
    LEAST_EPSILON,
    LONGEST_OPTION,
    LONGEST_QUESTION,
    MOST_EPSILON,
    MOST_PEOPLE,
    check,
    line,
    shown_as_it_is,
)
from dashboard.words import live as said
from dashboard.words import poll as poll_words
from dpcore.experts import expected_regret, held_bound
from dpcore.releases.teams import TeamToFollow, plays_epsilon, sizes, team_rate
from dpcore.validate import FloatArray

FEWEST_ROUNDS, MOST_ROUNDS = 2, 20
FEWEST_TEAMS, MOST_TEAMS = 2, 5
LETTERS = "ABCDE"


@dataclass(frozen=True, kw_only=True)
class Follow:
    """What a room predicts, round after round. ``outcomes`` are the two things that can happen.

    ``people`` is how many the speaker says will come; ``epsilon`` is what all plays together may cost, and all that
    this room ever spends. ``counts`` says that the true losses may be shown at the end, which phones are told before
    they predict. Raises PollRefused with a sentence.
    """

    question: str
    outcomes: tuple[str, str] = ("heads", "tails")
    rounds: int = 8
    teams: int = 3
    people: int = 30
    epsilon: float = 1.0
    counts: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", line(self.question))
        object.__setattr__(self, "outcomes", tuple(line(one) for one in self.outcomes))
        check(self.question != "", poll_words.NO_QUESTION)
        check(all(shown_as_it_is(one) for one in (self.question, *self.outcomes)), poll_words.UNSEEN)
        check(len(self.question) <= LONGEST_QUESTION, poll_words.too_long(LONGEST_QUESTION))
        check(len(self.outcomes) == 2 and all(self.outcomes), said.TWO_OUTCOMES)
        check(len({one.casefold() for one in self.outcomes}) == 2, said.TWO_OUTCOMES)
        check(all(len(one) <= LONGEST_OPTION for one in self.outcomes), poll_words.option_too_long(LONGEST_OPTION))
        check(_within(self.rounds, FEWEST_ROUNDS, MOST_ROUNDS), said.rounds_between(FEWEST_ROUNDS, MOST_ROUNDS))
        check(_within(self.teams, FEWEST_TEAMS, MOST_TEAMS), said.teams_between(FEWEST_TEAMS, MOST_TEAMS))
        fewest = max(FEWEST_PEOPLE, self.teams)
        check(_within(self.people, fewest, MOST_PEOPLE), poll_words.people_between(fewest, MOST_PEOPLE))
        good = math.isfinite(self.epsilon) and LEAST_EPSILON <= self.epsilon <= MOST_EPSILON
        check(good, poll_words.epsilon_between(LEAST_EPSILON, MOST_EPSILON))
        object.__setattr__(self, "epsilon", round(self.epsilon, EPSILON_DIGITS))

    @property
    def answers(self) -> int:
        """How many answers the room may give: whom to follow in each round but the first."""
        return self.rounds - 1

    @property
    def names(self) -> tuple[str, ...]:
        """The teams."""
        return tuple(f"{said.TEAM} {letter}" for letter in LETTERS[: self.teams])

    def size(self, team: str, phones: int) -> int:
        """How many of so many phones are in a team."""
        return sizes(phones, self.teams)[self.names.index(team)]

    def rate(self, phones: int) -> float:
        """η where so many phones are in."""
        return team_rate(self.epsilon, rounds=self.rounds, phones=phones, teams=self.teams)

    def spends(self, phones: int) -> float:
        """ε of all plays together where so many phones are in: at most what was declared."""
        return plays_epsilon(self.rate(phones), rounds=self.rounds, phones=phones, teams=self.teams)

    def request(self, phones: int, happened: tuple[int, ...]) -> TeamToFollow:
        """The play of the round after ``happened``: made from what is public."""
        return TeamToFollow(
            subject=self.question, teams=self.names, phones=phones, happened=happened, rate=self.rate(phones)
        )

    # -- in a simulated room -------------------------------------------------------------------------------------------

    def promised(self, phones: int) -> FloatArray:
        """Regret after each round that the theorem promises on average, shape (rounds,): η·t/8 + ln k/η, at most t."""
        rate = self.rate(phones)
        return np.array([min(float(t), held_bound(rate, t, self.teams)) for t in range(1, self.rounds + 1)])

    def simulated(self, phones: int, best: int) -> FloatArray:
        """Expected regret after each round, exact, shape (rounds,), in a room whose first team is right ``best`` times
        in 100 in every round and the others 50."""
        return self._regret(best, self.rate(phones))

    def blind(self, best: int) -> float:
        """The same after all rounds when teams are drawn blindly, each with the same chance."""
        return float(self._regret(best, 0.0)[-1])

    def _regret(self, best: int, rate: float) -> FloatArray:
        losses = np.full((self.rounds, self.teams), 0.5)
        losses[:, 0] = 1.0 - best / 100
        return np.array([float(expected_regret(losses[:t], [rate])[0]) for t in range(1, self.rounds + 1)])


def _within(number: int, low: int, high: int) -> bool:
    return isinstance(number, int) and low <= number <= high
