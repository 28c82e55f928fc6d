"""Persons with a login: what each role may do by the ledger's own methods, whatever a page would send."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import math
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.accounting import Cost
from dpcore.conversions import zcdp_epsilon
from dpcore.errors import (
    ApprovalNeeded,
    BudgetExceeded,
    DpcoreError,
    InvalidArgument,
    LedgerError,
    NotAllowed,
    UnknownLineage,
)
from dpcore.ledger import Ledger, LedgerUnsound, Receipt, approvals, member, people, rate, terms
from dpcore.ledger.__main__ import main
from dpcore.ledger.approvals import MOST_WAITING
from dpcore.ledger.export import to_csv
from dpcore.ledger.member import SHARED, MembersLedger
from dpcore.ledger.people import Brought
from dpcore.ledger.records import FIRST, Kind, next_record
from dpcore.ledger.roles import EVERYONE, Person
from dpcore.ledger.terms import Terms
from dpcore.ledger.verify import replayed
from dpcore.ledger.words import same_question
from tests.ledger.conftest import Place

ISSUER = " at https://login.example"
ROLES = {"olga": ["owner"], "otto": ["owner"], "anna": ["analyst"], "vera": [], "ursel": ["auditor"]}


def person(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=name + ISSUER), token=name * 8)


def practice(name: str) -> str:
    return Ledger.practice_lineage(name * 8, "clinic")


@pytest.fixture
def whole(place: Place) -> Iterator[Ledger]:
    """Olga's budget, shared with Anna to ask from; another of Otto's; everybody's roles in the ledger's own records."""
    with place.open() as found:
        for name, roles in ROLES.items():
            found.give_roles(name + ISSUER, roles)
        olga = person(found, "olga")
        olga.open_budget("people", epsilon=2.0, name="Patients")
        olga.share("people", "anna" + ISSUER, "ask")
        person(found, "otto").open_budget("others", epsilon=1.0, name="Others")
        person(found, "vera").open_practice("vera" * 8, "clinic", epsilon=3.0)
        yield found


def many(whole: Ledger) -> int:
    return whole.verify().seq


OTHERS = Brought(fingerprint="file", because="They came a year later.")
TRIED: dict[str, Callable[[Ledger], object]] = {
    "open_budget": lambda ledger: ledger.open_budget("new", epsilon=1.0),
    "open_budget again": lambda ledger: ledger.open_budget("people", epsilon=2.0),
    "open_budget practice": lambda ledger: ledger.open_budget("new", epsilon=1.0, practice=True),
    "open_practice": lambda ledger: ledger.open_practice("otto" * 8, "clinic", epsilon=9.0),
    "charge": lambda ledger: ledger.charge("new", "people", Cost.pure(0.1), "?"),
    "charge practice": lambda ledger: ledger.charge("new", practice("vera"), Cost.pure(0.1), "?"),
    "begin_draw": lambda ledger: ledger.begin_draw("real"),
    "draw_failed": lambda ledger: ledger.draw_failed("real"),
    "store_answer": lambda ledger: ledger.store_answer("real", 7),
    "ask": lambda ledger: ledger.ask("new", "people", Cost.pure(0.1), "?"),
    "grant": lambda ledger: ledger.grant("asked"),
    "refuse": lambda ledger: ledger.refuse("asked", "because"),
    "withdraw": lambda ledger: ledger.withdraw("taken"),
    "share": lambda ledger: ledger.share("people", "vera" + ISSUER, "own"),
    "set_limit": lambda ledger: ledger.set_limit("people", None),
    "end_budget": lambda ledger: ledger.end_budget("people"),
    "rename": lambda ledger: ledger.rename("people", "x"),
    "link": lambda ledger: ledger.link("file", "people"),
    "join": lambda ledger: ledger.join(Brought(fingerprint="file"), "people"),
    "say_others": lambda ledger: ledger.say_others(OTHERS, "new", than="people"),
    "sketch_key": lambda ledger: ledger.sketch_key,
    "similar": lambda ledger: ledger.similar("file", among=["people"]),
    "reset_practice": lambda ledger: ledger.reset_practice(practice("vera")),
    "resize_practice": lambda ledger: ledger.resize_practice(practice("vera"), epsilon=9.0),
    "undo_reset": lambda ledger: ledger.undo_reset(practice("vera")),
    "give_roles": lambda ledger: ledger.give_roles("vera" + ISSUER, ["owner"]),
    "backup": lambda ledger: ledger.backup("/nowhere"),
    "acting": lambda ledger: ledger.acting("local"),
    "verify": lambda ledger: ledger.verify(),
    "records": lambda ledger: ledger.records(),
    "roles": lambda ledger: ledger.roles(),
    "sealed": lambda ledger: ledger.sealed(b"%PDF-1.7", [hash_of(ledger)]),
    "sealed about": lambda ledger: ledger.sealed(b"%PDF-1.7", budgets=["people"]),
    "budget": lambda ledger: ledger.budget("people"),
    "terms": lambda ledger: ledger.terms("people"),
    "remaining": lambda ledger: ledger.remaining("people"),
    "protects": lambda ledger: ledger.protects("people"),
    "needs_approval": lambda ledger: ledger.needs_approval("people", Cost.pure(0.1)),
    "history": lambda ledger: ledger.history("people"),
    "count": lambda ledger: ledger.count("people"),
    "answered": lambda ledger: ledger.answered("people", "q"),
    "answered_ids": lambda ledger: ledger.answered_ids("people", "q"),
    "unanswered": lambda ledger: ledger.unanswered("people", "q"),
}
READ = {"budget", "terms", "remaining", "protects", "needs_approval", "history", "count", "answered", "unanswered"}
READ |= {"answered_ids"}
READ |= {"sealed about"}
MAY = {  # what is left to each, of all that is tried
    "vera": {"charge practice", "reset_practice", "resize_practice", "undo_reset"},
    "otto": {"open_budget", "open_practice", "sketch_key", "similar", "roles", "say_others"},
    "anna": READ
    | {
        "begin_draw",
        "draw_failed",
        "store_answer",
        "charge",
        "ask",
        "withdraw",
        "link",
        "join",
        "sketch_key",
        "similar",
        "say_others",
        "sealed",
    },
    "ursel": READ | {"verify", "records", "roles", "sealed"},
    "olga": READ
    | {"open_budget", "open_budget again", "charge", "ask", "grant", "refuse", "share", "set_limit", "end_budget"}
    | {"rename", "link", "join", "say_others", "sketch_key", "similar", "roles", "sealed"},
}


def hash_of(ledger: Ledger) -> str:
    found = Ledger(ledger._store).receipt("real")
    assert found is not None
    return found.journal_hash


@pytest.mark.thorough
def test_each_role_does_what_is_its_own_and_nothing_else(new_place: Callable[[], Place]) -> None:
    """Every method against every role; what is refused writes nothing."""
    with new_place().open() as whole:
        for name, roles in ROLES.items():
            whole.give_roles(name + ISSUER, roles)
        olga, anna = person(whole, "olga"), person(whole, "anna")
        olga.open_budget("people", epsilon=2.0)
        olga.share("people", "anna" + ISSUER, "ask")
        person(whole, "vera").open_practice("vera" * 8, "clinic", epsilon=3.0)
        olga.set_limit("people", 1.0)
        anna.charge("real", "people", Cost.pure(0.1), "How many?", question="q")
        anna.ask("asked", "people", Cost.pure(1.5), "How many more?")
        anna.ask("taken", "people", Cost.pure(1.5), "How many more?")
        for who, may in MAY.items():
            for name, act in TRIED.items():
                if name in may:
                    continue
                before = len(whole.records())
                with pytest.raises((NotAllowed, UnknownLineage)):
                    act(person(whole, who))
                assert len(whole.records()) == before, f"{who} wrote by {name}"
        for who in ("vera", "otto", "anna", "ursel", "olga"):
            for name in sorted(MAY[who] - {"end_budget", "refuse"}):
                if name.startswith("charge") or name == "ask":
                    ledger: Ledger = person(whole, who)
                    lineage = practice(who) if "practice" in name else "people"
                    act = ledger.ask if name == "ask" else ledger.charge
                    assert act(who + name, lineage, Cost.pure(0.1), "?").subject == who + ISSUER
                elif name == "open_practice":
                    person(whole, who).open_practice("otto" * 8, "clinic", epsilon=9.0)
                elif name == "open_budget":
                    assert person(whole, who).open_budget(f"by {who}", epsilon=1.0).cap.epsilon == 1.0
                else:
                    TRIED[name](person(whole, who))
        vera = person(whole, "vera")  # Olga made her an owner just now; her role is to view
        assert vera.budget("people").cap.epsilon == 2.0
        for act in (lambda: vera.share("people", "anna" + ISSUER, "none"), lambda: vera.refuse("asked", "No.")):
            with pytest.raises(NotAllowed):
                act()
        person(whole, "olga").end_budget("people")


def test_every_way_into_the_ledger_is_decided() -> None:
    ways = {name for name in vars(Ledger) if not name.startswith("_")}
    assert not ways - set(vars(MembersLedger)) - SHARED
    named = {name.split()[0] for name in TRIED}
    lists = {"budgets", "receipt", "receipts", "find", "statements", "close", "petitions", "to_decide", "chargeable"}
    lists |= {"latest_petition", "mine", "was_mine", "may_begin", "note_room", "comparable"}
    assert named | lists == {name for name in vars(MembersLedger) if not name.startswith("_")}
    assert inspect.getdoc(member)


def test_a_budget_has_an_owner_and_a_charge_a_person(whole: Ledger) -> None:
    anna = person(whole, "anna")
    receipt = anna.charge("one", "people", Cost.pure(0.1), "How many?")
    anna.begin_draw("one")
    receipt = anna.store_answer("one", 7)
    assert (receipt.actor, receipt.subject, receipt.granted_by) == ("person", "anna" + ISSUER, "")
    assert anna.terms("people").owners == ("olga" + ISSUER,)
    assert whole.confirms(receipt.to_json())
    assert not whole.confirms(receipt.to_json().replace("anna", "otto"))
    assert "anna at https" in to_csv([receipt])
    with pytest.raises(NotAllowed):
        person(whole, "olga").charge("one", "people", Cost.pure(0.1), "How many?")
    with pytest.raises(NotAllowed):
        person(whole, "olga").store_answer("one", 8)
    # a receipt from before persons were recorded has no such entries, and is genuine
    older = whole.charge("older", "people", Cost.pure(0.1), "How many?")
    assert not {"subject", "granted_by", "actor"} & older.to_dict().keys()
    assert whole.confirms(older)


@pytest.mark.parametrize("odd", [-0.0, 1e-320, 9e-10])
def test_a_limit_is_recorded_as_budgets_count(whole: Ledger, monkeypatch: pytest.MonkeyPatch, odd: float) -> None:
    """“ε = -0”, or 320 digits, was in everybody's sentence about the budget; so is none that was recorded before."""
    olga = person(whole, "olga")
    for units in (terms._in_units, lambda limit: float(limit)):
        with monkeypatch.context() as then:
            then.setattr(terms, "_in_units", units)
            olga.set_limit("people", 0.1)
            olga.set_limit("people", odd)
        assert str(whole.terms("people").limit) == "0.0"
    assert olga.set_limit("people", 0.123456789).limit == 0.123456789
    assert olga.set_limit("people", 0.1234567899).limit == 0.123456789, "no higher than it was said"


def test_of_two_who_set_a_limit_at_once_the_second_is_told(whole: Ledger) -> None:
    """Compared where it is written: between a look and a click there is room for somebody else's."""
    olga, otto = person(whole, "olga"), person(whole, "otto")
    olga.share("people", "otto" + ISSUER, "own")
    assert olga.set_limit("people", 0.1, seen=None).limit == 0.1
    with pytest.raises(NotAllowed, match="yours was not set"):
        otto.set_limit("people", 5.0, seen=None)
    assert whole.terms("people").limit == 0.1
    assert otto.set_limit("people", 0.2, seen=0.1).limit == olga.set_limit("people", 0.2, seen=0.2).limit == 0.2


def test_a_larger_delta_is_no_way_around_the_limit(whole: Ledger) -> None:
    """Where ρ is counted the same ρ has a smaller ε at a larger δ, and the budget's own δ is what its ε is at."""
    olga, anna = person(whole, "olga"), person(whole, "anna")
    olga.open_budget("rho", epsilon=1.0, delta=1e-12, counting="zcdp", name="In ρ")
    olga.share("rho", "anna" + ISSUER, "ask")
    olga.set_limit("rho", 0.48)
    for rho, delta, alone in ((2e-3, 1e-12, True), (2e-3, 1e-4, True), (5e-3, 1e-4, False), (1e-2, 1e-4, False)):
        cost = Cost(epsilon=zcdp_epsilon(rho, delta), delta=delta, rho=rho)
        assert cost.epsilon < 0.48 or delta < 1e-4
        assert anna.needs_approval("rho", cost) is not alone, (rho, delta)
    small = Cost(epsilon=zcdp_epsilon(1.5e-3, 1e-4), delta=1e-4, rho=1.5e-3)
    anna.charge("one", "rho", small, "How many?")
    assert anna.needs_approval("rho", small), "together they are beyond it"


def test_above_the_limit_two_people_are_needed(whole: Ledger) -> None:
    olga, anna, otto = (person(whole, name) for name in ("olga", "anna", "otto"))
    olga.set_limit("people", 0.5)
    assert not anna.needs_approval("people", Cost.pure(0.5))
    anna.charge("small", "people", Cost.pure(0.3), "How many?")
    assert anna.needs_approval("people", Cost.pure(0.3)), "many small ones are one large one"
    with pytest.raises(ApprovalNeeded, match="may take of this budget alone"):
        anna.charge("large", "people", Cost.pure(0.3), "Which?", question="q")
    asked = anna.ask("large", "people", Cost.pure(0.3), "Which?", question="q")
    assert asked == anna.ask("large", "people", Cost.pure(0.3), "Which?", question="q"), "once"
    assert (asked.state, asked.subject, asked.charged) == ("waiting", "anna" + ISSUER, False)
    with pytest.raises(ApprovalNeeded, match="waits"):
        anna.charge("large", "people", Cost.pure(0.3), "Which?", question="q")
    with pytest.raises(InvalidArgument):
        anna.ask("large", "people", Cost.pure(0.2), "Which?", question="q")
    for somebody in (anna, otto, person(whole, "ursel"), person(whole, "vera")):
        with pytest.raises(NotAllowed):
            somebody.grant("large")
    assert olga.grant("large", "For the yearly report.").state == "granted"
    with pytest.raises(NotAllowed, match="decided before"):
        olga.refuse("large", "No.")
    with pytest.raises(InvalidArgument):
        anna.charge("large", "people", Cost.pure(0.9), "Which?", question="q")
    with pytest.raises(InvalidArgument):  # it is Anna's
        olga.charge("large", "people", Cost.pure(0.3), "Which?", question="q")
    receipt = anna.charge("large", "people", Cost.pure(0.3), "Which?", question="q")
    assert receipt.granted_by == "olga" + ISSUER
    assert whole.confirms(receipt)
    assert anna.petitions()[0].charged
    assert not anna.needs_approval("people", Cost.pure(0.2)), "what was approved was not taken alone"
    assert [one.request_id for one in olga.petitions()] == ["large"]
    assert not otto.petitions()
    assert [one.request_id for one in person(whole, "ursel").petitions()] == ["large"]

    anna.ask("again", "people", Cost.pure(0.4), "Why?")
    with pytest.raises(InvalidArgument):
        olga.refuse("again", " ")
    assert olga.refuse("again", "Asked before.").because == "Asked before."
    with pytest.raises(ApprovalNeeded, match="refused"):
        anna.charge("again", "people", Cost.pure(0.4), "Why?")
    with pytest.raises(BudgetExceeded):
        anna.ask("never", "people", Cost.pure(5.0), "?")
    told = json.dumps([record.body for record in whole.records() if record.kind in ("ask", "grant", "refuse")])
    assert told.count("anna at") == 4
    assert told.count("olga at") == 2
    assert many(whole)


def test_who_asked_withdraws_what_nobody_decided(whole: Ledger) -> None:
    """On the record, once, and by nobody else; it frees its place among those that wait."""
    olga, anna = person(whole, "olga"), person(whole, "anna")
    olga.set_limit("people", 0.1)
    asked = [f"r{number}" for number in range(MOST_WAITING)]
    for name in asked:
        anna.ask(name, "people", Cost.pure(0.5), "?")
    with pytest.raises(NotAllowed, match="So many"):
        anna.ask("more", "people", Cost.pure(0.5), "?")
    before = many(whole)
    for somebody in (olga, person(whole, "otto"), person(whole, "ursel"), whole):
        with pytest.raises(NotAllowed, match="no such request"):
            somebody.withdraw("r0")
    with pytest.raises(NotAllowed, match="no such request"):
        anna.withdraw("never asked")
    assert many(whole) == before, "nothing was written"
    whole.give_roles("anna" + ISSUER, [])
    taken = anna.withdraw("r0")
    assert (taken.state, taken.by, taken.charged) == ("withdrawn", "anna" + ISSUER, False)
    assert anna.withdraw("r0") == taken
    assert many(whole) == before + 2
    whole.give_roles("anna" + ISSUER, ["analyst"])
    with pytest.raises(NotAllowed, match="decided before"):
        olga.grant("r0")
    with pytest.raises(ApprovalNeeded):
        anna.charge("r0", "people", Cost.pure(0.5), "?")
    olga.grant("r1")
    with pytest.raises(NotAllowed, match="decided before"):
        anna.withdraw("r1")
    anna.ask("more", "people", Cost.pure(0.5), "?")
    assert [one.state for one in olga.petitions()][:3] == ["withdrawn", "granted", "waiting"]


def test_what_waits_at_a_closed_budget_keeps_nobody_from_asking(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn of it, whoever decides; and after a share or a role was taken away it can be withdrawn."""
    monkeypatch.setattr(approvals, "MOST_WAITING", 2)
    olga, otto, anna = (person(whole, name) for name in ("olga", "otto", "anna"))
    otto.share("others", "anna" + ISSUER, "ask")
    for name in ("r0", "r1"):
        anna.ask(name, "others", Cost.pure(0.5), "?")
    with pytest.raises(NotAllowed, match="So many"):
        anna.ask("more", "people", Cost.pure(0.5), "?")
    otto.end_budget("others")
    with monkeypatch.context() as patch:
        patch.setattr(approvals.terms, "ended", lambda *_: set[str]())
        with pytest.raises(NotAllowed, match="So many"):
            anna.ask("more", "people", Cost.pure(0.5), "?")
    for name in ("more", "even more"):
        anna.ask(name, "people", Cost.pure(0.5), "?")
    with pytest.raises(NotAllowed, match="So many"):
        anna.ask("too many", "people", Cost.pure(0.5), "?")
    olga.share("people", "anna" + ISSUER, "none")
    whole.give_roles("anna" + ISSUER, [])
    for one in anna.petitions():
        assert anna.withdraw(one.request_id).state == "withdrawn", one.request_id
    assert many(whole)


@pytest.mark.parametrize(("asked", "charged"), [("", "household"), ("household", ""), ("visit", "household")])
def test_what_was_granted_hides_what_was_asked(whole: Ledger, asked: str, charged: str) -> None:
    """A receipt that says “granted” says no other unit than the one that was granted."""
    olga, anna = person(whole, "olga"), person(whole, "anna")
    olga.set_limit("people", 0.1)
    anna.ask("r", "people", Cost.pure(0.2), "?", unit=asked)
    olga.grant("r")
    for again in (anna.ask, anna.charge):
        with pytest.raises(InvalidArgument, match="different question"):
            again("r", "people", Cost.pure(0.2), "?", unit=charged)
    assert anna.charge("r", "people", Cost.pure(0.2), "?", unit=asked).unit == asked
    if asked:  # earlier versions named no unit
        with pytest.raises(InvalidArgument, match="different question"):
            anna.charge("r", "people", Cost.pure(0.2), "?", unit="street")


def test_what_cannot_be_charged_is_not_asked_for(whole: Ledger) -> None:
    """An owner would grant what the budget refuses: it protects whom its first charge did."""
    person(whole, "anna").charge("first", "people", Cost.pure(0.05), "?")
    with pytest.raises(NotAllowed, match="protects one person"):
        person(whole, "anna").ask("visits", "people", Cost.pure(0.2), "?", unit="visit")


def test_who_only_sees_a_budget_brings_no_file_to_it(whole: Ledger) -> None:
    """By whichever method: others' files would be compared with it for good."""
    olga, otto = person(whole, "olga"), person(whole, "otto")
    olga.share("people", "otto" + ISSUER, "see")
    file, before = Brought(fingerprint="f" * 64), many(whole)
    for bring in (
        lambda: otto.link(file.fingerprint, "people"),
        lambda: otto.join(file, "people"),
        lambda: otto.open_budget("people", epsilon=2.0, name="Patients", file=file),
    ):
        with pytest.raises(NotAllowed):
            bring()
    assert many(whole) == before
    assert otto.open_budget("people", epsilon=2.0, name="Patients").lineage == "people", "it is there"
    olga.open_budget("people", epsilon=2.0, name="Patients", file=file)
    assert many(whole) == before + 1


def asked_again(person: MembersLedger, first: int, many: int) -> None:
    for number in range(first, first + many):
        person.ask(f"a{number}", "people", Cost.pure(0.5), "?", question="q")
        person.withdraw(f"a{number}")


def test_who_asks_and_withdraws_comes_to_an_end(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they wrote stays for good. Others ask on, and so do they a day later."""
    olga, anna, otto = (person(whole, name) for name in ("olga", "anna", "otto"))
    olga.set_limit("people", 0.1)
    olga.share("people", "otto" + ISSUER, "ask")
    monkeypatch.setattr(approvals, "MOST_A_DAY", 4)
    asked_again(anna, 0, 4)
    before = many(whole)
    with pytest.raises(NotAllowed, match="as much as one person can in a day"):
        anna.ask("more", "people", Cost.pure(0.5), "?")
    assert many(whole) == before
    assert anna.ask("a3", "people", Cost.pure(0.5), "?", question="q").state == "withdrawn", "no new one"
    otto.ask("other", "people", Cost.pure(0.5), "?")
    monkeypatch.setattr(rate, "DAY", timedelta(0))
    anna.ask("more", "people", Cost.pure(0.5), "?")


def test_a_look_at_requests_reads_no_more_for_those_that_were_withdrawn(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed: each of them that is read is one more for everybody's page. What waits is always told, and
    so is what somebody can draw."""
    olga, anna, otto = (person(whole, name) for name in ("olga", "anna", "otto"))
    olga.set_limit("people", 0.1)
    olga.share("people", "otto" + ISSUER, "ask")
    otto.ask("waits", "people", Cost.pure(0.5), "?", question="o")
    anna.ask("granted", "people", Cost.pure(0.5), "?", question="g")
    olga.grant("granted")
    monkeypatch.setattr(approvals, "NEWEST", 3)
    read: list[object] = []
    parsed = approvals._petition
    monkeypatch.setattr(approvals, "_petition", lambda row, connection: read.append(row) or parsed(row, connection))
    asked_again(anna, 0, 12)
    for somebody, states in (
        (whole, ["waiting", *["withdrawn"] * 3]),
        (olga, ["waiting", *["withdrawn"] * 3]),
        (person(whole, "ursel"), ["waiting", *["withdrawn"] * 3]),
        (anna, ["withdrawn"] * 3),
        (otto, ["waiting"]),
        (person(whole, "vera"), []),
    ):
        read.clear()
        assert [one.state for one in somebody.petitions()] == states
        assert len(read) == len(states)
    read.clear()
    otto.ask("mine", "people", Cost.pure(0.5), "?")
    assert len(read) < 5, "of others none is read while the ledger is held"
    read.clear()
    found = anna.latest_petition("people", Cost.pure(0.5), "?", question="g")
    assert found is not None
    assert (found.request_id, found.state, len(read)) == ("granted", "granted", 1)
    assert otto.latest_petition("people", Cost.pure(0.5), "?", question="g") is None
    assert anna.latest_petition("people", Cost.pure(0.5), "?", question="o") is None
    anna.charge("granted", "people", Cost.pure(0.5), "?", question="g")
    anna.store_answer("granted", {"winner": "Knee pain"})
    assert anna.latest_petition("people", Cost.pure(0.5), "?", question="g") is None, "it was drawn"
    left = anna.latest_petition("people", Cost.pure(0.5), "?", question="q")
    assert left is not None
    assert left.state == "withdrawn"


ENDS: dict[str, Callable[[MembersLedger, MembersLedger, str], object]] = {
    "waiting": lambda olga, anna, request_id: None,
    "granted": lambda olga, anna, request_id: olga.grant(request_id),
    "refused": lambda olga, anna, request_id: olga.refuse(request_id, "The same as another."),
    "withdrawn": lambda olga, anna, request_id: anna.withdraw(request_id),
}


@pytest.mark.parametrize("states", [*itertools.product(ENDS, repeat=2)], ids=" ".join)
def test_of_several_requests_the_one_counts_that_leads_to_an_answer(
    whole: Ledger, states: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest hid what was granted, which nobody could draw then; also of digests that a question had before. Two
    that are open are in ledgers from before."""
    olga, anna = person(whole, "olga"), person(whole, "anna")
    olga.set_limit("people", 0.1)
    with monkeypatch.context() as earlier:
        earlier.setattr(approvals, "_standing", lambda *_: None)
        for question in ("q", "before"):
            for place, state in enumerate(states):
                request_id = f"{question} {place}"
                anna.ask(request_id, "people", Cost.pure(0.2), "?", question=question)
                ENDS[state](olga, anna, request_id)
    rank = {"granted": 0, "waiting": 1}
    best = min(range(2), key=lambda place: (rank.get(states[place], 2), -place))
    for question, before, last in (("q", [], "q"), ("q", ["before"], "before"), ("before", ["q"], "before")):
        found = anna.latest_petition("people", Cost.pure(0.2), "?", question=question, before=before)
        assert found is not None
        assert (found.request_id, found.state) == (f"{last} {best}", states[best])
    if states[best] == "granted":
        anna.charge(f"q {best}", "people", Cost.pure(0.2), "?", question="q")
        anna.charge(f"before {best}", "people", Cost.pure(0.2), "?", question="before")
        for question in ("q", "before"):
            anna.store_answer(f"{question} {best}", {"winner": "Knee pain"})
        left = anna.latest_petition("people", Cost.pure(0.2), "?", question="q")
        stands = states[1 - best] in rank  # what was refused before the answer is not told beside it
        assert (None if left is None else left.request_id) == (f"q {1 - best}" if stands else None)


def test_what_outgrew_its_budget_hides_none_that_waits(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    olga, anna = person(whole, "olga"), person(whole, "anna")
    olga.set_limit("people", 0.1)
    anna.ask("old", "people", Cost.pure(0.2), "?", question="q")
    olga.grant("old")
    monkeypatch.setattr(approvals.Petition, "covers", lambda self, budget: self.request_id != "old")
    anna.ask("new", "people", Cost.pure(0.2), "?", question="q")
    found = anna.latest_petition("people", Cost.pure(0.2), "?", question="q")
    assert found is not None
    assert found.request_id == "new"
    anna.withdraw("new")
    assert anna.latest_petition("people", Cost.pure(0.2), "?", question="q") is not None


def known(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=name + ISSUER), token="t" * 20)


def test_whose_a_request_is_is_told_exactly(whole: Ledger) -> None:
    """No name that holds another, is written alike or looks like a part of a record is taken for it."""
    names = ["anna", "Anna", "ann", 'an"na', "an\\na", "%", "_nna", "änna", '","subject":"anna' + ISSUER]
    olga = person(whole, "olga")
    olga.set_limit("people", 0.1)
    for place, name in enumerate(names):
        whole.give_roles(name + ISSUER, ["analyst"])
        olga.share("people", name + ISSUER, "ask")
        what = f'"subject":"{names[place - 1]}{ISSUER}"'
        known(whole, name).ask(f"by {place}", "people", Cost.pure(0.5), what, question="q")
    for place, name in enumerate(names):
        somebody = known(whole, name)
        assert [one.request_id for one in somebody.petitions()] == [f"by {place}"]
        found = somebody.latest_petition("people", Cost.pure(0.5), "?", question="q")
        assert found is not None
        assert found.request_id == f"by {place}"
        assert somebody.latest_petition("people", Cost.pure(0.5), "?", question="Q") is None


def test_an_owner_needs_another_owner(whole: Ledger) -> None:
    """Nobody decides about their own request, and a limit that one raised oneself does not count for them."""
    olga, otto = person(whole, "olga"), person(whole, "otto")
    olga.set_limit("people", 0.5)
    olga.ask("mine", "people", Cost.pure(1.0), "?")
    with pytest.raises(NotAllowed, match="cannot decide as well"):
        olga.grant("mine")
    olga.set_limit("people", None)
    assert olga.needs_approval("people", Cost.pure(1.0))
    assert not person(whole, "anna").needs_approval("people", Cost.pure(1.0))
    with pytest.raises(ApprovalNeeded):
        olga.charge("raised", "people", Cost.pure(1.0), "?")
    with pytest.raises(NotAllowed, match="at least one owner"):
        olga.share("people", "olga" + ISSUER, "ask")
    olga.share("people", "otto" + ISSUER, "own")
    assert otto.grant("mine").by == "otto" + ISSUER
    assert olga.charge("mine", "people", Cost.pure(1.0), "?").granted_by == "otto" + ISSUER
    otto.set_limit("people", 0.4)
    otto.set_limit("people", 5.0)
    assert not olga.needs_approval("people", Cost.pure(0.5)), "raised by another"
    otto.share("people", "olga" + ISSUER, "see")
    with pytest.raises(NotAllowed):
        olga.charge("late", "people", Cost.pure(0.1), "?")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([None, 0.1, 1.0, 4.0, 5.0])), max_size=8))
def test_a_limit_rises_for_nobody_but_by_who_else_raises_it(changes: list[tuple[str, float | None]]) -> None:
    """An owner who lowered 5 to 4 let another take 4, for whom .1 had gone on as they had raised it themselves."""
    for end in range(1, len(changes) + 1):
        before, now = Terms(limits=tuple(changes[: end - 1])), Terms(limits=tuple(changes[:end]))
        (by, limit), force = changes[end - 1], _most(before.limit)
        for who in "ab":
            was, found = _most(before.limit_for(who)), _most(now.limit_for(who))
            raised = _most(limit) > force and by != who
            assert found == (_most(limit) if raised else min(was, _most(limit)))
            assert found <= _most(limit)


def _most(limit: float | None) -> float:
    return math.inf if limit is None else limit


def test_who_lowers_a_limit_raises_it_for_nobody(whole: Ledger) -> None:
    olga, otto = person(whole, "olga"), person(whole, "otto")
    olga.share("people", "otto" + ISSUER, "own")
    otto.set_limit("people", 0.1)
    olga.set_limit("people", 5.0)
    for lower in (4.0, 1.0):
        otto.set_limit("people", lower)
        with pytest.raises(ApprovalNeeded):
            olga.charge(f"above {lower}", "people", Cost.pure(0.5), "?")


def test_the_transaction_itself_asks(whole: Ledger) -> None:
    """Without the view of one person before it: a right that was taken meanwhile is gone when the record is written."""
    person(whole, "anna").ask("asked", "people", Cost.pure(0.1), "?")
    vera = Ledger(whole._store, "person", "vera" + ISSUER)
    before = len(whole.records())
    tried: tuple[Callable[[], object], ...] = (
        lambda: vera.charge("new", "people", Cost.pure(0.1), "?"),
        lambda: vera.ask("new", "people", Cost.pure(0.1), "?"),
        lambda: vera.grant("asked"),
        lambda: vera.share("people", "vera" + ISSUER, "own"),
        lambda: vera.set_limit("people", 9.0),
        lambda: vera.end_budget("people"),
    )
    for act in tried:
        with pytest.raises(NotAllowed):
            act()
    assert len(whole.records()) == before


def test_what_is_over_stays_over(whole: Ledger) -> None:
    olga, anna = person(whole, "olga"), person(whole, "anna")
    anna.charge("before", "people", Cost.pure(0.1), "?")
    olga.end_budget("people")
    assert olga.end_budget("people").ended
    for act in (anna.charge, anna.ask, whole.charge):
        with pytest.raises(NotAllowed, match="closed for good"):
            act("after", "people", Cost.pure(0.1), "?")
    assert anna.charge("before", "people", Cost.pure(0.1), "?").request_id == "before"
    assert many(whole)


def test_roles_change_at_once_and_those_of_the_login_come_first(whole: Ledger) -> None:
    anna = person(whole, "anna")
    whole.give_roles("anna" + ISSUER, [])
    with pytest.raises(NotAllowed):
        anna.charge("new", "people", Cost.pure(0.1), "?")
    assert anna.budget("people").cap.epsilon == 2.0, "what was shared may still be seen"
    claimed = MembersLedger(whole, Person(subject="anna" + ISSUER, claimed=frozenset({"analyst"})), "anna" * 8)
    assert claimed.charge("new", "people", Cost.pure(0.1), "?")
    nobody = MembersLedger(whole, Person(subject="olga" + ISSUER, claimed=frozenset()), "olga" * 8)
    with pytest.raises(NotAllowed):
        nobody.share("people", "vera" + ISSUER, "own")


def test_lists_hold_what_was_shared(whole: Ledger) -> None:
    olga, vera, anna, ursel = (person(whole, name) for name in ("olga", "vera", "anna", "ursel"))
    real = anna.charge("real", "people", Cost.pure(0.1), "How many?")
    assert [budget.lineage for budget in vera.budgets()] == [practice("vera")]
    assert not vera.receipts()
    assert not vera.find(real.journal_hash[:12])
    assert vera.receipt("real") is None
    olga.share("people", EVERYONE, "see")
    assert {budget.lineage for budget in vera.budgets()} == {practice("vera"), "people"}
    assert vera.receipt("real") == real
    assert not vera.chargeable()
    assert not vera.comparable()
    with pytest.raises(InvalidArgument):
        olga.share("people", EVERYONE, "ask")
    assert [budget.lineage for budget in anna.chargeable()] == ["people"]
    assert set(olga.comparable()) == {"people", "others"}, "nobody gets a second budget unseen"
    assert [budget.lineage for budget in olga.chargeable()] == ["people"]
    assert {budget.lineage for budget in ursel.budgets()} == {"people", "others"}, "an auditor sees all that is real"
    assert len(ursel.records()) == many(whole)


def test_two_requests_at_once_do_not_pass_the_limit_together(whole: Ledger) -> None:
    person(whole, "olga").set_limit("people", 0.5)
    done: list[Receipt | LedgerError] = []

    def take(name: str) -> None:
        try:
            done.append(person(whole, "anna").charge(name, "people", Cost.pure(0.3), "?"))
        except LedgerError as error:
            done.append(error)

    threads = [threading.Thread(target=take, args=(f"r{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(one, Receipt) for one in done) == 1
    assert sum(isinstance(one, ApprovalNeeded) for one in done) == 3


def test_a_chain_in_which_one_person_did_it_alone_is_not_sound(whole: Ledger) -> None:
    """Who can write the database cannot write an approval of one's own request, nor a charge after the end."""
    records = whole.records()

    def followed(kind: Kind, body: dict[str, Any]) -> None:
        last = records[-1]
        one = next_record(last.seq + 1, last.hash, kind, lineage="people", request_id="r", body=body)
        replayed([*records, one])

    followed("grant", {"by": "a", "subject": "b", "because": ""})
    bad: tuple[tuple[Kind, dict[str, Any]], ...] = (
        ("grant", {"by": "a", "subject": "a", "because": ""}),
        ("refuse", {"by": "", "subject": "a", "because": ""}),
        ("refuse", {"by": "a", "subject": "a", "because": ""}),
        ("refuse", {"by": "b", "subject": "a", "because": "", "withdrawn": True}),
        ("grant", {"by": "a", "subject": "a", "because": "", "withdrawn": True}),
        ("ask", {"subject": ""}),
        ("share", {"subject": "a", "level": "all"}),
        ("limit", {"epsilon": "much"}),
        ("role", {"roles": ["owner"]}),
    )
    for kind, body in bad:
        with pytest.raises(LedgerUnsound):
            followed(kind, body)
    end = next_record(records[-1].seq + 1, records[-1].hash, "close", lineage="people", body={})
    charge = whole.charge("late", "people", Cost.pure(0.1), "?")
    late = next(record for record in whole.records() if record.hash == charge.journal_hash)
    after = next_record(end.seq + 1, end.hash, "charge", lineage="people", request_id="late", body=late.content)
    with pytest.raises(LedgerUnsound):
        replayed([*records, end, after])


def test_a_ledger_from_before_is_brought_forward(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its chain, receipts and journal are as they were, and it knows persons from then on."""
    from dpcore.ledger import engine, migrations, verify

    with monkeypatch.context() as then:
        for module in (engine, migrations):
            then.setattr(module, "NEWEST", "0003")
        then.setattr(verify, "_guard", lambda connection: True)
        with sqlite_place.open() as older:
            older.open_budget("people", epsilon=1.0)
            kept = older.charge("r", "people", Cost.pure(0.1), "How many?").to_json()
            before = older.records()
    assert sqlite_place.database is not None
    with sqlite3.connect(sqlite_place.database) as raw:
        assert raw.execute("SELECT version_num FROM alembic_version").fetchone() == ("0003",)
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute("INSERT INTO records VALUES (9, 'ask', 'people', 'r', '', '', ?, ?)", (FIRST, "1" * 64))
    with sqlite_place.open() as now:
        assert now.records() == before
        assert now.confirms(kept)
        assert now.terms("people").owners == ()
        now.share("people", "olga" + ISSUER, "own")
        now.give_roles("olga" + ISSUER, ["owner"])
        assert person(now, "olga").charge("s", "people", Cost.pure(0.1), "?").subject == "olga" + ISSUER
        assert now.verify().charges == 2


def test_the_tool_gives_roles_and_owners(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "ledger.sqlite3")
    with Ledger.open(file) as ledger:
        ledger.open_budget("people", epsilon=1.0, name="Patients")
    olga = "olga" + ISSUER
    assert main(["--ledger", file, "role", olga, "owner", "auditor"]) == 0
    assert main(["--ledger", file, "share", "people", olga, "own"]) == 0
    assert main(["--ledger", file, "people"]) == 0
    told = capsys.readouterr().out
    assert f"{olga}: auditor, owner" in told
    assert "Patients [people]: own" in told
    for no_roles in (["king"], ["owner", "none"], ["none", "king"]):
        assert main(["--ledger", file, "role", olga, *no_roles]) == 1
        told = capsys.readouterr().err
        assert told == "Trouble: role must be one or more of viewer, analyst, owner, auditor, or none alone\n"
    with pytest.raises(SystemExit, match="2"):
        main(["--ledger", file, "role", olga])  # what was left out takes nothing away
    with Ledger.open(file) as ledger:
        assert ledger.roles() == {olga: frozenset({"owner", "auditor"})}
    capsys.readouterr()
    assert main(["--ledger", file, "role", olga, "none"]) == 0
    assert capsys.readouterr().out == f"{olga}: no role but to view\n"
    assert main(["--ledger", file, "share", "nobody", olga, "own"]) == 1
    copy = str(tmp_path / "copy.sqlite3")
    assert main(["--ledger", file, "backup", str(tmp_path / "backup")]) == 0
    assert main(["--ledger", copy, "restore", str(tmp_path / "backup"), "--new-journal"]) == 0
    with Ledger.open(copy) as ledger:
        assert ledger.terms("people").owners == (olga,)
    with Ledger.open(file) as ledger:
        assert not ledger.roles()
        assert person(ledger, "olga").terms("people").owners == (olga,)


def test_practice_of_a_person_is_bounded_by_who_they_are(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any role: what costs nothing real, rooms included, is written so often in a day. What is real goes on."""
    monkeypatch.setattr(rate, "MOST_OF_ONE", 12)
    for name in ("vera", "olga"):
        mine = person(whole, name)
        lineage = mine.open_practice(name * 8, "clinic", epsilon=3.0).lineage
        before = len(whole.records())
        with pytest.raises(LedgerError, match="as much as one person can"):  # noqa: PT012 - which one is not said
            for number in range(30):
                mine.charge(f"{name} {number}", lineage, Cost.pure(0.01), "?")
                mine.rename(lineage, f"Name {number}")
        assert mine.rename(lineage, "Short").name == "Short", "an answer is three records, a name is one"
        assert len(whole.records()) - before < 12
        assert mine.open_practice(name * 8, "clinic", epsilon=3.0).practice, "the same again writes nothing"
        assert mine.charge(f"{name} 0", lineage, Cost.pure(0.01), "?").request_id == f"{name} 0"
        begin = (
            lambda mine=mine: mine.may_begin(rate.room(1)),
            lambda mine=mine, name=name: mine.open_practice(name * 8, "town", epsilon=1.0),
            lambda mine=mine, lineage=lineage: mine.reset_practice(lineage),
            lambda mine=mine, lineage=lineage: mine.resize_practice(lineage, epsilon=9.0),
            lambda mine=mine, lineage=lineage: mine.undo_reset(lineage),
        )
        for one in begin:
            with pytest.raises(LedgerError) as refused:
                one()
            assert str(refused.value) == rate.TOO_MANY_OF_ONE
    person(whole, "olga").rename("people", "Patients")


NUMBERS = (  # as earlier versions wrote numbers, and as they are written
    ("Which of 10 entries reach 2e+07?", "Which of 10 entries reach 20,000,015?"),
    ("Over its whole declared range of 1e+06. So", "Over its whole declared range of 0 to 1,000,000. So"),
    ("What is the 33.3333 % quantile?", "What is the 1/3 quantile?"),
    ("By at most 1e-07 of it.", "By at most 10⁻⁷ of it."),
    ("By 2.5e-07 of -3.", "By 2.5 × 10⁻⁷ of -3."),
    (  # and as they said what somebody had said of a file
        "How “x” is read was suggested by the file and confirmed by a person: not covered by ε.",
        "How “x” is read was stated or called right by a person who had seen the file or an earlier one: not covered "
        "by ε.",
    ),
)


@pytest.mark.parametrize(("before", "now"), NUMBERS)
def test_what_was_granted_or_charged_is_drawn_though_its_numbers_are_written_otherwise_now(
    whole: Ledger, before: str, now: str
) -> None:
    """By its digest, which holds every number; the record keeps its words, and so does its receipt."""
    olga, anna, cost = person(whole, "olga"), person(whole, "anna"), Cost.pure(0.2)
    olga.set_limit("people", 0.1)
    asked = anna.ask("r", "people", cost, before, question="d" * 64)
    assert anna.ask("r", "people", cost, now, question="d" * 64) == asked
    olga.grant("r")
    for words, digest in ((now, "e" * 64), (now, ""), (now.replace(" ", " no ", 1), "d" * 64)):
        with pytest.raises(InvalidArgument, match="different question"):
            anna.charge("r", "people", cost, words, question=digest)
    first = anna.charge("r", "people", cost, now, question="d" * 64)
    assert first.granted_by == "olga" + ISSUER
    for words in (now, before):
        assert anna.charge("r", "people", cost, words, question="d" * 64) == first
    with pytest.raises(InvalidArgument, match="different question"):
        anna.charge("r", "people", cost, f"{now} No.", question="d" * 64)
    old = olga.charge("old", "people", Cost.pure(0.1), before, question="f" * 64)
    assert olga.charge("old", "people", Cost.pure(0.1), now, question="f" * 64) == old
    assert old.what == before
    assert olga.confirms(old.to_json())


def test_words_alone_are_no_question() -> None:
    """Without a digest, or with another, only the very same words are the same question."""
    for before, now in NUMBERS:
        assert same_question((before, "d"), (now, "d"))
        assert not same_question((before, ""), (now, ""))
        assert not same_question((before, "d"), (now, "e"))
    assert same_question(("?", ""), ("?", ""))
    assert not same_question(("a 1 row", "d"), ("a 1 step", "d"))


SOURCE = "configured:clinic"


def said_of(whole: Ledger, about: str) -> set[tuple[str, bool]]:
    """Who may say of which people that they are others, while their budget is not open (False), and once Olga has
    opened it and shared it with Anna for asking."""
    found = set()
    file = Brought(fingerprint="file", because="They were asked in another town.")
    for opened in (False, True):
        for name in ("olga", "otto", "anna", "vera", "ursel"):
            with contextlib.suppress(DpcoreError):
                person(whole, name).say_others(file, about, than="people")
                found.add((name, opened))
        if not opened:
            person(whole, "olga").open_budget(about, epsilon=1.0)
            person(whole, "olga").share(about, "anna" + ISSUER, "ask")
    return found


SHARED_WITH = {("olga", True), ("anna", True)}


def test_whoever_neither_opens_a_source_s_budget_nor_has_it_says_nothing_of_its_people(whole: Ledger) -> None:
    """Its name is listed: whoever opened it read, in each opening, what others had put there. Of people whose name is
    random nobody else's reads anything."""
    assert said_of(whole, SOURCE) == SHARED_WITH | {("olga", False), ("otto", False)}
    assert said_of(whole, whole.new_lineage()) == SHARED_WITH | {("olga", False), ("otto", False), ("anna", False)}


def test_without_asking_for_the_role_anybody_with_files_would(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "CONFIGURED", "\n")
    assert ("anna", False) in said_of(whole, SOURCE)
