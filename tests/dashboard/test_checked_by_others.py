"""Whoever is handed a report or a receipt learns whether it is genuine, whatever they may see of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.budget import receipts
from dashboard.people import visitors
from dashboard.words import report as said
from dpcore.accounting import Cost
from dpcore.ledger import Ledger, core
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.roles import Person
from dpcore.ledger.visitor import VisitorsLedger
from tests.dashboard.conftest import text
from tests.dashboard.test_login import people, settings, subject, tab

__all__ = ["people", "settings"]
QUESTION, ANSWER = "How many SECRETS are there?", 4242
WHO = ("anna", "olga", "ursel", "vera", "bert", "a visitor")
"""Who drew it, who owns its budget, an auditor, a viewer and an analyst with whom nothing was shared, a visitor."""


@pytest.fixture
def whole(people: None) -> Iterator[Ledger]:
    with Ledger.open() as found:
        found.give_roles(subject("bert"), ["analyst"])
        yield found


def seen_by(whole: Ledger, name: str) -> Ledger:
    if name == "a visitor":
        return VisitorsLedger(whole, "visitor" * 4)
    return MembersLedger(whole, Person(subject=subject(name)), name * 8)


def drawn(whole: Ledger, name: str) -> Receipt:
    """An answer about Olga's people, by Anna; or a visitor's own, of practice."""
    by, lineage = seen_by(whole, name), "people"
    if isinstance(by, VisitorsLedger):
        lineage = by.open_practice("visitor" * 4, "clinic", epsilon=1.0).lineage
    by.charge("one", lineage, Cost.pure(0.1), QUESTION)
    by.begin_draw("one")
    return by.store_answer("one", ANSWER)


def told(whole: Ledger, name: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the Budget page says of a file that they drop there."""
    with monkeypatch.context() as then:
        then.setattr(receipts, "compute", SimpleNamespace(ledger=lambda: seen_by(whole, name), sees_all=lambda: False))
        return receipts.checked(data)


@pytest.mark.parametrize("by", ["anna", "a visitor"])
def test_a_genuine_report_is_genuine_to_everybody(whole: Ledger, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word of the question or the answer is told beside that."""
    receipt = drawn(whole, by)
    made = seen_by(whole, by).sealed(b"<html><body>An answer</body></html>", [receipt.journal_hash])
    confirmed = said.examined(True, [receipt.journal_hash[:12]], [], sees_all=False)
    assert confirmed.startswith("Confirmed")
    assert {told(whole, name, made, monkeypatch) for name in WHO} == {confirmed}
    assert {told(whole, name, receipt.to_json().encode(), monkeypatch)[:9] for name in WHO} == {"Confirmed"}


def test_a_changed_report_is_told_as_that_and_tells_nobody_what_is_there(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = drawn(whole, "anna")
    made = whole.sealed(b"<html><body>An answer</body></html>", [receipt.journal_hash])
    forged = made.replace(b"An answer", b"No answer")
    start = receipt.journal_hash[:16]
    for name in WHO:
        found = told(whole, name, forged, monkeypatch)
        assert found.startswith("Not confirmed: this file is not exactly as it was made")
        assert "does not know" not in found
        assert (f"No answer that you may see is {start}" in found) is (name in ("vera", "bert", "a visitor"))
        assert QUESTION not in found
        assert str(ANSWER) not in found


def test_a_report_of_which_the_ledger_lost_the_answer_was_not_changed(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = whole.sealed(b"<html><body>An answer</body></html>", ["0" * 64])
    found = told(whole, "vera", made, monkeypatch)
    assert "not a byte of this report was changed since it was made here, and yet this ledger does not know" in found
    assert not found.startswith("Confirmed")


def test_a_check_by_what_one_may_see_is_found_out(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: of whoever was handed one it was said to be forged."""
    receipt = drawn(whole, "anna")
    made = whole.sealed(b"<html><body>An answer</body></html>", [receipt.journal_hash])
    monkeypatch.setattr(core, "partial", lambda find, ledger: ledger.find)
    answers = {name: told(whole, name, made, monkeypatch).startswith("Confirmed") for name in WHO}
    assert not any(answers[name] for name in ("vera", "bert", "a visitor"))


def looked_up(app: AppTest, start: str) -> AppTest:
    app.text_area(key="receipt-text").set_value(start)
    app.button(key="receipt-text-check").click().run()
    assert not app.exception
    return app


@pytest.mark.parametrize("name", ["vera", "bert"])
def test_what_one_may_not_see_is_not_said_to_be_nowhere(
    whole: Ledger, open_app: Callable[..., AppTest], name: str
) -> None:
    receipt = drawn(whole, "anna")
    app = looked_up(tab(open_app, "budget", name, "Check a receipt"), receipt.journal_hash[:16])
    assert receipts.NONE_TO_SEE in text(app)
    assert receipts.NO_SUCH not in text(app)
    assert QUESTION not in text(app)


def test_what_was_looked_up_is_shown_as_long_as_it_may_be_seen(whole: Ledger, open_app: Callable[..., AppTest]) -> None:
    """It stayed in the session, and was sent again by every later run."""
    receipt = drawn(whole, "anna")
    app = looked_up(tab(open_app, "budget", "ursel", "Check a receipt"), receipt.journal_hash[:16])

    def shown() -> bool:
        return any(str(one.key).startswith("found-") for one in app.button)

    assert shown()
    assert shown_as_ever(app, whole, ["auditor"], shown)
    assert not shown_as_ever(app, whole, [], shown)
    assert shown_as_ever(app, whole, ["auditor"], shown)


def shown_as_ever(app: AppTest, whole: Ledger, roles: list[str], shown: Callable[[], bool]) -> bool:
    whole.give_roles(subject("ursel"), roles)
    app.session_state["budget_tab"] = "Check a receipt"
    app.run()
    return shown()


def test_without_a_login_there_is_nothing_that_one_may_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compute.sees_all()
    monkeypatch.setattr(visitors, "restricted", lambda: True)
    assert not compute.sees_all()
