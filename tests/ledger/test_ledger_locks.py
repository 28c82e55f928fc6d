"""A ledger that is open in a process stays locked for SQLite, whatever else that process does with it."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine

from dashboard.background import compute
from dpcore.accounting import Cost
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, __main__, aside, backups, found, journal, place
from dpcore.ledger.__main__ import _COMMANDS, main
from dpcore.ledger.engine import ledger_url, make_engine
from dpcore.ledger.recovery import restore
from tests.ledger.conftest import Place
from tests.ledger.only_sqlite import opened_beside_sqlite

ANNA = "anna at https://login.example"
LOOK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM records WHERE kind = 'charge'").fetchone()[0])
connection.close()
"""
ASKED: dict[str, list[str]] = {
    "init": [],
    "status": [],
    "verify": [],
    "backup": ["{folder}/backup"],
    "restore": [],
    "export": ["{folder}/export.csv"],
    "confirm": ["{folder}/receipt"],
    "role": [ANNA, "analyst"],
    "share": ["people", ANNA, "own"],
    "people": [],
}


def commanded(here: Place, command: str) -> None:
    folder = file_of(here).parent
    assert main(["--ledger", here.url, command, *(one.format(folder=folder) for one in ASKED[command])]) == (
        1 if command == "init" else 0  # it is there already
    )


def opened_again(here: Place) -> None:
    here.open().close()


def made_again(here: Place) -> None:
    with pytest.raises(LedgerError, match="already"):
        Ledger.open(here.url, journal=here.journal, create=True)


def made_by_another_in_between(here: Place) -> None:
    """Whoever saw no file there comes to make one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "exists", lambda path: path != here.database)
        make_engine(ledger_url(here.url)).dispose()


def drilled(here: Place, **how: object) -> None:
    """Brought back elsewhere, from a file of this ledger's that is no backup, or no journal."""
    drill = file_of(here).with_name("drill.sqlite3")
    with pytest.raises(LedgerError):
        restore(f"sqlite:///{drill}", **how)  # type: ignore[arg-type]


def taken_for_a_journal(here: Place, ending: str = "") -> None:
    other = file_of(here).with_name("other.sqlite3")
    with pytest.raises(LedgerError, match="holds no record"):
        Ledger.open(other, journal=f"{file_of(here)}{ending}", create=True)


def confirmed(here: Place, named: Path) -> None:
    assert main(["--ledger", here.url, "confirm", str(named)]) == 1


def linked(here: Place) -> Path:
    """Another name of its file."""
    (other := file_of(here).with_name("other name")).symlink_to(file_of(here))
    return other


WAYS: dict[str, Callable[[Place], object]] = {
    "opened again": opened_again,
    "made again": made_again,
    "made by another in between": made_by_another_in_between,
    **{command: lambda here, command=command: commanded(here, command) for command in ASKED},
    "a drill with its file": lambda here: drilled(here, source=file_of(here)),
    "a drill with a link to it": lambda here: drilled(here, source=linked(here)),
    "a drill with its file as the journal": lambda here: drilled(here, journal=file_of(here)),
    "its file as another's journal": taken_for_a_journal,
    "its file of locks as another's journal": lambda here: taken_for_a_journal(here, "-shm"),
    "its file as a receipt": lambda here: confirmed(here, file_of(here)),
    "its file of locks as a receipt": lambda here: confirmed(here, Path(f"{file_of(here)}-shm")),
}


def file_of(here: Place) -> Path:
    assert here.database is not None
    return here.database


def log_of(here: Place) -> Path:
    """What was written last."""
    return file_of(here).with_name(f"{file_of(here).name}-wal")


@pytest.fixture
def charged(empty_ledger: Path, sqlite_place: Place) -> Iterator[Ledger]:
    shutil.copyfile(empty_ledger, file_of(sqlite_place))
    with sqlite_place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        receipt = ledger.charge("first", "people", Cost.pure(0.1), "How many?")
        (sqlite_place.journal.parent / "receipt").write_text(receipt.to_json())
        yield ledger


def seen_by_another_program(here: Place) -> int:
    """How many charges it finds; it closes the database, and would take the log away were it the last one."""
    told = subprocess.run([sys.executable, "-S", "-c", LOOK, str(here.database)], capture_output=True, check=True)
    return int(told.stdout)


def test_every_command_is_among_them() -> None:
    assert set(ASKED) == set(_COMMANDS)


@pytest.mark.parametrize("way", WAYS)
def test_no_other_program_takes_the_log_of_one_that_is_open(way: str, charged: Ledger, sqlite_place: Place) -> None:
    before = seen_by_another_program(sqlite_place)
    there = log_of(sqlite_place).stat().st_ino
    with opened_beside_sqlite() as opened:
        WAYS[way](sqlite_place)
    assert opened == []
    assert seen_by_another_program(sqlite_place) == before
    assert log_of(sqlite_place).stat().st_ino == there
    charged.charge("second", "people", Cost.pure(0.1), "How many?")
    assert seen_by_another_program(sqlite_place) == before + 1


@pytest.mark.parametrize("what", ["its own file", "what a program left that died as it put it aside"])
def test_nor_is_one_opened_beside_sqlite_that_is_brought_back(
    what: str, charged: Ledger, sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(sqlite_place)
    charged.close()
    source = None
    if what == "its own file":
        source = file
    else:
        aside.keep(file)
        assert next(iter(aside.kept(file))).samefile(file)
    with opened_beside_sqlite() as opened:
        restore(sqlite_place.url, source=source)
    assert opened == []
    monkeypatch.setattr(Engine, "dispose", lambda engine: None)
    monkeypatch.setattr(backups, "is_held", lambda path: False)
    with opened_beside_sqlite() as opened:
        restore(sqlite_place.url, source=source)
    assert opened, "or this test cannot fail"


@pytest.mark.parametrize("way", [way for way in WAYS if "file" in way or "link" in way])
def test_a_file_that_is_not_known_to_be_held_is_opened(
    way: str, charged: Ledger, sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or what names it to another part of the program were not tested."""
    for one in (__main__, backups, journal):
        monkeypatch.setattr(one, "is_held", lambda path: False)
    with opened_beside_sqlite() as opened, suppress(BaseException):
        WAYS[way](sqlite_place)
    assert opened


def held(file: Path) -> int:
    """How often this process has it open."""
    return sum(one.exists() and one.samefile(file) for one in Path("/proc/self/fd").iterdir())


def opened_by_a_server(file: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often it has the database open, each time it has opened it anew."""
    monkeypatch.setenv("EPSILON_LAB_LEDGER", f"sqlite:///{file}")
    counts: list[int] = []
    gc.disable()
    try:
        for _ in range(4):
            compute.reopen_ledger()
            compute.opens()
            counts.append(held(file))
    finally:
        gc.enable()
        compute.reopen_ledger()
    return counts


def test_a_server_that_opens_it_anew_holds_it_once(
    empty_ledger: Path, sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(shutil.copyfile(empty_ledger, file_of(sqlite_place)))
    counts = opened_by_a_server(file, monkeypatch)
    assert len(set(counts)) == 1
    monkeypatch.setattr(Ledger, "let_go", lambda ledger: None)
    counts = opened_by_a_server(file, monkeypatch)
    assert len(set(counts)) > 1, "or this test cannot fail"


def test_these_tests_can_fail(charged: Ledger, sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: its first bytes were read by a descriptor of their own."""
    file = file_of(sqlite_place)

    def read_first(path: Path) -> found.Found:
        os.close(os.open(path, os.O_RDONLY))
        return found.look(path)

    monkeypatch.setattr(place, "look", read_first)
    opened_again(sqlite_place)
    before = seen_by_another_program(sqlite_place)
    assert not log_of(sqlite_place).exists()
    charged.charge("second", "people", Cost.pure(0.1), "How many?")
    assert seen_by_another_program(sqlite_place) == before
    with opened_beside_sqlite() as opened:
        (copy := file.parent / "copy").mkdir()
        aside.copied(file, copy)
    assert opened
