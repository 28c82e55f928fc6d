"""The owner's command line, exports, and the recognition of people under another file."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from dpcore.accounting import Cost
from dpcore.ledger import Ledger, LedgerError, LedgerUnsound
from dpcore.ledger import key as keys
from dpcore.ledger.__main__ import main
from dpcore.ledger.export import records_to_lines, to_csv, to_json
from dpcore.ledger.files import write_new
from dpcore.ledger.found import Found, look
from dpcore.ledger.records import Record
from tests.ledger.conftest import Place


@pytest.fixture
def owned(place: Place) -> list[str]:
    """A ledger with two charges, and the arguments that lead the command line to it."""
    ledger = place.open()
    ledger.open_budget("people", epsilon=1.0, name="Ward 3")
    ledger.open_budget("sample", epsilon=2.0, delta=1e-6, practice=True)
    ledger.charge("a", "people", Cost.pure(0.25), "=cmd|' /C calc'!A0")
    ledger.store_answer("a", {"winner": "-2+3"})
    ledger.charge("b", "sample", Cost.gaussian(10, 1e-7), "The mean?")
    ledger.close()
    return ["--ledger", place.url, "--journal", str(place.journal)]


def test_status_and_verify(owned: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*owned, "status"]) == 0
    shown = capsys.readouterr().out
    assert "Sound: 5 records, 2 charges." in shown
    assert "Ward 3 [people]: ε = 1 counted by adding up; ε = 0.75 left; 25.0% spent" in shown
    assert "practice" in shown
    assert main([*owned, "verify"]) == 0
    assert "2 groups of people" in capsys.readouterr().out


def test_backup_restore_round_trip(owned: list[str], place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    target = place.journal.with_name("backup")
    assert main([*owned, "backup", str(target)]) == 0
    assert main([*owned, "backup", str(target)]) == 1
    assert "never replaces" in capsys.readouterr().err
    assert main([*owned, "restore", str(target)]) == 0
    assert "Sound: 5 records" in capsys.readouterr().out
    assert main([*owned, "restore", str(target.with_name("nothing"))]) == 1
    assert "no backup at that place" in capsys.readouterr().err


def test_a_backup_is_a_ledger_of_its_own(owned: list[str], place: Place, tmp_path: Path) -> None:
    """From the backup alone, on another machine: restore into an empty place, saying so explicitly."""
    target = place.journal.with_name("backup")
    assert main([*owned, "backup", str(target)]) == 0
    elsewhere = ["--ledger", str(tmp_path / "new" / "ledger.sqlite3")]
    assert main([*elsewhere, "restore", str(target)]) == 1  # there is no journal: it has to be asked for
    assert main([*elsewhere, "restore", str(target), "--new-journal"]) == 0
    ledger = Ledger.open(tmp_path / "new" / "ledger.sqlite3")
    assert ledger.remaining("people").epsilon == 0.75
    ledger.close()


def test_trouble_is_one_sentence_and_exit_code_1(
    owned: list[str], place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.journal.unlink()
    for command in ("status", "verify", "export"):
        assert main([*owned, command]) == 1
        shown = capsys.readouterr().err
        assert shown.startswith("Trouble: The ledger's journal is missing")
        assert "Traceback" not in shown
    assert main([*owned, "restore", "--new-journal"]) == 0
    with pytest.raises(SystemExit) as wrong:
        main(["nonsense"])
    assert wrong.value.code == 2


@pytest.mark.thorough
def test_it_runs_as_a_module_and_makes_a_ledger_only_when_asked_to(tmp_path: Path) -> None:
    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dpcore.ledger", "--ledger", str(tmp_path / "x.db"), command],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )

    wrong = run("verify")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("Trouble: There is no ledger at the place where it should be")
    assert not (tmp_path / "x.db").exists()
    assert run("init").returncode == 0
    done = run("verify")
    assert (done.returncode, done.stdout) == (0, "Sound: 0 records, 0 charges, 0 groups of people.\n")
    assert "There is a ledger at this place already" in run("init").stderr


LOOKS = [["status"], ["verify"], ["people"], ["export"], ["backup", "{}/b.db"], ["confirm", "{}/r.json"]]
FORM = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"
ANOTHERS = {
    "bookmarks": ["CREATE TABLE bookmarks (address)"],
    "emptied": ["CREATE TABLE bookmarks (address)", "DROP TABLE bookmarks"],
    "alembic": ["CREATE TABLE runs (x)", FORM, "INSERT INTO alembic_version VALUES ('9f2a')"],
    "same-form": ["CREATE TABLE runs (x)", FORM, "INSERT INTO alembic_version VALUES ('0010')"],
    "same-names": ["CREATE TABLE head (x)", "CREATE TABLE records (seq, body)", "CREATE TABLE lineages (name)", FORM],
}
"""Databases of other programs, by what may look like a ledger's: statements that make each."""


def anothers(folder: Path, *, wal: bool) -> list[Path]:
    """Each of them at rest, in one of SQLite's two ways of writing."""
    for name, statements in ANOTHERS.items():
        with closing(sqlite3.connect(folder / f"{name}.sqlite")) as connection:
            if wal:
                connection.execute("PRAGMA journal_mode=WAL")
            for statement in statements:
                connection.execute(statement)
            connection.commit()
    return sorted(folder.iterdir())


def as_it_is(folder: Path) -> dict[str, object]:
    """Every file of a folder: what is in it, and who may read it."""
    return {path.name: (path.read_bytes(), path.stat().st_mode) for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("wal", [False, True], ids=["plain", "wal"])
@pytest.mark.parametrize("command", LOOKS, ids=lambda command: command[0])
def test_a_command_that_looks_changes_no_file_that_is_none_of_the_ledgers(
    command: list[str], wal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path was mistyped: of a text in the journal's place, of another program's database in the ledger's."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    mine, own = tmp_path / "mine", tmp_path / "own"
    mine.mkdir()
    own.mkdir()
    (own / "r.json").write_text("{}")
    assert main(["--ledger", str(own / "l.db"), "init"]) == 0
    databases = anothers(mine, wal=wal)
    (mine / "notes.txt").write_text("a file of mine\n")
    for path in mine.iterdir():
        path.chmod(0o644)
    before = as_it_is(mine)
    asked = [part.format(own) for part in command]
    assert main(["--ledger", str(own / "l.db"), "--journal", str(mine / "notes.txt"), *asked]) == 1
    capsys.readouterr()
    for path in databases:
        assert main(["--ledger", str(path), *asked]) == 1
        assert "There is no ledger at the place" in capsys.readouterr().err, path
    assert as_it_is(mine) == before
    monkeypatch.setattr("dpcore.ledger.place.look", lambda file: Found.CLOSED)
    for path in databases:
        assert main(["--ledger", str(path), *asked]) == 1
    assert as_it_is(mine) != before, "as it was before"


UNENDED = {
    "a line": b"a token of mine, and no end of its line",
    "bytes": b"PK\x03\x04\x00\xff\xfe" * 300,
    "an object": b'{"body":"{}"',
}
"""Files of somebody's that end within a line, as the journal of a process that died does."""


def beside_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int) -> tuple[Path, Path]:
    """An empty folder of somebody's, and one of a ledger of so many records."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    mine, own = tmp_path / "mine", tmp_path / "own"
    mine.mkdir()
    own.mkdir()
    (own / "r.json").write_text("{}")
    with Ledger.open(own / "l.db") as ledger:
        for number in range(records):
            ledger.open_budget(f"people-{number}", epsilon=1.0)
    return mine, own


@pytest.mark.parametrize("records", [0, 1, 2])
@pytest.mark.parametrize("what", UNENDED)
def test_so_of_a_file_that_ends_within_a_line(
    what: str, records: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the program, which writes: an unfinished line is the ledger's where it begins its next record."""
    mine, own = beside_a_ledger(tmp_path, monkeypatch, records)
    (mine / "token").write_bytes(UNENDED[what])
    (mine / "token").chmod(0o644)
    before, kept = as_it_is(mine), (own / "l.db").read_bytes()
    changes = [["role", "a at https://x.example", "owner"], ["restore"]]
    for command in [*LOOKS, *(changes if records else changes[:1])]:
        asked = [part.format(own) for part in command]
        assert main(["--ledger", str(own / "l.db"), "--journal", str(mine / "token"), *asked]) == 1, command
        told = capsys.readouterr().err
        assert "The file at the journal's place holds no record of a ledger" in told
    with pytest.raises(LedgerUnsound), Ledger.open(own / "l.db", journal=mine / "token"):
        pass
    assert as_it_is(mine) == before
    assert (own / "l.db").read_bytes() == kept
    with Ledger.open(own / "l.db") as ledger:
        assert len(ledger.records()) == records
    if records < 2:
        monkeypatch.setattr("dpcore.ledger.journal._BEGINS", b"")
        monkeypatch.setattr("dpcore.ledger.journal.Journal.ends_before", lambda self, record: True)
        with Ledger.open(own / "l.db", journal=mine / "token") as ledger:
            ledger.open_budget("more", epsilon=1.0)
        assert as_it_is(mine) != before, "as it was before"


WRITES = [
    ["init"], ["restore"], ["restore", "{}/backup"], ["restore", "{}/backup", "--new-journal"],
    ["restore", "{}/backup", "--new-journal", "--unmarked"], ["restore", "--new-journal"], ["open"],
]  # fmt: skip


@pytest.mark.parametrize("wal", [False, True], ids=["plain", "wal"])
@pytest.mark.parametrize("command", WRITES, ids=" ".join)
def test_none_that_makes_a_ledger_or_brings_one_back_takes_a_database_of_another_program(
    command: list[str], wal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the program itself, which makes one where none has been; where a database holds nothing, all of them may."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    mine, own = tmp_path / "mine", tmp_path / "own"
    mine.mkdir()
    own.mkdir()
    with Ledger.open(own / "l.db") as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.backup(own / "backup")
    databases = [path for path in anothers(mine, wal=wal) if path.stem != "emptied"]
    before = as_it_is(mine)

    def asked(path: Path) -> int:
        if command == ["open"]:
            with pytest.raises(LedgerError) as told:
                Ledger.open(path)
            print(told.value, file=sys.stderr)
            return 1
        return main(["--ledger", str(path), *(part.format(own) for part in command)])

    for path in databases:
        assert asked(path) == 1
        assert "Another program's database is at this place" in capsys.readouterr().err, path
    assert as_it_is(mine) == before
    with monkeypatch.context() as mutant:
        mutant.setattr("dpcore.ledger.place.Place._leave", lambda self, found: None)
        with suppress(LedgerError, AssertionError, pytest.fail.Exception):
            asked(databases[0])
    assert as_it_is(mine) != before, "as it was before"
    made = main(["--ledger", str(mine / "emptied.sqlite"), "restore", f"{own}/backup", "--new-journal"])
    assert made == 0


def test_a_ledger_is_known_whatever_became_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is written to, nothing may be in its file yet; where tables are lost it is damaged."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    file = tmp_path / "l.db"
    with closing(Ledger.open(file)) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        assert look(file) is Found.LEDGER
        logged = tmp_path / "logged.db"  # as a computer leaves it whose current was cut
        for end in ("", "-wal"):
            shutil.copy(f"{file}{end}", f"{logged}{end}")
        assert b"CREATE TABLE records" not in logged.read_bytes()
        assert look(logged) is Found.LEDGER
    assert look(file) is Found.LEDGER
    for lost in ("records", "alembic_version"):
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(f"DROP TABLE {lost}")
            connection.commit()
        assert look(file) is Found.LEDGER, lost


FILES = {
    "a text": b"shopping list\n",
    "a token": b"a token of mine",
    "a long text": b"some lines of mine\n" * 9000,
    "one line": b"x" * 70_000,
    "an archive": b"PK\x03\x04\x00\xff\xfe\n" * 300,
    "records of another's": b'{"body":"{\\"a\\":1}","seq":1}\n' * 3,
    "a beginning": b'{"body":"{\\"a\\":1}","se',
    "zeros": bytes(70_000),
    "a zero": b"\0",
    "a broken database": b"SQLite format 3\0" + b"\xff" * 8192,
}
"""Files of other programs, none of them a database in order."""
ALL = [
    *LOOKS, ["init"], ["role", "a at https://x", "owner"], ["restore"], ["restore", "--new-journal"],
    ["restore", "{}/backup"], ["restore", "{}/backup", "--new-journal", "--new-key", "--unmarked"],
]  # fmt: skip


def laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int = 2) -> tuple[Path, Path, list[Path]]:
    """A folder of somebody's files, one of a ledger, and these files: each readable by everybody."""
    mine, own = beside_a_ledger(tmp_path, monkeypatch, records)
    with Ledger.open(own / "l.db") as ledger:
        ledger.backup(own / "backup")
    for name, data in FILES.items():
        (mine / name).write_bytes(data)
        (mine / name).chmod(0o644)
    return mine, own, sorted(mine.iterdir())


@pytest.mark.parametrize("command", [*ALL, ["open"], ["environment"]], ids=" ".join)
def test_none_takes_any_file_but_a_ledger_s_for_one(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistyped path was called a damaged ledger, and bringing that back renamed it: what a file is it says itself, or
    the key file and the journal beside it do."""
    mine, own, files = laid_out(tmp_path, monkeypatch)
    before = as_it_is(mine)

    def asked(path: Path) -> None:
        if command[0] in ("open", "environment"):
            monkeypatch.setenv("EPSILON_LAB_LEDGER", str(path))
            with pytest.raises(LedgerError) as told:
                Ledger.open(path if command == ["open"] else None)
            print(told.value, file=sys.stderr)
        else:
            (own / "b.db").unlink(missing_ok=True)
            assert main(["--ledger", str(path), *(part.format(own) for part in command)]) == 1

    for path in files:
        asked(path)
        assert "The file at this place is not a ledger, and is left as it is" in capsys.readouterr().err, path
    assert as_it_is(mine) == before, "nor is anything laid beside them"
    monkeypatch.setattr("dpcore.ledger.place.Place._was_here", lambda self: True)
    with suppress(AssertionError, pytest.fail.Exception):
        asked(mine / "a text")
    told = capsys.readouterr().err
    assert as_it_is(mine) != before or "damaged" in told or "PRESENT" in told, "as it was before"


@pytest.mark.parametrize("records", [0, 1, 2])
@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_nor_any_but_a_journal_for_one(
    command: list[str],
    records: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor the ledger itself. What held no record of a ledger is neither cut, nor renamed, nor shut to others."""
    mine, own, files = laid_out(tmp_path, monkeypatch, records)
    before, kept = as_it_is(mine), (own / "l.db").read_bytes()
    place = own / ("l.db" if command != ["init"] else "new.db")
    for path in [*files, place] if place.exists() else files:
        (own / "b.db").unlink(missing_ok=True)
        asked = [part.format(own) for part in command]
        assert main(["--ledger", str(place), "--journal", str(path), *asked]) == 1, path
        told = capsys.readouterr().err
        assert (
            "The file at the journal's place holds no record of a ledger" in told
            or (path == place and "The journal's place is that of another file of the ledger" in told)
            or (records == 0 and "nothing to restore from" in told)
        ), path
    assert as_it_is(mine) == before
    assert (own / "l.db").read_bytes() == kept
    assert main(["--ledger", str(own / "l.db"), "verify"]) == 0


@pytest.mark.parametrize("records", [0, 1, 2])
def test_nor_does_who_writes_cut_it(records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros are what a machine leaves that dies, and what a file of anybody's may be."""
    mine, own, files = laid_out(tmp_path, monkeypatch, records)
    before = as_it_is(mine)
    for path in files:
        with pytest.raises(LedgerUnsound, match="holds no record"), Ledger.open(own / "l.db", journal=path) as ledger:
            ledger.open_budget("more", epsilon=1.0)
    assert as_it_is(mine) == before
    if records < 2:
        monkeypatch.setattr("dpcore.ledger.journal._BEGINS", b"")
        with Ledger.open(own / "l.db", journal=mine / "zeros") as ledger:
            ledger.open_budget("more", epsilon=1.0)
        assert as_it_is(mine) != before, "as it was before"


@pytest.mark.parametrize("records", [0, 1])
def test_a_process_that_dies_as_it_asks_for_room_leaves_nothing(
    records: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No zeros: anybody's file may be such, and whoever reads a journal takes them for a line. Another file asks."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))

    class Died(BaseException):
        pass

    def died(handle: int, start: int, size: int) -> None:
        os.posix_fallocate(handle, start, size)
        monkeypatch.setattr(os, "ftruncate", lambda *_: None)
        raise Died

    with closing(Ledger.open(tmp_path / "l.db")) as ledger:
        for number in range(records):
            ledger.open_budget(f"people-{number}", epsilon=1.0)
        assert ledger.journal_path is not None
        before = ledger.journal_path.read_bytes() if records else b""
        monkeypatch.setattr("dpcore.ledger.journal._take", died)
        with pytest.raises(Died):
            ledger.open_budget("more", epsilon=1.0)
    monkeypatch.undo()
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    left = (tmp_path / "l.db.journal").read_bytes()
    assert left == before
    assert not list(tmp_path.glob("tmp*"))
    with Ledger.open(tmp_path / "l.db") as ledger:
        assert len(ledger.records()) == records
        ledger.open_budget("more", epsilon=1.0)
        assert ledger.verify().seq == records + 1


@pytest.mark.parametrize("name", ["empty", "emptied.sqlite", "none"])
def test_what_could_not_be_brought_back_leaves_what_was_there(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty file of somebody's was taken away, and so was a database without tables."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    mine = tmp_path / "mine"
    mine.mkdir()
    anothers(mine, wal=True)
    (mine / "empty").touch()
    before = as_it_is(mine)
    for more in ([], ["--new-journal"]):
        assert main(["--ledger", str(mine / name), "restore", *more]) == 1
    assert "nothing to restore from" in capsys.readouterr().err
    assert {left: kept for left, kept in as_it_is(mine).items() if not left.endswith(".lock")} == before


def test_a_start_looks_at_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was read twice, of another program's database as of a ledger."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    Ledger.open(tmp_path / "l.db").close()
    anothers(tmp_path, wal=False)
    seen: list[Path] = []
    monkeypatch.setattr("dpcore.ledger.place.look", lambda file: seen.append(file) or look(file))
    for name in ("l.db", "bookmarks.sqlite", "emptied.sqlite", "none"):
        with suppress(LedgerError):
            Ledger.open(tmp_path / name).close()
        assert len(seen) == 1, name
        seen.clear()


@pytest.mark.parametrize("what", ["file", "link", "dangling", "folder", "ledger", "key"])
def test_an_export_replaces_nothing(
    owned: list[str], place: Place, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    precious, target = tmp_path / "precious", tmp_path / "all.csv"
    precious.write_text("kept")
    if what == "file":
        target.write_text("kept")
    elif what == "folder":
        target.mkdir()
    elif what == "ledger":
        target = place.journal
    else:
        target.symlink_to({"link": precious, "dangling": tmp_path / "nothing", "key": keys.key_path()}[what])
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert main([*owned, "export", str(target), "--format", "csv"]) == 1
    assert "never replaces" in capsys.readouterr().err
    after = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert {file: after[file] for file in before if file.suffix != ".lock"} == {
        file: data for file, data in before.items() if file.suffix != ".lock"
    }
    assert not [file for file in after if file.name.endswith(".partial")]
    assert main([*owned, "status"]) == 0


def test_a_backup_takes_no_link_s_place(owned: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a disk that is not mounted, say: it was written beside the link's file, and the link gone."""
    target = tmp_path / "backup"
    target.symlink_to(tmp_path / "not mounted" / "backup")
    assert main([*owned, "backup", str(target)]) == 1
    assert "never replaces" in capsys.readouterr().err
    assert target.is_symlink()


def test_an_export_is_whole_or_not_there_and_for_this_user_alone(
    owned: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "here" / "all.json"
    full.parent.mkdir()
    with monkeypatch.context() as patched:

        def fails(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patched.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="No space"):
            write_new(full, b"text")
    assert list(full.parent.iterdir()) == []
    umask = os.umask(0)
    try:
        assert main([*owned, "export", str(full)]) == 0
    finally:
        os.umask(umask)
    assert full.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in full.parent.iterdir()] == ["all.json"]

    def lost(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", lost)
    write_new(full.with_name("other.json"), b"text")
    with pytest.raises(FileExistsError):
        write_new(full, b"text")
    assert sorted(file.name for file in full.parent.iterdir()) == ["all.json", "other.json"]


def test_exports_are_complete_and_safe(owned: list[str], place: Place, tmp_path: Path) -> None:
    assert main([*owned, "export", str(tmp_path / "all.csv")]) == 0
    assert main([*owned, "export", str(tmp_path / "all.json")]) == 0
    assert main([*owned, "export", str(tmp_path / "all.txt")]) == 1
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text(encoding="utf-8-sig"))))
    assert [row["what"] for row in rows] == ["'=cmd|' /C calc'!A0", "The mean?"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    listed = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [entry["what"] for entry in listed] == ["=cmd|' /C calc'!A0", "The mean?"]
    ledger = place.open()
    assert to_json(ledger.receipts()) == (tmp_path / "all.json").read_text(encoding="utf-8")
    assert all(ledger.confirms(json.dumps(entry)) for entry in listed)
    ledger.close()
    assert to_csv([]).count("\n") == 1


def test_confirm(owned: list[str], place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = place.open()
    text = ledger.receipt("a").to_json()
    ledger.close()
    (tmp_path / "receipt.json").write_text(text, encoding="utf-8")
    assert main([*owned, "confirm", str(tmp_path / "receipt.json")]) == 0
    assert "calc'!A0" in capsys.readouterr().out, "what the journal says"
    (tmp_path / "receipt.json").write_text(text, encoding="utf-8-sig")
    assert main([*owned, "confirm", str(tmp_path / "receipt.json")]) == 0, "with the mark that some editors write"
    (tmp_path / "receipt.json").write_text(text.replace("0.25", "0.01"), encoding="utf-8")
    assert main([*owned, "confirm", str(tmp_path / "receipt.json")]) == 1
    assert main([*owned, "confirm", str(tmp_path / "none.json")]) == 1


def test_a_binary_file_is_no_receipt(owned: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    assert main([*owned, "confirm", str(tmp_path / "picture.png")]) == 1
    assert capsys.readouterr().err == "Trouble: receipt is not a text file, so it is no receipt\n"


UNSEEN_SIGNS = "mal\u2028lory: own\u202e\u2066er\u200bx at https://login.example"


@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_export_to_a_terminal_is_seen_as_it_is(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written to a file, or handed to a program, is as it was said."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    unseen = "\u202e\u2066\u2028"
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "people", Cost.pure(0.1), f"How many {unseen * 40}?", mechanism="\x1b[2J", unit=f"v{unseen}")
        ledger.store_answer("r", {"said": unseen})
    call = ["--ledger", str(tmp_path / "l.db"), "export", "--format", form]
    for terminal in (True, False):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        assert main(call) == 0
        text = capsys.readouterr().out
        assert text.replace("\r", "").replace("\n", "").isprintable() is terminal
        assert text.count("\u202e" if not terminal else "⟨U+202E⟩") == 42


def test_whatever_somebody_is_called_is_seen_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of its own, or signs that turn what follows, in a list of names that is looked through by letter."""
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    name = UNSEEN_SIGNS.partition(" at ")[0]
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.open_budget("people\u2028x", epsilon=1.0, name=f"Ward {name}", unit=name)
        receipt = ledger.charge("r", "people\u2028x", Cost.pure(0.1), f"How many {name}?", unit=name)
        ledger.open_budget("closed", epsilon=1.0)
        ledger.end_budget("closed")
    (tmp_path / "receipt.json").write_text(receipt.to_json(), encoding="utf-8")
    call = ["--ledger", str(tmp_path / "l.db")]

    def told(*command: str, code: int = 0) -> str:
        assert main([*call, *command]) == code
        found = capsys.readouterr()
        return found.out + found.err

    def every() -> dict[str, str]:
        return {
            "role": told("role", UNSEEN_SIGNS, "analyst", "owner"),
            "share": told("share", "people\u2028x", UNSEEN_SIGNS, "own"),
            "an unknown one": told("share", "nobody", UNSEEN_SIGNS, "ask", code=1),
            "people": told("people"),
            "status": told("status"),
            "confirm": told("confirm", str(tmp_path / "receipt.json")),
        }

    for command, text in every().items():
        assert text.replace("\n", "").isprintable(), command
        assert "⟨U+2028⟩" in text or command == "an unknown one", command
    monkeypatch.setattr("dpcore.ledger.__main__.visible", lambda text, limit: text)
    for command, text in every().items():
        assert not text.replace("\n", "").isprintable() or command == "an unknown one", "or nothing was tried"


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_records_that_an_auditor_was_given_are_no_journal(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were the beginning of one to the byte: later records were written into the file, and others shut out."""
    mine, own = beside_a_ledger(tmp_path, monkeypatch, 2)
    with Ledger.open(own / "l.db") as ledger:
        found = ledger.records()
        ledger.backup(own / "backup")
        ledger.open_budget("later", epsilon=1.0)
    lines = records_to_lines(found)
    assert [Record(**json.loads(line)) for line in lines.splitlines()] == found
    place = own / ("l.db" if command != ["init"] else "new.db")
    for name, text in (("records.jsonl", lines), ("as it was", "".join(f"{one.line()}\n" for one in found))):
        (mine / name).write_text(text)
        (mine / name).chmod(0o644)
        before = as_it_is(mine)
        asked = [part.format(own) for part in command]
        code = main(["--ledger", str(place), "--journal", str(mine / name), *asked])
        told = capsys.readouterr().err
        if name == "records.jsonl":
            assert (code, as_it_is(mine)) == (1, before)
            assert "The file at the journal's place holds no record of a ledger" in told
        elif command == ["status"]:
            assert (code, as_it_is(mine) == before) == (0, False), "or nothing was tried"
