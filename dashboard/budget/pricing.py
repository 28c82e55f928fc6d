"""A plan with its prices: under each rule, against the budget, and how good each answer could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from dashboard import words
from dashboard.background import compute
from dashboard.budget import tracker
from dashboard.budget.kinds import Wish, planned
from dashboard.case import Source
from dashboard.usual import RELATIONS, hides
from dpcore.costs import Cost
from dpcore.errors import DpcoreError, InvalidCost
from dpcore.ledger import Budget
from dpcore.ledger.budget import Charge
from dpcore.planning import PlannedAnswer, Price, affordable, price
from dpcore.validate import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    """A plan with its prices; ``shares`` is what each rule would let every answer's ε be multiplied by.

    ``plan`` costs what the budget counts for answers that hide ``hidden``: that is more where it hides another.
    """

    plan: tuple[PlannedAnswer, ...]
    hidden: Neighbours
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
    hidden = RELATIONS[0] if source is None else hides(source.table.schema)
    counted, for_whom = partial(_counted, budget, hidden), "" if budget is None else budget.neighbours

    def make() -> tuple[tuple[float, ...], tuple[Price, ...], dict[str, float]] | None:
        answers = planned(wishes, delta, source, counted)
        if answers is None:
            return None
        found = tuple(price(answers, delta))
        shares = {one.rule: affordable(answers, epsilon=total, delta=delta, rule=one.rule) for one in found}
        return tuple(answer.epsilon for answer in answers), found, shares

    try:
        memory = compute.memory(own=source is not None and not source.public)
        made = memory(("plan", fingerprint, tuple(wishes), delta, total, hidden, for_whom), make)
    except DpcoreError as error:
        return words.reason(f"This plan cannot be priced: {error}")
    if made is None:
        return "No ε makes these answers that good. Ask for less, or bring more data."
    epsilons, found, shares = made
    fixed = [replace(wish, target=None, epsilon=epsilon) for wish, epsilon in zip(wishes, epsilons, strict=True)]
    fits, left = fit(planned(fixed, delta, None) or [], budget, hidden)
    return Priced(
        plan=tuple(planned(fixed, delta, None, counted) or ()),
        hidden=hidden,
        epsilons=epsilons,
        prices=found,
        shares=shares,
        fits=fits,
        left_after=left,
    )


def _counted(budget: Budget | None, hidden: Neighbours, cost: Cost) -> Cost:
    """What the budget counts for an answer that hides ``hidden``; its own cost where none of these is taken."""
    return cost if budget is None else budget.counted(cost, hidden) or cost


def fit(plan: Sequence[PlannedAnswer], budget: Budget | None, hidden: Neighbours) -> tuple[bool | None, float]:
    """Whether the ledger would take the whole plan now, of answers that hide ``hidden``, and the share of the budget
    left after it."""
    if budget is None:
        return None, 0.0
    for answer in plan:
        try:
            charge = budget.charge_for(answer.cost(answer.epsilon), hidden)
        except InvalidCost:
            charge = None
        if charge is None:
            return False, 0.0
        budget = budget.after(charge.times(answer.count))
    return budget.holds(), 1.0 - budget.share_spent


def code(found: Priced, delta: float) -> str:
    """Python that computes the same prices."""
    lines = "".join(f"    *[{answer.cost(answer.epsilon)!r}] * {answer.count},\n" for answer in found.plan)
    return (
        "from dpcore.accounting import Cost, compose\n"
        "from dpcore.events import *  # the events that the costs name\n\n"
        f"costs = [\n{lines}]\nprint(compose(costs, delta={delta!r}))\n"
    )
