"""What is no text that a database can hold is refused as that, and told as no trouble of the ledger's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import event

from dpcore.costs import Cost
from dpcore.errors import DpcoreError, InvalidArgument, LedgerError, NotAllowed, UnknownLineage
from dpcore.ledger import Ledger, engine
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person

ASKED: dict[str, Callable[[Ledger, str], object]] = {
    "receipt": lambda ledger, text: ledger.receipt(text),
    "stored": lambda ledger, text: ledger.history("people", kind=text),
    "version": lambda ledger, text: ledger.version(text),
    "withdraw": lambda ledger, text: ledger.withdraw(text),
    "grant": lambda ledger, text: ledger.grant(text),
    "begin_draw": lambda ledger, text: ledger.begin_draw(text),
    "draw_failed": lambda ledger, text: ledger.draw_failed(text),
    "store_answer": lambda ledger, text: ledger.store_answer(text, 7),
    "statements": lambda ledger, text: ledger.statements(text),
    "protects": lambda ledger, text: ledger.protects(text),
    "answered": lambda ledger, text: ledger.answered("people", text),
    "charge": lambda ledger, text: ledger.charge(text, "people", Cost.pure(0.1), "?"),
    "budget": lambda ledger, text: ledger.budget(text),
}
TEXTS = {"half a letter": "half \ud800", "a zero": "a\0b"}


def told(ledger: Ledger, text: str) -> dict[str, str]:
    """What is said of the ledger, by whoever is asked about such a text."""
    ledger.open_budget("people", epsilon=1.0)
    person = Person(subject="anna at https://login.example", claimed=frozenset({"owner"}))
    found = {}
    for view in (ledger, MembersLedger(ledger, person, "t" * 32)):
        for name, ask in ASKED.items():
            try:
                ask(view, text)
            except (InvalidArgument, UnknownLineage, NotAllowed):
                continue
            except DpcoreError as error:
                found[name] = str(error)
    return found


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_nothing_is_said_of_the_ledger(ledger: Ledger, text: str) -> None:
    assert told(ledger, text) == {}
    assert ledger.verify().seq == 1
    assert engine.is_damage(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no such letter")), "one that cannot be read is"


def test_it_would_be_trouble_of_the_ledger(ledger: Ledger) -> None:
    """As it was: the test above can fail."""
    event.remove(ledger._store.engine, "handle_error", engine._of_values)
    assert "begin_draw" in told(ledger, TEXTS["half a letter"])
    with pytest.raises(LedgerError, match="could not record this"):
        ledger.receipt(TEXTS["half a letter"])
