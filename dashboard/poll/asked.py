"""What a poll asks, and all that is declared about it before anybody votes.

Everything here is public: the request, its cost, the forecast and every sentence follow from it alone. A vote is one of
``choices`` (text) or a number of ``grid``; a phone that has not voted has an empty row. The number of phones is public,
since the room sees them, so what the answer hides is what one phone said, and whether it said anything: one row
replaced by any other (``replace_one``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import pandas as pd

from dashboard.poll.refused import PollRefused
from dashboard.words import poll as said
from dpcore.datasets import Declaration, PrivateRows
from dpcore.datasets.numerals import tidy
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.text import visible
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import MostCommonOption, QuantileValue
from dpcore.validate import FloatArray, IntArray

Form = Literal["options", "yes_no", "number"]
Vote = str | float
Request = MostCommonOption | QuantileValue

LONGEST_QUESTION, LONGEST_OPTION = 140, 40
FEWEST_OPTIONS, MOST_OPTIONS = 2, 8
MOST_POINTS = 1001
FEWEST_PEOPLE, MOST_PEOPLE = 2, 1000
LEAST_EPSILON, MOST_EPSILON = 0.01, 10.0
EPSILON_DIGITS = 4  # fewer than the ledger's, so that a budget of this ε pays for an answer of this ε
CLOSE = 0.05
"""Of the range: how near a private median counts as right in guesses and forecasts."""


@dataclass(frozen=True, kw_only=True)
class Poll:
    """One question to a room. ``people`` is how many the speaker says will vote, before anybody does.

    ``options`` (2 to 8) where the form is ``options``; ``low``, ``high`` and ``step`` where it is ``number``, whose
    answer is the median, one of at most 1,001 points. ``epsilon`` is what the one answer costs and all that this room
    ever spends. ``counts`` says that the true counts may be shown afterwards, which phones are told before they vote.
    Texts are made one line, without padding. Raises PollRefused with a sentence.
    """

    question: str
    form: Form
    options: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 10.0
    step: float = 1.0
    people: int = 30
    epsilon: float = 0.5
    counts: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", line(self.question))
        object.__setattr__(self, "options", tuple(line(option) for option in self.options))
        check(self.question != "", said.NO_QUESTION)
        check(shown_as_it_is(self.question), said.UNSEEN)
        check(len(self.question) <= LONGEST_QUESTION, said.too_long(LONGEST_QUESTION))
        check(self.form in get_args(Form), said.NO_FORM)
        check(
            isinstance(self.people, int) and FEWEST_PEOPLE <= self.people <= MOST_PEOPLE,
            said.people_between(FEWEST_PEOPLE, MOST_PEOPLE),
        )
        check(
            math.isfinite(self.epsilon) and LEAST_EPSILON <= self.epsilon <= MOST_EPSILON,
            said.epsilon_between(LEAST_EPSILON, MOST_EPSILON),
        )
        object.__setattr__(self, "epsilon", round(self.epsilon, EPSILON_DIGITS))
        if self.form == "options":
            self._check_options()
        else:
            object.__setattr__(self, "options", ())
        if self.form == "number":
            self._check_numbers()
        else:  # what an earlier form left in its fields is nothing that this one asks
            for name in ("low", "high", "step"):
                object.__setattr__(self, name, type(self).__dataclass_fields__[name].default)
        try:
            _ = self.request
        except InvalidArgument as error:
            raise PollRefused(said.cannot_ask(str(error))) from None

    def _check_options(self) -> None:
        count = said.options_between(FEWEST_OPTIONS, MOST_OPTIONS)
        check(FEWEST_OPTIONS <= len(self.options) <= MOST_OPTIONS, count)
        check(all(self.options), said.EMPTY_OPTION)
        check(all(shown_as_it_is(option) for option in self.options), said.UNSEEN)
        check(all(len(option) <= LONGEST_OPTION for option in self.options), said.option_too_long(LONGEST_OPTION))
        check(len({option.casefold() for option in self.options}) == len(self.options), said.TWICE)

    def _check_numbers(self) -> None:
        numbers = (self.low, self.high, self.step)
        check(all(math.isfinite(number) and abs(number) <= 1e9 for number in numbers), said.NO_BOUNDS)
        check(self.low < self.high and self.step > 0, said.NO_BOUNDS)
        steps = (self.high - self.low) / self.step
        check(steps < 1e9, said.too_fine(MOST_POINTS))
        check(abs(steps - round(steps)) < 1e-6, said.NO_STEP)
        check(2 <= round(steps) + 1 <= MOST_POINTS, said.too_fine(MOST_POINTS))
        check(len({said.value(point) for point in self.grid}) == round(steps) + 1, said.ALIKE)

    # -- what can be said, and what comes out ----------------------------------------------------------------------

    @property
    def answers(self) -> int:
        """How many answers the room may give."""
        return 1

    @property
    def choices(self) -> tuple[str, ...]:
        """What a phone can choose, in order; empty where it gives a number."""
        if self.form == "yes_no":
            return ("yes", "no")
        return self.options if self.form == "options" else ()

    @cached_property
    def grid(self) -> FloatArray:
        """The numbers a phone can give and an answer can be, shape (points,), ascending."""
        return np.linspace(self.low, self.high, round((self.high - self.low) / self.step) + 1)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Every answer that can come out, as text, in the order of ``request``'s law."""
        request = self.request
        if isinstance(request, MostCommonOption):
            return request.options
        return tuple(said.value(point) for point in request.grid)

    def checked(self, vote: Vote) -> Vote:
        """The vote as it is kept: a choice, or the nearest number of the grid. Raises PollRefused."""
        if self.form != "number":
            check(isinstance(vote, str) and vote in self.choices, said.NOT_OFFERED)
            return vote
        good = isinstance(vote, int | float) and not isinstance(vote, bool) and math.isfinite(vote)
        check(good and self.low <= float(vote) <= self.high, said.outside(self.low, self.high))
        return float(self.grid[int(np.argmin(np.abs(self.grid - float(vote))))])

    @property
    def near(self) -> float:
        """How far from the true median still counts as right, in the votes' unit: at least one step."""
        return float(max(self.step, round(CLOSE * (self.high - self.low) / self.step) * self.step))

    # -- as the engine takes it ------------------------------------------------------------------------------------

    @property
    def column(self) -> Column:
        """The one column of the room's table. Only an empty cell is missing: “None” may be an option."""
        if self.form == "yes_no":
            return Column(name=self.question, type="yes/no", missing_words=("",), yes_words=("yes",), no_words=("no",))
        if self.form == "options":
            return Column(name=self.question, type="category", categories=self.options, missing_words=("",))
        return Column(name=self.question, type="number", low=self.low, high=self.high, missing_words=("",))

    @property
    def schema(self) -> Schema:
        """The room's table as declared, for a twin."""
        return Schema(columns=(self.column,), people=self.people)

    @cached_property
    def request(self) -> Request:
        """What will be released: made from this declaration alone."""
        declared = Declaration.of(self.schema, hidden="replace_one")
        if self.form == "number":
            return QuantileValue.of(
                declared, self.question, epsilon=self.epsilon, points=self.grid.size, rule="permute_and_flip"
            )
        return MostCommonOption.of(declared, self.question, epsilon=self.epsilon)

    def rows(self, votes: Sequence[Vote | None]) -> PrivateRows:
        """One row for each phone, empty where it has not voted, as a release takes them."""
        cells = ["" if vote is None else vote if isinstance(vote, str) else repr(float(vote)) for vote in votes]
        return PrivateRows(pd.DataFrame({self.question: pd.Series(cells, dtype="str")}))

    def tally(self, votes: Sequence[Vote | None]) -> IntArray:
        """How many phones chose each of ``choices``, or gave each number of ``grid``: the truth, not private."""
        if self.form == "number":
            places = [int(np.argmin(np.abs(self.grid - float(vote)))) for vote in votes if vote is not None]
            return np.bincount(np.array(places, dtype=np.int64), minlength=self.grid.size).astype(np.int64)
        return np.array([sum(vote == choice for vote in votes) for choice in self.choices], dtype=np.int64)


def line(text: str) -> str:
    """On one line, without padding, and with the spaces and signs that a table's cell would be read with."""
    plain = " ".join(str(text).split())
    return " ".join(str(tidy(pd.Series([plain], dtype="str")).iloc[0]).split())


def shown_as_it_is(text: str) -> bool:
    return visible(text, 2 * LONGEST_QUESTION) == text


def check(good: bool, sentence: str) -> None:
    if not good:
        raise PollRefused(sentence)
