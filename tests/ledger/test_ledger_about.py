"""Whose data a receipt is about is said wherever it is confirmed, and no budget's name to who may not see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.costs import Cost
from dpcore.errors import UnknownLineage
from dpcore.ledger import Ledger, Receipt, about
from dpcore.ledger.__main__ import main
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from dpcore.ledger.visitor import VisitorsLedger
from tests.ledger.conftest import Place

TOKEN, OTHERS = "a" * 32, "b" * 32
WARD = "Ward of the infected"
KINDS = {
    Ledger.practice_lineage(TOKEN, "clinic"): "practice about the sample “clinic”, which is open to everybody",
    Ledger.practice_lineage(TOKEN, "a:b"): "practice about the sample “a:b”, which is open to everybody",
    "of my own": about.NO_SAMPLE,
    Ledger.room_lineage(TOKEN): about.ROOM,
    "people-1": about.PEOPLE,
    "configured:clinic": about.PEOPLE,
    "practice:clinic:0": about.PEOPLE,  # whatever it was called before names were kept: its budget says that it is none
}


def drawn(ledger: Ledger, lineage: str, practice: bool) -> Receipt:
    ledger.open_budget(lineage, epsilon=3.0, name=WARD, practice=practice)
    ledger.charge(lineage[-40:], lineage, Cost.pure(0.5), "Which is most common?", question="q")
    return ledger.store_answer(lineage[-40:], {"option": "Knee pain"})


@pytest.fixture(autouse=True)
def before_names_were_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "_must_be_free", lambda *_, **__: None)


@pytest.fixture
def receipts(ledger: Ledger) -> dict[str, Receipt]:
    return {lineage: drawn(ledger, lineage, "practice" in told) for lineage, told in KINDS.items()}


@pytest.fixture
def views(ledger: Ledger) -> list[Ledger]:
    """The owner's view, a stranger's, and that of a person with whom nothing is shared."""
    return [ledger, VisitorsLedger(ledger, OTHERS), MembersLedger(ledger, Person(subject="mallory"), OTHERS)]


def test_whoever_confirms_is_told_whose_data_it_is_about(receipts: dict[str, Receipt], views: list[Ledger]) -> None:
    for view in views:
        for lineage, told in KINDS.items():
            found = view.confirmed(receipts[lineage].to_json())
            assert found is not None
            assert view.about(found) == told
            assert WARD not in told


def test_a_name_that_was_guessed_is_told_nothing(receipts: dict[str, Receipt], views: list[Ledger]) -> None:
    known = receipts["configured:clinic"]
    for view in views:
        assert view.about(replace(known, journal_hash="0" * 64)) == ""
        assert view.about(replace(known, request_id="another")) == ""
        assert view.about(replace(known, lineage="of my own")) == about.PEOPLE, "as the journal has it"
    for view in views[1:]:
        with pytest.raises(UnknownLineage):
            view.budget("configured:clinic")


def test_practice_before_a_reset_is_practice(ledger: Ledger, receipts: dict[str, Receipt]) -> None:
    lineage = next(iter(KINDS))
    ledger.reset_practice(lineage)
    assert ledger.about(receipts[lineage]) == KINDS[lineage]


def said(place: Place, tmp_path: Path, receipt: Receipt, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "receipt.json").write_text(receipt.to_json(), encoding="utf-8")
    assert (
        main(["--ledger", place.url, "--journal", str(place.journal), "confirm", str(tmp_path / "receipt.json")]) == 0
    )
    return capsys.readouterr().out


def test_the_command_says_it(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.open() as ledger:
        receipts = {told: drawn(ledger, lineage, "practice" in told) for lineage, told in KINDS.items()}
    assert all(f"It is about {told}." in said(place, tmp_path, one, capsys) for told, one in receipts.items())
    # a mutant: by the beginning of a budget's name alone
    monkeypatch.setattr(about, "told", lambda lineage, practice: "practice" if lineage.startswith("practice:") else "")
    assert "about practice" in said(place, tmp_path, receipts[about.PEOPLE], capsys)
