"""Whose practice budget it is: known by a random token that this visitor's browser keeps."""

from __future__ import annotations

from dashboard.browser_token import BrowserToken
from dashboard.budget.held import VISITOR
from dpcore.ledger import Ledger

COOKIE = "epsilon_lab_visitor"
_KEPT = BrowserToken(COOKIE, VISITOR, seconds=365 * 24 * 3600)


def token() -> str:
    """This visitor's token."""
    return _KEPT.value()


def remember() -> None:
    """Let the browser keep the token."""
    _KEPT.remember()


def lineage(sample: str) -> str:
    """The lineage of this visitor's practice with one sample."""
    return Ledger.practice_lineage(token(), sample)
