"""A check of a running ledger finds whatever became of its journal beneath it: what it reads is compared with what the
database has and this process wrote, never with the same file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger
from dpcore.ledger import store as stores
from dpcore.ledger.journal import BEHIND, DAMAGED, NO_JOURNAL, Journal, whole
from dpcore.ledger.records import Record, next_record
from dpcore.ledger.store import Store, put
from dpcore.ledger.verify import BROKEN_CHAIN
from tests.ledger.conftest import Place


def written(place: Place, epsilon: float = 0.1) -> Ledger:
    ledger = place.open()
    ledger.open_budget("people", epsilon=10.0)
    for number in range(3):
        ledger.charge(f"r{number}", "people", Cost.pure(epsilon), "?")
    return ledger


def another_history(new_place: Callable[[], Place], journal: bytes) -> bytes:
    other = new_place()
    written(other, 0.2).close()
    return other.journal.read_bytes()


Change = Callable[[Callable[[], Place], bytes], bytes]
CHANGES: dict[str, tuple[Change, str]] = {
    "another history": (another_history, BEHIND),
    "the beginning of another": (lambda new_place, was: cut(another_history(new_place, was)), DAMAGED),
    "the last line does not end": (lambda _, was: was[:-1] + b" ", DAMAGED),
    "the last lines are zeros": (lambda _, was: cut(was), DAMAGED),
    "no line ends": (lambda _, was: was.replace(b"\n", b" "), NO_JOURNAL),
    "a digit": (lambda _, was: was.replace(b'"seq":2', b'"seq":3'), DAMAGED),
}


def cut(journal: bytes) -> bytes:
    """As many bytes, of which the last lines are zeros."""
    left = journal[: journal.index(b"\n", len(journal) // 2) + 1]
    return left.ljust(len(journal), b"\0")


@pytest.mark.parametrize("what", CHANGES)
def test_a_journal_that_is_another_beneath_a_program_is_found_by_its_check(
    what: str, new_place: Callable[[], Place]
) -> None:
    change, said = CHANGES[what]
    place = new_place()
    with written(place) as ledger:
        assert ledger.verify().seq == 4
        before = place.journal.read_bytes()
        place.journal.write_bytes(changed := change(new_place, before))
        assert (len(changed), changed != before) == (len(before), True)
        with pytest.raises(LedgerUnsound) as refused:
            ledger.verify()
        assert str(refused.value) == said
        with pytest.raises(LedgerUnsound):
            ledger.charge("more", "people", Cost.pure(0.1), "?")
    assert place.journal.read_bytes() == changed, "and nothing is written there"


def test_what_other_programs_wrote_is_no_such_change(new_place: Callable[[], Place]) -> None:
    place = new_place()
    with written(place) as ledger, place.open() as beside:
        beside.charge("beside", "people", Cost.pure(0.1), "?")
        assert (ledger.verify().seq, beside.verify().seq) == (5, 5)


def test_these_tests_can_fail(new_place: Callable[[], Place], monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the journal is compared with nothing."""

    class Trusted(Journal):
        def read_on(self, each: Callable[[Record], None] | None = None) -> None:
            super().read_on(each)
            self.seq = max(self.seq, 4)

    for what in CHANGES.keys() - {"a digit"}:
        with written(place := new_place()) as ledger, monkeypatch.context() as patch:
            place.journal.write_bytes(CHANGES[what][0](new_place, place.journal.read_bytes()))
            patch.setattr(Store, "_is_beginning", lambda *_: True)
            patch.setattr(stores, "Journal", Trusted)
            assert ledger.verify().seq == 4


SPOILED = {
    "what it says": {"body": '{"name":"Mine"}'},
    "of whom": {"lineage": "others"},
    "when": {"time": "2020-01-01T00:00:00.000Z"},
    "its hash": {"hash": "a" * 64},
    "its place": {"previous": "a" * 64},
}


def spoil(ledger: Ledger, **change: Any) -> None:
    """The database has one record more than the journal here, which was changed since another program wrote it."""
    store, journal = ledger._store, ledger._store.journal
    assert journal is not None
    last = next_record(journal.seq + 1, journal.hash, "rename", lineage="people", body={"name": "Hers"})
    with store.engine.begin() as connection:
        put(connection, replace(last, **change))


@pytest.mark.parametrize("what", SPOILED)
def test_a_record_that_was_changed_is_not_written_into_the_journal(what: str, place: Place) -> None:
    """The journal is what a damaged database is brought back from: with that line in it neither could be read."""
    with written(place) as ledger:
        spoil(ledger, **SPOILED[what])
        before = place.journal.read_bytes()
        with pytest.raises(LedgerUnsound) as refused:
            ledger.charge("more", "people", Cost.pure(0.1), "?")
        assert str(refused.value) in (BROKEN_CHAIN, BEHIND)
    assert place.journal.read_bytes() == before
    assert len(whole(place.journal)) == 4, "nor anything else"


def test_it_was_written_there(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the test above can fail."""
    with written(place) as ledger, monkeypatch.context() as patch:
        spoil(ledger, **SPOILED["what it says"])
        patch.setattr(Record, "is_intact", lambda _: True)
        ledger.charge("more", "people", Cost.pure(0.1), "?")
    with pytest.raises(LedgerUnsound):
        whole(place.journal)
