"""No real budget has the name of somebody's practice or of a room, and none that has one is taken for practice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from dpcore.costs import Cost
from dpcore.errors import DpcoreError, LedgerError
from dpcore.ledger import Ledger
from tests.ledger.conftest import Place
from tests.ledger.test_ledger_work_of_all import TOKEN, VIEWS

NAMES = {
    "one's own practice": Ledger.practice_lineage(TOKEN, "clinic"),
    "another's practice": Ledger.practice_lineage("o" * 32, "clinic"),
    "no practice that there is": "practice:x",
    "a room": Ledger.room_lineage(TOKEN),
    "no room that there is": "room:x",
}
ALL = {**VIEWS, "at the computer": lambda whole: whole.acting("local"), "a room": lambda whole: whole.acting("room")}
MAY = {(view, name) for view in ("local", "a room") for name in ("a room", "no room that there is")}
"""Rooms, and whoever has all of the ledger in Python, open the budgets of rooms."""


@pytest.fixture
def whole(place: Place) -> Iterator[Ledger]:
    with place.open() as ledger:
        yield ledger


def opened(whole: Ledger) -> set[tuple[str, str]]:
    """By whom a real budget of which name could be opened."""
    found = set()
    for view, seen in ALL.items():
        for name, lineage in NAMES.items():
            with contextlib.suppress(DpcoreError):
                seen(whole).open_budget(lineage, epsilon=1.0)
                found.add((view, name))
    return found


def test_nobody_opens_a_real_budget_by_the_name_of_another_kind(whole: Ledger) -> None:
    assert opened(whole) == MAY
    assert not [one for one in whole.budgets() if one.lineage.startswith("practice:")]
    assert whole.acting("local").open_practice(TOKEN, "clinic", epsilon=1.0).practice


def test_whoever_may_open_any_does(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the test above can fail."""
    monkeypatch.setattr(Ledger, "_must_be_free", lambda *_, **__: None)
    assert opened(whole) >= {(view, name) for view in ("local", "several") for name in NAMES}


@pytest.mark.parametrize("epsilon", [1.0, 2.0], ids=["of its size", "of another size"])
@pytest.mark.parametrize("view", ["local", "several", "owner", "visitor"])
def test_practice_resets_no_real_budget(
    whole: Ledger, view: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version from before may have opened one by that name."""
    ledger = VIEWS[view](whole)
    token = getattr(ledger, "_token", TOKEN)
    lineage = Ledger.practice_lineage(token, "clinic")
    with monkeypatch.context() as then:
        then.setattr(Ledger, "_must_be_free", lambda *_, **__: None)
        whole.open_budget(lineage, epsilon=1.0)
    whole.charge("r", lineage, Cost.pure(0.5), "How many?")
    before = whole.records()
    with pytest.raises(LedgerError, match="A real budget has the name of this practice budget"):
        ledger.open_practice(token, "clinic", epsilon=epsilon)
    assert whole.records() == before
    assert whole.verify()
