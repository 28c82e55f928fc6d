"""A machine that dies may have written any pages of what the journal was given last and not the others, which are zeros
then: the database has all of it, so the ledger goes on, and where the database lacks any of it, stays closed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpcore.costs import Cost
from dpcore.errors import LedgerUnsound
from dpcore.ledger import Ledger, chains
from dpcore.ledger.journal import Journal
from dpcore.ledger.key import fresh
from dpcore.ledger.recovery import restore
from tests.ledger.conftest import Place

PAGE = 512
"""Of the smallest disks; larger ones have several of it."""
TORN: dict[str, Callable[[list[int]], list[int]]] = {
    "the first": lambda pages: pages[:1],
    "one within": lambda pages: pages[1:2],
    "all but the first": lambda pages: pages[1:],
    "all but the last": lambda pages: pages[:-1],
    "every second": lambda pages: pages[::2],
    "every other": lambda pages: pages[1::2],
    "all": lambda pages: pages,
}
"""Which pages are zeros, of those that were written last."""


def torn(journal: Path, start: int, how: str) -> None:
    data = bytearray(journal.read_bytes())
    for page in TORN[how](sorted({at // PAGE for at in range(start, len(data))})):
        begin, end = max(page * PAGE, start), min((page + 1) * PAGE, len(data))
        data[begin:end] = bytes(end - begin)
    journal.write_bytes(data)


def charged(ledger: Ledger, number: int) -> None:
    """A record of a line of some pages."""
    ledger.charge(f"r{number}", "people", Cost.pure(0.1), "?", question="why " * 500)


class Written:
    """A ledger whose journal was given so many lines last, and where in it they begin."""

    def __init__(self, place: Place, lines: int) -> None:
        self.place = place
        with place.open() as ledger:
            ledger.open_budget("people", epsilon=10.0)
            charged(ledger, 0)
            self.start = place.journal.stat().st_size
            assert place.database is not None
            self.before = Path(shutil.copyfile(place.database, place.database.with_name("before")))
            for number in range(lines):
                charged(ledger, number + 1)
            self.records = ledger.records()

    def set_back(self) -> None:
        """The database as it was before."""
        assert self.place.database is not None
        shutil.copyfile(self.before, self.place.database)


@pytest.fixture(params=[1, 3], ids=["a line", "several"])
def written(request: pytest.FixtureRequest, sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    assert sqlite_place.database is not None
    monkeypatch.setenv("EPSILON_LAB_KEY", str(sqlite_place.database.with_name("key")))
    return Written(sqlite_place, request.param)


def run_on(place: Place) -> None:
    with place.open() as ledger:
        ledger.verify()


def restored(place: Place) -> None:
    said = restore(place.url, journal=place.journal)
    assert not any("set aside" in one for one in said), "nothing is damaged"


@pytest.mark.parametrize("way", [run_on, restored])
@pytest.mark.parametrize("how", TORN)
def test_whichever_pages_are_not_there_the_ledger_goes_on(
    how: str, way: Callable[[Place], None], written: Written
) -> None:
    torn(written.place.journal, written.start, how)
    way(written.place)
    lines = written.place.journal.read_text(encoding="ascii").splitlines()
    assert lines == [one.line() for one in written.records]


@pytest.mark.parametrize("how", [how for how in TORN if how != "all"])
def test_what_the_database_lacks_of_it_closes_the_ledger(how: str, written: Written) -> None:
    """Zeros alone say nothing; nor does ``restore`` leave out what the journal says without being asked to."""
    torn(written.place.journal, written.start, how)
    left = written.place.journal.read_bytes()
    written.set_back()
    with pytest.raises(LedgerUnsound):
        run_on(written.place)
    with pytest.raises(LedgerUnsound, match="is damaged"):
        restored(written.place)
    assert written.place.journal.read_bytes() == left


def test_anything_else_than_zeros_closes_it(written: Written) -> None:
    torn(written.place.journal, written.start, "one within")
    data = bytearray(written.place.journal.read_bytes())
    for at in (written.start, data.index(0) - 1, len(data) - 2):
        written.place.journal.write_bytes(data[:at] + b"?" + data[at + 1 :])
        for way in (run_on, restored):
            with pytest.raises(LedgerUnsound, match="is damaged"):
                way(written.place)


def strict(patch: pytest.MonkeyPatch) -> None:
    """As it was: a line that ends is a record."""
    patch.setattr("dpcore.ledger.journal._is_torn", lambda raw: not raw.endswith(b"\n"))


def trusting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Journal, "ends_before", lambda self, records: True)


def test_these_tests_can_fail(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        strict(patch)
        with pytest.raises(LedgerUnsound, match="is damaged"):
            test_whichever_pages_are_not_there_the_ledger_goes_on("the first", run_on, written)
    trusting(monkeypatch)
    with pytest.raises(pytest.fail.Exception):
        test_anything_else_than_zeros_closes_it(written)


def test_without_the_look_a_restore_forgets_what_the_journal_began_to_say(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was."""
    monkeypatch.setattr(chains, "is_left_of", lambda *_: True)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_what_the_database_lacks_of_it_closes_the_ledger("all but the first", written)


def test_nor_is_a_journal_whole_at_another_address(written: Written) -> None:
    """Where the back-up that it goes on from does not have the rest either."""
    torn(written.place.journal, written.start, "all but the first")
    cut = written.place.journal.read_bytes()[: written.start + 100]
    written.place.journal.write_bytes(cut)
    key, many = fresh(), len(cut[: written.start].splitlines())
    for given, whole in ((written.records[:1], False), (written.records[:many], False), (written.records, True)):
        found = chains.from_journals([written.place.journal], given, key)
        assert found == (written.records[:many], whole)
