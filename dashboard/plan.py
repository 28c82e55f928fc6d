"""Kinds of answers that a plan of the budget can hold, as values: what each costs, and the ε that makes it good.

A question brings the kinds it knows by a class method ``plans``; the Budget page finds them and adds its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpcore.costs import Cost
from dpcore.datasets import Schema, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How good an answer shall be, as a person says it: a number with its limits. ``words`` hold it at ``{}``."""

    label: str
    words: str
    default: float
    low: float
    high: float
    step: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanKind:
    """One kind of answer.

    ``cost`` of one at (ε, δ). ``needed`` is the ε at which it reaches a target, given (target, δ, table, column); None
    where none does. ``columns`` names the columns it can be about; None where it is about no column.
    """

    key: str
    label: str
    cost: Callable[[float, float], Cost]
    goal: Goal | None = None
    needed: Callable[[float, float, Table | None, str], float | None] | None = None
    columns: Callable[[Schema], tuple[str, ...]] | None = None


RIGHT = Goal(label="right, times in 100", words="right {} times in 100", default=95.0, low=1.0, high=99.9, step=1.0)
