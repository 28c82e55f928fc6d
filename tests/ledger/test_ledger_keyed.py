"""A key file that is not there, or is another's, beside a ledger with records: closed, and a way on that is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.private_postgresql import PrivateServer
from dashboard.words import report as words
from dpcore.errors import KnownPeople, LedgerUnsound
from dpcore.ledger import Ledger, keyed, store
from dpcore.ledger import key as keys
from dpcore.ledger import place as places
from dpcore.ledger.__main__ import main
from dpcore.ledger.people import Brought
from dpcore.ledger.recovery import NEW_KEY, restore
from dpcore.sketches import Sketch
from tests.ledger.conftest import Place


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config" / "ledger.key"
    monkeypatch.setenv("EPSILON_LAB_KEY", str(path))
    return path


def filled(place: Place, sketch: Sketch | None = None) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0, file=Brought(fingerprint="file", sketch=sketch))


def second(ledger: Ledger) -> None:
    ledger.open_budget("again", epsilon=1.0, file=Brought(fingerprint="file"))


def unmounted(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key.rename(key.with_suffix(".away"))


def mistyped(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(key.with_name("ledger.kei")))


def of_another_server(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = key.with_name("other.key")
    keys.made(other)
    monkeypatch.setenv("EPSILON_LAB_KEY", str(other))


WAYS = [unmounted, mistyped, of_another_server]


@pytest.mark.parametrize("gone", WAYS)
def test_without_its_key_a_ledger_stays_closed_and_no_key_is_made(
    place: Place, key: Path, monkeypatch: pytest.MonkeyPatch, gone: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    filled(place)
    before = place.journal.read_bytes()
    gone(key, monkeypatch)
    files = sorted(path for path in key.parent.iterdir() if path.suffix != ".lock")
    said = keys.ANOTHER if gone is of_another_server else keys.LOST
    for _ in range(2):  # the first try makes none for the second
        with pytest.raises(LedgerUnsound) as refused:
            place.open()
        assert str(refused.value) == said
    with pytest.raises(LedgerUnsound) as refused:
        restore(place.url, journal=place.journal)
    assert str(refused.value) == said
    assert main(["--ledger", place.url, "--journal", str(place.journal), "status"]) == 1
    assert sorted(path for path in key.parent.iterdir() if path.suffix != ".lock") == files
    assert place.journal.read_bytes() == before
    if gone is unmounted:
        key.with_suffix(".away").rename(key)
    monkeypatch.setenv("EPSILON_LAB_KEY", str(key))
    with place.open() as ledger, pytest.raises(KnownPeople):
        second(ledger)


@pytest.mark.parametrize("gone", WAYS)
def test_whoever_lost_the_key_goes_on_knowingly_and_on_the_record(
    place: Place, key: Path, monkeypatch: pytest.MonkeyPatch, gone: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    filled(place)
    gone(key, monkeypatch)
    assert NEW_KEY in restore(place.url, journal=place.journal, new_key=True)
    for _ in range(2):
        with place.open() as ledger:
            assert [record.content["key"] for record in ledger.records() if record.kind == "restore"] != []
            assert ledger.similar("file", among=["people"]) == []
            assert ledger.remaining("people").epsilon == 1.0
            ledger.verify()
    with place.open() as ledger:
        second(ledger)
        assert [one.name for one in ledger.similar("file", among=["again"])] == ["again"]


def test_a_report_from_before_the_key_was_lost_is_told_so(
    sqlite_place: Place, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever showed a genuine one was told that it was changed; of a ledger that kept its key nothing else is said."""
    filled(sqlite_place)
    report = tmp_path / "report.html"
    with sqlite_place.open() as ledger:
        report.write_bytes(ledger.sealed(b"<!doctype html><p>an answer</p>\n"))
        (tmp_path / "changed.html").write_bytes(report.read_bytes().replace(b"answer", b"Answer"))
        assert ledger.examine((tmp_path / "changed.html").read_bytes()).since == ""
        assert ledger.examine(report.read_bytes()).unchanged
    key.unlink()
    said = " ".join(restore(sqlite_place.url, new_key=True))
    assert "reports and back-ups from before" in said
    with sqlite_place.open() as ledger:
        today = next(record.time for record in ledger.records() if record.kind == "restore")
        assert ledger.examine(report.read_bytes()).since == today
        assert ledger.examine(ledger.sealed(b"<!doctype html><p>new</p>\n")).since == ""
    assert main(["--ledger", str(sqlite_place.database), "confirm", str(report)]) == 1
    assert f"or was made before {today[:10]}, when this one's key was lost" in capsys.readouterr().err
    assert f"made before {today[:10]}, when" in words.examined(False, [], [], sees_all=True, since=today)


def test_a_key_that_was_given_up_comes_back_knowingly_too(
    sqlite_place: Place, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that were brought since are not known by it."""
    filled(sqlite_place)
    of_another_server(key, monkeypatch)
    restore(sqlite_place.url, new_key=True)
    monkeypatch.setenv("EPSILON_LAB_KEY", str(key))
    with pytest.raises(LedgerUnsound) as refused:
        sqlite_place.open()
    assert str(refused.value) == keys.ANOTHER
    assert NEW_KEY in restore(sqlite_place.url, new_key=True)
    with sqlite_place.open() as ledger, pytest.raises(KnownPeople):
        second(ledger)


@pytest.mark.parametrize("source", [None, "backup"])
def test_whoever_lost_the_key_with_the_disk_of_the_database_goes_on_too(
    sqlite_place: Place, key: Path, tmp_path: Path, source: str | None
) -> None:
    """The way out itself said that it had to be taken."""
    filled(sqlite_place)
    with sqlite_place.open() as ledger:
        ledger.backup(tmp_path / "backup")
    assert sqlite_place.database is not None
    for ending in ("-wal", "-shm"):
        sqlite_place.database.with_name(sqlite_place.database.name + ending).unlink(missing_ok=True)
    sqlite_place.database.write_bytes(b"rubbish" * 1000)
    key.unlink()
    given = None if source is None else tmp_path / source
    with pytest.raises(LedgerUnsound) as refused:
        restore(sqlite_place.url, source=given)
    assert str(refused.value) == keys.LOST
    assert NEW_KEY in restore(sqlite_place.url, source=given, new_key=True, unmarked=True)
    with sqlite_place.open() as ledger:
        assert ledger.remaining("people").epsilon == 1.0


def test_with_the_right_key_nothing_is_taken_anew(sqlite_place: Place, key: Path) -> None:
    filled(sqlite_place)
    before = key.read_bytes()
    assert NEW_KEY not in restore(sqlite_place.url, new_key=True)
    assert key.read_bytes() == before
    with sqlite_place.open() as ledger, pytest.raises(KnownPeople):
        second(ledger)


def test_a_ledger_without_a_record_needs_no_key(place: Place, key: Path) -> None:
    place.open().close()
    key.unlink()
    filled(place)


def test_a_link_of_an_earlier_version_tells_nothing_of_a_key(
    sqlite_place: Place, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It kept sketches plain, or none; the key file that is there is taken for the right one, as before."""
    monkeypatch.setattr(keys.Key, "sealed", lambda self, purpose, text: text)
    monkeypatch.setattr("dpcore.ledger.people.SEALED", "")
    filled(sqlite_place)
    sqlite_place.open().close()
    key.unlink()
    with pytest.raises(LedgerUnsound, match="key file is not there"):
        sqlite_place.open()


@pytest.mark.parametrize("gone", WAYS)
def test_a_key_that_is_taken_in_silence_gives_the_same_file_a_second_budget(
    sqlite_place: Place,
    key: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    """A mutant that makes what is missing: what the tests above are there to find."""
    filled(sqlite_place)
    gone(key, monkeypatch)
    monkeypatch.setattr(store, "key_of", lambda where, engine: where.made_key())
    monkeypatch.setattr(keyed, "check", lambda connection, key: None)
    with sqlite_place.open() as ledger:
        second(ledger)
        assert ledger.remaining("again").epsilon == 1.0


@pytest.mark.parametrize("checked", [True, False])
def test_of_two_that_came_to_an_empty_ledger_one_key_alone_knows_its_files(
    place: Place, key: Path, monkeypatch: pytest.MonkeyPatch, checked: bool
) -> None:
    """Each made a key, and the very same file had a budget by each of them, also after restarts."""
    if not checked:  # what the check is there to find
        monkeypatch.setattr(keyed, "check", lambda connection, key: None)
    with place.open() as one:
        monkeypatch.setenv("EPSILON_LAB_KEY", str(key.with_name("second.key")))
        with place.open() as other:
            one.open_budget("people", epsilon=1.0, file=Brought(fingerprint="file"))
            if not checked:
                second(other)
                return
            with pytest.raises(LedgerUnsound) as refused:
                second(other)
            assert str(refused.value) == keys.ANOTHER
            assert {budget.lineage for budget in one.chargeable()} == {"people"}, "none was opened for it"


def test_a_server_that_runs_notes_no_file_by_a_key_that_was_given_up(
    place: Place, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place)
    with place.open() as running:
        monkeypatch.setenv("EPSILON_LAB_KEY", str(key.with_name("new.key")))
        restore(place.url, journal=place.journal, new_key=True)
        with pytest.raises(LedgerUnsound) as refused:
            running.open_budget("later", epsilon=1.0, file=Brought(fingerprint="another"))
        assert str(refused.value) == keys.ANOTHER


def moved(key: Path) -> None:
    key.rename(key.with_suffix(".away"))


def replaced(key: Path) -> None:
    moved(key)
    keys.made(key)


@pytest.mark.parametrize("gone", [moved, replaced])
@pytest.mark.parametrize("looks", ["before the first record", "when it is noted", "never"])
def test_a_server_that_came_to_an_empty_ledger_makes_no_key_when_its_own_goes_away(
    server: PrivateServer,
    tmp_path: Path,
    key: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: Callable[[Path], None],
    looks: str,
) -> None:
    """It made one for the first record's sake, and linked files by a secret that no file held any more."""
    if looks != "before the first record":
        monkeypatch.setattr(places.Place, "must_hold", lambda place, key: None)
    if looks == "never":
        monkeypatch.setattr(keys, "held", lambda path, key: keys.load(path) or keys.fresh())
    place = Place(url=server.new_schema(), journal=tmp_path / "ledger.journal", database=None)
    ledger = place.open()
    gone(key)
    before = key.read_bytes() if key.exists() else None
    if looks == "never":
        second(ledger)
        assert key.read_bytes() != before, "else this would show nothing"
    else:
        with pytest.raises(LedgerUnsound) as refused:
            second(ledger)
        assert str(refused.value) == (keys.LOST if gone is moved else keys.ANOTHER)
        assert (key.read_bytes() if key.exists() else None) == before
    ledger.close()
    if looks != "never":
        key.with_suffix(".away").replace(key)
        with place.open() as again:
            assert bool(again.budgets()) is (looks == "when it is noted")
            again.verify()
