"""What waits for an owner is what all records say of it, whoever wrote them and in whatever order people look."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from dpcore.costs import Cost
from dpcore.errors import DpcoreError
from dpcore.ledger import Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from dpcore.ledger.undecided import Undecided
from tests.ledger.conftest import Place

ISSUER = " at https://login.example"
OWNERS, BUDGETS = ("olga", "otto"), ("first", "second", "third")


def person(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=name + ISSUER), token=name * 8)


@pytest.fixture
def programs(place: Place) -> Iterator[tuple[Ledger, Ledger]]:
    """Two at one ledger, in which Anna and both owners may ask of all budgets."""
    with place.open() as here, place.open() as there:
        for name in OWNERS:
            here.give_roles(name + ISSUER, ["owner"])
        here.give_roles("anna" + ISSUER, ["analyst"])
        for lineage, owner in zip(BUDGETS, ("olga", "otto", "olga"), strict=True):
            person(here, owner).open_budget(lineage, epsilon=50.0)
            for name in ("anna", *OWNERS):
                if name != owner:
                    person(here, owner).share(lineage, name + ISSUER, "ask")
        yield here, there


def waits(whole: Ledger, name: str) -> list[str]:
    """By a look at everything."""
    found = []
    for one in whole.petitions():
        now = whole.terms(one.lineage)
        if one.state == "waiting" and one.subject != name + ISSUER and not now.ended:
            found += [one.request_id] if now.at_least(name + ISSUER, "own") else []
    return found


def acted(draw: random.Random, whole: Ledger, number: int) -> None:
    """Something that somebody might do, if they may."""
    name, lineage = draw.choice(("anna", *OWNERS)), draw.choice(BUDGETS)
    who, asked = person(whole, name), f"r{draw.randrange(max(number, 1))}"
    acts: list[Callable[[], object]] = [
        *[lambda: who.ask(f"r{number}", lineage, Cost.pure(0.1), "?", question=f"q{number}")] * 5,
        *[lambda: who.grant(asked), lambda: who.refuse(asked, "Not this."), lambda: who.withdraw(asked)] * 2,
        lambda: whole.share(lineage, draw.choice(OWNERS) + ISSUER, draw.choice(("own", "ask"))),
        lambda: whole.end_budget(lineage) if number > 55 else None,
    ]
    with suppress(DpcoreError):
        draw.choice(acts)()


def differing(programs: tuple[Ledger, Ledger]) -> int:
    """How often in a day of theirs an owner is told something else than all records say."""
    draw, found = random.Random(7), 0
    for number in range(60):
        acted(draw, draw.choice(programs), number)
        if draw.random() < 0.6:
            whole, name = draw.choice(programs), draw.choice(OWNERS)
            found += [one.request_id for one in person(whole, name).to_decide()] != waits(whole, name)
    assert waits(programs[0], "olga"), "something waits"
    return found


@pytest.mark.thorough
def test_what_waits_is_what_the_records_say(programs: tuple[Ledger, Ledger]) -> None:
    assert differing(programs) == 0


@pytest.mark.thorough
def test_one_who_forgets_what_was_decided_is_found_out(
    programs: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail."""
    monkeypatch.setattr("dpcore.ledger.undecided._KINDS", ("ask", "grant"))
    assert differing(programs) > 0


def test_a_look_that_comes_late_takes_nothing_back(programs: tuple[Ledger, Ledger]) -> None:
    """Of a transaction that began before another's: what it knows is of an earlier record."""
    here, _ = programs
    person(here, "anna").ask("r", "first", Cost.pure(0.1), "?")
    before = here.version()
    person(here, "olga").refuse("r", "Not this.")
    known = Undecided()
    with here._store.reading() as connection:
        assert known.of(connection, ["first"]) == set()
        known._read_on(connection, {"first": (0, frozenset())}, before)
        assert known.of(connection, ["first"]) == set()


def test_only_who_owns_and_only_what_goes_on(programs: tuple[Ledger, Ledger]) -> None:
    here, _ = programs
    person(here, "anna").ask("r", "first", Cost.pure(0.1), "?")
    person(here, "otto").ask("s", "first", Cost.pure(0.1), "?")
    told = {name: [one.request_id for one in person(here, name).to_decide()] for name in ("anna", *OWNERS)}
    assert told == {"anna": [], "olga": ["r", "s"], "otto": []}
    here.share("first", "otto" + ISSUER, "own")
    assert [one.request_id for one in person(here, "otto").to_decide()] == ["r"], "nobody decides about their own"
    here.end_budget("first")
    assert person(here, "olga").to_decide() == here.to_decide() == []
