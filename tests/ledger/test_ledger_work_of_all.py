"""No method of any view of the ledger takes longer where others have written more: counted, never timed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import ColumnElement, Connection, select

from dpcore.costs import Cost
from dpcore.errors import DpcoreError
from dpcore.ledger import Ledger, accounts, history, people, schema
from dpcore.ledger.budget import Budget
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.people import Brought
from dpcore.ledger.records import canonical
from dpcore.ledger.roles import Person, Role
from dpcore.ledger.several import SeveralLedger
from dpcore.ledger.store import Store
from dpcore.ledger.undecided import Undecided
from dpcore.ledger.visitor import VisitorsLedger
from tests.ledger.test_ledger_work import TOKEN, practised, steps

ISSUER = " at https://login.example"
OLGA, MALLORY, ANNA = "olga" + ISSUER, "mallory" + ISSUER, "anna" + ISSUER
COST = Cost.pure(0.000001)
WHY = "Nobody of these people is among those."


def person(whole: Ledger, subject: str, *roles: Role) -> MembersLedger:
    return MembersLedger(whole, Person(subject=subject, claimed=frozenset(roles)), (subject + TOKEN)[:32])


@dataclass
class Ours:
    """What somebody does in whose ledger many others write: in practice of their own, and with Olga's people."""

    ledger: Ledger
    token: str
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def new(self) -> str:
        return f"new {next(self.numbers)}"

    @property
    def practice(self) -> str:
        return Ledger.practice_lineage(self.token, "clinic")

    def charged(self, lineage: str) -> str:
        name = self.new()
        self.ledger.charge(name, lineage, COST, "How many?", question="q" + name)
        return name

    def answered(self) -> str:
        name = self.charged(self.practice)
        self.ledger.begin_draw(name)
        return self.ledger.store_answer(name, 7).to_json()

    def asked(self, by: Ledger | None = None) -> str:
        name = self.new()
        (by or self.ledger).ask(name, "people", COST, "How many?", question="q" + name)
        return name


Act = Callable[[Ours], object]
ACTS: dict[str, Act] = {
    "new_lineage": lambda our: our.ledger.new_lineage(),
    "practice_lineage": lambda our: our.ledger.practice_lineage(our.token, "clinic"),
    "room_lineage": lambda our: our.ledger.room_lineage(our.token),
    "renewed_at": lambda our: our.ledger.renewed_at,
    "journal_path": lambda our: our.ledger.journal_path,
    "acting": lambda our: our.ledger.acting("room"),
    "may_begin": lambda our: our.ledger.may_begin(1),
    "note_room": lambda our: our.ledger.note_room(Ledger.room_lineage(our.token)),
    "open_budget": lambda our: our.ledger.open_budget("people", epsilon=10.0),
    "open_budget for a file": lambda our: our.ledger.open_budget("people", epsilon=10.0, file=Brought(fingerprint="f")),
    "open_practice": lambda our: our.ledger.open_practice(our.token, "clinic", epsilon=3.0),
    "budget": lambda our: our.ledger.budget("people"),
    "protects": lambda our: our.ledger.protects("people"),
    "remaining": lambda our: our.ledger.remaining("people"),
    "rename": lambda our: our.ledger.rename("people", our.new()),
    "reset_practice": lambda our: our.ledger.reset_practice(our.practice),
    "resize_practice": lambda our: our.ledger.resize_practice(our.practice, epsilon=3.0),
    "undo_reset": lambda our: (our.ledger.reset_practice(our.practice), our.ledger.undo_reset(our.practice)),
    "sketch_key": lambda our: our.ledger.sketch_key,
    "link": lambda our: our.ledger.link(our.new(), "people"),
    "link the same": lambda our: our.ledger.link("f", "people"),
    "join": lambda our: our.ledger.join(Brought(fingerprint=our.new()), "people"),
    "join the same": lambda our: our.ledger.join(Brought(fingerprint="f"), "people"),
    "similar": lambda our: our.ledger.similar("f", among=["people", "second"]),
    "say_others": lambda our: our.ledger.say_others(Brought(fingerprint="f", because=WHY), "people", than="second"),
    "statements": lambda our: our.ledger.statements("people"),
    "give_roles": lambda our: our.ledger.give_roles("otto" + ISSUER, ["owner"]),
    "terms": lambda our: our.ledger.terms("second"),
    "was_mine": lambda our: our.ledger.was_mine("second"),
    "share": lambda our: our.ledger.share("second", "vera" + ISSUER, "see"),
    "set_limit": lambda our: our.ledger.set_limit("second", 5.0),
    "end_budget": lambda our: our.ledger.end_budget(our.ledger.open_budget(our.new(), epsilon=1.0).lineage),
    "chargeable": lambda our: our.ledger.chargeable(),
    "comparable": lambda our: our.ledger.comparable(),
    "needs_approval": lambda our: our.ledger.needs_approval("people", COST),
    "ask": lambda our: our.asked(),
    "withdraw": lambda our: our.ledger.withdraw(our.asked()),
    "grant": lambda our: our.ledger.grant(our.asked(person(our.ledger, ANNA, "analyst"))),
    "refuse": lambda our: our.ledger.refuse(our.asked(person(our.ledger, ANNA, "analyst")), WHY),
    "petitions": lambda our: our.ledger.petitions(),
    "to_decide": lambda our: our.ledger.to_decide(),
    "latest_petition": lambda our: our.ledger.latest_petition("people", COST, "?", question="q"),
    "charge": lambda our: our.charged("people"),
    "charge in practice": lambda our: our.charged(our.practice),
    "begin_draw": lambda our: our.ledger.begin_draw(our.charged(our.practice)),
    "draw_failed": lambda our: our.ledger.draw_failed(our.charged(our.practice)),
    "store_answer": lambda our: our.answered(),
    "stored": lambda our: our.ledger.stored("mine"),
    "receipt": lambda our: our.ledger.receipt("mine"),
    "history": lambda our: our.ledger.history(our.practice, newest=1),
    "count": lambda our: our.ledger.count("second"),
    "answered": lambda our: our.ledger.answered(our.practice, "q"),
    "answered_ids": lambda our: our.ledger.answered_ids(our.practice, "q"),
    "unanswered": lambda our: our.ledger.unanswered("second"),
    "version": lambda our: our.ledger.version("people"),
    "version of all": lambda our: our.ledger.version(),
    "find": lambda our: our.ledger.find("00000000"),
    "confirms": lambda our: our.ledger.confirms(our.answered()),
    "confirmed": lambda our: our.ledger.confirmed(our.answered()),
    "about": lambda our: our.ledger.about(our.ledger.stored("mine")),
    "budgets": lambda our: our.ledger.budgets(),
    "receipts": lambda our: our.ledger.receipts(),
    "roles": lambda our: our.ledger.roles(),
    "statements of all": lambda our: our.ledger.statements(),
}
ALL = {
    "open": "begins by a check of the whole ledger",
    "close": "looks at nothing",
    "let_go": "looks at nothing",
    "verify": "checks the whole ledger",
    "backup": "writes the whole ledger",
    "records": "are all that there are, for who runs it and for auditors",
    "sealed": "by find and budget",
    "examine": "by find and confirms",
}
"""What is not tried, and why."""
EVERYTHING = {"budgets", "receipts", "petitions", "chargeable", "comparable"}
"""What tells of all that there is, to who has all of the ledger."""
WITH_EVERY_FILE = {"open_budget for a file", "join", "join the same", "similar"}
"""Where a file is compared with those of all real budgets, of which no more than the names is read."""
OF_A_BUDGET = {"receipts", "statements", "statements of all"}
"""What tells of a budget all that everybody asked and said about it."""
GROWS: dict[str, set[str]] = {
    "local": EVERYTHING | OF_A_BUDGET | WITH_EVERY_FILE,
    "several": EVERYTHING | OF_A_BUDGET | WITH_EVERY_FILE,
    "owner": {"comparable", "petitions"} | OF_A_BUDGET | WITH_EVERY_FILE,
    "analyst": OF_A_BUDGET,
    "viewer": {"statements"},
}
"""By whose view, what may; nothing of it while others wait."""
VIEWS: dict[str, Callable[[Ledger], Ledger]] = {
    "local": lambda whole: whole,
    "several": lambda whole: SeveralLedger(whole, TOKEN, network="192.0.2.1"),
    "owner": lambda whole: person(whole, OLGA, "owner", "analyst"),
    "analyst": lambda whole: person(whole, ANNA, "analyst"),
    "viewer": lambda whole: person(whole, "vera" + ISSUER),
    "visitor": lambda whole: VisitorsLedger(whole, TOKEN),
}
NAMELESS = {"local", "several"}


def begun(many: int, whole: Ledger | None = None, *, nameless: bool = False) -> Ledger:
    """Olga's budgets, which she shares for asking, and so many others who practise and play; Mallory links files with
    Olga's people and with her own as often, asks, is charged, opens budgets and shares them. Of several without a login
    (``nameless``) it is one of them who links files."""
    whole = whole or Ledger.open("sqlite://")
    olga, mallory = (person(whole, subject, "owner", "analyst") for subject in (OLGA, MALLORY))
    for lineage in ("people", "second"):
        olga.open_budget(lineage, epsilon=10.0)
        for subject in (MALLORY, ANNA):
            olga.share(lineage, subject, "ask")
    olga.link("f", "people")
    mallory.open_budget("hers", epsilon=100.0)
    with_files: Ledger = SeveralLedger(whole, "m" * 32, network="192.0.2.2") if nameless else mallory
    for number in range(many):
        practised(whole, f"{number:032}", f"of {number}")
        whole.open_budget(whole.room_lineage(f"{number:032}"), epsilon=1.0)
        with_files.link(f"a file {number}", "people")
        with_files.link(f"another {number}", "hers")
        mallory.ask(f"asked {number}", "hers", COST, "How many?", question=f"{number}")
        mallory.withdraw(f"asked {number}")
        mallory.charge(f"charged {number}", "hers", COST, "How many?", question=f"{number}")
        mallory.store_answer(f"charged {number}", number)
        mallory.open_budget(f"hers {number}", epsilon=1.0)
        mallory.share(f"hers {number}", "carl" + ISSUER, "ask")
        mallory.say_others(Brought(fingerprint=f"of hers {number}", because=WHY), "people", than="hers")
        mallory.ask(f"asked Olga {number}", "people", COST, "How many?", question=f"{number}")
        mallory.withdraw(f"asked Olga {number}")
        mallory.charge(f"of Olga's {number}", "people", COST, "How many?", question=f"{number}")
    return whole


def writes_only(patch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Whether a transaction is under way that writes, for which everybody waits."""
    writing, under_way = Store.writing, []

    @contextmanager
    def counted(store: Store, at_least: float = 0.0) -> Iterator[Connection]:
        with writing(store, at_least) as connection:
            under_way.append(connection)
            try:
                yield connection
            finally:
                under_way.clear()

    patch.setattr(Store, "writing", counted)
    return lambda: bool(under_way)


def costs(view: str, acts: Mapping[str, Act], many: int, *, held: bool = False) -> dict[str, tuple[int, str]]:
    """Of each act where there are so many others: its steps, of those for which all others wait where they are
    ``held``, and what refused it."""
    found: dict[str, tuple[int, str]] = {}
    with begun(many, nameless=view in NAMELESS) as whole, pytest.MonkeyPatch.context() as patch:
        counts = writes_only(patch) if held else lambda: True
        ledger = VIEWS[view](whole)
        our = Ours(ledger, getattr(ledger, "_token", TOKEN))
        practised(ledger, our.token, "mine")
        for name, act in acts.items():
            refused = ""

            def tried(act: Act = act) -> None:
                nonlocal refused
                try:
                    act(our)
                except DpcoreError as error:
                    refused = type(error).__name__

            found[name] = (steps(whole, tried, counts), refused)
    return found


def grown(view: str, acts: Mapping[str, Act] = ACTS, *, held: bool = False) -> set[str]:
    """What costs more than a little more where there are many others. There are some in any case: one record is found
    among all by halves, which is a little more for each doubling."""
    few, many = costs(view, acts, 20, held=held), costs(view, acts, 40, held=held)
    assert {name: refused for name, (_, refused) in few.items()} == {name: why for name, (_, why) in many.items()}
    return {name for name in acts if many[name][0] > 1.05 * few[name][0]}


@pytest.mark.thorough
@pytest.mark.parametrize("view", VIEWS)
def test_nobodys_click_is_longer_where_others_have_written_much(view: str) -> None:
    found = grown(view)
    assert found <= GROWS.get(view, set())
    assert found >= GROWS.get(view, set()) - WITH_EVERY_FILE


@pytest.mark.thorough
@pytest.mark.parametrize("view", VIEWS)
def test_while_others_wait_nothing_grows_with_what_they_wrote(view: str) -> None:
    assert grown(view, held=True) == set()


def test_every_method_is_tried() -> None:
    public = {name for name in dir(Ledger) if not name.startswith("_")}
    assert {name for name in public if not any(one.split()[0] == name for one in ACTS)} == set(ALL)


@pytest.mark.thorough
def test_whatever_an_owner_may_do_is_done() -> None:
    """Nothing is tried by being refused alone."""
    refused = {name for name, (_, why) in costs("owner", ACTS, 1).items() if why}
    assert refused == {"acting", "give_roles"}
    assert not any(costs("local", {name: ACTS[name] for name in refused}, 1)[name][1] for name in refused)


def every_file(connection: Connection, marks: Collection[str]) -> list[people.KnownFile]:
    lineages = set(connection.execute(select(schema.fingerprints.c.lineage)).scalars())
    return [one for one in people.files(connection, lineages) if one.mark in marks]


def every_link(connection: Connection, subject: str) -> dict[str, str]:
    found = history.records(connection, "link", None)
    return {one.content["fingerprint"]: one.lineage for one in found if one.content.get("by") == subject}


def every_budget(ledger: MembersLedger) -> list[Budget]:
    with ledger._store.reading() as connection:
        return accounts.every(connection, schema.of_people)


def with_every_budget(connection: Connection, *marks: str) -> set[str]:
    return set(accounts.of_people(connection))


def from_the_beginning(
    self: Undecided,
    connection: Connection,
    known: Mapping[str, object],
    upto: int,
    *,
    read_on: Any = Undecided._read_on,
) -> None:
    self._known.clear()
    read_on(self, connection, dict.fromkeys(known, (0, frozenset())), upto)


def among_all(connection: Connection, name: str, value: str) -> ColumnElement[bool]:
    return history.says(connection, f"{canonical(name)}:{canonical(value)}")


AS_IT_WAS: dict[str, tuple[str, object, str, object, bool, set[str]]] = {
    "every known file is looked at": ("analyst", people, "_marked", every_file, False, {"similar", "join the same"}),
    "every link is read": ("analyst", history, "linked_by", every_link, False, {"link", "join"}),
    "all budgets are made": ("owner", MembersLedger, "chargeable", every_budget, False, {"chargeable"}),
    "a file is looked for with every budget": (
        "several", history, "linked_without_name", with_every_budget, True, {"link", "join"},
    ),
    "every request there was is read": ("owner", Undecided, "_read_on", from_the_beginning, False, {"to_decide"}),
    "all that names anybody is read": (
        "analyst", history, "named", among_all, True, {"charge", "ask", "link"},
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("how", AS_IT_WAS)
def test_these_tests_can_fail(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    view, where, name, before, held, longer = AS_IT_WAS[how]
    monkeypatch.setattr(where, name, before)
    assert grown(view, {one: ACTS[one] for one in longer}, held=held) == longer
