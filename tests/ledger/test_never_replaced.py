"""A new file that somebody asks for takes the place of none, whatever came there while it was written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.accounting import Cost
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, files
from dpcore.ledger.__main__ import main
from dpcore.ledger.files import write_new
from tests.ledger.conftest import Place

PRECIOUS = b"of somebody else"


def exported(target: Path, place: Place) -> None:
    command = ["--ledger", place.url, "--journal", str(place.journal), "export", str(target), "--format", "csv"]
    if main(command):
        raise LedgerError("refused")


def backed_up(target: Path, place: Place) -> None:
    with place.open() as ledger:
        ledger.backup(target)


def written(target: Path, place: Place) -> None:
    write_new(target, b"new")


WAYS: dict[str, Callable[[Path, Place], None]] = {"back-up": backed_up, "export": exported, "file": written}


def no_links(*_: object) -> None:
    raise OSError(1, "Operation not permitted")


def came_meanwhile(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program writes a file there as soon as the new one is on disk."""
    sync = os.fsync

    def synced(handle: int) -> None:
        sync(handle)
        if not target.exists() and list(target.parent.glob(f"{target.name}.*.partial")):
            target.write_bytes(PRECIOUS)

    monkeypatch.setattr(os, "fsync", synced)


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_came_meanwhile_stays(
    way: str, links: bool, ledger: Ledger, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("r", "people", Cost.pure(0.1), "How many?")
    folder = tmp_path / "written"
    folder.mkdir()
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    WAYS[way](folder / "new", place)
    assert (folder / "new").stat().st_mode & 0o777 == 0o600
    came_meanwhile(folder / "target", monkeypatch)
    with pytest.raises((LedgerError, FileExistsError)):
        WAYS[way](folder / "target", place)
    assert (folder / "target").read_bytes() == PRECIOUS
    assert {one.name for one in folder.iterdir()} == {"new", "target"}, "nothing is left of what was begun"


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_is_taken_is_seen(way: str, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.open().close()
    monkeypatch.setattr(files, "put_new", lambda partial, target: partial.replace(target))
    monkeypatch.setattr("dpcore.ledger.backups.put_new", files.put_new)
    came_meanwhile(tmp_path / "target", monkeypatch)
    WAYS[way](tmp_path / "target", place)
    assert (tmp_path / "target").read_bytes() != PRECIOUS, "or these tests cannot fail"
