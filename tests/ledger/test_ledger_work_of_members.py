"""No click of who logs in walks through all records, or all budgets: its statements are held against their indexes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from typing import Any

import pytest
from sqlalchemy import ColumnElement, Connection, FromClause, and_, event, select, true

from dpcore.costs import Cost
from dpcore.ledger import Ledger, approvals, daily, history, records, schema
from dpcore.ledger.asked import Known
from dpcore.ledger.member import SHARED, MembersLedger
from dpcore.ledger.records import Kind, Record
from dpcore.ledger.roles import Person
from tests.ledger.test_ledger_work import NONSENSE, others, practised, steps

ISSUER = " at https://login.example"
NUMBERS = itertools.count()
FROM_THE_END = "records.time <= ? ORDER BY records.seq DESC"
"""Reads no more than what was written in a day."""
AS_A_WHOLE = {"verify", "records"}
"""Of an auditor, who asks for all of it."""
OF_FILES = {"link", "join", "similar", "say_others", "comparable", "sketch_key"}
"""What is known of files grows with them, and each is compared."""
REFUSED = {"acting", "backup", "give_roles", "close", "open", "stored"}
"""What nobody does by a page, or reads nothing."""


def person(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=name + ISSUER), token=name * 8)


class Clicks:
    """Olga, who owns a budget, and Anna, with whom she shared it: each name of a method, and a click that calls it."""

    def __init__(self, whole: Ledger) -> None:
        self.whole = whole
        self.anna, self.olga = person(whole, "anna"), person(whole, "olga")
        whole.give_roles("anna" + ISSUER, ["analyst"])
        whole.give_roles("olga" + ISSUER, ["owner", "analyst"])
        self.olga.open_budget("people", epsilon=50.0, name="Patients")
        self.olga.share("people", "anna" + ISSUER, "ask")
        self.olga.set_limit("people", 0.5)
        self.first = self.anna.charge("first", "people", Cost.pure(0.1), "How many?", question="q")
        self.practice = self.anna.open_practice("anna" * 8, "clinic", epsilon=3.0).lineage
        self.sealed = self.anna.sealed(b"<html>a report</html>", [self.first.journal_hash])

    def asked(self) -> str:
        request = f"asked {next(NUMBERS)}"
        self.anna.ask(request, "people", Cost.pure(0.1), "How many?", question=request)
        return request

    def granted(self) -> str:
        request = self.asked()
        self.olga.grant(request)
        return request

    def charge(self, request: str, lineage: str, epsilon: float = 1e-6) -> str:
        self.anna.charge(request, lineage, Cost.pure(epsilon), "How many?", question=request, known=Known())
        return request

    def opened(self) -> str:
        lineage = self.whole.new_lineage()
        self.olga.open_budget(lineage, epsilon=1.0)
        return lineage

    def drawn(self) -> str:
        request = self.charge(f"drawn {next(NUMBERS)}", "people")
        self.anna.begin_draw(request)
        return request

    def all(self) -> dict[str, Callable[[], object]]:
        anna, olga = self.anna, self.olga
        return {
            "ask": self.asked,
            "withdraw": lambda: anna.withdraw(self.asked()),
            "refuse": lambda: olga.refuse(self.asked(), "Not now."),
            "grant": self.granted,
            "charge": lambda: self.charge(f"alone {next(NUMBERS)}", "people"),
            "charge what was granted": lambda: self.charge(self.granted(), "people", 0.1),
            "charge practice": lambda: self.charge(f"practice {next(NUMBERS)}", self.practice),
            "begin_draw": self.drawn,
            "draw_failed": lambda: anna.draw_failed(self.drawn()),
            "store_answer": lambda: anna.store_answer(self.drawn(), 7),
            "latest_petition": lambda: anna.latest_petition(
                "people", Cost.pure(0.1), "?", question="q", before=["another"]
            ),
            "petitions": lambda: (anna.petitions(), olga.petitions()),
            "to_decide": olga.to_decide,
            "petitions of all": self.whole.petitions,
            "needs_approval": lambda: anna.needs_approval("people", Cost.pure(0.4)),
            "receipt": lambda: anna.receipt("first"),
            "receipts": lambda: anna.receipts(),
            "find": lambda: anna.find(self.first.journal_hash[:12]),
            "history": lambda: anna.history("people"),
            "count": lambda: anna.count("people"),
            "answered": lambda: anna.answered("people", "q"),
            "answered_ids": lambda: anna.answered_ids("people", "q"),
            "unanswered": lambda: anna.unanswered("people", "q"),
            "confirms": lambda: (anna.confirms(self.first.to_json()), anna.confirms(NONSENSE)),
            "confirmed": lambda: anna.confirmed(self.first),
            "about": lambda: anna.about(self.first),
            "sealed": lambda: anna.sealed(b"<html>another</html>", [self.first.journal_hash], ["people"]),
            "examine": lambda: anna.examine(self.sealed),
            "examine a changed one": lambda: anna.examine(self.sealed.replace(b"report", b"forged")),
            "renewed_at": lambda: anna.renewed_at,
            "version": lambda: (anna.version(), anna.version("people")),
            "mine": lambda: (anna.mine(), olga.mine()),
            "roles": lambda: olga.roles(),
            "statements": lambda: (olga.statements(), anna.statements("people")),
            "budgets": lambda: (anna.budgets(), olga.budgets()),
            "chargeable": lambda: anna.chargeable(),
            "budget": lambda: anna.budget("people"),
            "remaining": lambda: anna.remaining("people"),
            "terms": lambda: anna.terms("people"),
            "protects": lambda: anna.protects("people"),
            "was_mine": lambda: anna.was_mine("people"),
            "open_budget": self.opened,
            "share": lambda: olga.share(self.opened(), "anna" + ISSUER, "see"),
            "set_limit": lambda: olga.set_limit(self.opened(), 0.5),
            "rename": lambda: olga.rename(self.opened(), "Others"),
            "end_budget": lambda: olga.end_budget(self.opened()),
            "open_practice": lambda: anna.open_practice("anna" * 8, "clinic", epsilon=3.0),
            "reset_practice": lambda: anna.reset_practice(self.practice),
            "resize_practice": lambda: anna.resize_practice(self.practice, epsilon=2.0),
            "undo_reset": lambda: (anna.reset_practice(self.practice), anna.undo_reset(self.practice)),
            "may_begin": lambda: anna.may_begin(),
            "note_room": lambda: anna.note_room("room:none"),
            "new_lineage": lambda: anna.new_lineage(),
            "practice_lineage": lambda: anna.practice_lineage("anna" * 8, "clinic"),
            "room_lineage": lambda: anna.room_lineage("anna" * 8),
            "journal_path": lambda: anna.journal_path,
            "let_go": lambda: None,  # one in memory would be lost
        }


@pytest.fixture
def clicks() -> Iterator[Clicks]:
    with Ledger.open("sqlite://") as ledger:
        practised(ledger, "v" * 32, "of another")
        others(ledger, 0, 4)
        yield Clicks(ledger)


def walked(clicks: Clicks) -> set[str]:
    """The names of what walks through all of a table that grows with what everybody does."""
    found: set[str] = set()
    name = ""

    @event.listens_for(clicks.whole._store.engine, "before_cursor_execute")
    def explain(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE")) and not many:
            plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            scans = [step[3] for step in plan if step[3].startswith("SCAN ") and " INDEX " not in step[3]]
            whole = ("records", "decisions", "charged", "answers", "draws", "lineages", "accounts", "fingerprints")
            if FROM_THE_END not in statement.replace("\n", "") and any(scan.split()[1] in whole for scan in scans):
                found.add(name)

    for name, click in clicks.all().items():  # noqa: B007
        click()
    event.remove(clicks.whole._store.engine, "before_cursor_execute", explain)
    return found


def test_every_method_is_among_them(clicks: Clicks) -> None:
    ways = {name for name in vars(MembersLedger) if not name.startswith("_")} | SHARED
    assert ways == {name.split()[0] for name in clicks.all()} | AS_A_WHOLE | OF_FILES | REFUSED


def test_no_click_walks_through_all_records(clicks: Clicks) -> None:
    assert walked(clicks) == set()


class Before(datetime):
    """The time two days ago: what is written in a day is counted in each."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) - timedelta(days=2)


def crowded(ledger: Ledger, many: int) -> None:
    """So many others have practised, and asked an owner for answers about other people."""
    others(ledger, 0, many)
    ledger.give_roles("bert" + ISSUER, ["owner"])
    person(ledger, "bert").open_budget("of others", epsilon=1.0)
    askers = [person(ledger, name) for name in ("carl", "dora", "emil", "rosa")]
    for asker in askers:
        ledger.give_roles(asker._subject, ["analyst"])
        person(ledger, "bert").share("of others", asker._subject, "ask")
    for number in range(many):
        practised(ledger, f"{number:032}", f"practised {number}")
        asker = askers[number % len(askers)]
        asker.ask(f"of {number}", "of others", Cost.pure(0.1), "How many?", question="q")


def costs(many: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What each click costs beside so many others."""
    with Ledger.open("sqlite://") as ledger:
        with monkeypatch.context() as then:
            then.setattr(records, "datetime", Before)
            crowded(ledger, many)
        clicks = Clicks(ledger)
        return {name: steps(ledger, click) for name, click in clicks.all().items() if not name.endswith("of all")}


def longer(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What costs more than a little more where there are ten times as many others."""
    monkeypatch.setattr(daily, "NEAR", 10)
    few, many = costs(8, monkeypatch), costs(80, monkeypatch)
    return {name for name in few if many[name] > 1.1 * few[name]}


def named_in_any_words(connection: Connection, name: str, value: str) -> ColumnElement[bool]:
    return history.says(connection, f"{records.canonical(name)}:{records.canonical(value)}")


def among_all_requests(connection: Connection, subject: str) -> ColumnElement[bool]:
    return named_in_any_words(connection, "subject", subject)


@pytest.mark.thorough
def test_whatever_others_did_makes_no_click_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert longer(monkeypatch) == set()
    monkeypatch.setattr(approvals, "asked_by", among_all_requests)
    assert longer(monkeypatch) >= {"ask", "petitions"}, "or this test cannot fail"


def joined_by_any_words() -> FromClause:
    asked, decisions, charged = schema.records, approvals._DECISIONS, approvals._CHARGED
    decided = and_(decisions.c.request_id == asked.c.request_id, decisions.c.kind.in_(("grant", "refuse")))
    drawn = and_(charged.c.request_id == asked.c.request_id, charged.c.kind == "charge")
    return asked.outerjoin(decisions, decided).outerjoin(charged, drawn)


def of_every_lineage(connection: Connection, kind: Kind, lineage: str | None, *chosen: Any) -> list[Record]:
    query = select(schema.records).where(schema.records.c.kind == kind, *chosen).order_by(schema.records.c.seq)
    found = [Record(**row) for row in connection.execute(query).mappings()]
    return [one for one in found if lineage is None or one.lineage == lineage]


def of_any_words(table: FromClause, *kinds: str) -> ColumnElement[bool]:
    return table.c.kind.in_(kinds)


AS_BEFORE: dict[str, tuple[object, str, object, set[str]]] = {
    "decisions": (approvals, "_JOINED", joined_by_any_words(), {"ask", "grant", "refuse", "withdraw"}),
    "requests": (approvals, "asked_by", among_all_requests, {"ask"}),
    "all requests": (approvals, "ABOUT_PEOPLE", true(), {"petitions of all"}),
    "roles": (schema, "of_kind", of_any_words, {"roles"}),
    "the ledger's own": (history, "records", of_every_lineage, {"renewed_at", "examine a changed one"}),
    "names": (history, "named", named_in_any_words, {"ask", "charge", "needs_approval"}),
}


@pytest.mark.parametrize("which", AS_BEFORE)
def test_what_walks_through_all_is_found_out(which: str, clicks: Clicks, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, before, walks = AS_BEFORE[which]
    monkeypatch.setattr(where, name, before)
    assert walked(clicks) >= walks
