"""Rights that were taken away after the sources of a restored ledger were written are back, and that is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.ledger import Ledger, recovery
from dpcore.ledger.__main__ import main
from dpcore.ledger.recovery import LOST

ISSUER = " at https://login.example"
EVE, OLGA = "eve" + ISSUER, "olga" + ISSUER
TAKEN: dict[str, tuple[Callable[[Ledger], object], str, str]] = {
    # by kind of record: what takes it away, what the sentence calls it, and what the list of people shows of it then
    "role": (lambda ledger: ledger.give_roles(EVE, []), "roles", f"{EVE}: analyst"),
    "share": (lambda ledger: ledger.share("people", EVE, "none"), "shares", f"Patients [people]: ask: {EVE}"),
    "limit": (lambda ledger: ledger.set_limit("people", 0.1), "limits", "one person alone: ε = 0.9"),
    "close": (lambda ledger: ledger.end_budget("people"), "budgets that were closed", "closed on"),
}


def restored(folder: Path, capsys: pytest.CaptureFixture[str], *, journal: bool) -> tuple[str, str]:
    """What is said when a ledger comes back, and the list of people then; ``journal`` says that this is still there."""
    file = folder / "ledger.sqlite3"
    with Ledger.open(str(file)) as ledger:
        ledger.give_roles(EVE, ["analyst"])
        ledger.open_budget("people", epsilon=1.0, name="Patients")
        ledger.share("people", OLGA, "own")
        ledger.share("people", EVE, "ask")
        ledger.set_limit("people", 0.9)
    call = ["--ledger", str(file)]
    assert main([*call, "backup", str(folder / "backup")]) == 0
    with Ledger.open(str(file)) as ledger:
        for take, _, _ in TAKEN.values():
            take(ledger)
        assert {record.kind for record in ledger.records()[-len(TAKEN) :]} == set(TAKEN)
    for lost in [file, *folder.glob("*-wal"), *folder.glob("*-shm"), *([] if journal else folder.glob("*.journal*"))]:
        lost.unlink()
    capsys.readouterr()
    assert main([*call, "restore", str(folder / "backup"), *([] if journal else ["--new-journal"])]) == 0
    said = capsys.readouterr().out
    assert main([*call, "people"]) == 0
    return said, capsys.readouterr().out


def test_what_is_back_is_named_and_can_be_looked_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said, people = restored(tmp_path, capsys, journal=False)
    assert LOST in said
    for _, called, shown in TAKEN.values():
        assert called in LOST
        assert (shown in people) is (shown != "closed on")
    assert "`epsilon-lab ledger people`" in LOST


def test_where_the_journal_is_there_nothing_is_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said, people = restored(tmp_path, capsys, journal=True)
    assert LOST not in said
    for _, _, shown in TAKEN.values():
        assert (shown in people) is (shown == "closed on")


def test_a_sentence_about_spending_alone_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was."""
    older = "What was spent after these sources were written, if anything, is not in them."
    monkeypatch.setattr(recovery, "LOST", older)
    said, _ = restored(tmp_path, capsys, journal=False)
    assert older in said
    assert not [called for _, called, _ in TAKEN.values() if called in said]
