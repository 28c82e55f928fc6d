"""What the Budget page reads from the ledger in one run: the budget and receipts of the people in view, or of all."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard import words
from dashboard.background import compute
from dashboard.background.once import once
from dashboard.budget import tracker
from dashboard.case import Source
from dpcore.errors import DpcoreError, LedgerUnsound, UnknownLineage
from dpcore.ledger import Budget, Receipt
from dpcore.ledger.words import PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The people in view. ``receipts`` are those since the last reset, ``before`` the ones a reset set aside. Each
    answer hides one ``unit``.

    ``problem`` is the sentence to show when the ledger is closed; then there is nothing else.
    """

    source: Source | None
    budget: Budget | None = None
    unit: str = PERSON
    receipts: tuple[Receipt, ...] = ()
    before: tuple[Receipt, ...] = ()
    problem: str | None = None


def look(source: Source | None) -> State:
    """The budget and the receipts of the people in view."""
    if source is None or source.lineage is None:
        problem = tracker.trouble()
        return State(source=source, problem=problem)
    try:
        budget = tracker.budget(source)
        unit = PERSON if budget is None else tracker.protects(source, budget)
        history = _receipts(source.lineage, compute.ledger().version(source.lineage), compute.whose())
    except UnknownLineage:
        return State(source=source, budget=budget, unit=unit)
    except DpcoreError as error:
        return State(source=source, problem=_told(error))
    now = 0 if budget is None else budget.generation
    return State(
        source=source,
        budget=budget,
        unit=unit,
        receipts=tuple(receipt for receipt in history if receipt.generation == now),
        before=tuple(receipt for receipt in history if receipt.generation != now),
    )


def everyone() -> tuple[list[Budget], tuple[Receipt, ...], str | None]:
    """All budgets and receipts of the ledger, or the sentence that says why it is closed."""
    problem = tracker.trouble()
    if problem is not None:
        return [], (), problem
    try:
        ledger = compute.ledger()
        return ledger.budgets(), tuple(_receipts(None, ledger.version(), compute.whose())), None
    except DpcoreError as error:
        return [], (), _told(error)


@once(most=8)
def _receipts(lineage: str | None, version: int, _whose: str) -> list[Receipt]:
    """Every receipt of these people, or of all, as of this version and as ``_whose`` eyes may see it: read once."""
    ledger = compute.ledger()
    return ledger.receipts() if lineage is None else ledger.history(lineage, every_generation=True)


def _told(error: DpcoreError) -> str:
    if isinstance(error, LedgerUnsound):
        tracker.reopen()
    return words.sentence(error)
