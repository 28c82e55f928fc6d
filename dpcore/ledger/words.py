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
    if not value.isprintable() and any(
        unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn") for character in value
    ):
        raise InvalidArgument(name, "must not hold control characters")
    return value


_HIDES = {"add_remove": "one {} added or removed", "replace_one": "one {}'s row changed"}


OLDER_COPIES = (
    "This ledger was written anew on {}: digests of data, on which a guess could be tested, are gone from it. Backups "
    "and receipts from before still hold them; keep them as you keep the data, or delete them."
)
COUNTED = {
    "sum": "adding up",
    "zcdp": "ρ, for many small answers",
    "both": "two accounts, as before",
}


PERSON = "person"
"""Whom a charge hides that names no unit."""


def other_unit(first: str, unit: str) -> str:
    """Why a budget takes no charge of another unit than its first."""
    return (
        f"The answers of this budget protect one {first}, and this one would protect one {unit}: what both cost "
        f"together is not known. Nothing was charged. Say on the Data page that one {first} is protected."
    )


def hides(neighbours: str, unit: str) -> str:
    """What a budget or a release hides, in words: of one ``unit``, of a person where a record names none."""
    return _HIDES.get(neighbours, "as its first answer will say").format(unit or PERSON)


def refusal(budget: Budget, asked_cost: Cost, neighbours: str, unit: str) -> str:
    """How much was asked, how much is left, and what would fit; ``unit`` as in ``hides``."""
    cost = budget.counted(asked_cost, neighbours)
    if cost is None:
        return (
            f"This answer hides {hides(neighbours, unit)}, and the budget of these people promises to hide "
            f"{hides(budget.neighbours, unit)}, which is not in it; nothing was charged. Ask a question that hides "
            f"{hides(budget.neighbours, unit)}."
        )
    twice = (
        ""
        if cost == asked_cost
        else f" It counts more here than where one {unit or PERSON} is added or removed (twice in ε, four times in ρ): "
        "this budget hides a changed row, which is one row removed and another added."
    )
    return _refusal(budget, cost) + twice


def _refusal(budget: Budget, cost: Cost) -> str:
    left, asked = budget.remaining, _asked(cost)
    if budget.kind == "pure" and cost.delta > 0.0:
        return (
            "This answer has a δ above 0 and the budget of these people is for pure ε only; nothing was charged. "
            f"A pure answer of up to ε = {left.epsilon:.6g} would fit."
        )
    if budget.counting == "zcdp" and cost.zcdp == float("inf"):
        return (
            f"This answer is known by its ε and δ alone ({asked}), and the budget of these people counts in ρ; nothing "
            f"was charged. An answer of up to ρ = {left.zcdp:.4g} would fit."
        )
    if budget.counting == "sum":
        rest = f"ε = {left.epsilon:.6g}" + (f" and δ = {left.delta:.3g}" if cost.delta > 0.0 else "")
        verb = "are" if cost.delta > 0.0 else "is"
        would = f"An answer of up to ε = {left.epsilon:.6g}" + (
            f" and δ = {left.delta:.3g}" if cost.delta > 0.0 else ""
        )
        fits = left.epsilon > 0.0 and (cost.delta == 0.0 or left.delta > 0.0)
        return f"This answer costs {asked} and {rest} {verb} left; nothing was charged. " + (
            f"{would} would fit." if fits else "The budget is spent."
        )
    return (
        f"This answer costs {asked}; ρ = {left.zcdp:.4g} is left; nothing was charged. "
        f"A pure answer of up to ε = {left.epsilon:.4g}, or any answer of up to ρ = {left.zcdp:.4g}, would fit."
    )


def _asked(cost: Cost) -> str:
    asked = f"ε = {cost.epsilon:.6g}" + (f", δ = {cost.delta:.3g}" if cost.delta > 0.0 else "")
    return asked if cost.delta == 0.0 or cost.zcdp == float("inf") else f"{asked} (ρ = {cost.zcdp:.4g})"


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
