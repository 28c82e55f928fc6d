"""Budgets that cannot be overdrawn: charges durable before noise is drawn, receipts, and their journal."""

from __future__ import annotations

from dpcore.errors import BudgetExceeded, InvalidCost, LedgerError, LedgerUnsound, UnknownLineage
from dpcore.ledger.approvals import Petition
from dpcore.ledger.asked import Known
from dpcore.ledger.budget import Budget
from dpcore.ledger.core import Ledger
from dpcore.ledger.receipt import Receipt

__all__ = [
    "Budget",
    "BudgetExceeded",
    "InvalidCost",
    "Known",
    "Ledger",
    "LedgerError",
    "LedgerUnsound",
    "Petition",
    "Receipt",
    "UnknownLineage",
]
