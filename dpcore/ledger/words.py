"""Checked text that goes into the ledger, and sentences that come out of it."""

from __future__ import annotations

import platform
import unicodedata
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.ledger.budget import Budget


def label(*, longest: int = 200, **named: Any) -> str:
    """A name of 1 to ``longest`` visible characters. Raises InvalidArgument."""
    ((name, value),) = named.items()
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgument(name, "must be text that is not blank")
    if len(value) > longest:
        raise InvalidArgument(name, f"must have at most {longest} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn") for character in value):
        raise InvalidArgument(name, "must not hold control characters")
    return value


_HIDES = {"add_remove": "one person added or removed", "replace_one": "one person's row changed"}


def hides(neighbours: str) -> str:
    """What a budget or a release hides, in words."""
    return _HIDES.get(neighbours, "as its first answer will say")


def refusal(budget: Budget, asked_cost: Cost, neighbours: str = "") -> str:
    """How much was asked, how much is left, and what would fit."""
    cost = budget.counted(asked_cost, neighbours)
    if cost is None:
        return (
            f"This answer hides {hides(neighbours)}, and the budget of these people promises to hide "
            f"{hides(budget.neighbours)}, which is not in it; nothing was charged. Ask a question that hides "
            f"{hides(budget.neighbours)}."
        )
    twice = (
        ""
        if cost == asked_cost
        else " It counts twice here: this budget hides a changed row, which is one row removed and another added."
    )
    return _refusal(budget, cost) + twice


def _refusal(budget: Budget, cost: Cost) -> str:
    left = budget.remaining
    if budget.kind == "pure":
        if cost.delta > 0.0:
            return (
                "This answer has a δ above 0 and the budget of these people is for pure ε only; nothing was charged. "
                f"A pure answer of up to ε = {left.epsilon:.6g} would fit."
            )
        return f"This answer costs ε = {cost.epsilon:.6g} and ε = {left.epsilon:.6g} is left; nothing was charged. " + (
            f"An answer of up to ε = {left.epsilon:.6g} would fit." if left.epsilon > 0.0 else "The budget is spent."
        )
    asked = f"ε = {cost.epsilon:.4g}" + (f", δ = {cost.delta:.3g}" if cost.delta > 0.0 else "")
    if cost.zcdp < float("inf"):
        asked += f" (ρ = {cost.zcdp:.4g})"
    return (
        f"This answer costs {asked}; ρ = {left.zcdp:.4g} is left; nothing was charged. "
        f"A pure answer of up to ε = {left.epsilon:.4g}, or any answer of up to ρ = {left.zcdp:.4g}, would fit."
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version())]
    for name in ("epsilon-lab", "opendp", "dp-accounting", "numpy", "sqlalchemy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed as a package"))
    return tuple(found)


def versions() -> dict[str, str]:
    """Versions of what an answer is made with."""
    return dict(_versions())
