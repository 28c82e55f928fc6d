"""A number that no ledger has is a wrong argument, and says nothing of what is stored."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, LedgerError, LedgerUnsound
from dpcore.ledger import Known, Ledger, engine, history, schema
from tests.ledger.conftest import Place

TAKEN: dict[str, Callable[[Ledger, Any], object]] = {
    "history.newest": lambda ledger, number: ledger.history("people", newest=number),
    "receipts.newest": lambda ledger, number: ledger.receipts(newest=number),
    "charge.known": lambda ledger, number: known(ledger, record=number),
    "charge.known.answers": lambda ledger, number: known(ledger, answers=number),
}
BOUNDED_ELSEWHERE = {"may_begin.records"}
"""Counted in memory, never asked of a database."""
WRONG = (2**63, 2**70, 10**400, -1, -(2**70), 1.5, float("inf"), "3")


def known(ledger: Ledger, **said: Any) -> object:
    return ledger.charge("r", "people", Cost.pure(0.1), "?", question="q", known=Known(**said))


@pytest.fixture
def opened(ledger: Ledger) -> Ledger:
    ledger.open_budget("people", epsilon=1.0)
    return ledger


@pytest.mark.parametrize("how", TAKEN)
def test_a_number_that_is_none_of_a_ledger_s_is_a_wrong_argument(how: str, opened: Ledger) -> None:
    for number in WRONG:
        with pytest.raises(InvalidArgument, match="must be a"):
            TAKEN[how](opened, number)
    TAKEN[how](opened, 0)
    TAKEN[how](opened, schema.MOST)
    assert opened.verify().seq == (2 if how.startswith("charge") else 1)


def test_every_whole_number_that_a_ledger_takes_is_among_them() -> None:
    taken = {
        f"{name}.{one.name}"
        for name, method in inspect.getmembers(Ledger, inspect.isfunction)
        if not name.startswith("_")
        for one in inspect.signature(method).parameters.values()
        if {"int", "Known"} & set(str(one.annotation).replace("|", " ").split())
    }
    assert taken == {name for name in TAKEN if name.count(".") == 1} | BOUNDED_ELSEWHERE


def test_what_a_statement_is_given_is_no_damage_and_what_a_row_holds_is(sqlite_place: Place) -> None:
    with sqlite_place.open() as ledger:
        asked = select(schema.records).where(schema.records.c.seq == bindparam("at"))
        for read in (ledger._store.reading, ledger._store.writing):
            with pytest.raises(InvalidArgument, match="must be one that a database can be asked"), read() as connection:
                connection.execute(asked, {"at": 2**70})
        ledger.open_budget("people", epsilon=1.0)
        with pytest.raises(LedgerUnsound, match="file is damaged"), ledger._store.reading():
            float(10**400)


def test_these_tests_can_fail(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the number went to the database, whose file was then called damaged."""
    monkeypatch.setattr(history, "whole", lambda low, high, newest: newest)
    monkeypatch.setattr(engine, "InvalidArgument", lambda *_: OverflowError())
    with sqlite_place.open() as ledger, pytest.raises(LedgerError, match="file is damaged"):
        ledger.receipts(newest=2**70)
