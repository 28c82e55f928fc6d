"""Simple rules over a table: which columns they may look at, and how often each is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.datasets import Table
from dpcore.selection.rules import Categories, Cuts, RuleClass
from dpcore.validate import FloatArray, IntArray

DRAWS = 1000
"""Times that as many people are drawn anew."""
MOST_RULES = 20_000
"""Rules that are looked at one by one: every chart has a number for each at each ε."""
MOST_TOGETHER, MOST_WORK = 1_500, 10**11
"""Rules of which every two are looked at together, a number for each two: 18 MB; and the steps that it may take, one
for each person and two rules."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """Error counts of every rule of a class on the people at hand.

    Not what they have in common: that is a number for every two rules, and is made where it is asked for.
    """

    rules: RuleClass
    names: tuple[str, ...]
    errors: FloatArray
    people: int

    @property
    def few(self) -> bool:
        """Whether every two rules can be looked at together."""
        count = len(self.names)
        return count <= MOST_TOGETHER and self.people * count**2 <= MOST_WORK


def targets(table: Table) -> list[str]:
    """Columns with two answers."""
    yes_no = [column.name for column in table.schema.of_type("yes/no")]
    return yes_no + [column.name for column in table.schema.of_type("category") if len(column.categories) == 2]


def features(table: Table, target: str) -> list[str]:
    """Columns a rule may look at: declared bounds or categories, and not the target."""
    usable = [c.name for c in table.schema.columns if (c.is_numeric and c.bounded) or c.type in ("category", "yes/no")]
    return [name for name in usable if name != target]


def rule_class(table: Table, columns: list[str], cuts: int) -> RuleClass:
    """Cuts on declared bounds, membership of declared categories."""
    parts: list[Cuts | Categories] = []
    for name in columns:
        column = table.schema.column(name)
        if column.is_numeric:
            parts.append(Cuts(column=name, low=float(column.low or 0), high=float(column.high or 0), count=cuts))
        else:
            parts.append(Categories(column=name, values=tuple(table.options(name))))
    return RuleClass(columns=tuple(parts))


class _Rows(Mapping[str, Any]):
    """Columns of the rows of a table that have them all: each is made when it is asked for, and not held."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.table, self.names, self.rows = table, names, table.complete(*names)

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        if self.table.schema.column(name).is_numeric:
            return self.table.frame[name].to_numpy(np.float64, na_value=np.nan)[self.rows]
        return pd.Categorical.from_codes(self.codes(name), pd.Index(self.table.options(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, name: str) -> IntArray:
        """Places among the options of a column."""
        return self.table.codes(name)[self.rows]


def learn(table: Table, target: str, rules: RuleClass) -> Learned:
    """Count every rule's errors."""
    values, wanted = _people(table, target, rules)
    return Learned(
        rules=rules,
        names=tuple(str(rule) for rule in rules.rules),
        errors=rules.errors(values, wanted).astype(np.float64),
        people=int(wanted.size),
    )


def covariance(table: Table, target: str, rules: RuleClass) -> FloatArray:
    """How two rules' mistakes on one person vary together, shape (k, k): for ``few`` rules alone."""
    return rules.covariance(*_people(table, target, rules))


def _people(table: Table, target: str, rules: RuleClass) -> tuple[_Rows, IntArray]:
    rows = _Rows(table, [*(column.column for column in rules.columns), target])
    return rows, rows.codes(target)


def worse_elsewhere(learned: Learned, covariance: FloatArray, near: float) -> float:
    """How often, had as many other people come, the best rule here would err on over ``near`` of them more than theirs.

    From 0 to 1, of ``DRAWS`` draws of everybody's errors together: sums over people drawn one by one from these, in the
    normal approximation with the ``covariance`` of the rules' mistakes, shape (k, k).
    """
    rng = np.random.Generator(np.random.PCG64(1))
    spread, turned = np.linalg.eigh(covariance)
    scale = np.sqrt(np.maximum(spread, 0.0) * learned.people)
    found = learned.errors + (rng.standard_normal((DRAWS, scale.size)) * scale) @ turned.T
    best = found[:, int(np.argmin(learned.errors))]
    return float((best > found.min(axis=1) + near * learned.people).mean())
