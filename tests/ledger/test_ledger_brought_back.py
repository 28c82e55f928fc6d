"""Bringing a ledger back ends well or changes nothing: whatever stops it, and whenever, no spending is forgotten."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dpcore.costs import Cost
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger, aside, chains, charging, records, recovery
from dpcore.ledger.recovery import restore

ROOM = ("open", "link", "replace", "rename", "fsync", "write")
CALLS = (*ROOM, "unlink", "truncate", "ftruncate")
"""By which files come and go, those that take room first; in between SQLite writes what it does."""
SPENT = 0.06


@pytest.fixture
def damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ledger that lost a safeguard and its journal, and an old backup: its records alone are whole."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    folder = tmp_path / "damaged"
    folder.mkdir()
    with Ledger.open(folder / "l.db", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        for number in range(6):
            if number == 2:
                ledger.backup(folder / "backup")
            ledger.charge(f"r{number}", "people", Cost.pure(0.01), "How many?")
    with closing(sqlite3.connect(folder / "l.db")) as connection:
        connection.execute("DROP TRIGGER head_grows")
    (folder / "l.db.journal").unlink()
    return folder


def without_its_database(folder: Path) -> None:
    """The same, of which an earlier version set the database aside and then died."""
    (folder / "l.db").rename(folder / "l.db.damaged-20260101T000000000000")


WAYS: dict[str, Callable[[Path], object]] = {
    "a damaged database": lambda folder: None,
    "no database": without_its_database,
}


def brought_back(folder: Path, *, backup: bool = True) -> list[str]:
    return restore(str(folder / "l.db"), source=folder / "backup" if backup else None, new_journal=True)


def spent(folder: Path) -> float:
    with Ledger.open(folder / "l.db") as ledger:
        ledger.verify()
        return 1.0 - ledger.remaining("people").epsilon


def stopped(
    folder: Path, after: int, stop: Callable[[], Any], how: Callable[[Path], object], calls: Sequence[str] = CALLS
) -> bool:
    """Whether more calls than so many were made before it came to its end; each one after these does as ``stop``."""
    count, true = 0, {name: getattr(os, name) for name in calls}

    def counted(name: str) -> Callable[..., Any]:
        def call(*parts: Any, **more: Any) -> Any:
            nonlocal count
            count += 1
            if count > after:
                stop()
            return true[name](*parts, **more)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in calls:
            patch.setattr(os, name, counted(name))
        how(folder)
    return count > after


def no_room() -> None:
    raise OSError(28, "No space left on device")


def every_end(folder: Path, end: Callable[[Path, int], bool]) -> Iterator[Path]:
    """A copy of the folder for each moment in which it can end."""
    for after in range(200):
        copy = folder.with_name(f"{folder.name}{after}")
        shutil.copytree(folder, copy)
        if not end(copy, after):
            assert after > 10, "or nothing was stopped"
            return
        yield copy
    raise AssertionError("it has no end")


def killed(folder: Path, after: int) -> bool:
    """In a process of its own, which dies and cleans nothing up."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            stopped(folder, after, lambda: os._exit(9), brought_back)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_a_process_that_dies_forgets_nothing(damaged: Path, way: str) -> None:
    """The next call has the back-up alone and a database that was set aside, or half made."""
    WAYS[way](damaged)
    for folder in every_end(damaged, killed):
        brought_back(folder)
        assert spent(folder) == pytest.approx(SPENT)


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_a_disk_without_room_changes_nothing_or_says_what_was_done(damaged: Path, way: str) -> None:
    WAYS[way](damaged)
    told = set[bool]()

    def held(folder: Path) -> dict[str, bytes]:
        return {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix != ".lock"}

    def full(folder: Path, after: int) -> bool:
        before = held(folder)

        def refused(folder: Path) -> None:
            try:
                brought_back(folder)
            except (LedgerError, OSError) as error:
                said = str(error)
                assert any(words in said for words in ("full", "No space", "has room"))
                made = "The database now has all 7 records" in said
                assert made or held(folder) == before
                assert ("database was set aside" in said) == (made and way == "a damaged database")
                told.add(made)

        return stopped(folder, after, no_room, refused, ROOM)

    for folder in every_end(damaged, full):
        brought_back(folder)
        assert spent(folder) == pytest.approx(SPENT)
    assert told == {True, False}


def fails_within(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(recovery, "_write_rows", no_room)


def refused_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patch:
        fails_within(patch)
        with pytest.raises(LedgerError, match="disk is full") as told:
            brought_back(folder)
    return str(told.value)


def test_what_was_not_brought_back_at_first_is_the_second_time(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database was set aside and never looked at again, so that the back-up alone came back."""
    before = (damaged / "l.db").read_bytes()
    assert "set aside" not in refused_once(damaged, monkeypatch)
    assert (damaged / "l.db").read_bytes() == before
    assert {one.name for one in damaged.iterdir()} == {"l.db", "l.db.lock", "backup"}
    assert "The damaged database was set aside as l.db.damaged-" in brought_back(damaged)[0]
    assert spent(damaged) == pytest.approx(SPENT)


def test_setting_aside_first_forgets_it_unless_what_was_is_looked_through(
    damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the tests above can fail; and a ledger of before comes back that was left so."""
    true = aside.give_way

    def first(url: Any, file: Path, work: Any) -> list[str]:
        file.rename(file.with_name(f"{file.name}.damaged-1"))
        return rebuild(url, file, work)

    rebuild = recovery._rebuild
    monkeypatch.setattr(recovery, "_rebuild", first)
    refused_once(damaged, monkeypatch)
    monkeypatch.setattr(recovery, "_rebuild", rebuild)
    assert aside.give_way is true
    left = damaged.with_name("left")
    shutil.copytree(damaged, left)
    brought_back(left)
    assert spent(left) == pytest.approx(SPENT)
    monkeypatch.setattr(chains, "set_aside", lambda file, key: [])
    brought_back(damaged)
    assert spent(damaged) == pytest.approx(0.02)


def test_what_was_set_aside_brings_a_ledger_back_by_itself_and_is_not_touched(damaged: Path) -> None:
    without_its_database(damaged)
    kept = next(damaged.glob("l.db.damaged-*"))
    before = kept.read_bytes()
    brought_back(damaged, backup=False)
    assert spent(damaged) == pytest.approx(SPENT)
    assert kept.read_bytes() == before
    assert [one.name for one in damaged.glob("l.db.damaged-*")] == [kept.name]


def another_history(folder: Path, charges: int) -> None:
    """Set aside here: a ledger that begins as the back-up, with charges of its own."""
    other = folder.with_name("other")
    other.mkdir()
    restore(str(other / "l.db"), source=folder / "backup", new_journal=True)
    with Ledger.open(other / "l.db") as ledger:
        for number in range(charges):
            ledger.charge(f"o{number}", "people", Cost.pure(0.01), "How many?")
    (other / "l.db").rename(folder / "l.db.damaged-2")
    shutil.rmtree(other)


def test_one_of_another_history_changes_nothing(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    another_history(damaged, 20)
    with monkeypatch.context() as patch:  # nor does it vouch for a back-up that nobody marked
        patch.setattr("dpcore.ledger.backups._is_marked", lambda *_: False)
        (damaged / "own").mkdir()
        (damaged / "l.db").rename(damaged / "own" / "l.db")
        (damaged / "l.db.damaged-2").rename(damaged / "kept")
        with pytest.raises(LedgerUnsound, match="bears no mark"):
            brought_back(damaged)
        (damaged / "kept").rename(damaged / "l.db.damaged-2")
        (damaged / "own" / "l.db").rename(damaged / "l.db")
    brought_back(damaged)
    assert spent(damaged) == pytest.approx(SPENT)


def test_two_that_go_on_differently_are_nobody_s_choice(damaged: Path) -> None:
    another_history(damaged, 20)
    without_its_database(damaged)
    with pytest.raises(LedgerUnsound, match="Move the one away that shall not count"):
        brought_back(damaged)
    assert not (damaged / "l.db").exists()
    (damaged / "l.db.damaged-2").unlink()
    brought_back(damaged)
    assert spent(damaged) == pytest.approx(SPENT)


def test_records_that_cannot_be_read_are_told_before_anything_is_changed(
    damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:  # as a program of before kept them
        for place in (charging, records):
            patch.setattr(place, "readable", records.canonical)
        with Ledger.open(damaged.with_name("new.db"), create=True) as ledger:
            ledger.open_budget("people", epsilon=1.0)
            ledger.charge("r", "people", Cost.pure(0.1), "How many?")
            answer: Any = 1
            for _ in range(2000):
                answer = [answer]
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(5000)
            ledger.store_answer("r", answer)
            sys.setrecursionlimit(limit)
    before = damaged.with_name("new.db").read_bytes()
    for more in ({}, {"new_journal": True}):
        with pytest.raises(LedgerUnsound, match=r"Record 3 .* cannot be read, so nothing was changed"):
            restore(str(damaged.with_name("new.db")), **more)
    assert damaged.with_name("new.db").read_bytes() == before


def test_a_database_that_is_a_link_stays_one(damaged: Path) -> None:
    (damaged / "disk").mkdir()
    (damaged / "l.db").rename(damaged / "disk" / "real.db")
    (damaged / "l.db").symlink_to(damaged / "disk" / "real.db")
    assert "set aside as real.db.damaged-" in brought_back(damaged)[0]
    assert (damaged / "l.db").is_symlink()
    assert spent(damaged) == pytest.approx(SPENT)


def no_links(*_: object) -> None:
    raise OSError(1, "Operation not permitted")


@pytest.mark.parametrize("links", [True, False])
def test_a_journal_that_cannot_be_written_anew_stays(
    damaged: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """It was set aside before there was another. A disk without links has copies."""

    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    brought_back(damaged)
    journal = damaged / "l.db.journal"
    broken = journal.read_bytes().replace(b'"kind":"charge"', b'"kind":"chargE"', 1)
    journal.write_bytes(broken)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with monkeypatch.context() as patch:
        patch.setattr("dpcore.ledger.journal._write_all", no_room)
        with pytest.raises(LedgerError, match=r"The database now has all .*disk is full"):
            brought_back(damaged)
    assert journal.read_bytes() == broken
    assert not list(damaged.glob("l.db.journal.*"))
    assert "The damaged journal was set aside as l.db.journal.damaged-" in " ".join(brought_back(damaged))
    assert next(damaged.glob("l.db.journal.damaged-*")).read_bytes() == broken
    assert spent(damaged) == pytest.approx(SPENT)


def fails_once_it_is_there(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("dpcore.ledger.journal.sync_folder", fails)


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()], ids=["a disk", "a key"])
def test_a_journal_that_was_replaced_is_kept_whatever_fails_then(
    damaged: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, links: bool
) -> None:
    """The lines behind a damaged one may be the only trace of what was spent."""

    brought_back(damaged)
    journal = damaged / "l.db.journal"
    broken = journal.read_bytes().replace(b'"kind":"charge"', b'"kind":"chargE"', 1)
    journal.write_bytes(broken)
    mutant = damaged.with_name("mutant")
    shutil.copytree(damaged, mutant)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with monkeypatch.context() as patch:
        fails_once_it_is_there(patch, error)
        with pytest.raises((LedgerError, KeyboardInterrupt)):
            brought_back(damaged)
        patch.setattr(recovery, "_is_still", lambda *_: True)
        with pytest.raises((LedgerError, KeyboardInterrupt)):
            brought_back(mutant)
    assert [one.read_bytes() for one in damaged.glob("l.db.journal.damaged-*")] == [broken]
    assert not list(mutant.glob("l.db.journal.damaged-*"))
    assert spent(damaged) == pytest.approx(SPENT)


def test_a_database_that_is_brought_back_from_brings_what_was_written_last(damaged: Path) -> None:
    """As a copy of what a server left that was killed, or what was set aside: it is in a file beside it."""
    place = damaged.with_name("killed") / "l.db"
    place.parent.mkdir()
    with Ledger.open(place, create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
    with Ledger.open(place) as ledger:
        saved = damaged.with_name("saved")
        with closing(sqlite3.connect(place)) as reader:  # who reads keeps it from being put together
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchone()
            for number in range(6):
                ledger.charge(f"r{number}", "people", Cost.pure(0.01), "How many?")
            shutil.copytree(place.parent, saved)
    assert (saved / "l.db-wal").stat().st_size > 0
    for name in ("new", "mutant"):
        (damaged.with_name(name)).mkdir()
        if name == "mutant":
            (saved / "l.db-wal").unlink()
        restore(damaged.with_name(name) / "l.db", source=saved / "l.db", new_journal=True, unmarked=True)
    assert spent(damaged.with_name("new")) == pytest.approx(SPENT)
    assert spent(damaged.with_name("mutant")) < SPENT / 2


def dies(folder: Path, *, where: str) -> None:
    """In a process of its own, as a new database, or a new journal, is there and not yet in its place."""
    child = os.fork()
    if child == 0:
        at = {"database": "dpcore.ledger.aside.give_way", "journal": "dpcore.ledger.journal.Journal.add"}[where]
        pytest.MonkeyPatch().setattr(at, lambda *_: os._exit(9))
        brought_back(folder)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.parametrize("where", ["database", "journal"])
def test_what_a_process_that_died_had_begun_is_swept(
    damaged: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Each was as large as the ledger, and stayed; another file of such an ending does."""
    (damaged / "l.db.mine.partial").write_text("mine")
    (damaged / "l.db2.0123456789abcdef.partial").write_text("another's")
    for _ in range(2):
        dies(damaged, where=where)
    assert len(list(damaged.glob("l.db*.partial"))) > 2
    mutant = damaged.with_name("mutant")
    shutil.copytree(damaged, mutant)
    brought_back(damaged)
    assert {one.name for one in damaged.glob("*partial*")} == {"l.db.mine.partial", "l.db2.0123456789abcdef.partial"}
    assert spent(damaged) == pytest.approx(SPENT)
    for place in ("recovery", "journal"):
        monkeypatch.setattr(f"dpcore.ledger.{place}.sweep", lambda path: None)
    brought_back(mutant)
    assert len(list(mutant.glob("*partial*"))) > 2
