"""The simple rule that predicts a yes/no column best, chosen privately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.releases.choice import MOST_OPTIONS, NAMES, Choice, check
from dpcore.releases.draws import Rule
from dpcore.selection.rules import Categories, Cuts, RuleClass
from dpcore.validate import FloatArray, IntArray, Neighbours, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRule:
    """Names the rule of ``dpcore.selection.RuleClass(columns=columns)`` with the fewest errors on ``target``.

    Cuts, categories and ``rows_per_person`` are declared, never read from the data. One person moves every error count
    by at most their rows: all one way when the person is added or removed, which halves the noise; Kasiviswanathan et
    al., FOCS 2008. Data: a mapping from the names of the columns and ``target`` to arrays of one length n, nothing
    missing, ``target`` of yes and no (or 1 and 0). Raises InvalidArgument.
    """

    key: ClassVar[str] = "best_rule"

    epsilon: float
    columns: tuple[Cuts | Categories, ...]
    target: str
    neighbours: Neighbours = "add_remove"
    rows_per_person: int = 1
    rule: Rule = "permute_and_flip"

    def __post_init__(self) -> None:
        check(self.epsilon, self.neighbours, self.rule, self.rows_per_person)
        whole(1, MOST_OPTIONS, columns=self.rules.size)
        if not isinstance(self.target, str) or self.target in {column.column for column in self.columns}:
            raise InvalidArgument("target", "must be the name of a column that the rules do not look at")

    @property
    def rules(self) -> RuleClass:
        """The class of rules."""
        return RuleClass(columns=self.columns)

    @property
    def choice(self) -> Choice:
        """The noisy maximum over minus the error counts."""
        return Choice(
            epsilon=self.epsilon,
            sensitivity=self.rows_per_person,
            monotonic=self.neighbours == "add_remove",
            rule=self.rule,
        )

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        return f"Which of {self.rules.size:,} simple rules predicts “{self.target}” best?"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return NAMES[self.rule]

    @property
    def cost(self) -> Cost:
        """One answer."""
        return self.choice.cost

    def validate(self, data: Mapping[str, Any]) -> None:
        """Refuse tables without the columns, with gaps, or with a target that is not yes and no."""
        self.scores(data)

    def scores(self, data: Mapping[str, Any]) -> IntArray:
        """Minus the errors of each rule, shape (k,). Raises InvalidArgument."""
        if not isinstance(data, Mapping) or self.target not in data:
            raise InvalidArgument("data", "must have the column to predict")
        return -self.rules.errors(data, np.asarray(data[self.target]))

    def law(self, data: Mapping[str, Any]) -> FloatArray:
        """Chance of each rule, shape (k,), in the order of ``rules.rules``, exact. Raises InvalidArgument."""
        return self.choice.law(self.scores(data))

    def answer(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The rule: ``rule`` in words, its ``column``, ``comparison``, ``value``, and its ``index`` from 0."""
        winner = self.choice.draw(self.scores(data))
        rule = self.rules.rules[winner]
        return {
            "rule": str(rule),
            "column": rule.column,
            "comparison": rule.comparison,
            "value": rule.value,
            "index": winner,
        }
