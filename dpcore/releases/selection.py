"""Private choices: the most common option, the best score; and, from their own files, a quantile and the best rule.

``law`` of each request gives the exact law of that request on those rows, for tests and demonstrations; a release never
shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.datasets.declaration import Declaration, Reads, shown
from dpcore.datasets.schema import Column
from dpcore.errors import InvalidArgument
from dpcore.in_units import binary_unit
from dpcore.releases.asked import ErrorBound
from dpcore.releases.best_rule import BestRule
from dpcore.releases.cells import (
    check_scores,
    entry_rules,
    entry_sensitivity,
    option_rules,
    options_of,
    resolution_of,
    score_units,
    sensitivity_rule,
)
from dpcore.releases.choice import Choice, Chosen, check_names, of
from dpcore.releases.draws import Rule
from dpcore.releases.least_cost import LeastCost
from dpcore.releases.quantile import QuantileValue, points_of
from dpcore.validate import IntArray, Neighbours

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

__all__ = ["BestRule", "BestScore", "LeastCost", "MostCommonOption", "QuantileValue", "points_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MostCommonOption(Chosen):
    """Names the most common of the declared options (k,) of ``column``.

    One person has at most m rows, so each count moves by at most m: all one way when the person is added or removed,
    which halves the noise. Raises InvalidArgument.
    """

    key: ClassVar[str] = "most_common"

    column: str

    def __post_init__(self) -> None:
        self.check()
        check_names(options=self.options)
        _ = self.choice

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        column: str,
        *,
        epsilon: float,
        neighbours: Neighbours | None = None,
        rule: Rule = "permute_and_flip",
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about a declared column. Raises InvalidArgument."""
        asked = declaration.bounded(column)
        if asked.type not in ("category", "yes/no"):
            raise InvalidArgument("columns", f"cannot include “{shown(column)}”: it does not hold options")
        return cls(
            epsilon=epsilon,
            reads=declaration.reads_rows(column, neighbours=neighbours or declaration.hidden),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            column=column,
            rule=rule,
        )

    @property
    def counts_alone(self) -> bool:
        """It needs no more than how many rows have each option."""
        return True

    @property
    def options(self) -> tuple[str, ...]:
        """What may be named, in the order declared."""
        return options_of(self.reads.column(self.column))

    @property
    def choice(self) -> Choice:
        """The noisy maximum over counts."""
        return Choice(
            epsilon=self.epsilon,
            sensitivity=self.rows_per_person,
            monotonic=self.neighbours == "add_remove",
            rule=self.rule,
        )

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        return f"Which of {len(self.options):,} options{of(self.column)} is most common?"

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        return (*option_rules(self.reads.column(self.column)), *self.person_rules)

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How many rows the named option has less than the most common one, at most. Raises InvalidArgument."""
        return ErrorBound(
            number=self.choice.behind(len(self.options), beta),
            unit="rows",
            confidence=1.0 - beta,
            about="the named option has at most this many fewer than the most common one, of the rows as they count",
        )

    def read(self, rows: PrivateRows) -> IntArray:
        """How many rows have each option, shape (k,)."""
        return self.opened(rows).counts(self.column)

    def draw(self, scores: IntArray) -> dict[str, Any]:
        """The winner: ``option``."""
        return {"option": self.options[self.choice.draw(scores)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class BestScore(Chosen):
    """Names the option (of the declared ones of ``option``, k of them) with the best entry in ``score``.

    For tables with one option in each row, whose entries a person moves by at most ``sensitivity``: all the same way
    where the column is declared to hold counts and a person is added or removed, which halves the noise. Entries that
    are not whole by their declaration are rounded to a power of two near a thousandth of the sensitivity, which costs
    one unit of sensitivity more. Raises InvalidArgument.
    """

    key: ClassVar[str] = "best_score"

    option: str
    score: str
    sensitivity: float

    def __post_init__(self) -> None:
        self.check()
        check_names(options=self.candidates)
        check_scores(self._score)
        _ = self.choice

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        *,
        option: str,
        score: str,
        epsilon: float,
        candidates: tuple[str, ...] = (),
        candidates_from_file: bool = False,
        neighbours: Neighbours | None = None,
        rule: Rule = "permute_and_flip",
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about declared columns; ``candidates`` are the options where ``option`` is free text.

        ``candidates_from_file`` says that they are ``PrivateRows.public_options``: then their order is the alphabet's.
        Raises InvalidArgument.
        """
        if declaration.each_row != "option":
            raise InvalidArgument("each_row", "must be an option with its score")
        declaration.check_stay(neighbours or declaration.hidden)
        names = declaration.column(option)
        if names.type == "text":
            check_names(candidates=candidates)
            names = replace(names, type="category", categories=candidates, words_from_file=candidates_from_file)
        elif candidates:
            raise InvalidArgument("candidates", f"must be left out: the options of “{shown(option)}” are declared")
        names = replace(names, fill=None)  # a row without a name is none, whatever its entry is
        if names.type != "category" or not names.categories:
            raise InvalidArgument("option", f"cannot be “{shown(option)}” until its options are declared")
        scores = declaration.column(score)
        return cls(
            epsilon=epsilon,
            reads=declaration.taken(Reads(columns=(names, scores))),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            option=option,
            score=score,
            sensitivity=entry_sensitivity(check_scores(scores), neighbours or declaration.hidden),
            rule=rule,
        )

    @property
    def candidates(self) -> tuple[str, ...]:
        """What may be named, in their public order."""
        return self.reads.column(self.option).categories

    @property
    def _score(self) -> Column:
        return self.reads.column(self.score)

    @property
    def smallest(self) -> bool:
        """Whether the smallest score is best."""
        return self._score.better == "lower"

    @property
    def unit_of_scores(self) -> float:
        """What scores are counted in."""
        resolution = resolution_of(self._score, self.sensitivity)
        return 1.0 if resolution is None else binary_unit(resolution)

    @property
    def choice(self) -> Choice:
        """The noisy maximum over scores in units."""
        rounding = 0 if self.unit_of_scores == 1.0 and self._score.type == "integer" else 1
        steps = math.ceil(Fraction(self.sensitivity) / Fraction(self.unit_of_scores)) + rounding
        one_way = self._score.reads_as_counts and self.neighbours == "add_remove"
        return Choice(epsilon=self.epsilon, sensitivity=steps, monotonic=one_way, rule=self.rule)

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        end = "smallest" if self.smallest else "largest"
        return f"Which of {len(self.candidates):,} options{of(self.option)} has the {end} “{shown(self.score)}”?"

    @property
    def promise(self) -> str:
        """How far one person can move a score, and how that is known."""
        return sensitivity_rule(self._score, self.unit, self.neighbours)

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        return (
            *entry_rules(self._score),
            "An option without a row counts like one with a missing score; of several rows of one option the first "
            "counts; rows of no option count for none.",
            *option_rules(self.reads.column(self.option))[1:],
        )

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How far the named option's score is behind the best one, at most. Raises InvalidArgument."""
        rounding = 0.0 if self.choice.sensitivity == math.ceil(self.sensitivity) else 1.0
        behind = self.choice.behind(len(self.candidates), beta) + rounding
        return ErrorBound(
            number=behind * self.unit_of_scores,
            unit=self._score.unit or self.score,
            confidence=1.0 - beta,
            about="the named option's score, as scores count, is at most this far from the best one",
        )

    def read(self, rows: PrivateRows) -> IntArray:
        """The scores in units, larger is better, shape (k,)."""
        opened = self.opened(rows)
        codes = opened.codes(self.option)
        named, first = np.unique(codes, return_index=True)
        values = np.full(len(self.candidates), np.nan)
        values[named[named >= 0]] = opened.numbers(self.score)[first[named >= 0]]
        units = score_units(values, self._score, self.unit_of_scores)
        return -units if self.smallest else units

    def draw(self, scores: IntArray) -> dict[str, Any]:
        """The winner: ``candidate``."""
        return {"candidate": self.candidates[self.choice.draw(scores)]}
