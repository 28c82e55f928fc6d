"""One column for good: the one whose costs add up to least, chosen privately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpcore.datasets.declaration import Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.asked import ErrorBound
from dpcore.releases.cells import bound_rule, check_scores
from dpcore.releases.choice import Choice, Chosen, check_names
from dpcore.releases.draws import Rule
from dpcore.validate import IntArray, Neighbours

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

ONE = 2**20  # units of a whole declared range


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCost(Chosen):
    """Names the one of ``columns`` (k,) whose costs add up to least, each in shares of its declared range.

    Each cost is a whole number of 2⁻²⁰ of its range before anything is added up, and a missing one is half of it (or
    the declared fill), so one row moves every total by at most 2²⁰ units, whatever the other rows are: all upward when
    it is added, which halves the noise. Kalai & Vempala's leader with exact noise. Raises InvalidArgument.
    """

    key: ClassVar[str] = "least_cost"

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        self.check()
        check_names(columns=self.columns)
        _ = self.choice

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        columns: Sequence[str],
        *,
        epsilon: float,
        neighbours: Neighbours | None = None,
        rule: Rule = "permute_and_flip",
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about declared columns of numbers. Raises InvalidArgument."""
        for name in columns:
            check_scores(declaration.bounded(name))
        if len(columns) < 2:
            raise InvalidArgument("columns", "must be at least two: with one there is nothing to choose")
        return cls(
            epsilon=epsilon,
            reads=declaration.reads_rows(*columns, neighbours=neighbours or declaration.hidden),
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
            columns=tuple(columns),
            rule=rule,
        )

    @property
    def counts_alone(self) -> bool:
        """It needs no more than the columns' sums, each row's part a whole number of its own."""
        return True

    @property
    def choice(self) -> Choice:
        """The noisy maximum over minus the totals."""
        return Choice(
            epsilon=self.epsilon,
            sensitivity=self.rows_per_person * ONE,
            monotonic=self.neighbours == "add_remove",
            rule=self.rule,
        )

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        return f"Which of {len(self.columns):,} columns costs least, in shares of the declared ranges?"

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        filled = [name for name in self.columns if self.reads.column(name).fill is not None]
        others = "; where a value was declared for missing cells, as that" if filled else ""
        return (
            *(bound_rule(self.reads.column(name)) for name in self.columns),
            f"A missing or unreadable cost counts as the middle of its declared range{others}.",
            *self.person_rules,
        )

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How far the named column's total is above the least one, at most. Raises InvalidArgument."""
        return ErrorBound(
            number=self.choice.behind(len(self.columns), beta) / ONE,
            unit="times the declared range",
            confidence=1.0 - beta,
            about="the named column's total over the rows as they count is at most this far above the least one",
        )

    def read(self, rows: PrivateRows) -> IntArray:
        """Minus the totals in units, shape (k,)."""
        scores: IntArray = -self.opened(rows).range_totals(self.columns, parts=ONE)
        return scores

    def draw(self, scores: IntArray) -> dict[str, Any]:
        """The winner: ``column``."""
        return {"column": self.columns[self.choice.draw(scores)]}
