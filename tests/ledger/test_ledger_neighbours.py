"""A budget promises to hide one kind of difference, and counts every release as what that promise needs."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import column, insert, table, text, update

from dpcore.accounting import Cost
from dpcore.errors import BudgetExceeded, InvalidArgument, LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, engine, key, schema
from dpcore.ledger.budget import SPENT, Budget, Caps
from dpcore.ledger.journal import Journal
from dpcore.ledger.records import FIRST, cost_to_json, next_record
from dpcore.ledger.verify import replayed, stored_records
from tests.ledger.conftest import Place

HALF = Cost.pure(0.5)


def test_the_first_charge_that_says_what_it_hides_decides_for_good(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=3.0)
    ledger.charge("r0", "people", HALF, "?")
    assert ledger.budget("people").neighbours == ""
    ledger.charge("r1", "people", HALF, "?", neighbours="add_remove")
    assert ledger.budget("people").neighbours == "add_remove"
    ledger.charge("r2", "people", HALF, "?")
    assert ledger.budget("people").neighbours == "add_remove"
    assert [receipt.counted_for for receipt in ledger.history("people")] == ["", "add_remove", "add_remove"]
    ledger.verify()


def test_a_promise_about_rows_added_or_removed_does_not_cover_replaced_rows(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=3.0, neighbours="add_remove", name="p")
    with pytest.raises(BudgetExceeded, match=r"hides one person's row changed, and the budget .* nothing was charged"):
        ledger.charge("r", "people", HALF, "?", neighbours="replace_one")
    now = ledger.budget("people")
    assert (now.remaining, ledger.history("people")) == (Cost(epsilon=3.0), [])
    assert not now.fits(HALF, "replace_one")
    assert now.answers_left(HALF, "replace_one") == 0
    assert now.answers_left(HALF, "add_remove") == 6


def test_where_rows_are_replaced_the_other_promise_counts_twice(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=2.0, neighbours="replace_one")
    now = ledger.budget("people")
    assert (now.answers_left(HALF, "add_remove"), now.answers_left(HALF, "replace_one")) == (2, 4)
    receipt = ledger.charge("r", "people", HALF, "?", neighbours="add_remove")
    assert (receipt.neighbours, receipt.counted_for, receipt.epsilon) == ("add_remove", "replace_one", 1.0)
    assert receipt.cost == Cost.pure(1.0)
    assert ledger.remaining("people") == Cost(epsilon=1.0)
    assert ledger.charge("r", "people", HALF, "?", neighbours="add_remove") == receipt
    with pytest.raises(InvalidArgument, match="different question"):
        ledger.charge("r", "people", HALF, "?", neighbours="replace_one")
    with pytest.raises(BudgetExceeded, match="twice in ε, four times in ρ"):
        ledger.charge("s", "people", Cost.pure(0.51), "?", neighbours="add_remove")
    assert ledger.confirms(receipt)
    assert ledger.confirms(receipt.to_json())
    assert not ledger.confirms(receipt.to_json().replace('"counted_for": "replace_one"', '"counted_for": "add_remove"'))
    ledger.verify()


@pytest.mark.parametrize(("delta", "counting"), [(0.0, "sum"), (1e-5, "sum"), (1e-5, "zcdp")])
@pytest.mark.parametrize("promised", ["add_remove", "replace_one"])
def test_a_refusal_says_which_answers_would_fit(ledger: Ledger, promised: str, delta: float, counting: str) -> None:
    """At the ε that would fit an answer that hides who comes or goes was refused again where a row is replaced."""
    ledger.open_budget("people", epsilon=2.0, delta=delta, counting=counting, neighbours=promised)
    with pytest.raises(BudgetExceeded) as told:
        ledger.charge("r", "people", Cost.pure(2.1), "?", neighbours="add_remove")
    most = float(re.search(r"of up to ε = ([0-9.]+)", str(told.value))[1].rstrip("."))  # type: ignore[index]
    assert ledger.budget("people").fits(Cost.pure(most), promised)
    assert ("that hides one person's row changed of up to" in str(told.value)) == (promised == "replace_one")


def test_a_second_account_counts_replaced_rows_four_times(ledger: Ledger) -> None:
    """An (ε, δ) cap is kept in ρ, and two steps of ρ-zCDP are 4ρ-zCDP."""
    cost = Cost.gaussian(20.0, 1e-7)
    ledger.open_budget("people", epsilon=1.0, delta=1e-5, neighbours="replace_one")
    once, other = (ledger.budget("people").charge_for(cost, name) for name in ("replace_one", "add_remove"))
    assert once is not None
    assert other is not None
    assert abs(other.spent_rho - 4 * once.spent_rho) <= 4
    assert (once.loose_delta, other.loose_delta) == (0, 0)


def test_what_a_budget_hides_is_never_changed(ledger: Ledger, place: Place) -> None:
    ledger.open_budget("people", epsilon=1.0, neighbours="replace_one")
    assert ledger.open_budget("people", epsilon=1.0).neighbours == "replace_one"
    with pytest.raises(InvalidArgument, match="has a budget already"):
        ledger.open_budget("people", epsilon=1.0, neighbours="add_remove")
    with pytest.raises(InvalidArgument, match="neighbours"):
        ledger.open_budget("others", epsilon=1.0, neighbours="nobody")
    with pytest.raises(InvalidArgument, match="neighbours"):
        ledger.charge("r", "people", HALF, "?", neighbours="nobody")
    other = engine.make_engine(engine.ledger_url(place.url))
    with pytest.raises(Exception, match="only grows"), engine.writing(other) as connection:
        connection.execute(text("UPDATE accounts SET neighbours = 'add_remove'"))
    with pytest.raises(Exception, match=r"(?i)check"), engine.writing(other) as connection:
        connection.execute(text("UPDATE accounts SET neighbours = 'somebody'"))
    other.dispose()
    ledger.verify()


def test_a_practice_budget_decides_anew_after_a_reset(ledger: Ledger) -> None:
    ledger.open_budget("sample", epsilon=1.0, practice=True)
    ledger.charge("r0", "sample", HALF, "?", neighbours="add_remove")
    ledger.reset_practice("sample")
    ledger.charge("r1", "sample", HALF, "?", neighbours="replace_one")
    assert ledger.budget("sample").neighbours == "replace_one"
    assert ledger.undo_reset("sample").neighbours == "add_remove"
    ledger.verify()


def test_two_first_charges_at_once_agree_on_what_is_hidden(place: Place) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=100.0)
        begin = threading.Barrier(8)
        refused: list[Exception] = []

        def ask(number: int) -> None:
            begin.wait(30)
            try:
                ledger.charge(f"r{number}", "people", HALF, "?", neighbours=("add_remove", "replace_one")[number % 2])
            except LedgerError as error:
                refused.append(error)

        asking = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for one in asking:
            one.start()
        for one in asking:
            one.join(60)
        now, history = ledger.budget("people"), ledger.history("people")
        assert {receipt.counted_for for receipt in history} == {now.neighbours}
        if now.neighbours == "add_remove":
            assert (len(history), len(refused)) == (4, 4)
            assert all(isinstance(error, BudgetExceeded) for error in refused)
        else:
            assert (len(history), len(refused), now.remaining.epsilon) == (8, 0, 100.0 - 4 * 0.5 - 4 * 1.0)
        ledger.verify()


def _old_ledger(place: Place, monkeypatch: pytest.MonkeyPatch, asked: list[str]) -> None:
    """A ledger as the first migration left it, with one charge for each of ``asked``."""
    monkeypatch.setattr(engine, "NEWEST", "0001")
    old = engine.make_engine(engine.ledger_url(place.url))
    place.journal.parent.mkdir(parents=True, exist_ok=True)
    engine.migrate(old, key.fresh())
    caps = {name: getattr(Caps.of(3.0, 0.0), name) for name in Caps.__slots__ if name != "counting"}
    records = [next_record(1, FIRST, "open", lineage="people", body={"name": "p", "practice": 0, "caps": caps})]
    charge = Budget(lineage="people", name="p", practice=False, generation=1, caps=Caps.of(3.0, 0.0)).charge_for(HALF)
    units = {name: getattr(charge, name) for name in SPENT}
    for number, neighbours in enumerate(asked):
        body = {
            "what": 'the words "neighbours":"replace_one" alone', "mechanism": "m", "neighbours": neighbours,
            "question": "q", "cost": cost_to_json(HALF), "generation": 1, "units": units, "versions": {},
        }  # fmt: skip
        last = records[-1]
        records.append(
            next_record(last.seq + 1, last.hash, "charge", lineage="people", request_id=f"r{number}", body=body)
        )
    sums = {name: value * len(asked) for name, value in units.items()}
    with engine.writing(old) as connection:
        for record in records:
            row = {name: getattr(record, name) for name in type(record).__slots__}
            connection.execute(insert(schema.records).values(row))
            connection.execute(update(schema.head).values(seq=record.seq, hash=record.hash))
        people = {"lineage": "people", "name": "p", "practice": 0, "generation": 1}
        connection.execute(insert(schema.lineages).values(people))
        row = {"lineage": "people", "generation": 1, **caps, **sums}
        connection.execute(insert(table(schema.accounts.name, *map(column, row))).values(row))
    old.dispose()
    Journal(place.journal).add(records)
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("asked", "hidden"),
    [
        ([], ""),
        ([""], ""),
        (["add_remove", ""], "add_remove"),
        (["add_remove", "replace_one", "add_remove"], "replace_one"),
    ],
)
def test_a_ledger_from_before_says_what_its_charges_hid(
    place: Place, monkeypatch: pytest.MonkeyPatch, asked: list[str], hidden: str
) -> None:
    _old_ledger(place, monkeypatch, asked)
    with place.open() as ledger:
        assert ledger.budget("people").neighbours == hidden
        for receipt in ledger.history("people"):
            assert "counted_for" not in receipt.to_dict()
            assert ledger.confirms(json.dumps(receipt.to_dict()))
        ledger.charge("new", "people", Cost.pure(0.1), "?", neighbours=hidden or "add_remove")
        ledger.verify()
    with place.open() as ledger:
        assert ledger.budget("people").neighbours == (hidden or "add_remove")


def test_a_record_that_changes_what_is_hidden_is_noticed(new_place: Callable[[], Place]) -> None:
    """The database alone cannot tell; working the tables out from the records does."""
    place = new_place()
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=3.0, neighbours="replace_one")
        ledger.charge("r", "people", HALF, "?", neighbours="replace_one")
    reader = engine.make_engine(engine.ledger_url(place.url))
    with engine.reading(reader) as connection:
        opened, charged = stored_records(connection)
    reader.dispose()
    body = charged.content | {"counted_for": "add_remove"}
    forged = next_record(2, opened.hash, "charge", lineage="people", request_id="r", body=body)
    assert replayed([opened, charged]).charges == 1
    with pytest.raises(LedgerUnsound):
        replayed([opened, forged])
