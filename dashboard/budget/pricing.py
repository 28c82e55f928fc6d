"""A plan with its prices: under each rule, against the budget, and how good each answer could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dashboard.background import compute
from dashboard.budget import tracker
from dashboard.budget.kinds import Wish, planned
from dashboard.case import Source
from dpcore.errors import DpcoreError
from dpcore.ledger import Budget
from dpcore.ledger.budget import Charge
from dpcore.planning import PlannedAnswer, Price, affordable, price


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A plan with its prices; ``shares`` is what each rule would let every answer's ε be multiplied by."""

    epsilons: tuple[float, ...]
    prices: tuple[Price, ...]
    shares: dict[str, float]
    fits: bool | None
    left_after: float


def comparison(budget: Budget | None) -> tuple[float, bool]:
    """The ε that a plan is compared with, and whether that is a plain amount that is left."""
    if budget is None:
        return 1.0, False
    whole = tracker.total(budget)
    if budget.counting == "sum":
        left = budget.remaining.epsilon
        return (left, True) if left > 0.0 else (whole, False)
    return whole, budget.spent == Charge()


def priced(
    wishes: Sequence[Wish], delta: float, source: Source | None, budget: Budget | None, total: float
) -> Priced | str:
    """The prices, or the sentence that says why there are none; cached but for what is left."""
    fingerprint = "" if source is None else source.table.fingerprint

    def make() -> tuple[tuple[float, ...], tuple[Price, ...], dict[str, float]] | None:
        answers = planned(wishes, delta, source)
        if answers is None:
            return None
        found = tuple(price(answers, delta))
        shares = {one.rule: affordable(answers, epsilon=total, delta=delta, rule=one.rule) for one in found}
        return tuple(answer.epsilon for answer in answers), found, shares

    try:
        memory = compute.memory(own=source is not None and not source.public)
        made = memory(("plan", fingerprint, tuple(wishes), delta, total), make)
    except DpcoreError as error:
        return f"This plan cannot be priced: {error}."
    if made is None:
        return "No ε makes these answers that good. Ask for less, or bring more data."
    epsilons, found, shares = made
    fits, left = _fit(answers(wishes, epsilons, delta), budget)
    return Priced(epsilons=epsilons, prices=found, shares=shares, fits=fits, left_after=left)


def answers(wishes: Sequence[Wish], epsilons: Sequence[float], delta: float) -> list[PlannedAnswer]:
    """The plan with the ε that were found."""
    fixed = [replace(wish, target=None, epsilon=epsilon) for wish, epsilon in zip(wishes, epsilons, strict=True)]
    return planned(fixed, delta, None) or []


def _fit(plan: Sequence[PlannedAnswer], budget: Budget | None) -> tuple[bool | None, float]:
    """Whether the ledger would take the whole plan now, and the share of the budget left after it."""
    if budget is None:
        return None, 0.0
    for answer in plan:
        charge = budget.charge_for(answer.cost(answer.epsilon))
        if charge is None:
            return False, 0.0
        budget = budget.after(charge.times(answer.count))
    return budget.holds(), 1.0 - budget.share_spent


def code(wishes: Sequence[Wish], found: Priced, delta: float) -> str:
    """Python that computes the same prices."""
    plan = answers(wishes, found.epsilons, delta)
    lines = "".join(f"    *[{answer.cost(answer.epsilon)!r}] * {answer.count},\n" for answer in plan)
    return (
        "from dpcore.accounting import Cost, compose\n"
        "from dpcore.events import *  # the events that the costs name\n\n"
        f"costs = [\n{lines}]\nprint(compose(costs, delta={delta!r}))\n"
    )
