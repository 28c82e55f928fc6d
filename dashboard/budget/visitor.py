"""Whose practice budget it is: known by a random token that this visitor's browser keeps, or by who has logged in."""

from __future__ import annotations

from dashboard.budget.held import VISITOR
from dashboard.people import login
from dashboard.people.browser_token import VISITOR as COOKIE
from dashboard.people.browser_token import BrowserToken
from dpcore.ledger import Ledger

_KEPT = BrowserToken(COOKIE, VISITOR)


def token() -> str:
    """This visitor's token."""
    person = login.person()
    return _KEPT.value() if person is None else login.practice_token(person.subject)


def remember() -> None:
    """Let the browser keep the token."""
    if login.configured() is None:
        _KEPT.remember()


def lineage(sample: str) -> str:
    """The lineage of this visitor's practice with one sample."""
    return Ledger.practice_lineage(token(), sample)
