"""How many there are, with noise: a public number in place of an exact one that would be private."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.costs import Cost
from dpcore.datasets.declaration import Declaration, shown
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.asked import Asked, ErrorBound
from dpcore.validate import FloatArray, Neighbours, probability, whole

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

EVERY_ROW = (
    "Every row counts, whatever its cells hold. One whose cells are all empty is left out of a file, and counts in a "
    "source that is counted where it is."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyCount(Asked):
    """How many rows count, plus discrete Laplace noise of scale m/ε, m being the rows of one person.

    P(noise = x) ∝ exp(−|x|·ε/m); Ghosh, Roughgarden & Sundararajan, STOC 2009. Never shown below 0. Only where a person
    is added or removed: where a row is replaced the number is the same for all neighbours. Raises InvalidArgument.
    """

    key: ClassVar[str] = "count"
    mechanism: ClassVar[str] = "Discrete Laplace noise on a count"

    def __post_init__(self) -> None:
        Asked.check(self)
        if self.neighbours != "add_remove":
            raise InvalidArgument("neighbours", "must be add_remove: where a row is replaced, the number is public")
        if self.scale > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small: the noise would not fit")

    @classmethod
    def of(
        cls,
        declaration: Declaration,
        *,
        epsilon: float,
        people: bool = False,
        neighbours: Neighbours | None = None,
        chosen_after_looking: bool = False,
    ) -> Self:
        """The question about a table with one record in each row: how many rows, or with an id column how many
        ``people``, at the noise of one row each. Raises InvalidArgument.
        """
        if declaration.each_row != "record":
            raise InvalidArgument("each_row", "must be a record: people do not move the number of steps")
        reads = declaration.reads()
        if reads.person is not None:  # people are counted by its text, whatever else it was declared as
            reads = replace(reads, columns=(reads.person,))
        if people and reads.person is None:
            raise InvalidArgument("people", "cannot be told apart without an id column; count rows")
        return cls(
            epsilon=epsilon,
            reads=replace(reads, most=1) if people else reads,
            neighbours=neighbours or declaration.hidden,
            unit=declaration.unit,
            chosen_after_looking=chosen_after_looking,
        )

    @property
    def counts_alone(self) -> bool:
        """It is one."""
        return True

    @property
    def scale(self) -> float:
        """Of the noise, in rows."""
        return self.rows_per_person / self.epsilon

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        if self.reads.person is not None and self.rows_per_person == 1:
            return f"How many different “{shown(self.reads.person.name)}” are there?"
        return "How many rows are there?"

    @property
    def cost(self) -> Cost:
        """One answer."""
        return Cost.pure(self.epsilon)

    @property
    def rules(self) -> tuple[str, ...]:
        """By which any table is answered about."""
        return (EVERY_ROW, *self.person_rules)

    def error_bound(self, beta: float = 0.05) -> ErrorBound:
        """How far off the answer is, at most. Raises InvalidArgument.

        The noise's tail in closed form: P(|x| ≥ t) = 2p^t/(1 + p) with p = exp(−1/scale).
        """
        p, level = math.exp(-1.0 / self.scale), probability(beta=beta)
        beyond = math.ceil(-self.scale * math.log(level * (1.0 + p) / 2.0))  # the first t that is rare enough
        return ErrorBound(
            number=float(max(0, beyond - 1)),
            unit="rows",
            confidence=1.0 - beta,
            about="the answer is at most so far off, of the rows as they count",
        )

    def read(self, rows: PrivateRows) -> int:
        """The exact number."""
        return self.opened(rows).rows

    def law_of(self, count: int, reach: int = 100) -> FloatArray:
        """Chance of a noisy count (before it is cut at 0) of each of 0 to ``reach`` rows, shape (reach + 1,), exact."""
        away = np.abs(np.arange(whole(0, reach=reach) + 1) - count)
        return np.asarray(math.tanh(0.5 / self.scale) * np.exp(-away / self.scale))  # (1 − p) / (1 + p) loses digits

    def draw(self, count: int) -> dict[str, Any]:
        """The noisy ``count``."""
        noisy = draws.laplace([count], sensitivity=self.rows_per_person, epsilon=self.epsilon)
        return {"count": max(0, int(noisy[0]))}
