"""Whether whoever is at a page opens budgets at all, of whatever data."""

from __future__ import annotations

from dashboard.background import compute
from dashboard.people import visitors
from dashboard.words import login as login_words
from dpcore.ledger.visitor import NOT_HERE


def barred() -> tuple[str, str] | None:
    """Why this person opens none, in a sentence with its icon; None where they may."""
    if visitors.restricted():
        return NOT_HERE, ":material/groups:"
    return None if "owner" in compute.roles() else (login_words.NONE_TO_ASK, ":material/lock_person:")
