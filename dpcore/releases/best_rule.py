"""The simple rule that predicts a yes/no column best, chosen privately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.datasets.declaration import Declaration, shown
from dpcore.errors import InvalidArgument
from dpcore.releases.asked import ErrorBound
from dpcore.releases.cells import bound_rule, options_of
from dpcore.releases.choice import MOST_OPTIONS, Choice, Chosen
from dpcore.releases.draws import Rule
from dpcore.selection.rules import Categories, Cuts, RuleClass
from dpcore.validate import IntArray, Neighbours, whole
from dpcore.written import exact

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows


@dataclass(frozen=True, slots=True, kw_only=True)
class BestRule(Chosen):
    """Names the rule with the fewest errors on whether ``target`` is ``positive``, of those that look at ``columns``.

    The rules are those of ``dpcore.selection.RuleClass``: ``cuts`` of a number, the options of a word. One person moves
    every error count by at most their rows: all one way when the person is added or removed, which halves the noise;
    Kasiviswanathan et al., FOCS 2008. Raises InvalidArgument.
    """

    key: ClassVar[str] = "best_rule"

    columns: tuple[str, ...]
    target: str
    positive: str
    cuts: int = 20

    def __post_init__(self) -> None:
        self.check()
        whole(1, MOST_OPTIONS, columns=self.rules_to_choose.size)
        if self.target in self.columns:
            raise InvalidArgument("target", "must be a column that the rules do not look at")
        if self.positive not in options_of(self.reads.column(self.target)):
            raise InvalidArgument("positive", f"must be an option of “{shown(self.target)}”")
        _ = self.choice

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        columns: Sequence[str],
        *,
        target: str,
        epsilon: float,
        positive: str | None = None,
        cuts: int = 20,
        neighbours: Neighbours | None = None,
        rule: Rule = "permute_and_flip",
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about declared columns; ``positive`` is yes, or the second of two options, if left out.

        Raises InvalidArgument.
        """
        options = options_of(declaration.bounded(target))
        if positive is None and len(options) == 2:
            positive = options[1]
        for name in columns:
            if declaration.bounded(name).type == "date":
                raise InvalidArgument("columns", f"cannot include “{shown(name)}”: rules do not look at dates")
        return cls(
            epsilon=epsilon,
            reads=declaration.reads_rows(*columns, target, neighbours=neighbours or declaration.hidden),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            columns=tuple(columns),
            target=target,
            positive=positive or "",
            cuts=cuts,
            rule=rule,
        )

    @property
    def counts_alone(self) -> bool:
        """It needs no more than how often each option of a column, or side of its cuts, comes with each answer."""
        return True

    @property
    def rules_to_choose(self) -> RuleClass:
        """The class of rules, from declared facts."""
        return RuleClass(columns=self._parts)

    @property
    def _parts(self) -> tuple[Cuts | Categories, ...]:
        parts: list[Cuts | Categories] = []
        for name in self.columns:
            column = self.reads.column(name)
            if column.is_numeric:
                low, high = float(column.low or 0.0), float(column.high or 0.0)
                parts.append(Cuts(column=name, low=low, high=high, count=self.cuts))
            else:
                parts.append(Categories(column=name, values=options_of(column)))
        return tuple(parts)

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
        target = self.reads.column(self.target)
        named = "" if target.type == "yes/no" and self.positive == "yes" else f" being “{shown(self.positive)}”"
        return f"Which of {self.rules_to_choose.size:,} simple rules predicts “{shown(self.target)}”{named} best?"

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        numeric = [self.reads.column(name) for name in self.columns if self.reads.column(name).is_numeric]
        return (
            f"A row whose “{shown(self.target)}” is missing or no option counts for none.",
            *(bound_rule(column) for column in numeric),
            *(
                f"A missing or unreadable “{shown(column.name)}” counts as {exact(_stand_in(column.fill, column.low))}."
                for column in numeric
            ),
            "A missing or unknown word is none of the options.",
            *self.person_rules,
        )

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How many more rows the named rule gets wrong than the best one, at most. Raises InvalidArgument."""
        return ErrorBound(
            number=self.choice.behind(self.rules_to_choose.size, beta),
            unit="rows",
            confidence=1.0 - beta,
            about="the named rule is wrong on at most this many more of the rows as they count than the best one",
        )

    def probe(self, rows: PrivateRows) -> None:
        """Also whether its cuts are not too many to be asked. Raises InvalidArgument, UnreadableFile."""
        rows.check(self.reads, cuts={part.column: self.cuts for part in self._parts if isinstance(part, Cuts)})
        self.read(rows.of_no_row())

    def read(self, rows: PrivateRows) -> IntArray:
        """Minus the errors of each rule, shape (k,)."""
        cuts = {column.column: column.grid if isinstance(column, Cuts) else None for column in self._parts}
        place = options_of(self.reads.column(self.target)).index(self.positive)
        counted = []
        for part, found in zip(self._parts, self.opened(rows).crossed(self.target, cuts), strict=True):
            yes = found[:, place]
            told = np.stack([found.sum(axis=1) - yes, yes], axis=1)
            if isinstance(part, Cuts):  # a missing number is one after all
                column = self.reads.column(part.column)
                at = int(np.searchsorted(part.grid, _stand_in(column.fill, column.low), side="right"))
                told[at] += told[-1]
                told = told[:-1]
            counted.append(told)
        return -self.rules_to_choose.errors_counted(counted)

    def draw(self, scores: IntArray) -> dict[str, Any]:
        """The rule: ``rule`` in words, and its ``column``, ``comparison`` and ``value``."""
        rule = self.rules_to_choose.rules[self.choice.draw(scores)]
        return {"rule": str(rule), "column": rule.column, "comparison": rule.comparison, "value": rule.value}


def _stand_in(fill: str | float | None, low: float | None) -> float:
    """What a missing number counts as: the declared fill, else the lower bound."""
    return float(low or 0.0) if fill is None else float(fill)
