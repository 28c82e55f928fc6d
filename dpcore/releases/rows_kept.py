"""How many rows of each person to keep: noise grows with their number m, what is cut off shrinks.

``offered`` goes by public facts alone. ``loss_by_rows_kept`` looks at the rows and is exact: for demonstrations and for
What if, never for a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.grid import STEPS
from dpcore.releases.best_rule import BestRule
from dpcore.releases.least_cost import LeastCost
from dpcore.releases.selection import MostCommonOption
from dpcore.validate import FloatArray, in_range, whole

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

KeptChoice = MostCommonOption | BestRule | LeastCost


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsKept:
    """With at most ``most`` rows of each person: by how many rows the winner may be behind because of the ``noise``
    (with probability 1 − β), and how many rows are ``cut`` off on average.
    """

    most: int
    noise: float
    cut: float

    @property
    def together(self) -> float:
        """How far behind the winner may be in all rows, at most: every row that is cut may have been the best one's."""
        return self.noise + self.cut


def levels(largest: int) -> tuple[int, ...]:
    """Numbers of rows to try: 1 to 10, then the whole numbers of the public grid up to ``largest``."""
    whole(1, 10**6, largest=largest)
    tried = {*range(1, 11), largest}
    tried |= {round(step * 10**decade) for step in STEPS for decade in range(1, 7)}
    return tuple(sorted(number for number in tried if number <= largest))


def with_rows_kept(request: KeptChoice, most: int) -> KeptChoice:
    """The same question with at most ``most`` rows of each person. Raises InvalidArgument without an id column."""
    if request.reads.person is None:
        raise InvalidArgument("id_column", "must say whose row it is before a number of rows can be kept")
    return replace(request, reads=replace(request.reads, most=most))


def outlook(
    request: KeptChoice, *, people: int, average: float, largest: int, beta: float = 0.05
) -> tuple[RowsKept, ...]:
    """What to expect at each of ``levels(largest)``, from what a person states: ``people`` with ``average`` rows.

    Numbers of rows are taken to be geometric, the widest law on 1, 2, … with that average: E(R − m)⁺ = a(1 − 1/a)^m.
    Raises InvalidArgument.
    """
    whole(1, people=people)
    each = in_range(1.0, 1e6, average=average)
    found = []
    for most in levels(largest):
        bound = with_rows_kept(request, most).error_bound(beta)
        found.append(RowsKept(most=most, noise=bound.number, cut=people * each * (1.0 - 1.0 / each) ** most))
    return tuple(found)


def offered(request: KeptChoice, *, people: int, average: float, largest: int, beta: float = 0.05) -> RowsKept:
    """The number of rows to keep that is best by ``outlook``. Raises InvalidArgument."""
    return min(
        outlook(request, people=people, average=average, largest=largest, beta=beta), key=lambda one: one.together
    )


def loss_by_rows_kept(request: KeptChoice, rows: PrivateRows, mosts: Sequence[int]) -> FloatArray:
    """How far behind the best the winner is on average, measured on all rows, for each of ``mosts``, exact.

    Shape (mosts,), in rows (for ``LeastCost`` in ranges). Raises InvalidArgument.
    """
    in_all = replace(request, reads=replace(request.reads, person=None)).read(rows)
    behind = (in_all.max() - in_all) / (2.0**20 if isinstance(request, LeastCost) else 1.0)
    return np.array([float(with_rows_kept(request, most).law(rows) @ behind) for most in mosts])
