"""A ledger that is not where it should be, its key, its files and its clock: closed, or noticed, never in silence."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dpcore.accounting import Cost
from dpcore.ledger import Ledger, LedgerError, LedgerUnsound, records
from dpcore.ledger import key as keys
from dpcore.ledger import place as place_of_ledgers
from dpcore.ledger.__main__ import main
from dpcore.ledger.place import Place as Where
from dpcore.ledger.recovery import NEW_KEY, restore
from tests.ledger.conftest import Place

GONE = "no ledger at the place where it should be"


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A server that has no key yet."""
    path = tmp_path / "config" / "ledger.key"
    monkeypatch.setenv("EPSILON_LAB_KEY", str(path))
    return path


def filled(place: Place) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.75), "?")


def lose(place: Place) -> None:
    """Both files gone, as when a disk is not mounted."""
    assert place.database is not None
    for path in place.database.parent.glob(place.database.name + "*"):
        path.unlink()


def test_a_first_start_makes_ledger_and_key(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EPSILON_LAB_LEDGER", raising=False)
    Ledger.open().close()
    assert (tmp_path / "home" / "epsilon-lab" / "ledger.sqlite3").is_file()
    assert key.is_file()
    assert (tmp_path / "home") not in key.parents, "the secret is not kept with the ledger"
    shutil.rmtree(tmp_path / "home")
    with pytest.raises(LedgerUnsound, match=GONE):
        Ledger.open()
    assert not (tmp_path / "home").exists()


def test_a_ledger_that_this_server_has_had_is_never_made_anew_in_silence(sqlite_place: Place, key: Path) -> None:
    filled(sqlite_place)
    backup = sqlite_place.journal.with_name("backup")
    with sqlite_place.open() as ledger:
        ledger.backup(backup)
    kept = backup.read_bytes()
    lose(sqlite_place)
    for _ in range(2):
        with pytest.raises(LedgerUnsound, match=GONE):
            sqlite_place.open()
    assert not sqlite_place.database.exists()
    backup.write_bytes(kept)
    with pytest.raises(LedgerUnsound, match="nothing to restore from"):
        restore(sqlite_place.url)
    assert not sqlite_place.database.exists()
    restore(sqlite_place.url, source=backup, new_journal=True)
    with sqlite_place.open() as ledger:
        assert ledger.remaining("people").epsilon == 0.25
    lose(sqlite_place)
    assert main(["--ledger", sqlite_place.url, "init"]) == 0
    with sqlite_place.open() as ledger:
        assert ledger.budgets() == []


def test_an_empty_database_file_is_no_ledger(sqlite_place: Place, key: Path) -> None:
    filled(sqlite_place)
    lose(sqlite_place)
    sqlite_place.database.touch()
    with pytest.raises(LedgerUnsound, match=GONE):
        sqlite_place.open()


def test_another_ledger_in_its_place_is_noticed(sqlite_place: Place, tmp_path: Path, key: Path) -> None:
    """Whole budgets of somebody else's ledger, or of a fresh one that was made elsewhere."""
    filled(sqlite_place)
    lose(sqlite_place)
    with Ledger.open(tmp_path / "other.db") as other:
        other.open_budget("people", epsilon=1.0)
    shutil.copy(tmp_path / "other.db", sqlite_place.database)
    shutil.copy(tmp_path / "other.db.journal", sqlite_place.journal)
    with pytest.raises(LedgerUnsound, match="not the one that was here before"):
        sqlite_place.open()
    restore(sqlite_place.url)  # the owner says so
    with sqlite_place.open() as ledger:
        assert ledger.remaining("people").epsilon == 1.0


def test_a_database_emptied_on_a_server_is_noticed(new_place: Callable[[], Place], key: Path) -> None:
    place = new_place()
    filled(place)
    if place.database is not None:
        lose(place)
    else:
        from sqlalchemy import create_engine, text

        writer = create_engine(place.url)
        with writer.begin() as connection:
            for name in ("fingerprints", "accounts", "lineages", "records", "head", "alembic_version"):
                connection.execute(text(f"DROP TABLE {name}"))
            connection.execute(text("DROP FUNCTION ledger_only_grows"))
        writer.dispose()
        with pytest.raises(LedgerUnsound, match="older than its journal"):
            place.open()
        place.journal.unlink()
    with pytest.raises(LedgerUnsound, match=GONE):
        place.open()


def test_an_emptied_journal_is_a_missing_one(place: Place) -> None:
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        place.journal.write_bytes(b"")
        with pytest.raises(LedgerUnsound, match=r"journal is (missing|damaged)"):
            ledger.charge("r", "people", Cost.pure(0.1), "?")
    with pytest.raises(LedgerUnsound, match="journal is missing"):
        place.open()
    with pytest.raises(LedgerUnsound, match="journal"):
        restore(place.url, journal=place.journal)
    restore(place.url, journal=place.journal, new_journal=True)
    place.open().close()


def test_nobody_else_may_read_the_files(place: Place, key: Path, tmp_path: Path) -> None:
    """Also those that came to be with other rights, and backups; whatever the process would otherwise give."""
    with place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.backup(tmp_path / "backup")
        files = [path for path in place.journal.parent.iterdir() if path.is_file()]
        for path in files:
            path.chmod(0o644)
    with place.open():
        found = [*(path for path in files if path.exists() and path.suffix != ".lock"), key, tmp_path / "backup"]
        assert {path.name: path.stat().st_mode & 0o777 for path in found} == {path.name: 0o600 for path in found}


def test_a_lost_key_takes_nothing_but_recognition(place: Place, key: Path) -> None:
    filled(place)
    with place.open() as ledger:
        ledger.link("file", "people")
        receipt = ledger.receipt("r")
        assert [one.name for one in ledger.similar("file", among=["people"])] == ["people"]
        first = ledger.sketch_key
    key.unlink()
    with pytest.raises(LedgerUnsound, match="key file is not there"):
        place.open()
    assert not key.exists()
    assert NEW_KEY in restore(place.url, journal=place.journal, new_key=True)
    with place.open() as ledger:
        assert ledger.similar("file", among=["people"]) == []
        assert ledger.sketch_key != first
        assert ledger.remaining("people").epsilon == 0.25
        assert ledger.confirms(receipt)
        ledger.link("file", "people")
        assert [one.name for one in ledger.similar("file", among=["people"])] == ["people"]
        ledger.verify()


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"secret": "00", "ledgers": {}}', '{"secret": 7, "ledgers": {}}', "é"]
)
def test_a_damaged_key_gets_a_sentence(sqlite_place: Place, key: Path, text: str) -> None:
    key.parent.mkdir(parents=True)
    key.write_text(text, encoding="utf-8")
    with pytest.raises(LedgerError, match="key file is damaged, so the ledger stays closed"):
        sqlite_place.open()


def test_a_place_that_cannot_hold_a_key_gets_a_sentence(sqlite_place: Place, key: Path) -> None:
    key.parent.parent.mkdir(exist_ok=True)
    key.parent.write_text("a file where the folder should be")
    with pytest.raises(LedgerError, match="name a place for it in EPSILON_LAB_KEY"):
        sqlite_place.open()


def test_without_the_rule_every_budget_would_be_whole_again(
    sqlite_place: Place, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant that makes what is missing: what the tests above are there to find."""
    filled(sqlite_place)
    lose(sqlite_place)
    monkeypatch.setattr(Where, "_missing", lambda self, create: None)
    monkeypatch.setattr(Where, "pinned", lambda self: None)
    with sqlite_place.open() as ledger:
        assert ledger.open_budget("people", epsilon=1.0).remaining.epsilon == 1.0


def test_the_secret_is_in_no_file_of_the_ledger(sqlite_place: Place, key: Path) -> None:
    filled(sqlite_place)
    with sqlite_place.open() as ledger:
        ledger.link("file", "people")
        ledger.backup(sqlite_place.journal.with_name("backup"))
        found = keys.load(key)
        assert found is not None
        for path in sqlite_place.journal.parent.glob("*"):
            if path.is_file():
                data = path.read_bytes()
                for secret in (found.secret, found.derived("mark"), ledger.sketch_key):
                    assert secret not in data
                    assert secret.hex().encode() not in data


class TestClock:
    def test_a_clock_that_runs_backwards_is_on_the_record(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        filled(place)

        class Yesterday(datetime):
            @classmethod
            def now(cls, tz: object = None) -> datetime:
                return datetime(2020, 1, 1, tzinfo=UTC)

        with place.open() as ledger:
            monkeypatch.setattr(records, "datetime", Yesterday)
            ledger.charge("late", "people", Cost.pure(0.1), "?")
            monkeypatch.undo()
            ledger.charge("later", "people", Cost.pure(0.1), "?")
            assert ledger.verify().clock_back == 1
            assert ledger.confirms(ledger.receipt("late"))
        lines = [json.loads(line) for line in place.journal.read_text().splitlines()]
        assert [line["request_id"] for line in lines if records.CLOCK in line["body"]] == ["late"]
        assert main(["--ledger", place.url, "--journal", str(place.journal), "status"]) == 0
        assert "The clock ran backwards before 1 of them." in capsys.readouterr().out

    def test_a_record_that_hides_it_is_noticed(self, ledger: Ledger) -> None:
        from dpcore.ledger.verify import replayed

        caps = {"kind": "pure", "counting": "sum", "cap_epsilon": 1, "cap_rho": -1, "cap_delta": 0, "total_delta": 0}
        body = {"name": "p", "practice": 0, "caps": caps}
        one = records.next_record(1, records.FIRST, "open", lineage="a", body=body)
        other = records.next_record(2, one.hash, "rename", lineage="a", body={"name": "q"})
        replayed([one, other])
        earlier = records.sealed(records.replace(other, time="2020-01-01T00:00:00.000Z"))
        with pytest.raises(LedgerUnsound, match="do not follow one another"):
            replayed([one, earlier])


def test_no_test_touches_the_persons_own_ledger() -> None:
    assert Path(tempfile.gettempdir()) in place_of_ledgers._folder().parents
    assert Path.home() not in place_of_ledgers._folder().parents
