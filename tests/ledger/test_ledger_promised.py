"""Whom a budget protects is said when it is opened, on the record, and no charge makes it another's promise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory

from dpcore.costs import Cost
from dpcore.errors import ApprovalNeeded, InvalidArgument, LedgerUnsound, NotAllowed
from dpcore.ledger import Ledger, engine, migrations, safeguards, terms, verify
from dpcore.ledger.__main__ import main
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.records import Kind, Record, next_record
from dpcore.ledger.recovery import restore
from dpcore.ledger.verify import replayed
from tests.ledger.conftest import Place
from tests.ledger.patients import ISSUER, person

SMALL = Cost.pure(0.1)


def charged(ledger: Ledger, request_id: str, unit: str, lineage: str = "people") -> str:
    """Why a charge that protects one such unit was refused; empty where it was made."""
    try:
        ledger.charge(request_id, lineage, SMALL, "?", unit=unit)
    except NotAllowed as refused:
        return str(refused)
    return ""


def by_first_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was before: nothing that an opening says counts."""
    monkeypatch.setattr(terms, "promised", lambda connection, lineage: "")


@pytest.mark.parametrize(("opened", "other", "same"), [("person", "visit", ""), ("patient", "", "patient")])
def test_the_first_charge_and_all_later_ones_keep_to_what_was_said_at_the_opening(
    place: Place, opened: str, other: str, same: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0, unit=opened)
        assert ledger.records()[-1].content["unit"] == opened
        assert ledger.protects("people") == opened, "before anything is charged"
        assert f"protects one {opened}, and this answer would protect one {other or 'person'}" in charged(
            ledger, "first", other
        )
        assert ledger.budget("people").share_spent == 0.0
        assert charged(ledger, "second", same) == ""
        assert charged(ledger, "third", other) != ""
    with place.open() as again, place.open() as elsewhere:
        for one in (again, elsewhere):
            assert one.protects("people") == opened
            assert charged(one, "fourth", other) != ""
            assert one.verify().strayed == 0
        again.open_budget("found", epsilon=1.0, unit=opened)
        by_first_charge(monkeypatch)
        assert charged(again, "fifth", other, "found") == "", "as whoever came first decided before"


def test_an_opening_says_it_once(ledger: Ledger) -> None:
    first = ledger.open_budget("people", epsilon=1.0, unit="patient")
    for unit in ("patient", ""):
        assert ledger.open_budget("people", epsilon=1.0, unit=unit) == first
    with pytest.raises(InvalidArgument, match="has a budget already"):
        ledger.open_budget("people", epsilon=1.0, unit="visit")
    for wrong in (" ", "x" * 201, "a\nb"):
        with pytest.raises(InvalidArgument, match="unit"):
            ledger.open_budget("other", epsilon=1.0, unit=wrong)
    with pytest.raises(InvalidArgument, match="unit"):
        ledger.open_budget("practice", epsilon=1.0, practice=True, unit="visit")
    assert [one.kind for one in ledger.records()] == ["open"]


def test_a_budget_that_was_opened_without_a_unit_goes_on_as_before(ledger: Ledger) -> None:
    """Its first charge decides; a source that says whom it protects, as it is configured, changes nothing of that, and
    is told where it is another."""
    for lineage in ("new", "begun", "of visits"):
        ledger.open_budget(lineage, epsilon=1.0)
    assert charged(ledger, "p", "", "begun") == ""
    assert charged(ledger, "v", "visit", "of visits") == ""
    before = ledger.records()
    for lineage in ("new", "begun"):
        ledger.open_budget(lineage, epsilon=1.0, unit="person")
    for lineage, unit in (("of visits", "person"), ("begun", "visit")):
        for _ in range(2):
            with pytest.raises(InvalidArgument, match="has a budget already, which protects one"):
                ledger.open_budget(lineage, epsilon=1.0, unit=unit)
    ledger.open_budget("of visits", epsilon=1.0)
    ledger.open_budget("of visits", epsilon=1.0, unit="visit")
    assert ledger.records() == before
    assert [ledger.protects(one) for one in ("new", "begun", "of visits")] == [None, "person", "visit"]
    assert charged(ledger, "more", "visit", "of visits") == ""
    assert charged(ledger, "other", "visit", "begun") != ""
    assert charged(ledger, "first", "visit", "new") == ""


@pytest.fixture
def shared(place: Place) -> Iterator[tuple[Ledger, MembersLedger, MembersLedger]]:
    """The ledger, Olga's budget of persons with a limit, and Anna, who may ask from it."""
    with place.open() as ledger:
        ledger.give_roles("olga" + ISSUER, ["owner"])
        ledger.give_roles("anna" + ISSUER, ["analyst"])
        olga, anna = person(ledger, "olga"), person(ledger, "anna")
        olga.open_budget("people", epsilon=2.0, unit="person")
        olga.share("people", "anna" + ISSUER, "ask")
        olga.set_limit("people", 0.2)
        yield ledger, olga, anna
        ledger.verify()


def test_whom_a_budget_is_shared_with_makes_it_nobody_else_s(
    shared: tuple[Ledger, MembersLedger, MembersLedger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a small charge, for which nobody is asked, nor by a request."""
    ledger, olga, anna = shared
    assert anna.protects("people") == olga.protects("people") == "person"
    assert charged(anna, "small", "visit") != ""
    with pytest.raises(NotAllowed, match="protects one person"):
        anna.ask("large", "people", Cost.pure(0.5), "?", unit="visit")
    assert {one.kind for one in ledger.records()} == {"role", "open", "share", "limit"}
    with monkeypatch.context() as before:
        by_first_charge(before)  # a request that a program of before took
        ledger._store.protects.clear()
        anna.ask("large", "people", Cost.pure(0.5), "?", unit="visit")
    with pytest.raises(NotAllowed, match="protects one person"):
        olga.grant("large")
    anna.ask("right", "people", Cost.pure(0.5), "?")
    with pytest.raises(ApprovalNeeded):
        anna.charge("right", "people", Cost.pure(0.5), "?")
    olga.grant("right")
    assert anna.charge("right", "people", Cost.pure(0.5), "?").granted_by == "olga" + ISSUER


def test_it_comes_back_with_the_spending(place: Place, new_place: Callable[[], Place], tmp_path: Path) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0, unit="patient")
        ledger.backup(tmp_path / "backup")
    place.lose()
    back = new_place()
    restore(back.url, source=tmp_path / "backup", journal=back.journal, new_journal=True)
    with back.open() as ledger:
        assert ledger.protects("people") == "patient"
        assert charged(ledger, "first", "") != ""


# -- programs of other versions ----------------------------------------------------------------------------------------


INDEXES_SINCE = {
    "fingerprints index ( lineage )",
    "records index ( substr ( body , 1 , 400 ) ) WHERE ( kind = 'link' )",
    *(f"records index ( seq ) WHERE ( kind = '{kind}' )" for kind in ("link", "others", "role")),
    *(one for one in safeguards.WANTED if one.startswith("records index") and "strpos ( body ," in one),
}
TABLES_BEFORE = "10a2283ea4513c23eaa2d22062116cec15bbc30c281c82a50988fb6e7f447978"
"""What a file's tables were before these (``verify.SQLITE_FORMS``)."""


def of_before(then: pytest.MonkeyPatch) -> None:
    """A program whose newest form is the one before openings said whom a budget protects."""
    every = ScriptDirectory.walk_revisions
    for module in (engine, migrations):
        then.setattr(module, "NEWEST", "0007")
    assert safeguards.WANTED >= INDEXES_SINCE
    then.setattr(safeguards, "WANTED", safeguards.WANTED - INDEXES_SINCE)
    in_bytes = "'pg_catalog.\"C\"'::regcollation"
    assert in_bytes in safeguards._ALL
    then.setattr(safeguards, "_ALL", safeguards._ALL.replace(in_bytes, "y.typcollation"))
    then.setattr(verify, "SQLITE_SAFEGUARDS", TABLES_BEFORE)
    then.setattr(ScriptDirectory, "walk_revisions", lambda self: [one for one in every(self) if one.revision <= "0007"])


def test_a_program_that_would_not_keep_it_does_not_open_the_ledger(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take the first charge for it. A ledger of before is brought forward with all that it holds."""
    with monkeypatch.context() as then:
        of_before(then)
        with place.open() as older:
            older.open_budget("people", epsilon=1.0)
            kept = older.charge("r", "people", SMALL, "?", unit="visit").to_json()
            before = older.records()
        place.open().close()  # of one form it opens as often as it likes
    with place.open() as now:
        assert now.records() == before
        assert now.confirms(kept)
        assert now.protects("people") == "visit"
    of_before(monkeypatch)
    with pytest.raises(LedgerUnsound, match="newer version"):
        place.open()


def followed(chain: list[Record], kind: Kind, lineage: str, body: dict[str, Any]) -> list[Record]:
    last = chain[-1]
    added = next_record(last.seq + 1, last.hash, kind, lineage=lineage, body=body)
    return [*chain, added]


def test_what_a_program_of_before_charged_meanwhile_is_told_and_closes_nothing(
    sqlite_place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ran on while another brought the ledger forward. What is spent stays spent."""
    with sqlite_place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0, unit="person")
        with monkeypatch.context() as before:
            by_first_charge(before)
            assert charged(ledger, "stray", "visit") == ""
        ledger._store.protects.clear()
        assert ledger.protects("people") == "person", "the opening counts, not what came first"
        assert charged(ledger, "more", "visit") != ""
        assert charged(ledger, "right", "") == ""
        assert ledger.verify().strayed == 1
    for command in ("status", "verify"):
        assert main(["--ledger", str(sqlite_place.database), command]) == 0
        assert "1 of the charges protect others than their budget was opened for" in capsys.readouterr().out


def test_an_opening_that_says_nothing_sensible_makes_a_chain_unsound(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=1.0, unit="person")
    (record,) = chain = ledger.records()
    replayed(followed(chain, "open", "more", record.content))
    for wrong in ({"unit": ""}, {"unit": 5}, {"practice": 1}):
        with pytest.raises(LedgerUnsound):
            replayed(followed(chain, "open", "more", {**record.content, **wrong}))
