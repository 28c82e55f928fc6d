"""Why a ledger is closed, which names databases, accounts and their rights, is told to who runs the server alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dashboard.background import compute
from dashboard.background.once import forget_all
from dashboard.budget import state, tracker
from dashboard.people import login, visitors
from dashboard.words.server import CLOSED
from dpcore.errors import DpcoreError, LedgerError, LedgerUnsound
from dpcore.ledger.engine import NotBroughtForward, WrittenLater
from dpcore.ledger.lock import HELD
from dpcore.ledger.roles import Person

WHY = "The schema “own” is not its own, so it stays closed: payroll may INSERT; run REVOKE INSERT FROM payroll."
SOMEBODY = "anna at https://login.example"
VISITORS: dict[str, tuple[bool | Person | None, bool]] = {
    "alone at this computer": (True, True),
    "not alone there": (False, False),
    "not logged in": (None, False),
    "an owner by the login": (Person(subject=SOMEBODY, claimed=frozenset({"owner"})), True),
    "an auditor by the login": (Person(subject=SOMEBODY, claimed=frozenset({"auditor"})), True),
    "an analyst by the login": (Person(subject=SOMEBODY, claimed=frozenset({"analyst", "viewer"})), False),
    "whose roles the ledger says": (Person(subject=SOMEBODY), False),
}
"""Whether somebody without a login is alone, or who has logged in; and whether they are told."""
KINDS = [LedgerUnsound, WrittenLater, NotBroughtForward]


def by(ask: Callable[[], object]) -> Callable[[], str]:
    def told() -> str:
        with pytest.raises(DpcoreError) as refused:
            ask()
        return str(refused.value)

    return told


WAYS: dict[str, Callable[[], str | None]] = {
    "a page's ledger": by(compute.ledger),
    "a room's": by(compute.rooms_ledger),
    "whether it is open": by(compute.opens),
    "the sidebar": tracker.trouble,
    "the Budget page": lambda: state.everyone()[2],
}


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Exception], None]]:
    """A server whose ledger is refused for this."""

    def refused(error: Exception) -> None:
        def fail(**_: object) -> Any:
            raise error

        forget_all()
        compute._log_once.cache_clear()
        monkeypatch.setattr(compute.Ledger, "open", fail)

    yield refused
    forget_all()


def comes(who: bool | Person | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(who, bool):
        monkeypatch.setattr(visitors, "alone", lambda: who)
        return
    monkeypatch.setattr(login, "configured", lambda: login.Login(auth={"cookie_secret": "s" * 32}, issuers={}))
    monkeypatch.setattr(login, "person", lambda: who)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("visitor", VISITORS)
def test_strangers_read_that_it_is_closed_and_where_that_is_explained(
    visitor: str, kind: type[LedgerError], closed: Callable[[Exception], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    who, told = VISITORS[visitor]
    comes(who, monkeypatch)
    closed(kind(WHY))
    assert {way: ask() for way, ask in WAYS.items()} == dict.fromkeys(WAYS, WHY if told else CLOSED)
    if isinstance(who, Person):
        monkeypatch.setattr(login, "person", lambda: None)  # the gate asks of somebody who is at no page
        assert by(lambda: compute.no_files_of(who))() == (WHY if told else CLOSED)
    monkeypatch.setattr(compute, "_runs_it", lambda *_: True)
    assert tracker.trouble() == WHY, "what shows that this can fail"


def test_what_passes_by_itself_is_told_to_everybody(
    closed: Callable[[Exception], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    comes(False, monkeypatch)
    closed(LedgerError(HELD))
    assert {way: ask() for way, ask in WAYS.items()} == dict.fromkeys(WAYS, HELD)


def test_the_log_says_why_once(closed: Callable[[Exception], None], caplog: pytest.LogCaptureFixture) -> None:
    """However often it is opened in vain."""
    closed(LedgerUnsound(WHY))
    with caplog.at_level(logging.ERROR, compute.__name__):
        for _ in range(3):
            forget_all()
            assert tracker.trouble() == WHY
    assert [one for one in caplog.messages if WHY in one] == [f"the ledger stays closed: {WHY}"]
